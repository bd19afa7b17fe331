"""What is tested by contract: instances of problems, decoders, learners and estimators, by name.

A new one of them is added here, and every property of `tests/contracts` holds for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

import likewise as lw
from likewise.decoders.exemplar import decode
from likewise.decoders.parts import Multipliers, Parts
from likewise.decoders.relaxation import relax
from likewise.energies.exemplar import ExemplarEnergy
from likewise.geometry.pairs import ColumnPairs, StackedPairs
from likewise.learners.cutting_planes import CuttingPlanes
from likewise.learners.subgradient import Subgradient
from likewise.losses.exemplar import ExemplarLoss
from likewise.partitions import FractionalPartition, Partition
from likewise.potentials import AssignmentCosts, AugmentedCosts
from likewise.supervision import Example

Generator = np.random.Generator


def squared_distances(X: np.ndarray) -> np.ndarray:
    return ((X[:, None] - X) ** 2).sum(axis=2)


# What it costs to be served: with and without sign, symmetry, triangle inequality and ties.
SERVICES: dict[str, Callable[[Generator, int], np.ndarray]] = {
    "uniform": lambda rng, n: rng.random((n, n)),
    "signed": lambda rng, n: rng.normal(size=(n, n)),
    "integer": lambda rng, n: rng.integers(-2, 5, size=(n, n)).astype(float),
    "metric": lambda rng, n: squared_distances(rng.normal(size=(n, 2))),
    "decimal": lambda rng, n: np.round(rng.normal(size=(n, n)), 1),
    "wide": lambda rng, n: np.exp(4.0 * rng.normal(size=(n, n))),
}

# What it costs to be an exemplar: one price or one per item, below zero or not.
OPENINGS: dict[str, Callable[[Generator, int], np.ndarray]] = {
    "per item": lambda rng, n: 2.0 * rng.random(n),
    "signed": lambda rng, n: rng.normal(size=n),
    "one price": lambda rng, n: np.full(n, 0.5 * rng.integers(-1, 5)),
}


def dense_costs(rng: Generator, index: int, n: int | None = None) -> AssignmentCosts:
    """One of the kinds of costs, all pairs allowed."""
    n = int(rng.integers(1, 10)) if n is None else n
    service = list(SERVICES.values())[index % len(SERVICES)](rng, n)
    opening = list(OPENINGS.values())[index // len(SERVICES) % len(OPENINGS)](rng, n)
    return AssignmentCosts(service, opening)


def sparse_costs(rng: Generator, index: int, n: int | None = None) -> AssignmentCosts:
    """The same with about half of the pairs; a row without any stores its diagonal."""
    costs = dense_costs(rng, index, n)
    return AssignmentCosts(some_pairs(rng, costs.service), costs.opening)


def some_pairs(rng: Generator, d: np.ndarray, share: float = 0.5) -> sparse.csr_array:
    keep = rng.random(d.shape) < share
    np.fill_diagonal(keep, False)
    alone = np.flatnonzero(~keep.any(axis=1))
    keep[alone, alone] = True
    rows, columns = np.nonzero(keep)
    return sparse.csr_array((d[keep], (rows, columns)), shape=d.shape)


@dataclass(frozen=True)
class DecoderCase:
    """A decoder with random potentials for it, and how often it must reach the minimum."""

    decode: Callable[..., Any]
    make: Callable[[Generator, int], AssignmentCosts]
    solver: str
    optimal: float


DECODERS = {
    "exemplar, dense, exact": DecoderCase(decode, dense_costs, "exact", 1.0),
    "exemplar, sparse, exact": DecoderCase(decode, sparse_costs, "exact", 1.0),
    "exemplar, dense, auto": DecoderCase(decode, dense_costs, "auto", 0.995),
    "exemplar, sparse, auto": DecoderCase(decode, sparse_costs, "auto", 0.98),
    "exemplar, dense, fast": DecoderCase(decode, dense_costs, "fast", 0.9),
    "exemplar, sparse, fast": DecoderCase(decode, sparse_costs, "fast", 0.9),
}

# Configurations that pass scikit-learn's own checks (which pass rows, never precomputed distances).
ESTIMATORS = {
    "default": lw.ExemplarClusterer(),
    "columns": lw.ExemplarClusterer(features="columns"),
    "candidates": lw.ExemplarClusterer(candidates=5),
    "paths": lw.ExemplarClusterer(paths=2.0),
    "fast": lw.ExemplarClusterer(solver="fast"),
    "exact": lw.ExemplarClusterer(solver="exact", gap=0.0),
    "manhattan, a number": lw.ExemplarClusterer("manhattan", opening_cost=1.0),
    "several distances": lw.ExemplarClusterer(
        [lw.Compare("all", "euclidean"), lw.Compare("first", "manhattan", columns=[0])],
        weights=[1.0, 0.5],
    ),
}

# The same for learners, which are shown partitions.
LEARNING_ESTIMATORS = {
    "exemplar, default": lw.ExemplarLearner(),
    "exemplar, comparisons": lw.ExemplarLearner(
        [lw.Compare("all", "euclidean"), lw.Compare("first", "manhattan", columns=[0])]
    ),
}

# Learners of segmentations.
SEGMENTING_ESTIMATORS = {
    "change points, default": lw.ChangePointLearner(),
    "change points, full": lw.ChangePointLearner("full", strength=0.1, loss="rand"),
    "change points, windows": lw.ChangePointLearner(features="windows", penalty="features"),
}


def shown_clusters(rng: Generator, n: int) -> np.ndarray:
    """Labels of up to four clusters, every one of them used."""
    return Partition.from_labels(rng.integers(0, min(n, 4), size=n)).labels


def _openings(rng: Generator, n: int, n_openings: int) -> np.ndarray:
    constant = np.ones((n, 1))
    return np.hstack([constant, rng.normal(size=(n, n_openings - 1))])


def column_example(rng: Generator, index: int, n: int | None = None) -> Example:
    """Squared differences of columns, and one to three features of opening costs."""
    n = int(rng.integers(1, 7)) if n is None else n
    rows = rng.normal(size=(n, 1 + index % 4))
    pairs = ColumnPairs(rows - rows.mean(axis=0))
    return Example(pairs, shown_clusters(rng, n), _openings(rng, n, 1 + index % 3))


def stacked_example(rng: Generator, index: int, n: int | None = None) -> Example:
    """Features of any sign, asymmetric ones among them."""
    n = int(rng.integers(1, 7)) if n is None else n
    service = list(SERVICES.values())
    stack = np.array([service[(index + f) % len(service)](rng, n).T for f in range(1 + index % 3)])
    stack[:, np.arange(n), np.arange(n)] = 0.0
    return Example(StackedPairs(stack), shown_clusters(rng, n), _openings(rng, n, 1 + index % 2))


def weights_for(rng: Generator, example: Example, index: int) -> np.ndarray:
    """Not negative in most cases."""
    weights = rng.normal(size=example.pairs.n_features + example.openings.shape[1])
    return weights if index % 3 == 2 else np.abs(weights)


@dataclass(frozen=True)
class EnergyCase:
    """An energy with random examples for it, and the losses that may be folded into it."""

    energy: Any
    make: Callable[..., Example]


ENERGIES = {
    "exemplar, columns": EnergyCase(ExemplarEnergy(), column_example),
    "exemplar, stacked": EnergyCase(ExemplarEnergy(), stacked_example),
}

LOSSES = {
    "exemplar": ExemplarLoss(),
    "exemplar, weighted": ExemplarLoss(0.4, 1.7),
    "exemplar, clusters only": ExemplarLoss(1.0, 0.0),
    "exemplar, items only": ExemplarLoss(0.0, 1.0),
}


def bound_by_relaxation(
    costs: AugmentedCosts, shown_energy: float
) -> tuple[float, list[FractionalPartition]]:
    """The compact dual, with many steps."""
    found = relax(costs, prices=None, upper=shown_energy, steps=3000)
    return found.bound, found.points


def bound_by_parts(
    costs: AugmentedCosts, shown_energy: float
) -> tuple[float, list[FractionalPartition]]:
    """Subgradient steps on the multipliers of the parts; they find no points."""
    parts, multipliers = Parts.of(costs), Multipliers.zero(costs.n_items)
    best = -np.inf
    for t in range(1, 40):
        found = parts.minimise(multipliers)
        best = max(best, found.value)
        multipliers, _ = multipliers.moved(found, 0.3 / np.sqrt(t))
    return best, []


# Costs into which a loss was folded: bounds of their minimum, and points of the relaxation.
RELAXATIONS: dict[str, Callable[..., tuple[float, list[FractionalPartition]]]] = {
    "compact": bound_by_relaxation,
    "parts": bound_by_parts,
}

LEARNERS = {
    "cutting planes": CuttingPlanes(tol=0.01),
    "cutting planes, one completion": CuttingPlanes(tol=0.005, max_rounds=1),
    "subgradient": Subgradient(0.02),
    "stochastic subgradient": Subgradient(0.02, rounds=3, stochastic=True, seed=5),
}
