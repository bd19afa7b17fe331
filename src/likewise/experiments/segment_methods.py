"""Methods that cut series into segments, each trained and judged in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.datasets import SegmentedSeries
from likewise.errors import InputError
from likewise.estimators.change_point_learner import ChangePointLearner
from likewise.estimators.change_points import ChangePointDetector
from likewise.experiments.baselines import (
    EuclideanMetric,
    KnownSubspace,
    PairMetric,
    PrincipalMetric,
    RelevantMetric,
)
from likewise.metrics import projection_loss

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
# What a set of change points costs one series, by its place.
Cost = Callable[[int, NDArray[np.intp]], float]

# What follows the name of a method: who says how many segments there are.
KNOWN = ", known number"
VALIDATED = ", validated penalty"
LEARNER = "learner"
FULL = "learner, full"
DIAGONAL = "learner, diagonal"
HERMITE = "learner, hermite"
PCA_START = "learner, PCA start"
# What the names of the learner stand for.
OPTIONS: dict[str, dict[str, Any]] = {
    LEARNER: {},
    LEARNER + KNOWN: {"n_segments": "known"},
    FULL: {"metric": "full"},
    DIAGONAL: {"metric": "diagonal"},
    HERMITE: {"features": "hermite"},
    PCA_START: {"completion_start": "pca"},
}
# The least penalty that is tried, in units of what noise varies under the metric: with less, a cut
# would pay for itself wherever noise is put.
LEAST_PENALTY = 1.2
# The same in units of the scatter of a series, where there is no noise.
LEAST_SHARE = 1e-6


def new_learner(seed: int, **options: Any) -> Any:
    """The learner of segmentations: the only place that makes one."""
    return ChangePointLearner(random_state=seed, **options)


@dataclass(frozen=True)
class SegmentTrial:
    """One method on training, validation and test series.

    ``given`` is what is shown of the training series, labels or regions; None stands for all
    labels. Penalties are validated by regions where the validation series have them.
    """

    method: str
    train: SegmentedSeries
    validation: SegmentedSeries
    test: SegmentedSeries
    seed: int
    given: Sequence[Any] | None = None

    @property
    def shown(self) -> Sequence[Any]:
        """What is shown of the training series."""
        return self.train.labels if self.given is None else self.given


@dataclass(frozen=True)
class Segmented:
    """What a method made of the test series, what it learnt, and how long that took."""

    labels: list[Labels]
    metric: Floats | None
    fit_seconds: float
    cluster_seconds: float

    def change_points(self) -> list[NDArray[np.intp]]:
        """The change points of every test series."""
        return [np.flatnonzero(np.diff(y)) + 1 for y in self.labels]


def segmented(trial: SegmentTrial) -> Segmented:
    """Train a method and segment the test series."""
    numbers = [len(np.unique(y)) for y in trial.test.labels]
    start = time.perf_counter()
    if trial.method in OPTIONS:
        learner = new_learner(trial.seed, **OPTIONS[trial.method])
        learner.fit(trial.train.series, trial.shown)
        metric = learner.metric_
        fitted = time.perf_counter()
        more = {"n_segments": numbers} if trial.method.endswith(KNOWN) else {}
        found = learner.cluster(trial.test.series, **more)
    else:
        metric = _untrained(trial).fit(trial.train.series, trial.shown).metric_
        detectors = [ChangePointDetector(metric, n_segments=number) for number in numbers]
        if trial.method.endswith(VALIDATED):
            penalty = chosen_penalty(metric, trial.validation.series, _cost(trial.validation))
            detectors = [ChangePointDetector(metric, penalty)] * len(numbers)
        fitted = time.perf_counter()
        found = [
            detector.fit_predict(X)
            for detector, X in zip(detectors, trial.test.series, strict=True)
        ]
    end = time.perf_counter()
    return Segmented(list(found), metric, fitted - start, (end - fitted) / len(found))


def _cost(made: SegmentedSeries) -> Cost:
    """Region errors where there are regions, the projection loss otherwise."""
    regions = made.regions
    if regions is None:
        return loss_of(made.labels)
    return lambda place, change_points: float(regions[place].errors(change_points))


def losses(truth: Sequence[Labels], found: Sequence[Labels]) -> list[float]:
    """The projection loss of every series."""
    return [projection_loss(y, labels) for y, labels in zip(truth, found, strict=True)]


def measure(trial: SegmentTrial) -> tuple[dict[str, Any], list[float]]:
    """Train, segment, judge: means over the test series, and the loss of each."""
    done = segmented(trial)
    each = losses(trial.test.labels, done.labels)
    counts = [len(np.unique(y)) for y in done.labels]
    row: dict[str, Any] = {
        "loss": float(np.mean(each)),
        "segments_found": float(np.mean(counts)),
        "fit_seconds": done.fit_seconds,
        "cluster_seconds": done.cluster_seconds,
    }
    if len(trial.train.relevant) > 1:
        row["relevant_share"] = relevant_share(done.metric, trial.train)
    return row, each


def relevant_share(metric: Floats | None, made: SegmentedSeries) -> float:
    """Share of the metric in the relevant directions: of its trace, or of the weights."""
    p = len(made.relevant)
    matrix = np.eye(p) if metric is None else np.asarray(metric, dtype=np.float64)
    if matrix.ndim == 1:
        matrix = np.diag(matrix)
    if made.rotation is not None:
        matrix = made.rotation @ matrix @ made.rotation.T
    inside, outside = (
        float(np.diag(matrix)[part].sum()) for part in (made.relevant, ~made.relevant)
    )
    return inside / (inside + outside) if inside > 0.0 else 0.0


def loss_of(labels: Sequence[Labels]) -> Cost:
    """The projection loss of change points, by the place of their series."""

    def cost(place: int, change_points: NDArray[np.intp]) -> float:
        truth = labels[place]
        found = np.zeros(len(truth), dtype=np.intp)
        found[change_points] = 1
        return projection_loss(truth, np.cumsum(found))

    return cost


def chosen_penalty(metric: Floats | None, series: Sequence[Floats], cost: Cost) -> float:
    """The penalty of least mean cost over series, from the least one on: not one of a grid.

    Every penalty that anything changes at is on the path of some series; the middle, by ratio, of
    the longest interval of least cost is taken.
    """
    detector = ChangePointDetector(metric)
    most = max(_scatter(metric, X) for X in series)
    low = max(LEAST_PENALTY * _noise(metric, series), LEAST_SHARE * most) or 1.0
    high = max(2.0 * low, most)
    places, changes, start = [], [], 0.0
    for place, X in enumerate(series):
        path = detector.path(X, low, high)
        costs = np.array([cost(place, cuts) for cuts in path.change_points])
        start += float(costs[0])
        places.append(path.penalties[1:-1])
        changes.append(np.diff(costs))
    order = np.argsort(np.concatenate(places), kind="stable")
    ends = np.concatenate([[low], np.concatenate(places)[order], [high]])
    totals = start + np.concatenate([[0.0], np.cumsum(np.concatenate(changes)[order])])
    lengths = np.log(ends[1:] / ends[:-1])
    # Intervals of no length are between breaks at the same penalty: not penalties at all.
    least = totals[lengths > 0.0].min()
    best = (totals <= least + 1e-9) & (lengths > 0.0)
    chosen = int(np.argmax(np.where(best, lengths, -1.0)))
    return float(np.sqrt(ends[chosen] * ends[chosen + 1]))


def _noise(metric: Floats | None, series: Sequence[Floats]) -> float:
    """Trace of the covariance of noise under the metric, from the differences of neighbours."""
    steps = [np.diff(X, axis=0) for X in series]
    total = sum(_trace(metric, step) for step in steps)
    return 0.5 * total / sum(map(len, steps))


def _scatter(metric: Floats | None, X: Floats) -> float:
    return _trace(metric, X - X.mean(axis=0))


def _trace(metric: Floats | None, rows: Floats) -> float:
    """Sum of the squared lengths of rows under a metric."""
    if metric is None:
        return float(np.square(rows).sum())
    if metric.ndim == 1:
        return float(np.square(rows).sum(axis=0) @ metric)
    return float(((rows @ metric) * rows).sum())


def _untrained(trial: SegmentTrial) -> Any:
    """A metric that is not learnt yet."""
    name = trial.method.removesuffix(KNOWN).removesuffix(VALIDATED)
    kind, _, number = name.rpartition("-")
    if kind == "PCA":
        return PrincipalMetric(int(number))
    if kind == "RCA":
        return RelevantMetric(int(number))
    made: dict[str, Callable[[], Any]] = {
        "Euclidean": EuclideanMetric,
        "RCA": RelevantMetric,
        "MMC": lambda: PairMetric(random_state=trial.seed),
        "known columns": lambda: KnownSubspace(trial.train.relevant, trial.train.rotation),
    }
    if name not in made:
        raise InputError(f"there is no method {trial.method!r}.")
    return made[name]()
