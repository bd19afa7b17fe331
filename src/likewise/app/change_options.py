"""The options of ``likewise learn --kind changes``: names, types, help (typer)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Kind(StrEnum):
    """Values of ``--kind``."""

    clusters = "clusters"
    changes = "changes"


class Metric(StrEnum):
    """Values of ``--metric``."""

    diagonal = "diagonal"
    full = "full"


class Features(StrEnum):
    """Values of ``--features``."""

    none = "none"
    windows = "windows"
    hermite = "hermite"
    auto = "auto"


class Penalty(StrEnum):
    """Values of ``--penalty``."""

    constant = "constant"
    features = "features"


class Criterion(StrEnum):
    """Values of ``--criterion``."""

    auto = "auto"
    covering = "covering"
    projection = "projection"
    f1 = "f1"


LearntKind = Annotated[
    Kind,
    typer.Option(
        "--kind",
        help="What to learn: how to group rows into clusters, or where series change.",
    ),
]
ShownRegions = Annotated[
    Path | None,
    typer.Option(
        "--regions",
        metavar="REGIONS",
        help="For changes, in place of --label: a CSV file with the columns start, end, changes "
        "(0, 1 or >=1), and set with the name of the series where there are several: how many "
        "changes there are in rows start to end - 1.",
    ),
]
LearntMetric = Annotated[
    Metric,
    typer.Option(
        "--metric", help="For changes: one weight per feature, or a matrix for some dozens of them."
    ),
]
LearntFeatures = Annotated[
    Features,
    typer.Option(
        "--features",
        help="For changes: the columns as they are, for changes of the mean (none); their local "
        "variability as well, for sensor data (windows); functions of them for changes of the "
        "distribution (hermite); or what does best on series held out of training (auto).",
    ),
]
LearntPenalty = Annotated[
    Penalty,
    typer.Option(
        "--penalty",
        help="For changes: what a segment must be worth, one number; or dependent on the length "
        "and the noise of the series (features).",
    ),
]
ChosenCriterion = Annotated[
    Criterion,
    typer.Option(
        "--criterion",
        help="For changes: what the penalty is fitted by, and candidates are chosen by.",
    ),
]
