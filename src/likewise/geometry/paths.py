"""Path distances: how far two items are when one may go through others.

    path(p, q) = min over paths p = i_0, i_1, ..., i_m = q of sum_j d(i_{j-1}, i_j)^power

Many short steps cost less than one long one where the power is above one, so items that dense
regions connect come close, and clusters may have any shape (Groisman, Jonckheere and Sapienza,
"Nonhomogeneous Euclidean first-passage percolation and distance learning", 2022, call it the Fermat
distance). The values are divided by their median over pairs, which makes them free of units.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.jit import kernel

__all__ = ["paths_between", "paths_from"]

Array = NDArray[np.float64]


@kernel
def _relax_all(lengths):
    """Floyd and Warshall: the lengths of shortest paths, in place, O(n^3)."""
    n = lengths.shape[0]
    for k in range(n):
        through = lengths[k]
        for i in range(n):
            first = lengths[i, k]
            row = lengths[i]
            if i == k or not np.isfinite(first):
                continue
            for j in range(n):
                row[j] = min(row[j], first + through[j])


@kernel
def _first_steps(steps, lengths, result):
    """Shortest paths from outside: one step to an item of the set, then a path within it."""
    for i in range(steps.shape[0]):
        for k in range(steps.shape[1]):
            step = steps[i, k]
            for j in range(lengths.shape[1]):
                result[i, j] = min(result[i, j], step + lengths[k, j])


def paths_between(distances: Array, power: float) -> tuple[Array, float]:
    """Path distances of all pairs of a set, and the unit in which they are.

    Parameters
    ----------
    distances : array of shape (n, n)
        Not negative; need not be symmetric. The diagonal is ignored.
    power : float
        At least 1. Higher powers prefer shorter steps.

    Returns
    -------
    array of shape (n, n)
        The path distances, zero on the diagonal, divided by the unit.
    float
        The median path distance of two different items (1 where that is zero).

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry.paths import paths_between
    >>> chain = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    >>> lengths, unit = paths_between(chain, power=2.0)
    >>> lengths[0] * unit
    array([0., 1., 2., 3.])
    """
    largest = _largest(distances)
    lengths = np.ascontiguousarray(distances / largest) ** power
    np.fill_diagonal(lengths, 0.0)
    _relax_all(lengths)
    n = len(lengths)
    # All but the diagonal: n - 1 stretches of n numbers between its entries.
    others = lengths.reshape(-1)[:-1].reshape(max(n - 1, 0), n + 1)[:, 1:] if n > 1 else np.ones(1)
    median = float(np.median(others)) or 1.0
    lengths /= median
    return lengths, median * largest**power


def paths_from(steps: Array, lengths: Array, power: float, unit: float) -> Array:
    """Path distances from new items to items of a set, through the set.

    Parameters
    ----------
    steps : array of shape (m, n)
        Distances from new items to all items of the set.
    lengths : array of shape (n, k)
        Path distances from all items of the set to some of them, in the unit.
    power, unit : float
        Those of `paths_between`.
    """
    result = np.full((len(steps), lengths.shape[1]), np.inf)
    # The root first: the power of a large distance may overflow where the quotient does not.
    scaled = (steps / unit ** (1.0 / power)) ** power
    _first_steps(np.ascontiguousarray(scaled), np.ascontiguousarray(lengths), result)
    return result


def _largest(distances: Array) -> float:
    return float(np.abs(distances).max(initial=0.0)) or 1.0
