"""The methods that experiments compare, by name, each trained and judged in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from likewise.datasets import PartitionedSets
from likewise.errors import InputError
from likewise.estimators.exemplar_learner import ExemplarLearner
from likewise.experiments.baselines import (
    BestSingleDistance,
    KnownColumns,
    LocalFisher,
    PlainDistance,
    RelevantComponents,
    StandardisedDistance,
    SVMCluster,
    TunedExemplars,
)
from likewise.metrics import pairwise_f1

LEARNER = "learner"
# The costs of a cluster are chosen on the very sets that are then clustered: better than honest.
TUNED_ON_TEST = ", best test cost"


def new_learner(seed: int, strength: Any = "auto") -> Any:
    """The learner, with its default settings but for the seed: the only place that makes one.

    With a number as strength there is one training, where held-out clusters might choose none.
    """
    return ExemplarLearner(strength=strength, random_state=seed)


@dataclass(frozen=True)
class Trial:
    """One method on one pair of training and test sets."""

    method: str
    train: PartitionedSets
    test: PartitionedSets
    seed: int
    quick: bool = False
    score: Callable[[Any, Any], float] = pairwise_f1


def fitted(trial: Trial) -> tuple[Any, float]:
    """Train a method; what it has become, and the seconds that took."""
    method = _made(trial)
    start = time.perf_counter()
    method.fit(trial.train.sets, trial.train.labels)
    seconds = time.perf_counter() - start
    if trial.method.endswith(TUNED_ON_TEST):
        method.tune(trial.test.sets, trial.test.labels)
    return method, seconds


def judge(method: Any, test: PartitionedSets) -> dict[str, float]:
    """Cluster sets and compare with the truth; means over the sets."""
    start = time.perf_counter()
    found = method.cluster(test.sets)
    seconds = time.perf_counter() - start
    return {
        "pairwise_f1": mean_score(pairwise_f1, test.labels, found),
        "adjusted_rand": mean_score(adjusted_rand_score, test.labels, found),
        "clusters_found": float(np.mean([len(np.unique(labels)) for labels in found])),
        "right_number": float(
            np.mean([
                len(np.unique(labels)) == len(np.unique(y))
                for labels, y in zip(found, test.labels, strict=True)
            ])
        ),
        "cluster_seconds": seconds / len(test.sets),
    }  # fmt: skip


def mean_score(
    score: Callable[[Any, Any], float], truth: Sequence[Any], found: Sequence[Any]
) -> float:
    """Mean of ``score(truth, found)`` over sets."""
    return float(np.mean([score(y, labels) for y, labels in zip(truth, found, strict=True)]))


def scaled_weights(weights: Any, sets: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Share of every column in the distance of two rows that are drawn at random, adding up to 1.

    The weight of a column times the mean of its squared differences, twice its variance: weights
    themselves are in the units of the columns and cannot be compared.
    """
    variance = np.mean([X.var(axis=0) for X in sets], axis=0)
    parts = np.abs(np.asarray(weights, dtype=np.float64)) * 2.0 * variance
    return parts / max(float(parts.sum()), np.finfo(np.float64).tiny)


def measure(trial: Trial) -> dict[str, Any]:
    """Train, cluster, judge; for the learner also what its weights say."""
    method, seconds = fitted(trial)
    row: dict[str, Any] = {**judge(method, trial.test), "fit_seconds": seconds}
    if trial.method == LEARNER:
        shares = scaled_weights(method.weights_, trial.train.sets)
        noise = ~trial.train.informative
        row["noise_share"] = float(shares[noise].sum()) if noise.any() else None
        row["weights_used"] = int(np.count_nonzero(method.weights_))
        row["passes"] = len(method.history_["objective"])
    return row


def _made(trial: Trial) -> Any:
    """A method that is not trained yet."""
    name = trial.method.removesuffix(TUNED_ON_TEST)
    if name == LEARNER:
        return new_learner(trial.seed)
    if name == "SVM-cluster":
        few: dict[str, Any] = {"strengths": (1e-2,), "steps": (0.5,), "max_iter": 60}
        return SVMCluster(score=trial.score, **(few if trial.quick else {}))
    if name == "best single":
        return BestSingleDistance("columns", score=trial.score)
    distances: dict[str, Callable[[], Any]] = {
        "plain": PlainDistance,
        "standardised": StandardisedDistance,
        "RCA": RelevantComponents,
        "LFDA": LocalFisher,
        "known columns": lambda: KnownColumns(trial.train.informative),
    }
    if name not in distances:
        raise InputError(f"there is no method {trial.method!r}.")
    return TunedExemplars(distances[name](), score=trial.score)
