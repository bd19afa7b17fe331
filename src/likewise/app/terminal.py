"""Reports as tables or JSON on stdout, progress on stderr (rich)."""

from __future__ import annotations

import sys
from functools import singledispatch
from typing import Any

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from likewise.app.change_tables import print_learnt_changes, print_series_learner
from likewise.app.demo import DemoReport
from likewise.app.demo_tables import print_demo
from likewise.app.grouping import GroupReport
from likewise.app.inspection import (
    DetectorReport,
    LearnerReport,
    ModelReport,
    SeriesLearnerReport,
)
from likewise.app.layout import columns as _columns
from likewise.app.layout import facts as _facts
from likewise.app.layout import number as _number
from likewise.app.layout import percent, printed_files, printed_notes
from likewise.app.layout import table as _table
from likewise.app.learner_tables import print_grouped, print_learner, print_learnt
from likewise.app.learning import LearnReport
from likewise.app.learning_changes import LearnChangesReport
from likewise.app.reports import as_json
from likewise.app.segment_tables import print_detector, print_segmented
from likewise.app.segmenting import SegmentReport
from likewise.app.tasks import ClusterReport
from likewise.decoders.base import Progress
from likewise.learners.base import TrainingProgress
from likewise.plots.canvas import readable

# Clusters that the table of sizes lists.
SHOWN_CLUSTERS = 10
# What learners do before they train, by the stage of their records.
CHOOSING = {"validating": "choosing on what is held out", "features": "choosing features"}


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

    def update_training(self, record: TrainingProgress) -> None:
        """Show a progress record of a learner."""
        left = record.seconds_left
        time_left = f"  at most {_duration(left)} left" if left == left else ""
        if record.stage in CHOOSING:
            self._bar.update(
                self._task,
                description=CHOOSING[record.stage],
                state=f"part {record.iteration + 1}{time_left}",
            )
            return
        state = f"objective {readable(record.objective)}  gap {percent(record.gap)}{time_left}"
        self._bar.update(
            self._task, description=f"{record.stage}, pass {record.iteration:,}", state=state
        )


def show(report: Any, as_document: bool) -> None:
    """Print a report on stdout: tables, or one JSON document."""
    if as_document:
        sys.stdout.write(as_json(report) + "\n")
        return
    console = Console(highlight=False)
    _print(report, console)


def _duration(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole} s" if whole < 120 else f"{round(whole / 60)} min"


@singledispatch
def _print(report: Any, console: Console) -> None:
    raise TypeError(f"no table for {type(report).__name__}")


@_print.register
def _(report: ClusterReport, console: Console) -> None:
    links = {"must-links": report.must_links, "cannot-links": report.cannot_links}
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
                **{name: f"{count:,}" for name, count in links.items() if count},
                "seconds": f"{report.seconds:.2f}",
            }
        )
    )
    largest = sorted(range(report.clusters), key=lambda c: -report.sizes[c])[:SHOWN_CLUSTERS]
    table = _table("cluster", "exemplar (row)", "rows", title="Largest clusters")
    for c in largest:
        table.add_row(str(c), str(report.exemplars[c]), f"{report.sizes[c]:,}")
    console.print(table)
    printed_files(console, {"labels": report.out, "picture": report.plot, "model": report.save})
    printed_notes(report.warnings)


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
    print_demo(report, console)


@_print.register
def _(report: LearnReport, console: Console) -> None:
    print_learnt(report, console)


@_print.register
def _(report: LearnChangesReport, console: Console) -> None:
    print_learnt_changes(report, console)


@_print.register
def _(report: SeriesLearnerReport, console: Console) -> None:
    print_series_learner(report, console)


@_print.register
def _(report: GroupReport, console: Console) -> None:
    print_grouped(report, console)


@_print.register
def _(report: LearnerReport, console: Console) -> None:
    print_learner(report, console)


@_print.register
def _(report: SegmentReport, console: Console) -> None:
    print_segmented(report, console)


@_print.register
def _(report: DetectorReport, console: Console) -> None:
    print_detector(report, console)
