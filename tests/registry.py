"""What is tested by contract: instances of problems, decoders and estimators, by name.

A new decoder or estimator is added here, and every property of `tests/contracts` holds for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

import likewise as lw
from likewise.decoders.exemplar import decode
from likewise.potentials import AssignmentCosts

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
    "fast": lw.ExemplarClusterer(solver="fast"),
    "exact": lw.ExemplarClusterer(solver="exact", gap=0.0),
    "manhattan, a number": lw.ExemplarClusterer("manhattan", opening_cost=1.0),
    "several distances": lw.ExemplarClusterer(
        [lw.Compare("all", "euclidean"), lw.Compare("first", "manhattan", columns=[0])],
        weights=[1.0, 0.5],
    ),
}
