"""The commands and their exit codes (typer).

Exit codes: 0 done; 1 something about the data, the files or the machine, explained in one line; 2
the command was not understood; 130 interrupted. Nothing heavy is loaded before a command runs, so
``--help`` stays fast.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from likewise.app import options

INTERRUPTED = 130
FAILED = 1


class GuardedGroup(TyperGroup):
    """Commands whose errors become one line and an exit code, unless ``--debug`` was given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take ``--debug`` wherever it stands, also behind the command."""
        others = [word for word in args if word != "--debug"]
        rest: list[str] = super().parse_args(ctx, ["--debug"] * (others != args) + others)
        return rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        if ctx.params.get("debug"):
            return super().invoke(ctx)
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("interrupted: what was not yet written is left as it was", err=True)
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


@app.callback()
def whole(version: options.Version = False, debug: options.Debug = False) -> None:
    """Partition data around exemplars, with a proof of how good the partition is."""


@app.command(
    help="Cluster handwritten digits, compare with scikit-learn, and draw the result.\n\n"
    "The opening cost is chosen without the labels; they only serve to judge the partitions. "
    "All energies are computed by the same function on the same distances."
)
def demo(
    out: options.PictureFolder = Path("demo"),
    json: options.Json = False,
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
    data: options.Data,
    columns: options.Columns = None,
    header: options.Header = None,
    distance: options.Distance = "sqeuclidean",
    weights: options.Weights = None,
    opening_cost: options.OpeningCost = "median",
    candidates: options.Candidates = None,
    solver: options.ChosenSolver = options.Solver.auto,
    gap: options.Gap = 1e-6,
    time_limit: options.TimeLimit = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    out: options.LabelsFile = None,
    plot: options.PictureFile = None,
    save: options.ModelFile = None,
    json: options.Json = False,
) -> None:
    """Run ``likewise cluster``."""
    from likewise.app import terminal
    from likewise.app.tasks import ClusterRequest, run_cluster

    request = ClusterRequest(
        data=data,
        columns=options.words(columns),
        header=header,
        distance=distance,
        weights=options.numbers(weights),
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
    model: options.Model,
    json: options.Json = False,
) -> None:
    """Run ``likewise inspect``."""
    from likewise.app import terminal
    from likewise.app.tasks import run_inspect

    terminal.show(run_inspect(model), json)


@app.command(
    help="Run an experiment, and put what is claimed beside what comes out.\n\n"
    "Writes the measurements (CSV), a report (JSON) and a figure. What has been computed is kept, "
    "so after Ctrl-C the same command goes on where it stopped."
)
def reproduce(
    *,
    name: options.ExperimentArgument = None,
    list_them: options.ListThem = False,
    out: options.ResultFolder = Path("results"),
    quick: options.Quick = False,
    seeds: options.Seeds = None,
    jobs: options.Processes = None,
    fresh: options.Fresh = False,
    json: options.Json = False,
) -> None:
    """Run ``likewise reproduce``."""
    if name is None and not list_them:
        raise typer.BadParameter("name an experiment; --list shows them", param_hint="NAME")

    from likewise.app import reproduce as tasks
    from likewise.app import terminal

    if name is None or list_them:
        tasks.show(tasks.list_experiments(), json)
        return
    request = tasks.ReproduceRequest(
        name=name.value, out=out, quick=quick, seeds=seeds, jobs=jobs, fresh=fresh
    )
    with terminal.ProgressBar(hidden=json) as bar:
        report = tasks.run_reproduce(request, bar.show_stage)
    tasks.show(report, json)
