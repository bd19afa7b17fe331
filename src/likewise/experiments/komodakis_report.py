"""What the paper claims about its synthetic data, beside what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.experiments.base import (
    Claim,
    Findings,
    Result,
    Table,
    distinct,
    mean_and_sd,
    over_seeds,
    select,
    values,
)

LEARNER = "learner"
# Rules that turn words of the paper into something that can fail.
NEARLY_ONE = 0.95
SUPPRESSED = 0.1
FAILS = 0.5
# Bars of this library.
BAR, BAR_UNTIL, LAST_BAR, CLUSTERS_WITHIN = 0.99, 0.8, 0.96, 0.2
FAST_PASSES = 30
FAST_SHARE = 0.9


def report(results: Sequence[Result]) -> Findings:
    """Tables of accuracy for every setting, and the claims."""
    lines = select(results, "accuracy")
    settings = list(dict.fromkeys((x["columns"], x["rows"], x["clusters"]) for x in lines))
    tables = [
        table
        for columns, rows, clusters in settings
        for table in _tables(
            [
                x
                for x in lines
                if (x["columns"], x["rows"], x["clusters"]) == (columns, rows, clusters)
            ],
            f"{columns} columns, {rows} rows, {clusters} clusters",
        )
    ]
    first = [x for x in lines if (x["columns"], x["rows"], x["clusters"]) == settings[0]]
    return Findings(tables, _claims(results, first, lines))


def _tables(lines: list[dict[str, Any]], setting: str) -> list[Table]:
    shares, methods = distinct(lines, "share"), distinct(lines, "method")
    seeds = len(distinct(lines, "seed"))

    def cell(share: float, method: str, name: str, digits: int = 3) -> str:
        chosen = [x for x in lines if x["share"] == share and x["method"] == method]
        return mean_and_sd(values(chosen, name), digits)

    accuracy = Table(
        f"Mean pairwise F on test sets: {setting}; {over_seeds(seeds)}",
        ["noise", *methods],
        [
            [f"{share}", *(cell(share, method, "pairwise_f1") for method in methods)]
            for share in shares
        ],
    )
    names = (
        ("clusters_found", 2),
        ("right_number", 2),
        ("noise_share", 4),
        ("passes", 0),
        ("fit_seconds", 2),
    )
    details = Table(
        f"The learner: {setting}",
        ["noise", "clusters found", "share of sets with the right number",
         "weight on noise columns", "passes", "seconds to train"],
        [
            [f"{share}", *(cell(share, LEARNER, name, digits) for name, digits in names)]
            for share in shares
        ],
    )  # fmt: skip
    return [accuracy, details]


def _claims(
    results: Sequence[Result], main: list[dict[str, Any]], lines: list[dict[str, Any]]
) -> list[Claim]:
    return [
        _convergence(results),
        *_suppression(main),
        _numbers(results),
        _accuracy(main),
        *_bars(main),
        _euclidean(main),
        _standardised(main),
        *_against_svm(lines),
    ]


def _convergence(results: Sequence[Result]) -> Claim:
    curves = [result.extra["curve"] for result in results if result.cell.kind == "objective"]
    fallen = [
        (curve[0] - min(curve[:FAST_PASSES])) / max(curve[0] - min(curve), 1e-300)
        for curve in curves
    ]
    return Claim(
        "section 6, fig. 2a",
        "the objective converges extremely fast",
        f"{100 * float(np.mean(fallen)):.1f} % of its fall is within {FAST_PASSES} passes "
        f"({len(curves)} runs)",
        bool(np.mean(fallen) >= FAST_SHARE),
        f"{100 * FAST_SHARE:.0f} % of the fall within {FAST_PASSES} passes",
    )


def _suppression(main: list[dict[str, Any]]) -> list[Claim]:
    claims = []
    for share in sorted({0.5, max(distinct(main, "share"))}):
        found = values(_learner(main, share), "noise_share")
        claims.append(
            Claim(
                "section 6, fig. 2b",
                "the weights of all noisy columns are suppressed",
                f"share of scaled weight on noise at {share}: {mean_and_sd(found, 4)}",
                bool(found) and float(np.mean(found)) <= SUPPRESSED,
                f"at most {SUPPRESSED} of the scaled weight",
            )
        )
    return claims


def _numbers(results: Sequence[Result]) -> Claim:
    example = next(result for result in results if result.cell.kind == "example")
    true = example.cell.settings["clusters"]
    found = example.rows[0]["clusters_found"]
    return Claim(
        "section 6, fig. 2c",
        "the correct number of exemplars is determined (10, from 500 rows)",
        f"{found} of {true} from {example.cell.settings['rows']} rows, "
        f"F {example.rows[0]['pairwise_f1']:.3f}",
        found == true,
        "equal",
    )


def _accuracy(main: list[dict[str, Any]]) -> Claim:
    means = {
        share: float(np.mean(values(_learner(main, share), "pairwise_f1")))
        for share in distinct(main, "share")
    }
    worst = min(means, key=lambda share: means[share])
    found = values(_learner(main, worst), "pairwise_f1")
    known = values(_method(main, "known columns, best test cost", worst), "pairwise_f1")
    return Claim(
        "section 6, fig. 2d",
        "F is about 1, even where very many columns are noise",
        f"least at share {worst}: {mean_and_sd(found)}; there, knowing the columns gives "
        f"{mean_and_sd(known)}",
        means[worst] >= NEARLY_ONE,
        f"mean at least {NEARLY_ONE} at every share",
    )


def _bars(main: list[dict[str, Any]]) -> list[Claim]:
    """What this library holds itself to in the setting of figure 2d."""
    claims = []
    for least, shares in (
        (BAR, [x for x in distinct(main, "share") if x <= BAR_UNTIL]),
        (LAST_BAR, [x for x in distinct(main, "share") if x > BAR_UNTIL]),
    ):
        means = {x: float(np.mean(values(_learner(main, x), "pairwise_f1"))) for x in shares}
        if not means:
            continue
        worst = min(means, key=lambda share: means[share])
        claims.append(
            Claim(
                "this library",
                f"mean F on new sets, shares {min(shares)} to {max(shares)}",
                f"least {means[worst]:.3f}, at share {worst}",
                means[worst] >= least,
                f"mean at least {least} at each of them",
            )
        )
    found = {
        x: float(np.mean(values(_learner(main, x), "clusters_found")))
        for x in distinct(main, "share")
    }
    true = main[0]["clusters"]
    worst = max(found, key=lambda share: abs(found[share] - true))
    return [
        *claims,
        Claim(
            "this library",
            f"mean number of clusters found where {true} are true",
            f"farthest {found[worst]:.2f}, at share {worst}",
            abs(found[worst] - true) <= CLUSTERS_WITHIN,
            f"within {CLUSTERS_WITHIN} at every share",
        ),
    ]


def _euclidean(main: list[dict[str, Any]]) -> Claim:
    name = "plain, best test cost"
    worst = {x: values(_method(main, name, x), "pairwise_f1") for x in distinct(main, "share")}
    best = max(float(np.mean(found)) for found in worst.values())
    return Claim(
        "section 6, fig. 2d",
        "squared Euclidean distance fails completely",
        f"largest mean F of the plain distance {best:.3f}, cost tuned on the test sets",
        best <= FAILS,
        f"at most {FAILS} at every share",
    )


def _standardised(main: list[dict[str, Any]]) -> Claim:
    name = "standardised, best test cost"
    shares = [x for x in distinct(main, "share") if _method(main, name, x)]
    solved = [
        x for x in shares
        if float(np.mean(values(_method(main, name, x), "pairwise_f1"))) >= NEARLY_ONE
    ]  # fmt: skip
    return Claim(
        "not in the paper",
        "columns of unit variance, nothing learnt, cost tuned on the test sets",
        f"F at least {NEARLY_ONE} up to share {max(solved)}" if solved else "at no share",
        None,
        "for comparison",
    )


def _against_svm(lines: list[dict[str, Any]]) -> list[Claim]:
    """Differences between pairs of runs on the same sets."""
    claims = []
    keys = ("columns", "rows", "clusters", "share", "seed")
    theirs = {
        tuple(x[key] for key in keys): x["pairwise_f1"] for x in _method(lines, "SVM-cluster")
    }
    for share in (0.5, 0.9):
        differences = [
            x["pairwise_f1"] - theirs[key]
            for x in _learner(lines, share)
            if (key := tuple(x[name] for name in keys)) in theirs
        ]
        if not differences:
            continue
        mean = float(np.mean(differences))
        error = (
            float(np.std(differences, ddof=1)) / len(differences) ** 0.5 if differences[1:] else 0
        )
        claims.append(
            Claim(
                "section 6",
                f"consistently better than SVM-cluster: share {share}",
                f"paired difference in F {mean:+.4f} (standard error {error:.4f}), better in "
                f"{sum(x > 0 for x in differences)}, equal in "
                f"{sum(x == 0 for x in differences)} of {len(differences)} runs",
                mean > 2 * error and mean > 0,
                "positive by more than two standard errors",
            )
        )
    return claims


def _learner(lines: list[dict[str, Any]], share: float) -> list[dict[str, Any]]:
    return _method(lines, LEARNER, share)


def _method(
    lines: list[dict[str, Any]], method: str, share: float | None = None
) -> list[dict[str, Any]]:
    return [x for x in lines if x["method"] == method and share in (None, x["share"])]
