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
def _add(pieces, count, s, right):
    """Append a piece that ends at ``right``; the last one is stretched if it is of the same owner.

    Pieces are next to each other, so their ends say where they are.
    """
    owners, ends = pieces
    if count > 0 and owners[count - 1] == s:
        ends[count - 1] = right
        return count
    owners[count], ends[count] = s, right
    return count + 1


@kernel
def _compare(sums, squares, best, inverse, pieces, means, costs, t):
    """Mean and least cost of every piece's candidate at row t; the best, within its means."""
    owners, ends, count, left = pieces
    lowest, where = np.inf, -1
    for k in range(count):
        s = owners[k]
        total = sums[t] - sums[s]
        means[k] = total * inverse[t - s]
        costs[k] = best[s] + (squares[t] - squares[s]) - total * means[k]
        if costs[k] < lowest:
            # The best mean of this piece.
            low = left if k == 0 else ends[k - 1]
            off = min(max(means[k], low), ends[k]) - means[k]
            cost = costs[k] + (t - s) * off * off
            if cost < lowest:
                lowest, where = cost, s
    return lowest, where


@kernel
def _with_candidate(new, level, inverse, pieces, means, costs, into):
    """The pieces after a candidate has come that costs ``level`` for every mean."""
    owners, ends, count, left = pieces
    m = 0
    low = left
    for k in range(count):
        s, high = owners[k], ends[k]
        room = (level - costs[k]) * inverse[new - s]
        below, above = low - means[k], high - means[k]
        if room > 0.0 and below * below <= room and above * above <= room:
            m = _add(into, m, s, high)
        elif (
            room <= 0.0
            or (below > 0.0 and below * below >= room)
            or (above < 0.0 and above * above >= room)
        ):
            m = _add(into, m, new, high)
        else:
            root = np.sqrt(room)
            if means[k] - root > low:
                m = _add(into, m, new, means[k] - root)
            if means[k] + root < high:
                m = _add(into, m, s, means[k] + root)
                m = _add(into, m, new, high)
            else:
                m = _add(into, m, s, high)
        low = high
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
    owners, ends = np.empty(room, np.int64), np.empty(room)
    others, other_ends = np.empty(room, np.int64), np.empty(room)
    means, costs = np.empty(room), np.empty(room)
    # Divisions take as long as all else.
    inverse = 1.0 / np.maximum(np.arange(n + 1), 1)
    left, count, largest = least - margin, 0, 0
    for t in range(min_size, n + 1):
        new = t - min_size
        if count == 0:
            owners[0], ends[0], count = new, most + margin, 1
        elif best[new] < np.inf:
            if min_size > 1:
                _compare(
                    sums, squares, best, inverse, (owners, ends, count, left), means, costs, new
                )
            count = _with_candidate(
                new,
                best[new],
                inverse,
                (owners, ends, count, left),
                means,
                costs,
                (others, other_ends),
            )
            owners, others = others, owners
            ends, other_ends = other_ends, ends
        largest = max(largest, count)
        lowest, where = _compare(
            sums, squares, best, inverse, (owners, ends, count, left), means, costs, t
        )
        best[t], before[t] = lowest + penalty, where
    return best, before, largest
