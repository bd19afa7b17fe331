"""Experiment ``komodakis-synthetic``: the synthetic data of komodakis2011, section 6, figure 2.

Sets are drawn from mixtures of Gaussians in many columns, a share of which is noise. The learner
is shown some of them, and clusters others; beside it, distances that do not learn, with the opening
cost that is best on the very sets that are clustered, correlation clustering with a learnt
similarity, and the distance that knows which columns matter.

The paper says how many sets there are, not how much noise, nor how many rows in which panel; here
a noise column has 20 times the standard deviation of an informative one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.arrays.random import stream
from likewise.datasets import PartitionedSets, make_partitioned_sets
from likewise.experiments.base import Cell, Experiment, Measured, Picture, Plan, Result, select
from likewise.experiments.komodakis_report import report
from likewise.experiments.methods import (
    LEARNER,
    Trial,
    mean_score,
    measure,
    new_learner,
    scaled_weights,
)
from likewise.metrics import pairwise_f1

METHODS = (
    LEARNER,
    "plain, best test cost",
    "standardised, best test cost",
    "SVM-cluster",
    "known columns, best test cost",
)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
OTHER_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
OTHER_COLUMNS = (20, 50, 200)
SETTING = {"columns": 100, "rows": 100, "clusters": 5, "train_sets": 10, "test_sets": 10}
LARGE = {**SETTING, "rows": 500, "clusters": 10}
OBJECTIVE_STRENGTH = 0.1
QUICK = {"columns": 100, "rows": 60, "clusters": 4, "train_sets": 4, "test_sets": 4}
QUICK_LARGE = {**QUICK, "rows": 150, "clusters": 6}


def cells(plan: Plan) -> list[Cell]:
    """All cells of a plan; the pieces of figure 2 first."""
    setting, large = (QUICK, QUICK_LARGE) if plan.quick else (SETTING, LARGE)
    made = [Cell("objective", {**_varied(seed, plan), "seed": seed}) for seed in plan.count(20, 3)]
    made += [Cell("example", {**large, "share": 0.5, "seed": 0})]
    shares = (0.1, 0.5, 0.9) if plan.quick else SHARES
    made += _accuracy(setting, shares, plan.count(10, 2), plan)
    if plan.quick:
        return made
    for columns in OTHER_COLUMNS:
        made += _accuracy({**setting, "columns": columns}, OTHER_SHARES, plan.count(5, 1), plan)
    return made + _accuracy(large, (0.5, 0.9), plan.count(5, 1), plan)


def _accuracy(
    setting: dict[str, int], shares: Sequence[float], seeds: range, plan: Plan
) -> list[Cell]:
    effort = {"effort": "quick"} if plan.quick else {}
    return [
        Cell("accuracy", {"method": method, **setting, "share": share, **effort, "seed": seed})
        for share in shares
        for method in METHODS
        for seed in seeds
    ]


def _varied(seed: int, plan: Plan) -> dict[str, Any]:
    """Rows and clusters that differ from run to run, as in figure 2a."""
    setting = QUICK if plan.quick else SETTING
    rng = stream(seed, "sizes of an objective run")
    rows = int(rng.integers(setting["rows"] // 2, 2 * setting["rows"], endpoint=True))
    clusters = int(rng.integers(3, 2 * setting["clusters"], endpoint=True))
    return {**setting, "rows": rows, "clusters": clusters, "share": 0.5}


def compute(cell: Cell) -> Measured:
    """Compute one cell."""
    return {"objective": _objective, "example": _example, "accuracy": _measured}[cell.kind](
        cell.settings
    )


def _made(settings: dict[str, Any]) -> tuple[PartitionedSets, PartitionedSets]:
    """The training sets and the test sets of a cell."""
    return make_partitioned_sets(
        settings["train_sets"] + settings["test_sets"],
        settings["rows"],
        settings["columns"],
        settings["clusters"],
        noisy=settings["share"],
        random_state=settings["seed"],
    ).split(settings["train_sets"])


def _measured(settings: dict[str, Any]) -> Measured:
    train, test = _made(settings)
    trial = Trial(
        settings["method"], train, test, settings["seed"], quick=settings.get("effort") == "quick"
    )
    return [measure(trial)], {}


def _objective(settings: dict[str, Any]) -> Measured:
    """How the objective of one training falls, per row that is shown."""
    train, _ = _made(settings)
    learner = new_learner(settings["seed"], OBJECTIVE_STRENGTH)
    learner.fit(train.sets, train.labels)
    shown = sum(len(X) for X in train.sets)
    curve = (np.asarray(learner.history_["objective"], dtype=np.float64) / shown).tolist()
    return [{"passes": len(curve), "first": curve[0], "least": min(curve)}], {"curve": curve}


def _example(settings: dict[str, Any]) -> Measured:
    """Learnt weights, and a test set with the exemplars that they give."""
    from sklearn.base import clone

    train, test = _made({**settings, "test_sets": 1})
    learner = new_learner(settings["seed"]).fit(train.sets, train.labels)
    X, truth = test.sets[0], test.labels[0]
    clusterer = clone(learner.clusterer_).fit(X)
    labels = clusterer.labels_
    row = {
        "pairwise_f1": mean_score(pairwise_f1, [truth], [labels]),
        "clusters_found": int(clusterer.n_clusters_),
    }
    columns = _telling_columns(X, truth, test.informative)
    extra = {
        "weights": scaled_weights(learner.weights_, train.sets).tolist(),
        "informative": int(train.informative.sum()),
        "columns": columns,
        "rows": np.round(X[:, columns], 4).tolist(),
        "truth": truth.tolist(),
        "labels": labels.tolist(),
        "exemplars": clusterer.exemplars_.tolist(),
    }
    return [row], extra


def _telling_columns(X: Any, truth: Any, informative: Any) -> list[int]:
    """The two informative columns in which the nearest two cluster means are farthest apart."""
    means = np.array([X[truth == label].mean(axis=0) for label in np.unique(truth)])
    known = np.flatnonzero(informative)
    first, second = np.triu_indices(len(means), 1)
    squares = np.square(means[first][:, known] - means[second][:, known])
    # Least distance between two means in the plane of every two columns.
    i, j = np.triu_indices(len(known), 1)
    least = (squares[:, i] + squares[:, j]).min(axis=0)
    best = int(least.argmax())
    return [int(known[i[best]]), int(known[j[best]])]


def draw(results: Sequence[Result]) -> Picture:
    """Figure 2, panels a to d."""
    from likewise.plots.learning import AccuracyLine, LearningFigure

    example = next(result for result in results if result.cell.kind == "example")
    main = next(result for result in results if result.cell.kind == "accuracy").cell.settings
    lines = [
        AccuracyLine(
            method,
            {
                share: [line["pairwise_f1"] for line in _of(results, main, method, share)]
                for share in SHARES
                if _of(results, main, method, share)
            },
        )
        for method in METHODS
    ]
    curves = [result.extra["curve"] for result in results if result.cell.kind == "objective"]
    return LearningFigure(curves, example.extra, example.rows[0], lines).draw()


def _of(
    results: Sequence[Result], main: dict[str, Any], method: str, share: float
) -> list[dict[str, Any]]:
    same = {name: main[name] for name in SETTING}
    return select(results, "accuracy", method=method, share=share, **same)


EXPERIMENT = Experiment(
    name="komodakis-synthetic",
    title="Learning which columns matter, and when to open a cluster, from ten partitions",
    source="N. Komodakis, ICCV 2011, section 6 and figure 2",
    cells=cells,
    compute=compute,
    report=report,
    draw=draw,
)
