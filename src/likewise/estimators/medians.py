"""Medians over pairs of rows that stand for many: the default opening cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.blocks import row_blocks

Floats = NDArray[np.float64]

# Pairs that are looked at first, to see roughly where the median lies.
SAMPLE = 1 << 16
# Shares of the sample on either side of its median that the true one is sought in, one after the
# other; the last one takes everything in.
SHARES = (0.02, 0.2, 0.5)


def pair_median(distances: Floats, weight: Floats) -> float:
    """Median of d[p, q] over pairs of rows, p != q, where unit p stands for weight[p] rows.

    Rows of one unit are at distance zero of each other: such a unit has w (w - 1) pairs. Needs no
    more memory than a copy of the distances.
    """
    n = len(weight)
    if np.any(weight != 1.0):
        return _weighted_pair_median(distances, weight)
    if n == 1:
        return 0.0
    # All but the diagonal, as a view: n - 1 stretches of n numbers between its entries.
    off_diagonal = np.ascontiguousarray(distances).reshape(-1)[:-1].reshape(n - 1, n + 1)[:, 1:]
    return float(np.median(off_diagonal))


def weighted_median(values: Floats, times: Floats) -> float:
    """Median of values that count ``times`` each; between two of them, their mean."""
    counted = times > 0
    if not counted.any():
        return 0.0
    values, times = _tallied(values[counted], times[counted])
    return _at(values, np.cumsum(times), float(times.sum()) / 2)


def _weighted_pair_median(distances: Floats, weight: Floats) -> float:
    own = np.maximum(weight * (weight - 1.0), 0.0)
    half = float((weight * (weight.sum() - weight) + own).sum()) / 2
    if half == 0.0:
        return 0.0
    places = np.arange(0, distances.size, max(1, distances.size // SAMPLE))
    rows, columns = np.divmod(places, len(weight))
    times = weight[rows] * weight[columns]
    sample, times = _tallied(np.where(rows == columns, 0.0, distances[rows, columns]), times)
    rank = np.cumsum(times) / times.sum()
    for share in SHARES:
        low, high = -np.inf, np.inf
        if share < 0.5:
            low, high = (_at(sample, rank, 0.5 + side) for side in (-share, share))
        below, values, times = _between(distances, weight, own, low, high)
        upto = below + np.cumsum(times)
        if below < half < (upto[-1] if len(upto) else below) or share == SHARES[-1]:
            break
    return _at(values, upto, half)


def _between(
    distances: Floats, weight: Floats, own: Floats, low: float, high: float
) -> tuple[float, Floats, Floats]:
    """How often values below ``low`` count, and the values up to ``high`` with their counts."""
    below = 0.0
    found = [np.empty(0)]
    counts = [np.empty(0)]
    for block in row_blocks(len(weight), 64 * len(weight)):
        values, times = distances[block].copy(), np.multiply.outer(weight[block], weight)
        at = np.arange(block.start, block.stop)
        values[at - block.start, at], times[at - block.start, at] = 0.0, own[block]
        below += float(times[values < low].sum())
        inside = (values >= low) & (values <= high) & (times > 0)
        part, count = _tallied(values[inside], times[inside])
        found.append(part)
        counts.append(count)
    return below, *_tallied(np.concatenate(found), np.concatenate(counts))


def _tallied(values: Floats, times: Floats) -> tuple[Floats, Floats]:
    """The different values in order, and how often each counts."""
    different, place = np.unique(values, return_inverse=True)
    count = np.bincount(place.ravel(), weights=times, minlength=len(different))
    return different, count.astype(float)


def _at(values: Floats, upto: Floats, half: float) -> float:
    """The value at which the running count ``upto`` passes ``half``; the mean of two at a tie."""
    middle = min(int(np.searchsorted(upto, half)), len(values) - 1)
    following = min(middle + 1, len(values) - 1)
    if upto[middle] == half:
        return float((values[middle] + values[following]) / 2)
    return float(values[middle])
