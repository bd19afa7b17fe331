"""Experiment ``transfer``: train on small sets, cluster sets of other sizes.

Ten training sets of 60 to 140 rows in 5 clusters; then sets of 40, 300 and 1000 rows with as many
clusters, and of 200 rows with 10. What a cluster must cost depends on how many rows it is to hold,
so a cost that is learnt at one size is wrong at another unless it is scaled, and which scale is
right depends on whether larger sets have larger clusters or more of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.arrays.random import stream
from likewise.datasets import make_partitioned_sets
from likewise.experiments.base import (
    Cell,
    Claim,
    Experiment,
    Findings,
    Measured,
    Picture,
    Plan,
    Result,
    Table,
    distinct,
    mean_and_sd,
    over_seeds,
    select,
    values,
)
from likewise.experiments.methods import LEARNER, Trial, fitted, judge

METHODS = (LEARNER, "standardised", "known columns")
SHARES = (0.5, 0.9)
TRAIN = {"columns": 100, "low": 60, "high": 140, "clusters": 5, "train_sets": 10, "test_sets": 10}
# Rows and clusters of the sets that are clustered.
TESTS = ((40, 5), (300, 5), (1000, 5), (200, 10))
QUICK_TRAIN = {
    "columns": 100,
    "low": 40,
    "high": 80,
    "clusters": 4,
    "train_sets": 4,
    "test_sets": 2,
}
QUICK_TESTS = ((30, 4), (150, 4), (100, 8))
KEPT = 0.95
# What this library holds itself to, by share of noise.
BARS = {0.5: 0.95, 0.9: 0.93}


def cells(plan: Plan) -> list[Cell]:
    """One cell per share, method and seed; each is trained once and tested on all sizes."""
    setting = QUICK_TRAIN if plan.quick else TRAIN
    tests = QUICK_TESTS if plan.quick else TESTS
    return [
        Cell(
            "transfer",
            {"method": method, **setting, "tests": _spelled(tests), "share": share, "seed": seed},
        )
        for share in SHARES
        for method in METHODS
        for seed in plan.count(5, 1)
    ]


def _spelled(tests: Sequence[tuple[int, int]]) -> str:
    """Sizes as one text, because the settings of a cell are texts and numbers."""
    return " ".join(f"{rows}/{clusters}" for rows, clusters in tests)


def compute(cell: Cell) -> Measured:
    """Train once, then cluster sets of every size."""
    settings = cell.settings
    train = make_partitioned_sets(
        settings["train_sets"],
        (settings["low"], settings["high"]),
        settings["columns"],
        settings["clusters"],
        noisy=settings["share"],
        random_state=settings["seed"],
    )
    method, seconds = fitted(Trial(settings["method"], train, train, settings["seed"]))
    found = []
    for size in settings["tests"].split():
        rows, clusters = map(int, size.split("/"))
        test = make_partitioned_sets(
            settings["test_sets"],
            rows,
            settings["columns"],
            clusters,
            noisy=settings["share"],
            random_state=stream(settings["seed"], "sets of another size", rows, clusters),
        )
        found.append(
            {"test_rows": rows, "test_clusters": clusters, **judge(method, test),
             "fit_seconds": seconds}
        )  # fmt: skip
    return found, {}


def report(results: Sequence[Result]) -> Findings:
    """One table per share; the learner must hold, or fall no more than known columns do."""
    lines = select(results, "transfer")
    tables, claims = [], []
    for share in distinct(lines, "share"):
        own = [line for line in lines if line["share"] == share]
        sizes = list(dict.fromkeys((x["test_rows"], x["test_clusters"]) for x in own))
        methods = distinct(own, "method")
        rows = []
        for n_rows, clusters in sizes:
            row = [f"{n_rows}", f"{clusters}"]
            for method in methods:
                chosen = _chosen(own, method, n_rows, clusters)
                score = mean_and_sd(values(chosen, "pairwise_f1"))
                row.append(f"{score} ({np.mean(values(chosen, 'clusters_found')):.1f})")
            rows.append(row)
        claims.append(_claim(own, share, sizes))
        seeds = len(distinct(own, "seed"))
        title = f"Pairwise F (clusters found), noisy share {share}; {over_seeds(seeds)}"
        tables.append(Table(title, ["rows", "clusters", *methods], rows))
    return Findings(tables, claims)


def _claim(own: list[dict[str, Any]], share: float, sizes: list[tuple[int, int]]) -> Claim:
    def mean(method: str, size: tuple[int, int]) -> float:
        return float(np.mean(values(_chosen(own, method, *size), "pairwise_f1")))

    ours = {size: mean(LEARNER, size) for size in sizes}
    known = {size: mean("known columns", size) for size in sizes}
    (rows, clusters), least = min(ours.items(), key=lambda item: item[1])
    return Claim(
        "this library",
        f"what was learnt holds for sets of other sizes: share {share}",
        f"least mean F {least:.3f}, for {rows} rows in {clusters} clusters; there, known columns "
        f"give {known[rows, clusters]:.3f}",
        all(ours[size] >= max(KEPT * known[size], BARS[share]) for size in sizes),
        f"at every size at least {BARS[share]}, and {KEPT} times the F of known columns",
    )


def _chosen(
    lines: list[dict[str, Any]], method: str, n_rows: int, clusters: int
) -> list[dict[str, Any]]:
    wanted = (method, n_rows, clusters)
    return [x for x in lines if (x["method"], x["test_rows"], x["test_clusters"]) == wanted]


def draw(results: Sequence[Result]) -> Picture:
    """Accuracy by size, one panel per share."""
    from likewise.plots.comparisons import GroupPanel, draw_groups

    lines = select(results, "transfer")
    panels = []
    for share in distinct(lines, "share"):
        own = [line for line in lines if line["share"] == share]
        sizes = list(dict.fromkeys((x["test_rows"], x["test_clusters"]) for x in own))
        panels.append(
            GroupPanel(
                f"noisy share {share}",
                [f"{rows:,} rows\n{clusters} clusters" for rows, clusters in sizes],
                {
                    method: [values(_chosen(own, method, *size), "pairwise_f1") for size in sizes]
                    for method in distinct(own, "method")
                },
            )
        )
    setting = results[0].cell.settings
    trained = (
        f"trained on {setting['train_sets']} sets of {setting['low']} to {setting['high']} rows in "
        f"{setting['clusters']} clusters"
    )
    return draw_groups(panels, "pairwise F on new sets", trained)


EXPERIMENT = Experiment(
    name="transfer",
    title="Learning from small sets, clustering sets of other sizes",
    source="bars of this library; no experiment of the paper",
    cells=cells,
    compute=compute,
    report=report,
    draw=draw,
)
