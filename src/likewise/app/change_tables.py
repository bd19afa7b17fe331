"""What was learnt of changes, and what the file of such a learner holds, as tables (rich)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from likewise.app.inspection import FeatureWeight, LearntChanges, SeriesLearnerReport
from likewise.app.layout import (
    bar,
    columns,
    counted,
    facts,
    percent,
    printed_files,
    printed_notes,
    table,
)
from likewise.app.learning import LearntWeight
from likewise.app.learning_changes import LearnChangesReport
from likewise.learners.base import STATUS_REMEDIES
from likewise.plots.canvas import readable

# Bars that a table lists.
BARS = 20


def print_learnt_changes(report: LearnChangesReport, console: Console) -> None:
    """Print what ``likewise learn --kind changes`` did."""
    lines = {"learnt from": _shown(report), "columns": columns(report.columns)}
    regions = any(own.regions for own in report.series)
    lines |= _learnt(report, "share of wrong regions" if regions else report.criterion)
    console.print(facts({**lines, "seconds": f"{report.seconds:.2f}"}))
    _print_choices(report, console)
    shares = [weight.share for weight in report.weights]
    _print_weights(report.weights, shares, console)
    printed_files(console, {"model": report.out, "picture": report.plot})
    if report.checkpoint is not None:
        text = f"checkpoint kept in {report.checkpoint}; delete it when it is no longer needed"
        console.print(Text(text), soft_wrap=True)
    printed_notes(report.warnings)


def print_series_learner(report: SeriesLearnerReport, console: Console) -> None:
    """Print what the file of a learner of changes holds."""
    lines = {
        "file": report.file,
        "model": report.model,
        "written by": f"likewise {report.library_version}, file format {report.file_format}",
        "fitted": "yes" if report.fitted is not None else "no",
    }
    if report.fitted is not None:
        low, high = report.fitted.rows_seen
        rows = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        seen = {"columns": columns(report.columns), "learnt from": f"series of {rows} rows"}
        lines |= {**seen, **_learnt(report.fitted, report.fitted.criterion)}
    console.print(facts(lines))
    if report.fitted is not None:
        _print_choices(report.fitted, console)
        _print_weights(report.fitted.weights, None, console)
    parameters = table("parameter", "value", title="Parameters", right=False)
    for name, value in report.parameters.items():
        parameters.add_row(Text(name), Text(repr(value)))
    console.print(parameters)


def _shown(report: LearnChangesReport) -> str:
    rows = sum(own.rows for own in report.series)
    regions = sum(own.regions for own in report.series)
    shown = sum(own.shown for own in report.series)
    start = f"{len(report.series):,} series: {counted(rows, 'row')}"
    if regions:
        return f"{start}, {counted(regions, 'region')}"
    hidden = "" if shown == rows else f", {rows - shown:,} of them not shown"
    return f"{start}{hidden}, {counted(sum(own.segments for own in report.series), 'segment')}"


def _learnt(report: LearnChangesReport | LearntChanges, loss: str) -> dict[str, str]:
    """What was learnt, in the lines of both reports."""
    means = STATUS_REMEDIES.get(report.status, "")
    blocks = "" if report.rows_per_block == 1 else f", in blocks of {report.rows_per_block} rows"
    typical = "in a series of typical length"
    depends = "; depends on the length and the noise of the series"
    return {
        "segmented by": f"{report.features}{blocks}",
        "chosen": report.chosen,
        "status": means if means.startswith(report.status) else f"{report.status}: {means}",
        "passes": f"{report.passes:,}",
        "duality gap": percent(report.gap),
        "penalty": f"{readable(report.penalty)} {typical}{depends * report.penalty_depends}",
        "loss": f"{report.loss:.3f} on what was shown ({loss}); one segment for every "
        f"series: {report.one_segment_loss:.3f}",
    }


def _print_choices(report: LearnChangesReport | LearntChanges, console: Console) -> None:
    """The losses on what was held out, of features and of metrics, where there was a choice."""
    looked = report.features_validation
    if len(looked.get("features", [])) > 1:
        console.print(_losses("features", looked))
    if report.validation:
        console.print(_losses("candidate", report.validation))
        if not _is_best(report.validation):
            console.print(
                Text("Chosen: another one must be clearly better to be preferred to it.\n"),
                soft_wrap=True,
            )


def _losses(name: str, held: dict[str, list[Any]]) -> Table:
    errors = held.get("standard_error")
    made = table(
        name, "loss", *(["std. error"] if errors else []), "",
        title=f"Held-out loss, by {name}",
    )  # fmt: skip
    for place, candidate in enumerate(held[name]):
        cells = [Text(candidate), _figure(held["loss"][place])]
        cells += [_figure(errors[place])] if errors else []
        chosen = held["chosen"][place]
        made.add_row(*cells, Text("chosen" if chosen else ""), style="bold" if chosen else None)
    return made


def _figure(value: float | None) -> Text:
    return Text("-" if value is None or value != value else f"{value:.3f}")


def _is_best(held: dict[str, list[Any]]) -> bool:
    return bool(held["chosen"][int(np.argmin(held["loss"]))])


def _print_weights(
    features: Sequence[LearntWeight] | Sequence[FeatureWeight],
    shares: Sequence[float] | None,
    console: Console,
) -> None:
    """Weights as bars, the largest first; without shares as they are."""
    weights = np.array([feature.weight for feature in features])
    sizes = weights if shares is None else np.array(shares)
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0.0]
    listed = order if len(order) <= BARS else order[: BARS - 1]
    count = f"{np.count_nonzero(weights):,} of {counted(len(weights), 'feature')} count"
    names = ["feature", "weight", *(["share"] if shares is not None else [])]
    made = table(*names, title=f"Weights: {count}")
    made.add_column("")
    for f in listed:
        cells = [Text(features[f].feature), Text(f"{weights[f]:.4g}")]
        cells += [] if shares is None else [Text(f"{100 * sizes[f]:.1f} %")]
        made.add_row(*cells, Text(bar(float(sizes[f]), float(sizes.max()), console)))
    console.print(made)
    if len(listed) < len(order):
        left = counted(len(order) - len(listed), "smaller weight")
        console.print(Text(f"{left} left out; --json lists all"), soft_wrap=True)
