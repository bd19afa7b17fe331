"""Exemplar clustering with a distance that was found some other way, its opening cost tuned.

The energy is that of `likewise.ExemplarClusterer`; its opening cost is a cost per row times the
number of rows, so that a set of another size with as many clusters is divided alike. That one
number is chosen from a grid, on the sets that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from likewise.decoders.exemplar import decode
from likewise.metrics import pairwise_f1
from likewise.potentials import AssignmentCosts

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Score = Callable[[Labels, Labels], float]

# Opening cost per row, in units of the mean distance over the pairs of the sets that are shown.
# The ends put nearly every row, and no two rows, into clusters of their own; the ratio of two
# neighbours is 1.5.
FACTORS = tuple(np.geomspace(1e-3, 0.6, 17).tolist())


class RowDistance(Protocol):
    """A distance between rows, possibly learnt from sets whose partition is shown."""

    def fit(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Learn from sets and their labels."""

    def matrix(self, X: Floats) -> Floats:
        """Distances between all rows of one set, shape (n, n)."""


class TunedExemplars:
    """A distance, and the cost of a cluster that suits the sets that are shown.

    Parameters
    ----------
    distance : RowDistance
        Fitted first.
    score : callable, default=pairwise_f1
        ``score(truth, found)``, whose mean over sets is maximised.
    factors : sequence of float, default=FACTORS
        The costs that are tried, per row and in units of the mean distance.

    Attributes
    ----------
    cost_per_row_ : float
        The chosen cost of a cluster, divided by the number of rows of its set.
    score_ : float
        The mean score that it reached where it was chosen.
    """

    def __init__(
        self,
        distance: RowDistance,
        *,
        score: Score = pairwise_f1,
        factors: Sequence[float] = FACTORS,
    ) -> None:
        self.distance = distance
        self.score = score
        self.factors = factors

    def fit(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Learn the distance, then choose the cost."""
        self.distance.fit(sets, ys)
        return self.tune(sets, ys)

    def tune(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Choose the cost on these sets, the distance being what it is."""
        matrices = [self.distance.matrix(X) for X in sets]
        unit = mean_distance(matrices)
        costs = [factor * unit for factor in self.factors]
        scores = [self._mean_score(matrices, ys, cost) for cost in costs]
        # Among equals, the one in the middle is farthest from where the score falls.
        best = np.flatnonzero(np.isclose(scores, max(scores), rtol=0.0, atol=1e-12))
        chosen = int(best[(len(best) - 1) // 2])
        self.cost_per_row_, self.score_ = costs[chosen], scores[chosen]
        return self

    def cluster(self, sets: Sequence[Floats]) -> list[Labels]:
        """Partition each set."""
        return [partition(self.distance.matrix(X), self.cost_per_row_ * len(X)) for X in sets]

    def _mean_score(self, matrices: Sequence[Floats], ys: Sequence[Labels], cost: float) -> float:
        found = [partition(matrix, cost * len(matrix)) for matrix in matrices]
        return float(np.mean([self.score(y, labels) for y, labels in zip(ys, found, strict=True)]))


def partition(distances: Floats, opening_cost: float) -> Labels:
    """Labels of the exemplar clustering of one set."""
    costs = AssignmentCosts(distances, np.full(len(distances), opening_cost))
    return decode(costs, solver="fast", random_state=0).partition.labels


def mean_distance(matrices: Sequence[Floats]) -> float:
    """Mean over the pairs of different rows of all sets."""
    total = sum(float(matrix.sum() - np.trace(matrix)) for matrix in matrices)
    return total / max(1, sum(len(matrix) * (len(matrix) - 1) for matrix in matrices))
