"""The instances of the comparison, and the energy by which every answer is judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_blobs

SIZES = {
    "blobs": (250, 500, 1000, 1797, 3000, 5000),
    "digits": (250, 500, 1000, 1797, 3000, 5000),
    "random": (500, 1000),
}
SEEDS = {"blobs": (0,), "digits": (0,), "random": (0, 1, 2, 3, 4)}
FACTORS = (1.5, 4.0)


@dataclass(frozen=True)
class Instance:
    """Costs ``distances[p, q]`` of p served by q, and what an exemplar costs."""

    kind: str
    seed: int
    factor: float
    distances: NDArray[np.float64]
    cost: float


def distances_of(kind: str, n: int, seed: int) -> NDArray[np.float64]:
    """Squared Euclidean distances of points, or uniform costs without any structure."""
    rng = np.random.default_rng(seed)
    if kind == "random":
        distances = rng.random((n, n))
        np.fill_diagonal(distances, 0.0)
        return distances
    if kind == "blobs":
        X, _ = make_blobs(n, n_features=2, centers=20, random_state=seed)
        return cdist(X, X, "sqeuclidean")
    digits = load_digits().data
    if n <= len(digits):
        X = digits[rng.permutation(len(digits))[:n]]
    else:
        X = digits[rng.integers(len(digits), size=n)] + rng.standard_normal((n, digits.shape[1]))
    return cdist(X, X, "sqeuclidean")


def instances(sizes: Mapping[str, Sequence[int]]) -> Iterator[Instance]:
    """Every instance of some kinds and sizes, its distances made when it is asked for."""
    for kind in sizes:
        for n in sizes[kind]:
            for seed in SEEDS[kind]:
                distances = distances_of(kind, n, seed)
                median = float(np.median(distances[~np.eye(n, dtype=bool)]))
                for factor in FACTORS:
                    yield Instance(kind, seed, factor, distances, factor * median)


def energy_of(instance: Instance, exemplars: Sequence[int] | NDArray[np.integer]) -> float:
    """The energy of a set of exemplars; inf for none. The only judge of all methods."""
    if len(exemplars) == 0:
        return np.inf
    others = np.delete(instance.distances[:, exemplars], exemplars, axis=0)
    return float(others.min(axis=1).sum() + instance.cost * len(exemplars))
