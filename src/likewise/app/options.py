"""The options of the commands: names, types, help (typer)."""

from __future__ import annotations

import math
from collections.abc import Callable
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


class Regulariser(StrEnum):
    """Values of ``--regulariser``."""

    auto = "auto"
    l1 = "l1"
    l2 = "l2"
    trace = "trace"


class Optimiser(StrEnum):
    """Values of ``--optimiser``."""

    auto = "auto"
    subgradient = "subgradient"
    stochastic = "stochastic"


class ExperimentName(StrEnum):
    """What ``likewise reproduce`` knows; named here so that ``--help`` loads nothing else."""

    komodakis_synthetic = "komodakis-synthetic"
    unseen_classes = "unseen-classes"
    transfer = "transfer"
    lajugie_synthetic = "lajugie-synthetic"
    segmentation_families = "segmentation-families"


def words(text: str | None) -> tuple[str, ...] | None:
    """Split a list that is separated by commas."""
    return None if text is None else tuple(word.strip() for word in text.split(","))


def numbers(text: str | None) -> tuple[float, ...] | None:
    """Split a list of numbers, which was checked before."""
    return None if text is None else tuple(float(word) for word in text.split(","))


def number_or(word: str, text: str) -> float | str:
    """A number, or the word that may stand in its place, which was checked before."""
    return word if text == word else float(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _check_number_or(word: str, low: float = -math.inf) -> Callable[[str], str]:
    """What checks an option that is a word or a number."""
    number = "a finite number" if low == -math.inf else f"a finite number from {low:g} on"

    def check(text: str) -> str:
        value = _number(text)
        if text != word and not (math.isfinite(value) and value >= low):
            raise typer.BadParameter(f"{word!r} or {number}, not {text!r}")
        return text

    return check


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
PictureFolder = Annotated[Path, typer.Option(help="Folder for the pictures.")]

# inspect
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A .likewise file.")]

# Data
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

# learn: the data
TrainingData = Annotated[
    list[Path],
    typer.Argument(
        metavar="TRAIN",
        help="Files of rows whose clusters are known, or of series whose segments are: .csv, "
        ".parquet or .npy. Each is a set, or a series, of its own.",
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column with the cluster, or the segment, of every row, numbers or text; where it "
        "is empty or -1, it is not shown. Clusters of different sets have nothing to do with each "
        "other. Rows of one label that follow each other are a segment.",
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--set",
        metavar="COLUMN",
        help="The column that says which set, or series, of its file a row is in.",
    ),
]
ComparedColumns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="Columns to use, such as a,b,'x*', where * is any text; all columns of numbers by "
        "default.",
    ),
]
Compare = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME:DISTANCE:COLUMNS",
        help="Learn the weight of this comparison, such as colour:chi2:red,h*. May be given "
        "several times. Without a name write :chi2:red,h*, without columns colour:chi2, without "
        "both chi2. Without the option, every column gets a weight.",
    ),
]

# learn: the problem and the training
LearntOpeningCost = Annotated[
    str,
    typer.Option(
        "--opening-cost",
        metavar="learn|NUMBER",
        help="What each cluster costs: learnt, or a number.",
        callback=_check_number_or("learn"),
    ),
]
Strength = Annotated[
    str,
    typer.Option(
        metavar="auto|NUMBER",
        help="How strongly weights are kept from fitting noise. auto chooses it on what is held "
        "out of training, and also whether learning helps at all; a number is much faster.",
        callback=_check_number_or("auto", 0.0),
    ),
]
ChosenRegulariser = Annotated[
    Regulariser,
    typer.Option(
        "--regulariser",
        help="What keeps weights from fitting noise: auto pulls them towards a distance that needs "
        "no training, l1 makes many of them zero, l2 keeps them small; trace is for --metric full, "
        "and leaves few directions.",
    ),
]
ChosenOptimiser = Annotated[
    Optimiser,
    typer.Option(
        "--optimiser",
        help="auto: cutting planes, which know how far they are from the best weights.",
    ),
]
MaxIter = Annotated[int, typer.Option(min=1, help="Passes over the sets at most.")]
Tol = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        help="Relative duality gap at which training stops: by default 0.02 for clusters, 0.01 for "
        "changes.",
        show_default=False,
    ),
]
TrainingSeed = Annotated[
    int | None, typer.Option("--seed", min=0, help="Seed of what is held out of training.")
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        help="Keep the state of the training in this file. The same command goes on from it after "
        "an interruption."
    ),
]
LearntModel = Annotated[
    Path, typer.Option("--out", help="Write what was learnt to this .likewise file.")
]
LearntPicture = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        help="Draw weights, training and what was compared, or the loss by penalty, to this .png, "
        ".pdf or .svg file.",
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
        callback=_check_number_or("median"),
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

MustLink = Annotated[
    Path | None,
    typer.Option(
        help="A CSV file of pairs of row numbers, from 0: such rows share a cluster.",
    ),
]
CannotLink = Annotated[
    Path | None,
    typer.Option(
        help="A CSV file of pairs of row numbers, from 0: such rows are in different clusters.",
    ),
]

# cluster: with a saved model
GivenModel = Annotated[
    Path | None,
    typer.Option(
        "--model",
        help="Group by this .likewise file, whose columns are found by name: one of likewise learn "
        "partitions the data like the sets that it was shown; a clusterer that was fitted puts "
        "every row into the cluster of its nearest exemplar.",
    ),
]
GroupedSplit = Annotated[
    str | None,
    typer.Option(
        "--set",
        metavar="COLUMN",
        help="With --model: the column that says which set a row is in; each is partitioned by "
        "itself.",
    ),
]
KnownLabel = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="With --model: a column with the known clusters, to judge by.",
    ),
]

# cluster: what is written
LabelsFile = Annotated[
    Path | None,
    typer.Option(
        help="Write row, label, exemplar, is_exemplar, distance to this CSV file; with --model "
        "row, set, label."
    ),
]
PictureFile = Annotated[
    Path | None,
    typer.Option(
        help="Draw the partition to this .png, .pdf or .svg file; with a learner beside what the "
        "plain distance does with as many clusters."
    ),
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
DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Folder with the real data that segmentation-families needs; others take none.",
    ),
]
Processes = Annotated[int | None, typer.Option("--jobs", help="Processes; -1 uses all.")]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Compute all again, also what is in the folder.")
]
