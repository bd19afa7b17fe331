"""What ``likewise segment`` found, and what the file of a detector holds, as tables (rich)."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from likewise.app.inspection import DetectorReport
from likewise.app.layout import (
    columns,
    counted,
    facts,
    number,
    printed_files,
    printed_notes,
    table,
)
from likewise.app.segmenting import SegmentedSeries, SegmentReport
from likewise.plots.canvas import readable

# Lines of tables, change points of a line, and noise scales that are listed.
SERIES, SEGMENTS, CUTS, SCALES = 20, 20, 12, 6
AS_THEY_ARE = "as they are"
LEARNER = "ChangePointLearner"


def print_segmented(report: SegmentReport, console: Console) -> None:
    """Print what ``likewise segment`` did."""
    first = report.series[0]
    same = all(own.columns == first.columns for own in report.series)
    lines = {"data": ", ".join(report.data[:CUTS]) + (", ..." if len(report.data) > CUTS else "")}
    if report.model is not None:
        lines["model"] = f"{report.model} ({report.kind})"
    lines |= {
        "rows": f"{report.rows:,}",
        "columns": columns(first.columns) if same else "not the same in all series",
        "compared": _compared(report),
        "penalty": _penalty(report),
    }
    if report.kind != LEARNER:
        lines["least size"] = counted(report.min_size, "row")
    if report.regions:
        lines["labels"] = f"{counted(report.regions, 'region')}, all kept to"
    if len(report.series) == 1:
        lines["segments"] = f"{first.segments:,}"
        if first.cost is not None:
            lines["cost"] = readable(first.cost)
    if report.share_labels:
        lines["labels"] = f"{len(set(report.labels)):,}, shared by segments that are alike"
    console.print(facts({**lines, "seconds": f"{report.seconds:.2f}"}))
    console.print(
        _segments(first, report.share_labels) if len(report.series) == 1 else _series(report.series)
    )
    printed_files(console, {"labels": report.out, "picture": report.plot})
    if report.drawn and report.drawn < len(report.series):
        console.print(Text(f"the picture shows the first {report.drawn} series"))
    printed_notes(report.warnings)


def print_detector(report: DetectorReport, console: Console) -> None:
    """Print what the file of a detector holds."""
    lines = {
        "file": report.file,
        "model": report.model,
        "written by": f"likewise {report.library_version}, file format {report.file_format}",
        "fitted": "yes" if report.fitted else "no",
    }
    if report.change_points is not None:
        lines |= {
            "rows": f"{report.rows:,}",
            "columns": columns(report.columns),
            "segments": f"{report.segments:,}",
            "change points": _listed(report.change_points),
            "cost": number(report.cost),
        }
    console.print(facts(lines))
    parameters = table("parameter", "value", title="Parameters", right=False)
    for name, value in report.parameters.items():
        parameters.add_row(Text(name), Text(repr(value)))
    console.print(parameters)


def _compared(report: SegmentReport) -> str:
    if report.kind == LEARNER:
        return "by what was learnt"
    if report.model is not None:
        held = report.parameters or {}
        if held.get("kernel") is not None:
            return f"by the kernel {held['kernel']} of the model"
        return "by the metric of the model" if held.get("metric") is not None else AS_THEY_ARE
    if not report.scaled:
        return AS_THEY_ARE
    how = "every column divided by its noise"
    first = report.series[0]
    if len(report.series) > 1 or first.noise is None:
        return how
    pairs = list(zip(first.columns, first.noise, strict=True))
    shown = ", ".join(f"{name} {scale:.4g}" for name, scale in pairs[:SCALES] if scale > 0.0)
    more = ", ..." if len(pairs) > SCALES else ""
    return f"{how} ({shown}{more})" if shown else f"{how}; all are constant"


def _penalty(report: SegmentReport) -> str:
    if report.n_segments is not None:
        source = "the model" if report.kind not in (None, LEARNER) else "--n-segments"
        return f"none: {counted(report.n_segments, 'segment')}, as {source} says"
    value = report.series[0].penalty
    if report.kind == LEARNER and len(report.series) > 1:
        return "as learnt, for every series"
    if report.default_penalty:
        shown = f" = {number(value)}" if len(report.series) == 1 else ""
        return f"2 p log T{shown}, for T rows of p columns that vary"
    return f"{number(value)} ({'of the model' if report.model is not None else 'as given'})"


def _segments(series: SegmentedSeries, labelled: bool) -> Table:
    made = table("segment", "first row", "rows", *["label"] * labelled, title="Segments")
    starts = [0, *series.change_points]
    for place in range(min(series.segments, SEGMENTS)):
        label = [str(series.labels[place])] * labelled
        made.add_row(str(place), f"{starts[place]:,}", f"{series.sizes[place]:,}", *label)
    if series.segments > SEGMENTS:
        made.add_row(f"{series.segments - SEGMENTS:,} more", style="dim")
    return made


def _series(series: Sequence[SegmentedSeries]) -> Table:
    made = table("series", "rows", "penalty", "segments")
    made.add_column("change points")
    for own in series[:SERIES]:
        made.add_row(
            Text(own.name), f"{own.rows:,}", number(own.penalty), f"{own.segments:,}",
            _listed(own.change_points),
        )  # fmt: skip
    if len(series) > SERIES:
        made.add_row(f"{len(series) - SERIES:,} more", style="dim")
    return made


def _listed(cuts: Sequence[int]) -> str:
    shown = ", ".join(f"{cut}" for cut in cuts[:CUTS])
    return f"{shown}, ..." if len(cuts) > CUTS else shown or "none"
