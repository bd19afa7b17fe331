"""What was learnt, what a learner found and what its file holds, as tables (rich)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from likewise.app.grouping import GroupedSet, GroupReport
from likewise.app.inspection import LearnerReport
from likewise.app.layout import (
    bar,
    columns,
    counted,
    facts,
    number,
    percent,
    printed_files,
    printed_notes,
    table,
)
from likewise.app.learning import LearnReport, LearntWeight
from likewise.learners.base import HELD_OUT, STATUS_REMEDIES
from likewise.plots.canvas import readable
from likewise.plots.weights import describe_weights

# Bars, candidates and sets that tables list.
BARS, CANDIDATES, SETS = 20, 10, 20
# Sizes of clusters that a line lists.
SIZES = 12
# What one would have without learning: always listed.
PLAIN = "plain distance"


def print_learnt(report: LearnReport, console: Console) -> None:
    """Print what ``likewise learn`` did."""
    learnt = "learnt" if report.opening_cost_is_learnt else "as given"
    console.print(
        facts(
            {
                "learnt from": _shown_sets(report),
                "columns": columns(report.columns),
                "compared by": "; ".join(report.compared),
                "chosen": report.chosen,
                **_training(report),
                "opening cost": f"{readable(report.opening_cost)} ({learnt})",
                "agreement": _agreement(report.agreement),
                "seconds": f"{report.seconds:.2f}",
            }
        )
    )
    _print_candidates(report.validation, report.held_out, console)
    console.print(_weights(report.weights, console))
    printed_files(console, {"model": report.out, "picture": report.plot})
    if report.checkpoint is not None:
        text = f"checkpoint kept in {report.checkpoint}; delete it when it is no longer needed"
        console.print(Text(text), soft_wrap=True)
    printed_notes(report.warnings)


def print_grouped(report: GroupReport, console: Console) -> None:
    """Print what ``likewise cluster --model`` did."""
    lines = {
        "data": report.data,
        "model": f"{report.model} ({report.kind})",
        "rows": f"{report.rows:,}, {report.way}",
        "columns": columns(report.columns),
    }
    if len(report.sets) > 1:
        lines["sets"] = f"{len(report.sets):,}"
        if report.mean_pairwise_f1 is not None:
            lines["pairwise F"] = f"{report.mean_pairwise_f1:.3f} on average"
            lines["adjusted Rand"] = f"{report.mean_adjusted_rand or 0.0:.3f} on average"
    console.print(facts({**lines, "seconds": f"{report.seconds:.2f}"}))
    console.print(_sets(report.sets))
    printed_files(console, {"labels": report.out, "picture": report.plot})
    if report.drawn and report.drawn < len(report.sets):
        console.print(Text(f"the picture shows {counted(report.drawn, 'set')}"), soft_wrap=True)
    printed_notes(report.warnings)


def print_learner(report: LearnerReport, console: Console) -> None:
    """Print what the file of a learner holds."""
    lines = {
        "file": report.file,
        "model": report.model,
        "written by": f"likewise {report.library_version}, file format {report.file_format}",
        "fitted": "yes" if report.fitted else "no",
    }
    if report.fitted:
        low, high = report.rows_seen or (0, 0)
        rows = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        lines |= {
            "columns": columns(report.columns),
            "learnt from": f"sets of {rows} rows, {report.clusters_seen:.3g} clusters on average",
            "chosen": str(report.chosen),
            **_training(report),
            "opening cost": f"{number(report.opening_cost)}, at the mean size of these sets",
            "agreement": _agreement(report.agreement),
        }
    console.print(facts(lines))
    if report.validation:
        _print_candidates(report.validation, report.held_out, console)
    if report.weights:
        console.print(_weights(report.weights, console))
        if len(report.weights) > 1:
            console.print(
                Text("Weights are in the units of their features, shares are not."), soft_wrap=True
            )
    parameters = table("parameter", "value", title="Parameters", right=False)
    for name, value in report.parameters.items():
        compared = isinstance(value, list) and all(isinstance(item, str) for item in value)
        parameters.add_row(Text(name), Text("\n".join(value) if compared else repr(value)))
    console.print(parameters)


def _shown_sets(report: LearnReport) -> str:
    rows = sum(part.rows for part in report.sets)
    shown = sum(part.shown for part in report.sets)
    clusters = sum(part.clusters for part in report.sets)
    hidden = "" if shown == rows else f", {rows - shown:,} of them not shown"
    return (
        f"{counted(len(report.sets), 'set')}: {counted(rows, 'row')}{hidden}, "
        f"{counted(clusters, 'cluster')}"
    )


def _agreement(value: float | None) -> str:
    if value is None or value != value:
        return "-"
    return f"{value:.3f} (adjusted Rand index, on what was shown)"


def _training(report: LearnReport | LearnerReport) -> dict[str, str]:
    status = str(report.status)
    if not report.passes:
        needed = "" if status == "interrupted" else ": what was chosen needs no training"
        return {"status": f"{status}{needed}"}
    means = STATUS_REMEDIES.get(status, "")
    return {
        "status": means if means.startswith(status) else f"{status}: {means}",
        "passes": f"{report.passes:,}",
        "duality gap": percent(report.gap),
    }


def _print_candidates(
    validation: dict[str, list[Any]], held_out: str | None, console: Console
) -> None:
    """The candidates that agreed best, the chosen one, and the plain distance."""
    if not validation:
        return
    console.print()
    names, scores = validation["candidate"], validation["agreement"]
    errors, chosen = validation["standard_error"], validation["chosen"]
    known = [-np.inf if score is None or score != score else score for score in scores]
    order = sorted(range(len(names)), key=lambda k: -known[k])
    listed = [
        k for place, k in enumerate(order) if place < CANDIDATES or chosen[k] or names[k] == PLAIN
    ]
    made = Table.grid(padding=(0, 2), expand=False)
    made.title = f"Agreement with {HELD_OUT.get(str(held_out), '')} (adjusted Rand index)"
    made.title_justify, made.title_style = "left", "italic"
    # Names may be folded; figures never are.
    made.add_column(overflow="fold")
    for _ in range(3):
        made.add_column(justify="right", no_wrap=True)
    made.add_row("candidate", "agreement", "std. error", "", style="bold")
    for k in listed:
        made.add_row(
            names[k],
            "-" if known[k] == -np.inf else f"{scores[k]:.3f}",
            "-" if known[k] == -np.inf else f"{errors[k]:.3f}",
            "chosen" if chosen[k] else "",
            style="bold" if chosen[k] else None,
        )
    console.print(made)
    if not chosen[order[0]] and known[order[0]] > -np.inf:
        console.print(
            Text("Chosen: not clearly worse than the best, and preferred where that is unclear.\n"),
            soft_wrap=True,
        )
    if len(listed) < len(order):
        left = f"{counted(len(order) - len(listed), 'candidate')} that agreed less left out"
        console.print(Text(f"{left}; --json lists all.\n"), soft_wrap=True)


def _weights(weights: Sequence[LearntWeight], console: Console) -> Table:
    """Weights as bars, the largest first; those that are left over as one line."""
    values = np.array([w.share for w in weights])
    order = np.argsort(-np.abs(values), kind="stable")
    order = order[values[order] != 0]
    listed = order if len(order) <= BARS else order[: BARS - 1]
    made = table(
        "feature", "weight", "share", title=f"Weights: {describe_weights(values, are_shares=True)}"
    )
    made.add_column("")
    largest = float(np.abs(values).max(initial=0.0))
    for f in listed:
        cells = [Text(weights[f].feature), Text(f"{weights[f].weight:.4g}")]
        cells.append(Text(f"{100 * values[f]:.1f} %"))
        made.add_row(*cells, Text(bar(float(values[f]), largest, console)))
    left = order[len(listed) :]
    if len(left):
        rest = [Text(f"{counted(len(left), 'other')}"), Text("")]
        rest.append(Text(f"{100 * values[left].sum():.1f} %"))
        made.add_row(*rest, Text(""), style="dim")
    return made


def _sets(sets: Sequence[GroupedSet]) -> Table:
    judged = any(part.pairwise_f1 is not None for part in sets)
    names = ["set", "rows", "clusters", *(["known", "pairwise F", "adjusted Rand"] * judged)]
    made = table(*names)
    made.add_column("sizes")
    for part in sets[:SETS]:
        cells = [Text(part.name), Text(f"{part.rows:,}"), Text(f"{part.clusters:,}")]
        if judged:
            known = part.known_clusters
            cells.append(Text("-" if known is None else f"{known:,}"))
            scores = (part.pairwise_f1, part.adjusted_rand)
            cells += [Text("-" if score is None else f"{score:.3f}") for score in scores]
        sizes = ", ".join(f"{size:,}" for size in part.sizes[:SIZES])
        more = ", ..." if len(part.sizes) > SIZES else ""
        made.add_row(*cells, Text(sizes + more))
    if len(sets) > SETS:
        made.add_row(f"{len(sets) - SETS:,} more", style="dim")
    return made
