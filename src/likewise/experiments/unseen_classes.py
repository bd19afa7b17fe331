"""Experiment ``unseen-classes``: learn from some classes, cluster others.

Two tasks on which methods that learn a distance usually fail on one side or the other:

- ``digits``: five handwritten digits to learn from, the five others to cluster, 300 images of
  either half, on the 30 principal components of the training half. The plain distance is good
  here, and learning from few classes easily spoils it.
- ``nuisance``: 8 clusters in 4 columns, beside 16 columns that have nothing to do with them, new
  clusters at test. The plain distance is hopeless here.

Every method has one setting for both. Opening costs of the baselines are tuned on the training
half; all are judged by the adjusted Rand index.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import adjusted_rand_score

from likewise.arrays.random import stream
from likewise.datasets import PartitionedSets, load_digits_demo, make_nuisance_sets
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
from likewise.experiments.methods import LEARNER, Trial, measure

TASKS = ("digits", "nuisance")
METHODS = (
    LEARNER, "plain", "standardised", "RCA", "LFDA", "SVM-cluster", "best single", "known columns",
)  # fmt: skip
ROWS = {"digits": 300, "nuisance": 300}
QUICK_ROWS = {"digits": 120, "nuisance": 120}
COMPONENTS = 30
BARS = {"digits": 0.75, "nuisance": 0.9}
# Differences of mean ARI below this are noise, with five seeds.
TIED = 0.01


def cells(plan: Plan) -> list[Cell]:
    """One cell per task, method and seed."""
    rows = QUICK_ROWS if plan.quick else ROWS
    effort = {"effort": "quick"} if plan.quick else {}
    return [
        Cell(task, {"method": method, "rows": rows[task], **effort, "seed": seed})
        for task in TASKS
        for method in METHODS
        # All components of the digits may matter.
        if (task, method) != ("digits", "known columns")
        for seed in plan.count(5, 2)
    ]


def compute(cell: Cell) -> Measured:
    """Train on one half, cluster the other."""
    settings = cell.settings
    make = {"digits": digit_halves, "nuisance": nuisance_halves}[cell.kind]
    train, test = make(settings["rows"], settings["seed"])
    quick = settings.get("effort") == "quick"
    trial = Trial(settings["method"], train, test, settings["seed"], quick, adjusted_rand_score)
    return [measure(trial)], {}


def digit_halves(n_rows: int, seed: int) -> tuple[PartitionedSets, PartitionedSets]:
    """Images of five digits, drawn at random, and of the five others."""
    digits = load_digits_demo()
    rng = stream(seed, "unseen digits")
    classes = rng.permutation(10)
    halves = []
    for half in (classes[:5], classes[5:]):
        rows = np.flatnonzero(np.isin(digits.labels, half))
        rows = np.sort(rng.choice(rows, n_rows, replace=False))
        halves.append((digits.rows[rows], np.unique(digits.labels[rows], return_inverse=True)[1]))
    (X, y), (X_new, y_new) = halves
    mean = X.mean(axis=0)
    axes = np.linalg.svd(X - mean, full_matrices=False)[2][:COMPONENTS]
    all_matter = np.ones(COMPONENTS, dtype=bool)
    return (
        PartitionedSets([(X - mean) @ axes.T], [y], all_matter),
        PartitionedSets([(X_new - mean) @ axes.T], [y_new], all_matter),
    )


def nuisance_halves(n_rows: int, seed: int) -> tuple[PartitionedSets, PartitionedSets]:
    """One set to learn from, and one with other centres."""
    return make_nuisance_sets(2, n_rows, random_state=seed).split(1)


def report(results: Sequence[Result]) -> Findings:
    """One table per task, and what the library promises."""
    tables = []
    for task in TASKS:
        lines = select(results, task)
        rows = [
            [
                method,
                mean_and_sd(values(own, "adjusted_rand")),
                mean_and_sd(values(own, "pairwise_f1")),
                mean_and_sd(values(own, "clusters_found"), 1),
                mean_and_sd(values(own, "fit_seconds"), 2),
            ]
            for method in distinct(lines, "method")
            if (own := select(results, task, method=method))
        ]
        seeds = len(distinct(lines, "seed"))
        true = {"digits": 5, "nuisance": 8}[task]
        tables.append(
            Table(
                f"{task}: {true} new clusters; {over_seeds(seeds)}",
                ["method", "ARI", "pairwise F", "clusters found", "seconds to train"],
                rows,
            )
        )
    claims = [claim for task in TASKS for claim in (_bar(results, task), _claim(results, task))]
    return Findings(tables, claims)


def _bar(results: Sequence[Result], task: str) -> Claim:
    """The learner beside what this library holds itself to."""
    found = values(select(results, task, method=LEARNER), "adjusted_rand")
    return Claim(
        "this library",
        f"with defaults, mean ARI on unseen classes: {task}",
        f"{mean_and_sd(found)}, {len(found)} seeds",
        float(np.mean(found)) >= BARS[task],
        f"at least {BARS[task]:.2f}",
    )


def _claim(results: Sequence[Result], task: str) -> Claim:
    """The learner beside the best of the others that do not know the answer."""
    means = {
        method: float(np.mean(found))
        for method in METHODS
        if (found := values(select(results, task, method=method), "adjusted_rand"))
    }
    others = {name: mean for name, mean in means.items() if name not in (LEARNER, "known columns")}
    says = {
        "digits": "with defaults, on unseen classes not below the plain distance, cost tuned",
        "nuisance": "with defaults, as good as any of the methods that learn a distance",
    }[task]
    bar = means["plain"] if task == "digits" else max(others.values())
    best = max(others, key=lambda name: others[name])
    return Claim(
        "this library",
        says,
        f"mean ARI {means[LEARNER]:.3f}, plain {means['plain']:.3f}, best other ({best}) "
        f"{others[best]:.3f}",
        means[LEARNER] >= bar - TIED,
        f"mean ARI at least {bar:.3f}, less {TIED} for noise",
    )


def draw(results: Sequence[Result]) -> Picture:
    """Every run of every method, one panel per task."""
    from likewise.plots.comparisons import DotPanel, draw_dots

    panels = [
        DotPanel(
            {"digits": "unseen digits", "nuisance": "unseen clusters among nuisance columns"}[task],
            {
                method: values(select(results, task, method=method), "adjusted_rand")
                for method in METHODS
                if select(results, task, method=method)
            },
        )
        for task in TASKS
    ]
    return draw_dots(panels, "adjusted Rand index")


EXPERIMENT = Experiment(
    name="unseen-classes",
    title="Learning from some classes, clustering others",
    source="bars of this library; no experiment of the paper",
    cells=cells,
    compute=compute,
    report=report,
    draw=draw,
)
