"""Learning to segment as lajugie2014 writes it down: all segmentations, projections as matrices.

The training problem is a quadratic program with one constraint for every segmentation of every
sequence. Metrics are vectors or matrices, row after row; the penalty of a segment is the last
weight.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

from naive.segments import segmentations

Floats = NDArray[np.float64]
# Half-spaces that approach a cone from outside, at most, and how far outside of it is inside.
CUTS, INSIDE = 60, 1e-9
# Weights are looked for among those no larger than this, where the program is quadratic.
NEAR = 30.0
STARTS = (1.0, 0.1, 0.1, 3.0, 3.0)


def projection(cuts: Sequence[int], n: int) -> Floats:
    M = np.zeros((n, n))
    for s, t in itertools.pairwise([0, *cuts, n]):
        M[s:t, s:t] = 1.0 / (t - s)
    return M


def cuts_of(labels: Sequence[int]) -> tuple[int, ...]:
    return tuple(k for k in range(1, len(labels)) if labels[k] != labels[k - 1])


def features(rows: Floats, cuts: Sequence[int], full: bool) -> Floats:
    """What the energy of a segmentation is a product of with the weights."""
    n = len(rows)
    M = projection(cuts, n)
    scatter = rows.T @ (np.eye(n) - M) @ rows
    metric = scatter.ravel() if full else np.diag(scatter)
    return np.append(metric, np.trace(M))


def loss(kind: str, one: Sequence[int], other: Sequence[int], n: int) -> float:
    M, N = projection(one, n), projection(other, n)
    if kind == "projection":
        return float(((M - N) ** 2).sum())
    wrong = [(M[s, t] > 0) != (N[s, t] > 0) for s in range(n) for t in range(n) if s != t]
    return float(np.mean(wrong)) if wrong else 0.0


@dataclass(frozen=True)
class Planes:
    """What one sequence says: row k is a plane, slopes and height, that its loss is not below."""

    slopes: Floats
    heights: Floats

    def hinge(self, weights: Floats) -> float:
        return float((self.slopes @ weights + self.heights).max())


def planes_of(
    rows: Floats, labels: Sequence[int], share: float, kind: str, weight: float, known: bool,
    full: bool,
) -> Planes:  # fmt: skip
    n, shown = len(rows), cuts_of(labels)
    own = features(rows, shown, full)
    slopes, heights = [], []
    for cuts in segmentations(n):
        if known and len(cuts) != len(shown):
            continue
        slopes.append(share * (own - features(rows, cuts, full)))
        heights.append(share * weight * loss(kind, shown, cuts, n))
    return Planes(np.array(slopes), np.array(heights))


@dataclass(frozen=True)
class Pull:
    """A regulariser constant + linear @ w + 1/2 sum curvature w^2, its strength included."""

    constant: float
    linear: Floats
    curvature: Floats

    def value(self, weights: Floats) -> float:
        return float(
            self.constant + self.linear @ weights + 0.5 * (self.curvature * weights**2).sum()
        )


def pull_of(kind: Any, strength: float, n: int, side: int | None = None) -> Pull:
    """Written out once more for n weights of features, or a matrix, and the penalty."""
    name = type(kind).__name__
    counted = np.ones(n) if side is None else np.eye(side).ravel()
    constant, linear, curvature = 0.0, np.zeros(n + 1), np.zeros(n + 1)
    if name == "L1":
        linear[:n] = 1.0
    elif name == "L2":
        curvature[:n] = 1.0
    elif name == "Elastic":
        linear[:n], curvature[:n] = kind.linear * counted, kind.squared
    else:
        assert name == "Near", name
        constant = float((kind.center**2).sum()) / (2.0 * kind.unit)
        linear[:n], curvature[:n] = -kind.center / kind.unit, 1.0 / kind.unit
    return Pull(strength * constant, strength * linear, strength * curvature)


def objective(sequences: Sequence[Planes], pull: Pull, weights: Floats) -> float:
    return pull.value(weights) + sum(own.hinge(weights) for own in sequences)


@dataclass(frozen=True)
class Exact:
    """The minimum lies between two values; weights for the upper one."""

    lower: float
    upper: float
    weights: Floats


def train(
    sequences: Sequence[Planes], pull: Pull, lower: Floats, upper: Floats,
    side: int | None = None,
) -> Exact:  # fmt: skip
    """The minimum over the box, or over positive semi-definite matrices in it."""
    normals = np.empty((0, len(lower)))
    for _ in range(CUTS):
        found = _solved(sequences, pull, lower, upper, normals)
        least = objective(sequences, pull, found)
        if side is None:
            return Exact(least, least, found)
        matrix = found[:-1].reshape(side, side)
        values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
        positive = (vectors * np.maximum(values, 0.0)) @ vectors.T
        inside = np.append(positive.ravel(), found[-1])
        above = objective(sequences, pull, inside)
        if values[0] >= -INSIDE:
            break
        normals = np.vstack([normals, np.append(np.outer(vectors[:, 0], vectors[:, 0]), 0.0)])
    return Exact(least, above, inside)


def _solved(
    sequences: Sequence[Planes], pull: Pull, lower: Floats, upper: Floats, normals: Floats
) -> Floats:
    n, N = len(lower), len(sequences)
    slack = np.concatenate([np.eye(N)[[k] * len(own.heights)] for k, own in enumerate(sequences)])
    slopes = np.vstack([own.slopes for own in sequences])
    heights = np.concatenate([own.heights for own in sequences])
    # slack - slopes @ w >= heights, normals @ w >= 0
    A = np.vstack([np.hstack([-slopes, slack]), np.hstack([normals, np.zeros((len(normals), N))])])
    b = np.append(heights, np.zeros(len(normals)))
    cost = np.append(pull.linear, np.ones(N))
    bounds = [*zip(lower, upper, strict=True), *[(0.0, None)] * N]
    flat = linprog(cost, A_ub=-A, b_ub=-b, bounds=bounds) if not pull.curvature.any() else None
    if flat is not None:
        assert flat.status == 0, flat.message
        return np.asarray(flat.x[:n])
    curvature = np.append(pull.curvature, np.zeros(N))
    lower, upper = np.maximum(lower, -NEAR), np.minimum(upper, NEAR)
    bounds = [*zip(lower, upper, strict=True), *[(0.0, NEAR * n)] * N]
    best = None
    for first in STARTS:
        start = np.clip(np.full(n, first), lower, upper) if best is None else best[1]
        start = np.append(start, [own.hinge(start) for own in sequences])
        found = minimize(
            lambda x: cost @ x + 0.5 * (curvature * x * x).sum(), start,
            jac=lambda x: cost + curvature * x, bounds=bounds, method="SLSQP",
            constraints={"type": "ineq", "fun": lambda x: A @ x - b, "jac": lambda _: A},
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        weights = np.clip(found.x[:n], lower, upper)
        value = objective(sequences, pull, weights)
        if best is not None and abs(value - best[0]) <= 1e-12:
            break
        if best is None or value < best[0]:
            best = (value, weights)
    assert best is not None
    return best[1]
