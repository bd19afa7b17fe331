"""The options of the commands: names, types, help (typer)."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from likewise import __version__


class Solver(StrEnum):
    """Values of ``--solver``."""

    auto = "auto"
    fast = "fast"
    exact = "exact"


class ExperimentName(StrEnum):
    """What ``likewise reproduce`` knows; named here so that ``--help`` loads nothing else."""

    komodakis_synthetic = "komodakis-synthetic"
    unseen_classes = "unseen-classes"
    transfer = "transfer"


def words(text: str | None) -> tuple[str, ...] | None:
    """Split a list that is separated by commas."""
    return None if text is None else tuple(word.strip() for word in text.split(","))


def numbers(text: str | None) -> tuple[float, ...] | None:
    """Split a list of numbers, which was checked before."""
    return None if text is None else tuple(float(word) for word in text.split(","))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _check_opening_cost(text: str) -> str:
    if text != "median" and not math.isfinite(_number(text)):
        raise typer.BadParameter(f"'median' or a finite number, not {text!r}")
    return text


def _check_weights(text: str | None) -> str | None:
    if text is not None and not all(math.isfinite(_number(word)) for word in text.split(",")):
        raise typer.BadParameter(f"numbers separated by commas, one per column, not {text!r}")
    return text


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"likewise {__version__}")
        raise typer.Exit


# All commands
Version = Annotated[
    bool,
    typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]

# demo
PictureFolder = Annotated[Path, typer.Option(help="Folder for the picture.")]

# inspect
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A .likewise file.")]

# cluster: the data
Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="A .csv, .parquet or .npy file of numbers.")
]
Columns = Annotated[str | None, typer.Option(help="Columns to use, such as a,b,c; all by default.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV names the columns; only needed where it is all "
        "numbers.",
        show_default=False,
    ),
]

# cluster: the problem
Distance = Annotated[
    str,
    typer.Option(
        help="sqeuclidean, euclidean, manhattan, chebyshev, chi2, cosine, hamming, rbf, or "
        "precomputed: the file holds distances, entry (p, q) for row p served by row q."
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        help="One weight per column, such as 1,0.5,2, for the weighted squared distance.",
        callback=_check_weights,
    ),
]
OpeningCost = Annotated[
    str,
    typer.Option(
        metavar="median|NUMBER",
        help="What each cluster costs: the median distance, or a number. The more, the fewer "
        "clusters.",
        callback=_check_opening_cost,
    ),
]
Candidates = Annotated[
    int | None,
    typer.Option(min=1, help="Keep only this many nearest neighbours; for large data, 20 or so."),
]

# cluster: the search
ChosenSolver = Annotated[
    Solver, typer.Option("--solver", help="exact: prove the optimum, or say how far it is.")
]
Gap = Annotated[
    float, typer.Option(min=0.0, help="Stop when the energy is proven to be this close.")
]
TimeLimit = Annotated[float | None, typer.Option(min=0.0, help="Stop after so many seconds.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of the random search.")]
Jobs = Annotated[int | None, typer.Option(help="Threads; -1 uses all.")]

# cluster: what is written
LabelsFile = Annotated[
    Path | None,
    typer.Option(help="Write row, label, exemplar, is_exemplar, distance to this CSV file."),
]
PictureFile = Annotated[
    Path | None, typer.Option(help="Draw the partition to this .png, .pdf or .svg file.")
]
ModelFile = Annotated[
    Path | None, typer.Option(help="Save the fitted model to this .likewise file.")
]

# reproduce
ExperimentArgument = Annotated[
    ExperimentName | None,
    typer.Argument(metavar="NAME", help="Which experiment; --list names them."),
]
ListThem = Annotated[bool, typer.Option("--list", help="Name the experiments, and stop.")]
ResultFolder = Annotated[
    Path,
    typer.Option(help="Folder for the results. A run that was interrupted goes on from there."),
]
Quick = Annotated[bool, typer.Option("--quick", help="Small sets and few seeds: under a minute.")]
Seeds = Annotated[
    int | None,
    typer.Option(min=1, help="Runs of everything; each experiment has numbers of its own."),
]
Processes = Annotated[int | None, typer.Option("--jobs", help="Processes; -1 uses all.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Compute all again, also what is in the folder.")
]
