"""Compiled segmentation of one dimension, by functional pruning (Maidstone et al., 2017).

For every mean of the last segment, the candidate s that costs least is kept; a candidate that costs
least for no mean never starts the best segmentation again. At row t the cost of s is

    F(s) + sum over rows from s to t of (x - mean)^2

and it is compared with F(t): so the means for which s stays ahead are an interval.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel


@kernel
def _add(pieces, low, high, count, s, left, right):
    """Append a piece, or stretch the last one if it is of the same candidate."""
    if count > 0 and pieces[count - 1] == s:
        high[count - 1] = right
        return count
    pieces[count], low[count], high[count] = s, left, right
    return count + 1


@kernel
def _cost(sums, squares, best, s, t):
    """The mean of rows s to t, their number, and what s costs at that mean."""
    size = t - s
    mean = (sums[t] - sums[s]) / size
    return mean, size, best[s] + (squares[t] - squares[s]) - size * mean * mean


@kernel
def _with_candidate(new, best, sums, squares, old, into):
    """The pieces after one more candidate has come, which costs best[new] for every mean."""
    owners, low, high, count = old
    pieces, left, right = into
    m = 0
    for k in range(count):
        s = owners[k]
        mean, size, least = _cost(sums, squares, best, s, new)
        room = (best[new] - least) / size
        a, b = low[k], high[k]
        start, stop = a, a
        if room > 0.0:
            root = np.sqrt(room)
            start, stop = max(a, mean - root), min(b, mean + root)
        if start >= stop:
            m = _add(pieces, left, right, m, new, a, b)
            continue
        if a < start:
            m = _add(pieces, left, right, m, new, a, start)
        m = _add(pieces, left, right, m, s, start, stop)
        if stop < b:
            m = _add(pieces, left, right, m, new, stop, b)
    return m


@kernel
def penalised(sums, squares, penalty, min_size):
    """Least costs, penalties included, and predecessors.

    ``sums`` and ``squares`` (T + 1,) are cumulative sums of centred values and of their squares.
    Also returns the largest number of pieces at a time.
    """
    n = len(sums) - 1
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    before = np.zeros(n + 1, np.int64)
    least, most = 0.0, 0.0
    for t in range(n):
        least = min(least, sums[t + 1] - sums[t])
        most = max(most, sums[t + 1] - sums[t])
    margin = 1.0 + 0.01 * (most - least)
    # A new candidate adds at most two pieces.
    room = 2 * n + 3
    owners, pieces = np.empty(room, np.int64), np.empty(room, np.int64)
    low, high, left, right = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    count, largest = 0, 0
    for t in range(min_size, n + 1):
        new = t - min_size
        if count == 0:
            owners[0], low[0], high[0], count = new, least - margin, most + margin, 1
        elif best[new] < np.inf:
            count = _with_candidate(
                new, best, sums, squares, (owners, low, high, count), (pieces, left, right)
            )
            owners, pieces = pieces, owners
            low, left = left, low
            high, right = right, high
        largest = max(largest, count)
        lowest, where = np.inf, -1
        for k in range(count):
            mean, size, cost = _cost(sums, squares, best, owners[k], t)
            if cost < lowest:
                # The best mean of this piece.
                off = min(max(mean, low[k]), high[k]) - mean
                cost += size * off * off
                if cost < lowest:
                    lowest, where = cost, owners[k]
        best[t], before[t] = lowest + penalty, where
    return best, before, largest
