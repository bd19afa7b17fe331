"""Path distances: how far two items are when one may go through others.

    path(p, q) = min over paths p = i_0, i_1, ..., i_m = q of sum_j d(i_{j-1}, i_j)^power

Many short steps cost less than one long one where the power is above one, so items that dense
regions connect come close, and clusters may have any shape (Groisman, Jonckheere and Sapienza,
"Nonhomogeneous Euclidean first-passage percolation and distance learning", 2022, call it the Fermat
distance). The values are divided by their median over pairs, which makes them free of units.

Powers of distances may overflow. So lengths are found as multiples of the power of the longest
step, and a unit that is to be kept is kept as a step, the distance whose power it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.jit import kernel
from likewise.errors import InputError

__all__ = [
    "PathLengths",
    "check_steps",
    "path_lengths",
    "paths_between",
    "paths_from",
    "paths_through",
]

Array = NDArray[np.float64]

# Floyd and Warshall in stretches of items, and of columns, that stay in the cache.
_STRETCH = 32
_COLUMNS = 1024


@dataclass(frozen=True)
class PathLengths:
    """Lengths of the shortest paths between all pairs of a set.

    Attributes
    ----------
    lengths : array of shape (n, n)
        Between 0 and 1, as multiples of ``longest ** power``; zero on the diagonal.
    longest : float
        The longest step, which is the largest distance; 1 where all are zero.
    power : float
        Of the steps.
    vanished : bool
        Whether a step above zero counts as zero, because its power is too small beside that of the
        longest step for a floating-point number.
    """

    lengths: Array
    longest: float
    power: float
    vanished: bool

    def step_of(self, length: float) -> float:
        """Return the distance whose power a length is."""
        return float(self.longest * length ** (1.0 / self.power))


@kernel
def _relax_stretch(lengths, start, stop, symmetric):
    """Steps of Floyd and Warshall for items from start to stop, in their rows and columns only."""
    n = lengths.shape[0]
    if symmetric:
        # Only what is below the diagonal has been kept up to date.
        for k in range(start, stop):
            for j in range(start):
                lengths[j, k] = lengths[k, j]
            for j in range(k + 1, n):
                lengths[k, j] = lengths[j, k]
    for k in range(start, stop):
        through = lengths[k]
        for i in range(n):
            if i == k:
                continue
            first = lengths[i, k]
            row = lengths[i]
            inside = start <= i < stop
            for j in range(0 if inside else start, n if inside else stop):
                row[j] = min(row[j], first + through[j])


@kernel
def _relax_others(lengths, start, stop, symmetric):
    """Paths through items from start to stop, in all rows and columns but theirs.

    Four items at a time and a stretch of columns at a time: both save traffic with the memory.
    """
    n = lengths.shape[0]
    for left in range(0, n, _COLUMNS):
        for i in range(n):
            if start <= i < stop:
                continue
            row = lengths[i]
            right = min(left + _COLUMNS, i if symmetric else n)
            for k in range(start, stop, 4):
                k1, k2, k3 = min(k + 1, stop - 1), min(k + 2, stop - 1), min(k + 3, stop - 1)
                to0, to1, to2, to3 = row[k], row[k1], row[k2], row[k3]
                on0, on1, on2, on3 = lengths[k], lengths[k1], lengths[k2], lengths[k3]
                for side in range(2):
                    low = left if side == 0 else max(left, stop)
                    high = min(right, start) if side == 0 else right
                    for j in range(low, high):
                        least = min(row[j], to0 + on0[j])
                        least = min(least, to1 + on1[j])
                        least = min(least, to2 + on2[j])
                        row[j] = min(least, to3 + on3[j])


@kernel
def _mirror_lower(lengths):
    for i in range(lengths.shape[0]):
        for j in range(i):
            lengths[j, i] = lengths[i, j]


@kernel
def _first_steps(steps, lengths, result):
    """Shortest paths from outside: one step to an item of the set, then a path within it."""
    for i in range(steps.shape[0]):
        for k in range(steps.shape[1]):
            step = steps[i, k]
            for j in range(lengths.shape[1]):
                result[i, j] = min(result[i, j], step + lengths[k, j])


def check_steps(distances: Array, power: float) -> None:
    """Refuse negative distances, whose powers are no lengths; the diagonal is ignored."""
    below = distances < 0.0
    np.fill_diagonal(below, False)
    if below.any():
        row, other = np.argwhere(below)[0]
        raise InputError(
            f"paths={power:g} needs distances >= 0, but that of row {row} from row {other} is "
            f"{distances[row, other]:g} ({np.count_nonzero(below)} such in total). Shift the "
            "distances, change the weights, or leave paths out."
        )


def path_lengths(distances: Array, power: float, *, overwrite: bool = False) -> PathLengths:
    """Lengths of the shortest paths between all pairs of a set, in O(n^3) time.

    Parameters
    ----------
    distances : array of shape (n, n)
        Not negative; need not be symmetric. The diagonal is ignored. A symmetric matrix takes half
        the time, and its lengths are symmetric to the last bit.
    power : float
        At least 1. Higher powers prefer shorter steps.
    overwrite : bool, default=False
        Write the lengths over the distances, which then are a C-contiguous array.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry.paths import path_lengths
    >>> chain = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    >>> found = path_lengths(chain, power=2.0)
    >>> found.lengths[0] * found.longest**2
    array([0., 1., 2., 3.])
    """
    lengths = distances if overwrite else np.array(distances, dtype=np.float64, order="C")
    np.fill_diagonal(lengths, 0.0)
    longest = float(lengths.max(initial=0.0)) or 1.0
    positive = np.count_nonzero(lengths)
    lengths /= longest
    lengths **= power
    vanished = bool(np.count_nonzero(lengths) < positive)
    n = len(lengths)
    symmetric = np.array_equal(lengths, lengths.T)
    for start in range(0, n, _STRETCH):
        stop = min(start + _STRETCH, n)
        _relax_stretch(lengths, start, stop, symmetric)
        _relax_others(lengths, start, stop, symmetric)
    if symmetric:
        _mirror_lower(lengths)
    return PathLengths(lengths, longest, power, vanished)


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
        The median path distance of two different items; where that is zero, the power of the
        largest distance.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry.paths import paths_between
    >>> chain = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    >>> lengths, unit = paths_between(chain, power=2.0)
    >>> lengths[0] * unit
    array([0., 1., 2., 3.])
    """
    found = path_lengths(distances, power)
    lengths = found.lengths
    n = len(lengths)
    # All but the diagonal: n - 1 stretches of n numbers between its entries.
    others = lengths.reshape(-1)[:-1].reshape(max(n - 1, 0), n + 1)[:, 1:] if n > 1 else np.ones(1)
    median = float(np.median(others)) or 1.0
    lengths /= median
    return lengths, median * found.longest**power


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
    # The root first: the power of a large distance may overflow where the quotient does not.
    return paths_through(steps, lengths, power, unit ** (1.0 / power))


def paths_through(steps: Array, lengths: Array, power: float, step: float) -> Array:
    """Path distances as `paths_from` gives them, the unit given as the step whose power it is.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry.paths import paths_through
    >>> paths_through(np.array([[6.0, 4.0]]), np.array([[0.0], [1.0]]), power=2.0, step=2.0)
    array([[5.]])
    """
    result = np.full((len(steps), lengths.shape[1]), np.inf)
    with np.errstate(over="ignore"):
        scaled = (steps / step) ** power
    _first_steps(np.ascontiguousarray(scaled), np.ascontiguousarray(lengths), result)
    return result
