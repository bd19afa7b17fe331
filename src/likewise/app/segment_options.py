"""The options of ``likewise segment``: names, types, help (typer)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer


def _check_penalty(value: float | None) -> float | None:
    if value is not None and not (math.isfinite(value) and value >= 0.0):
        raise typer.BadParameter(f"a finite number from 0 on, not {value:g}")
    return value


Series = Annotated[
    list[Path],
    typer.Argument(
        metavar="SERIES",
        help="Files of numbers, rows in the order of time: .csv, .parquet or .npy. Each is a "
        "series of its own.",
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--set", metavar="COLUMN", help="The column that says which series of its file a row is in."
    ),
]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        help="Cut by this .likewise file: one of likewise learn --kind changes cuts like the "
        "series that it was shown; a ChangePointDetector by its settings: metric or kernel, "
        "penalty, number of segments, least size. Columns are found by name.",
    ),
]
Penalty = Annotated[
    float | None,
    typer.Option(
        help="What every segment costs, in squared units of the columns: higher means fewer. "
        "Without it and --n-segments: 2 p log T, for T rows of p columns that were divided by "
        "their noise.",
        callback=_check_penalty,
        show_default=False,
    ),
]
NSegments = Annotated[
    int | None, typer.Option(min=1, help="Exactly so many segments in every series.")
]
ShareLabels = Annotated[
    bool,
    typer.Option(
        "--share-labels",
        help="With a learnt model: segments that are alike get the same label, within a series and "
        "between them, where labels otherwise count the segments of each.",
    ),
]
MinSize = Annotated[int, typer.Option(min=1, help="Rows of a segment at least.")]
Scale = Annotated[
    bool | None,
    typer.Option(
        "--scale/--no-scale",
        help="Whether every column is divided by its noise: 1.4826 MAD of the differences of "
        "neighbouring rows / sqrt 2; where that is zero, the standard deviation. By default only "
        "where neither --penalty nor --n-segments is given.",
        show_default=False,
    ),
]
Regions = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="REGIONS",
        help="A CSV file with the columns start, end, changes (0, 1 or >=1): how many changes "
        "there are in rows start to end - 1. The segments keep to it. One series only.",
    ),
]
LabelsFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Write row, label to this CSV file, with the set between them where there are "
        "several series.",
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option(
        "--plot", help="Draw the series and their segments to this .png, .pdf or .svg file."
    ),
]
