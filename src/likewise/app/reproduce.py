"""What ``likewise reproduce`` does: run an experiment, and put claims beside figures."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from likewise.app.reports import as_json
from likewise.errors import InputError
from likewise.experiments.base import Plan
from likewise.experiments.registry import MODULES, experiment_named
from likewise.experiments.runner import run_experiment
from likewise.plots.canvas import require_matplotlib

VERDICTS = {True: "yes", False: "no", None: "-"}


@dataclass(frozen=True, kw_only=True)
class ReproduceRequest:
    """Which experiment, how much of it, and where to."""

    name: str
    out: Path
    quick: bool = False
    seeds: int | None = None
    data: Path | None = None
    jobs: int | None = None
    fresh: bool = False


@dataclass(frozen=True, kw_only=True)
class ReproduceReport:
    """Tables and claims of one run, and the files it wrote."""

    experiment: str
    title: str
    source: str
    quick: bool
    seeds: int | None
    cells: int
    computed: int
    seconds: float
    tables: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    results: str
    report: str
    picture: str


@dataclass(frozen=True, kw_only=True)
class ExperimentList:
    """The experiments there are: name, title and source of each."""

    experiments: list[dict[str, str]]


def run_reproduce(request: ReproduceRequest, on_stage: Callable[[str], None]) -> ReproduceReport:
    """Run an experiment, or what is left of it.

    Parameters
    ----------
    request : ReproduceRequest
        What to do.
    on_stage : callable
        Told how far it is.

    Returns
    -------
    ReproduceReport
    """
    require_matplotlib()
    experiment = experiment_named(request.name)
    if request.out.exists() and not request.out.is_dir():
        raise InputError(f"--out {request.out} is a file; name a folder for the results.")
    plan = Plan(quick=request.quick, seeds=request.seeds, data=request.data)
    start = time.perf_counter()
    run = run_experiment(
        experiment, plan, request.out, jobs=request.jobs, fresh=request.fresh, on_stage=on_stage
    )
    return ReproduceReport(
        experiment=experiment.name,
        title=experiment.title,
        source=experiment.source,
        quick=plan.quick,
        seeds=plan.seeds,
        cells=len(run.results),
        computed=run.computed,
        seconds=time.perf_counter() - start,
        tables=[asdict(table) for table in run.findings.tables],
        claims=[asdict(claim) for claim in run.findings.claims],
        results=str(run.folder / "results.csv"),
        report=str(run.folder / "report.json"),
        picture=str(run.figure),
    )


def list_experiments() -> ExperimentList:
    """Name what can be run."""
    found = [experiment_named(name) for name in MODULES]
    return ExperimentList(
        experiments=[{"name": x.name, "title": x.title, "source": x.source} for x in found]
    )


def show(report: ReproduceReport | ExperimentList, as_document: bool) -> None:
    """Print a report on stdout: tables, or one JSON document."""
    if as_document:
        sys.stdout.write(as_json(report) + "\n")
        return
    console = Console(highlight=False)
    if isinstance(report, ExperimentList):
        console.print(
            _table(
                ["experiment", "about", "from"],
                [[x["name"], x["title"], x["source"]] for x in report.experiments],
            )
        )
        return
    _print_run(report, console)


def _print_run(report: ReproduceReport, console: Console) -> None:
    console.print(Text(f"{report.title}\n{report.source}"))
    if report.quick:
        console.print(
            Text("A quick look: small sets and few seeds. Figures count without --quick only.")
        )
    for table in report.tables:
        console.print(Text(table["title"], style="italic"), soft_wrap=True)
        console.print(_table(table["columns"], table["rows"], right=True))
    console.print(
        _table(
            ["claim", "measured here", "holds"],
            [
                [
                    f"{x['says']} ({x['source']})",
                    f"{x['measured']} (asked: {x['rule']})",
                    VERDICTS[x["holds"]],
                ]
                for x in report.claims
            ],
            title="Claims beside what we got",
        )
    )
    console.print(
        Text(f"{report.cells} cells, {report.computed} of them new, {report.seconds:.0f} s")
    )
    files = (("measurements", report.results), ("report", report.report))
    for name, path in (*files, ("picture", report.picture)):
        console.print(Text(f"{name} written to {path}"), soft_wrap=True)


def _table(
    columns: list[str], rows: list[list[str]], *, title: str | None = None, right: bool = False
) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        title_style="italic",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0) if right else (0, 2, 0, 0),
    )
    for place, name in enumerate(columns):
        # Figures stay whole; their headings, and texts, are wrapped.
        widest = max((len(row[place]) for row in rows), default=0)
        table.add_column(
            name,
            justify="right" if right and place else "left",
            min_width=widest if right else None,
        )
    for row in rows:
        table.add_row(*map(Text, row))
    return table
