"""Reports as tables or JSON on stdout, progress on stderr (rich)."""

from __future__ import annotations

import sys
from functools import singledispatch
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from likewise.app.demo import DemoReport
from likewise.app.tasks import ClusterReport, ModelReport, as_json
from likewise.decoders.base import Progress
from likewise.plots.canvas import readable

# Clusters that the table of sizes lists.
SHOWN_CLUSTERS = 10


class ProgressBar:
    """A line on stderr that shows how far the work is; nothing where stderr is not a terminal.

    Parameters
    ----------
    hidden : bool, default=False
        Show nothing, also on a terminal.
    """

    def __init__(self, *, hidden: bool = False) -> None:
        console = Console(stderr=True)
        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[state]}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=hidden or not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=None, state="")

    def __enter__(self) -> ProgressBar:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def show_stage(self, name: str) -> None:
        """Show that a stage has begun of which only the name is known."""
        self._bar.update(self._task, description=name, state="")

    def update(self, record: Progress) -> None:
        """Show a progress record of the solver."""
        state = (
            f"energy {readable(record.energy)}  bound {readable(record.lower_bound)}  "
            f"gap {percent(record.gap)}  clusters {record.n_clusters:,}"
        )
        self._bar.update(self._task, description=record.stage, state=state)


def show(report: Any, as_document: bool) -> None:
    """Print a report on stdout: tables, or one JSON document."""
    if as_document:
        sys.stdout.write(as_json(report) + "\n")
        return
    console = Console(highlight=False)
    _print(report, console)


def percent(share: float | None) -> str:
    """Write a share as a percentage, with the digits that matter."""
    if share is None or share != share or share == float("inf"):
        return "-"
    return f"{100 * share:.3f} %" if share >= 1e-5 else f"{100 * share:.1g} %"


@singledispatch
def _print(report: Any, console: Console) -> None:
    raise TypeError(f"no table for {type(report).__name__}")


@_print.register
def _(report: ClusterReport, console: Console) -> None:
    console.print(
        _facts(
            {
                "data": report.data,
                "rows": f"{report.rows:,}",
                "columns": _columns(report.columns),
                "clusters": f"{report.clusters:,}",
                "energy": readable(report.energy),
                "lower bound": readable(report.lower_bound),
                "certified gap": f"{percent(report.gap)} (over {report.bound_scope})",
                "status": report.status,
                "opening cost": readable(report.opening_cost),
                "seconds": f"{report.seconds:.2f}",
            }
        )
    )
    largest = sorted(range(report.clusters), key=lambda c: -report.sizes[c])[:SHOWN_CLUSTERS]
    table = _table("cluster", "exemplar (row)", "rows", title="Largest clusters")
    for c in largest:
        table.add_row(str(c), str(report.exemplars[c]), f"{report.sizes[c]:,}")
    console.print(table)
    for name, path in (("labels", report.out), ("picture", report.plot), ("model", report.save)):
        if path is not None:
            console.print(Text(f"{name} written to {path}"), soft_wrap=True)
    for warning in report.warnings:
        Console(stderr=True).print(Text(f"note: {warning}"), soft_wrap=True)


@_print.register
def _(report: ModelReport, console: Console) -> None:
    facts = {
        "file": report.file,
        "model": report.model,
        "written by": f"likewise {report.library_version}, file format {report.file_format}",
        "fitted": "yes" if report.fitted else "no",
    }
    if report.fitted:
        cost = report.opening_cost
        facts |= {
            "rows": f"{report.rows:,}",
            "columns": _columns(report.columns),
            "clusters": f"{report.clusters:,}",
            "energy": _number(report.energy),
            "lower bound": _number(report.lower_bound),
            "certified gap": f"{percent(report.gap)} (over {report.bound_scope})",
            "status": str(report.status),
            "opening cost": f"one per row, {len(cost):,}"
            if isinstance(cost, list)
            else _number(cost),
        }
    console.print(_facts(facts))
    table = _table("parameter", "value", title="Parameters", right=False)
    for name, value in report.parameters.items():
        table.add_row(Text(name), Text(repr(value)))
    console.print(table)


@_print.register
def _(report: DemoReport, console: Console) -> None:
    ours = report.results[0]
    console.print(
        Text(
            f"{report.rows:,} handwritten digits, {report.columns} pixels each: {report.source}.\n"
            f"Opening cost {readable(report.opening_cost)}: {report.opening_cost_rule}."
        )
    )
    table = _table("method", "clusters", "energy", "gap", "ARI", "pair F", "seconds")
    for line in report.results:
        table.add_row(
            line.method,
            str(line.clusters),
            _number(line.energy),
            percent(line.gap),
            f"{line.adjusted_rand:.3f}",
            f"{line.pairwise_f1:.3f}",
            f"{line.seconds:.2f}",
            style="bold" if line is ours else None,
        )
    console.print(table)
    console.print(
        Text(
            "Energy: lower is better; computed alike for all, every row served by the nearest "
            "exemplar.\nGap: how far above the lower bound that likewise proves, "
            f"{readable(report.lower_bound)}; the others prove none.\nARI and pair F: agreement "
            f"with the {report.known_clusters} known digits; 1 is perfect, and the clusters here "
            "are ways to write them.\nAffinityPropagation 0.5 and 0.9: its damping. KMeans and "
            "Agglomerative are told how many clusters likewise found.\n"
            "Seconds: on one thread each, after compiling."
        )
    )
    console.print(Text(f"picture written to {report.picture}"), soft_wrap=True)


def _facts(facts: dict[str, str]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts.items():
        grid.add_row(name, Text(value))
    return grid


def _table(*names: str, title: str | None = None, right: bool = True) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        title_style="italic",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    table.add_column(names[0], no_wrap=True)
    for name in names[1:]:
        table.add_column(name, justify="right" if right else "left")
    return table


def _columns(columns: list[str] | int | None) -> str:
    if isinstance(columns, list):
        shown = ", ".join(columns[:8])
        more = f", and {len(columns) - 8} more" if len(columns) > 8 else ""
        return f"{len(columns)} ({shown}{more})"
    return "-" if columns is None else str(columns)


def _number(value: float | None) -> str:
    return "-" if value is None else readable(value)
