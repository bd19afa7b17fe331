"""Tables and claims of ``segmentation-families``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from likewise.experiments.base import (
    Claim,
    Findings,
    Result,
    Table,
    distinct,
    select,
    values,
)
from likewise.experiments.family_cells import DEFAULTS, FITTED
from likewise.experiments.methods import LEARNER

OURS = "this library"
# What this library holds itself to.
MEAN_COVERING, LOSS, MOST_LOSS = 0.78, 0.0, 0.05
HITS, FALSE = 10, 2
CORRECT = {"systematic": 98.0, "detailed": 94.5}
PUBLISHED = {"systematic": 98.3, "detailed": 95.5}
Lines = list[dict[str, Any]]


def report(results: Sequence[Result]) -> Findings:
    """One table per kind of data, and what is claimed of it."""
    tables: list[Table] = []
    claims: list[Claim] = []
    parts: dict[str, Callable[[Lines], tuple[list[Table], list[Claim]]]] = {
        "movement": _movement,
        "copy number": _copy_number,
        "penalty regression": _regression,
        "annotated series": _series,
        "regions": _regions,
    }
    for kind, part in parts.items():
        lines = select(results, kind)
        if lines:
            own_tables, own_claims = part(lines)
            tables += own_tables
            claims += own_claims
    return Findings(tables, claims)


def _mean(lines: Lines, name: str, **settings: Any) -> float:
    chosen = [x for x in lines if all(x.get(key) == value for key, value in settings.items())]
    return float(np.mean(values(chosen, name)))


def _movement(lines: Lines) -> tuple[list[Table], list[Claim]]:
    families, methods = distinct(lines, "family"), distinct(lines, "method")
    scores = {
        name: {
            method: [_mean(lines, name, family=family, method=method) for family in families]
            for method in methods
        }
        for name in ("covering", "f1", "found")
    }
    rows, counts = [], []
    for place, family in enumerate(families):
        n = len({x["sequence"] for x in lines if x["family"] == family})
        both = [
            f"{scores['covering'][method][place]:.3f} / {scores['f1'][method][place]:.3f}"
            for method in methods
        ]
        rows.append([family, f"{n}", *both])
        found = [f"{scores['found'][method][place]:.1f}" for method in methods]
        counts.append([family, f"{_mean(lines, 'true', family=family):.1f}", *found])
    means = [
        f"{np.mean(scores['covering'][method]):.3f} / {np.mean(scores['f1'][method]):.3f}"
        for method in methods
    ]
    rows.append(["mean of families", "", *means])
    tables = [
        Table(
            "Covering / F (margin 1 % of the length) of what was left out",
            ["family", "sequences", *methods],
            rows,
        ),
        Table("Segments found, mean", ["family", "true", *methods], counts),
    ]
    return tables, _movement_claims(families, scores["covering"])


def _movement_claims(families: list[str], covering: dict[str, list[float]]) -> list[Claim]:
    ours, fitted = np.array(covering[LEARNER]), np.array(covering[FITTED])
    usual = ", ".join(f"{name}: {np.mean(covering[name]):.3f}" for name in DEFAULTS)
    lost = fitted - ours
    worst = int(np.argmax(lost))
    return [
        Claim(
            OURS,
            "learning from a few sequences segments new ones of the same family",
            f"mean covering of {len(families)} families {ours.mean():.3f} ({usual})",
            bool(ours.mean() >= MEAN_COVERING),
            f"at least {MEAN_COVERING}",
        ),
        Claim(
            OURS,
            "learning the metric does no harm beside a fitted penalty",
            f"mean covering {ours.mean():.3f} against {fitted.mean():.3f}; most lost on "
            f"{families[worst]}: {lost[worst]:+.3f}",
            bool(lost.mean() <= LOSS and lost[worst] <= MOST_LOSS),
            f"on average not below, on no family by more than {MOST_LOSS}",
        ),
    ]


def _copy_number(lines: Lines) -> tuple[list[Table], list[Claim]]:
    rows, claims = [], []
    for method in distinct(lines, "method"):
        own = [line for line in lines if line["method"] == method]
        true, hits, false = (int(sum(values(own, name))) for name in ("true", "hits", "false"))
        rows.append([method, f"{true}", f"{hits}", f"{false}"])
        if method in (LEARNER, FITTED):
            claims.append(
                Claim(
                    OURS,
                    f"known changes of copy number are found by {method}",
                    f"{hits} of {true}, {false} false",
                    bool(hits >= min(HITS, true) and false <= FALSE),
                    f"at least {HITS}, at most {FALSE} false",
                )
            )
    title = "Changes of copy number in cell lines that were left out, within 2 probes"
    return [Table(title, ["method", "true", "found", "false"], rows)], claims


def _regression(lines: Lines) -> tuple[list[Table], list[Claim]]:
    rows, claims = [], []
    for labels in distinct(lines, "labels"):
        own = [line for line in lines if line["labels"] == labels]
        total = sum(values(own, "labels_held_out"))
        right, constant = (
            100.0 * (1.0 - sum(values(own, name)) / total)
            for name in ("errors", "errors_of_a_constant")
        )
        folds = [100.0 * (1.0 - x["errors"] / x["labels_held_out"]) for x in own]
        spread = f" ±{np.std(folds, ddof=1) / np.sqrt(len(folds)):.1f}" if len(folds) > 1 else ""
        rows.append([labels, f"{total:.0f}", f"{right:.1f}{spread}", f"{constant:.1f}"])
        claims.append(
            Claim(
                "Rigaill et al. (2013), Hocking et al.",
                f"penalties from features get {labels} labels right, patients left out",
                f"{right:.1f} % (published, on more patients: {PUBLISHED[labels]} %)",
                bool(right >= CORRECT[labels]),
                f"at least {CORRECT[labels]} %",
            )
        )
    title = "Labels right, per cent, published folds of patients (± standard error over folds)"
    return [Table(title, ["labels", "number", "features", "constant"], rows)], claims


def _series(lines: Lines) -> tuple[list[Table], list[Claim]]:
    methods = distinct(lines, "method")
    rows = [
        [
            method,
            f"{_mean(lines, 'covering', method=method):.3f}",
            f"{_mean(lines, 'f1', method=method):.3f}",
            f"{_mean(lines, 'found', method=method):.1f}",
        ]
        for method in methods
    ]
    shown = "; ".join(f"{row[0]}: covering {row[1]}, F {row[2]}" for row in rows)
    claim = Claim(
        OURS,
        "one penalty does not carry over between unrelated series: a limit, not a success",
        shown,
        None,
        "nothing",
    )
    title = "Unrelated series with several annotators, each left out in turn"
    return [Table(title, ["method", "covering", "F, margin 5", "segments found"], rows)], [claim]


def _regions(lines: Lines) -> tuple[list[Table], list[Claim]]:
    counts = [int(sum(values(lines, name))) for name in ("regions", "errors", "errors_of_2_log_n")]
    title = "Weakly labelled regions of six profiles: too few to conclude anything"
    columns = ["regions", "wrong, factor from the other profiles", "wrong, 2 log n"]
    return [Table(title, columns, [[f"{count}" for count in counts]])], []
