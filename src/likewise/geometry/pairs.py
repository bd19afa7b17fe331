"""Pair features of one training set, for weights that change from pass to pass.

`PairFeatures` compares blocks of rows once, with weights that are known. A learner asks for
``d = sum_f w_f f_pq`` again and again, and for the features of a few chosen pairs; so here the rows
(or the features themselves) are kept in the form that makes both cheap:

    ColumnPairs    f_pq = (z_pf - z_qf)^2    one matrix product per call, O(n F) memory
    StackedPairs   any features              one weighted sum of matrices, O(n^2 F) memory

Costs come by candidate, ``costs[q, p]`` being "p served by q", as decoders read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.blocks import require_memory, row_blocks
from likewise.geometry.features import PairFeatures
from likewise.geometry.terms import ColumnsTerm

__all__ = ["ColumnPairs", "StackedPairs", "pairs_of_features", "pairs_of_stack"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Scaled features are multiples of this. They are about 1, so it costs nothing; but those of the
# same column in another unit, which differ by rounding only, become the same bits, and training,
# which is sensitive to the last bit, takes the same path to the same weights.
GRAIN = 2.0**-32


@dataclass(frozen=True, eq=False)
class ColumnPairs:
    """Squared differences of columns.

    Attributes
    ----------
    rows : array of shape (n, F)
        Centred, so that the products below lose no digits to a common offset.
    """

    rows: Array

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.rows)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.rows.shape[1]

    def costs(self, weights: Array) -> Array:
        """sum_f w_f (z_pf - z_qf)^2 for all pairs, (n, n), by candidate."""
        weighted = self.rows * weights
        squares = np.einsum("pf,pf->p", weighted, self.rows)
        values = weighted @ self.rows.T
        values *= -2.0
        values += squares
        values += squares[:, None]
        if weights.min(initial=0.0) >= 0.0:
            np.maximum(values, 0.0, out=values)
        np.fill_diagonal(values, 0.0)
        return values

    def summed(self, clients: Indices, servers: Indices, amounts: Array) -> Array:
        """sum_i amounts_i f(clients_i, servers_i), (F,)."""
        differences = self.rows[clients] - self.rows[servers]
        return amounts @ np.square(differences, out=differences)

    def means(self) -> Array:
        """The mean of every feature over pairs of different items."""
        n = self.n_items
        # The mean of (z_p - z_q)^2 over all n^2 pairs is twice the variance.
        return 2.0 * self.rows.var(axis=0) * n / max(n - 1, 1)

    def sums_within(self, shown: Indices) -> tuple[Array, float]:
        """Sums of all features over the ordered pairs of one cluster, and the number of pairs."""
        total, count = np.zeros(self.n_features), 0.0
        for cluster in range(int(shown.max()) + 1):
            rows = self.rows[shown == cluster]
            # sum over pairs of (z_p - z_q)^2 is 2 m^2 times the variance.
            total += 2.0 * len(rows) ** 2 * rows.var(axis=0)
            count += len(rows) * (len(rows) - 1.0)
        return total, count

    def scaled(self, factors: Array) -> ColumnPairs:
        """With every feature multiplied by a factor >= 0, to about 1."""
        return ColumnPairs(_grained(self.rows * np.sqrt(factors)))

    def with_features(self, kept: NDArray[np.bool_]) -> ColumnPairs:
        """Some of the features."""
        return ColumnPairs(np.ascontiguousarray(self.rows[:, kept]))

    def restricted_to(self, items: Indices) -> ColumnPairs:
        """Some of the items."""
        return ColumnPairs(_centred(self.rows[items]))


@dataclass(frozen=True, eq=False)
class StackedPairs:
    """Features that are kept for all pairs.

    Attributes
    ----------
    stack : array of shape (F, n, n)
        ``stack[f, q, p]``: by candidate, the diagonal zero.
    """

    stack: Array

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.stack.shape[1]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.stack.shape[0]

    def costs(self, weights: Array) -> Array:
        """sum_f w_f f_pq for all pairs, (n, n), by candidate."""
        n = self.n_items
        return (weights @ self.stack.reshape(len(weights), -1)).reshape(n, n)

    def summed(self, clients: Indices, servers: Indices, amounts: Array) -> Array:
        """sum_i amounts_i f(clients_i, servers_i), (F,)."""
        return self.stack[:, servers, clients] @ amounts

    def means(self) -> Array:
        """The mean of every feature's size over pairs of different items."""
        n = self.n_items
        return np.abs(self.stack).sum(axis=(1, 2)) / max(n * (n - 1), 1)

    def sums_within(self, shown: Indices) -> tuple[Array, float]:
        """Sums of all features over the ordered pairs of one cluster, and the number of pairs."""
        total, count = np.zeros(self.n_features), 0.0
        for cluster in range(int(shown.max()) + 1):
            members = np.flatnonzero(shown == cluster)
            total += np.abs(self.stack[:, members[:, None], members]).sum(axis=(1, 2))
            count += len(members) * (len(members) - 1.0)
        return total, count

    def scaled(self, factors: Array) -> StackedPairs:
        """With every feature multiplied by a factor, to about 1."""
        return StackedPairs(_grained(self.stack * factors[:, None, None]))

    def with_features(self, kept: NDArray[np.bool_]) -> StackedPairs:
        """Some of the features."""
        return self if kept.all() else StackedPairs(self.stack[kept])

    def restricted_to(self, items: Indices) -> StackedPairs:
        """Some of the items."""
        return StackedPairs(np.ascontiguousarray(self.stack[:, items[:, None], items]))


Pairs = ColumnPairs | StackedPairs


def pairs_of_features(features: PairFeatures, X: Array, *, n_jobs: int | None = None) -> Pairs:
    """The pair features of the rows of one set; local scales are taken within it.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry import resolve_features
    >>> from likewise.geometry.pairs import pairs_of_features
    >>> X = np.array([[0.0, 0.0], [3.0, 1.0]])
    >>> pairs_of_features(resolve_features("columns", 2), X).costs(np.array([1.0, 2.0]))
    array([[ 0., 11.],
           [11.,  0.]])
    """
    features.check(X)
    if len(features.terms) == 1 and isinstance(features.terms[0], ColumnsTerm):
        return ColumnPairs(_centred(X))
    n = len(X)
    stack = _empty_stack(features.n_features, n)
    roots = features.local_scales(X, n_jobs=n_jobs)
    for block in row_blocks(n, 16 * n * features.n_features):
        scales = None if roots is None else (roots[block], roots)
        part = features.stack(X[block], X, scales=scales, first_row=block.start)
        stack[:, :, block] = part.transpose(2, 1, 0)
    return StackedPairs(_without_diagonal(stack))


def pairs_of_stack(costs: Any) -> StackedPairs:
    """The pair features that the user computed, (n, n) or (n, n, F)."""
    given = costs[:, :, None] if costs.ndim == 2 else costs
    stack = _empty_stack(given.shape[2], len(given))
    stack[...] = given.transpose(2, 1, 0)
    return StackedPairs(_without_diagonal(stack))


def mean_features(sets: Sequence[Pairs]) -> Array:
    """The mean of every feature over the pairs of all sets, every set counting the same.

    Not finite where the squares of differences are beyond the largest number.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return np.mean([pairs.means() for pairs in sets], axis=0)


def _centred(rows: Array) -> Array:
    return rows - rows.mean(axis=0)


def _grained(values: Array) -> Array:
    """The nearest multiples of the grain, in place."""
    values /= GRAIN
    np.rint(values, out=values)
    values *= GRAIN
    return values


def _empty_stack(n_features: int, n: int) -> Array:
    require_memory(
        8 * n_features * n * n,
        f"Learning from {n_features} features of {n} x {n} pairs",
        "show smaller sets, or use features='columns', which needs no such array",
    )
    return np.empty((n_features, n, n))


def _without_diagonal(stack: Array) -> Array:
    diagonal = np.arange(stack.shape[1])
    stack[:, diagonal, diagonal] = 0.0
    return stack
