"""Compiled segmentation of one dimension, by functional pruning (Maidstone et al., 2017).

For every mean of the last segment, the candidate s that costs least is kept; a candidate that costs
least for no mean never starts the best segmentation again. At row t the cost of s is

    F(s) + sum over rows from s to t of (x - mean)^2

and it is compared with F(t): so the means for which s stays ahead are an interval.

One function, because calls that hand over arrays take as long as the work on the few pieces that
there are.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel


@kernel
def penalised(sums, squares, penalty, min_size):
    """Least costs, penalties included, and predecessors.

    ``sums`` and ``squares`` (T + 1,) are cumulative sums of centred values and of their squares.
    Pieces are next to each other: each has an owner, the candidate, and ends where the next one
    begins. Also returns the largest number of pieces at a time.
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
    # Two buffers that take turns.
    owner, end = np.empty((2, room), np.int64), np.empty((2, room))
    means, costs = np.empty(room), np.empty(room)
    # Divisions take as long as all else.
    inverse = 1.0 / np.maximum(np.arange(n + 1), 1)
    start, count, largest, now = least - margin, 0, 0, 0
    for t in range(min_size, n + 1):
        new = t - min_size
        if count == 0:
            owner[now, 0], end[now, 0], count = new, most + margin, 1
        elif best[new] < np.inf:
            level, left, m, to, last = best[new], start, 0, 1 - now, -1
            for k in range(count):
                s, right = owner[now, k], end[now, k]
                if min_size > 1:
                    total = sums[new] - sums[s]
                    means[k] = total * inverse[new - s]
                    costs[k] = best[s] + (squares[new] - squares[s]) - total * means[k]
                reach = (level - costs[k]) * inverse[new - s]
                below, above = left - means[k], right - means[k]
                # What s keeps: all, nothing, or from ``low`` to ``high``.
                low, high = left, right
                beside = (below > 0.0 and below * below >= reach) or (
                    above < 0.0 and above * above >= reach
                )
                if reach <= 0.0 or beside:
                    low = right
                elif below * below > reach or above * above > reach:
                    root = np.sqrt(reach)
                    low, high = max(left, means[k] - root), min(right, means[k] + root)
                if low > left:
                    if last == new:
                        end[to, m - 1] = low
                    else:
                        owner[to, m], end[to, m], last = new, low, new
                        m += 1
                if low < right:
                    if last == s:
                        end[to, m - 1] = high
                    else:
                        owner[to, m], end[to, m], last = s, high, s
                        m += 1
                    if high < right:
                        owner[to, m], end[to, m], last = new, right, new
                        m += 1
                left = right
            count, now = m, to
        largest = max(largest, count)
        lowest, where, left = np.inf, -1, start
        for k in range(count):
            s, right = owner[now, k], end[now, k]
            total = sums[t] - sums[s]
            mean = total * inverse[t - s]
            cost = best[s] + (squares[t] - squares[s]) - total * mean
            means[k], costs[k] = mean, cost
            if cost < lowest:
                # The best mean of this piece.
                off = min(max(mean, left), right) - mean
                cost += (t - s) * off * off
                if cost < lowest:
                    lowest, where = cost, s
            left = right
        best[t], before[t] = lowest + penalty, where
    return best, before, largest
