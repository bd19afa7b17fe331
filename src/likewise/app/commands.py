"""Arguments, options and exit codes of the commands (typer).

Exit codes: 0 done; 1 something about the data, the files or the machine, explained in one line; 2
the command was not understood; 130 interrupted. Nothing heavy is loaded before a command runs, so
``--help`` stays fast.
"""

from __future__ import annotations

import errno
import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from likewise import __version__

INTERRUPTED = 130
FAILED = 1


class Solver(StrEnum):
    """Values of ``--solver``."""

    auto = "auto"
    fast = "fast"
    exact = "exact"


class GuardedGroup(TyperGroup):
    """Commands whose errors become one line and an exit code, unless ``--debug`` was given."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        if ctx.params.get("debug"):
            return super().invoke(ctx)
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("interrupted: nothing was written", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            message = _explain(error)
            if message is None:
                raise
            typer.echo("error: " + " ".join(message.split()), err=True)
            raise typer.Exit(FAILED) from None


def _explain(error: Exception) -> str | None:
    """One line for an error; None for those that typer itself turns into an exit."""
    if type(error).__module__.split(".")[0] in ("typer", "click"):
        return None
    if isinstance(error, OSError):
        if error.errno == errno.EPIPE:  # the reader of our output went away
            return None
        return f"{error.filename or 'input or output'}: {error.strerror or error}"

    from likewise.errors import LikewiseError

    if isinstance(error, LikewiseError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"not enough memory ({error}); try --candidates with a small number, such as 20"
    return (
        f"unexpected {type(error).__name__}: {error}; this is a fault of likewise: run "
        "'likewise --debug ...' and report what it prints"
    )


app = typer.Typer(
    cls=GuardedGroup,
    name="likewise",
    help="Partition data around exemplars, with a proof of how good the partition is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"likewise {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Partition data around exemplars, with a proof of how good the partition is."""


def _parse_opening_cost(text: str) -> str:
    if text != "median" and not math.isfinite(_number(text)):
        raise typer.BadParameter(f"'median' or a finite number, not {text!r}")
    return text


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _parse_weights(text: str | None) -> str | None:
    if text is not None and not all(math.isfinite(_number(word)) for word in text.split(",")):
        raise typer.BadParameter(f"numbers separated by commas, one per column, not {text!r}")
    return text


Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]


@app.command(
    help="Cluster handwritten digits, compare with scikit-learn, and draw the result.\n\n"
    "The opening cost is chosen without the labels; they only serve to judge the partitions. "
    "All energies are computed by the same function on the same distances."
)
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("demo"),
    json: Json = False,
) -> None:
    """Run ``likewise demo``."""
    from likewise.app import terminal
    from likewise.app.demo import run_demo

    with terminal.ProgressBar(hidden=json) as bar:
        report = run_demo(out, bar.update, bar.show_stage)
    terminal.show(report, json)


@app.command(
    help="Partition the rows of a file around exemplars.\n\n"
    "The number of clusters follows from the opening cost. Rows are numbered from 0 in all that "
    "is written, like the rows of an array. Ctrl-C stops the search: the best partition so far "
    "is reported and written, and the exit code is 130."
)
def cluster(
    *,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A .csv, .parquet or .npy file of numbers.")
    ],
    columns: Annotated[
        str | None, typer.Option(help="Columns to use, such as a,b,c; all by default.")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a CSV names the columns; only needed where it is "
            "all numbers.",
            show_default=False,
        ),
    ] = None,
    distance: Annotated[
        str,
        typer.Option(
            help="sqeuclidean, euclidean, manhattan, chebyshev, chi2, cosine, hamming, rbf, or "
            "precomputed: the file holds distances, entry (p, q) for row p served by row q."
        ),
    ] = "sqeuclidean",
    weights: Annotated[
        str | None,
        typer.Option(
            help="One weight per column, such as 1,0.5,2, for the weighted squared distance.",
            callback=_parse_weights,
        ),
    ] = None,
    opening_cost: Annotated[
        str,
        typer.Option(
            metavar="median|NUMBER",
            help="What each cluster costs: the median distance, or a number. The more, the fewer "
            "clusters.",
            callback=_parse_opening_cost,
        ),
    ] = "median",
    candidates: Annotated[
        int | None,
        typer.Option(
            min=1, help="Keep only this many nearest neighbours; for large data, 20 or so."
        ),
    ] = None,
    solver: Annotated[Solver, typer.Option(help="exact: prove the optimum.")] = Solver.auto,
    gap: Annotated[
        float, typer.Option(min=0.0, help="Stop when the energy is proven to be this close.")
    ] = 1e-6,
    time_limit: Annotated[
        float | None, typer.Option(min=0.0, help="Stop after so many seconds.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the random search.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads; -1 uses all.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write row, label, exemplar, is_exemplar, distance to this CSV file."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the partition to this .png, .pdf or .svg file.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the fitted model to this .likewise file.")
    ] = None,
    json: Json = False,
) -> None:
    """Run ``likewise cluster``."""
    from likewise.app import terminal
    from likewise.app.tasks import ClusterRequest, run_cluster

    request = ClusterRequest(
        data=data,
        columns=None if columns is None else tuple(columns.split(",")),
        header=header,
        distance=distance,
        weights=None if weights is None else tuple(float(word) for word in weights.split(",")),
        opening_cost=opening_cost if opening_cost == "median" else float(opening_cost),
        candidates=candidates,
        solver=solver.value,
        gap=gap,
        time_limit=time_limit,
        seed=seed,
        jobs=jobs,
        out=out,
        plot=plot,
        save=save,
    )
    with terminal.ProgressBar(hidden=json) as bar:
        report = run_cluster(request, bar.update, bar.show_stage)
    terminal.show(report, json)
    if report.status == "interrupted":
        typer.echo("interrupted: this is the best partition so far", err=True)
        raise typer.Exit(INTERRUPTED)


@app.command(help="Show what a model file holds: class, parameters, and what was fitted.")
def inspect(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A .likewise file.")],
    json: Json = False,
) -> None:
    """Run ``likewise inspect``."""
    from likewise.app import terminal
    from likewise.app.tasks import run_inspect

    terminal.show(run_inspect(model), json)
