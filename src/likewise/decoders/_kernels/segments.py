"""Compiled segmentation: which cuts minimise scatter plus a penalty per segment.

``sums`` (T + 1, r) are cumulative sums of centred rows in the factor space of the metric. A segment
[s, t) gains

    q(s, t) = |P_t - P_s|^2 / (t - s)

over leaving its rows alone: its scatter is the sum of |x|^2 minus q. The best total gain G(t) of
the rows before t follows from G(t) = max over s of G(s) + q(s, t) - penalty.

No segment gains more than its parts do, q(s, u) <= q(s, t) + q(t, u), whatever the numbers are. So

    G(s) + q(s, t) <= G(t)    s is no better a predecessor of any u >= t + min_size than t is
    G(s) + q(s, h) <= V for all s of a block    none of them reaches more than V + q(h, t) at t

The first prunes what long ago was no good start (Killick et al., 2012), the second skips blocks of
candidates with one look at them, which is what makes long segments cheap. A block that had to be
opened is anchored anew, at the row where that was. Where there are many blocks, the smallest two
neighbours become one: so there are few, however many candidates are left.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel, summing_kernel

# Rounding must not prune the optimum: relative to the gains.
GUARD = 1e-9


@summing_kernel
def gain(sums, s, t):
    """q(s, t)."""
    total = 0.0
    for i in range(sums.shape[1]):
        difference = sums[t, i] - sums[s, i]
        total += difference * difference
    return total / (t - s)


@kernel
def cumulative(rows):
    """Cumulative sums with a correction of what rounding loses (Neumaier)."""
    n, r = rows.shape
    sums = np.zeros((n + 1, r))
    total, lost = np.zeros(r), np.zeros(r)
    for t in range(n):
        for i in range(r):
            x = rows[t, i]
            new = total[i] + x
            if abs(total[i]) >= abs(x):
                lost[i] += (total[i] - new) + x
            else:
                lost[i] += (x - new) + total[i]
            total[i] = new
            sums[t + 1, i] = new + lost[i]
    return sums


@kernel
def centred(rows):
    """Rows minus their means, and the largest distance from the mean in every column.

    The first row is taken off first: a common offset would take digits from the sums.
    """
    n, p = rows.shape
    means, largest = np.zeros(p), np.zeros(p)
    for t in range(n):
        for i in range(p):
            means[i] += rows[t, i] - rows[0, i]
    for i in range(p):
        means[i] /= n
    found = np.empty((n, p))
    for t in range(n):
        for i in range(p):
            value = (rows[t, i] - rows[0, i]) - means[i]
            found[t, i] = value
            largest[i] = max(largest[i], abs(value))
    return found, largest


@kernel
def _open_block(sums, best, members, first, last, t, values):
    """Reach of every candidate of a block at t; the highest, and who it is."""
    highest, who = -np.inf, -1
    for k in range(first, last):
        s = members[k]
        values[k] = best[s] + gain(sums, s, t)
        if values[k] > highest:
            highest, who = values[k], s
    return highest, who


@kernel
def _merge(sums, best, first, count, anchor, expiry, upper, reach, members, values, n_blocks, t):
    """Make the smallest two neighbours one block, anchored at t; returns its size."""
    b = 0
    for k in range(1, n_blocks - 1):
        if count[k] + count[k + 1] < count[b] + count[b + 1]:
            b = k
    for k in range(count[b + 1]):
        members[first[b] + count[b] + k] = members[first[b + 1] + k]
    count[b] += count[b + 1]
    stop = first[b] + count[b]
    upper[b], _ = _open_block(sums, best, members, first[b], stop, t, values)
    anchor[b], reach[b], expiry[b] = t, upper[b], max(expiry[b], expiry[b + 1])
    for k in range(b + 1, n_blocks - 1):
        first[k], count[k], anchor[k] = first[k + 1], count[k + 1], anchor[k + 1]
        expiry[k], upper[k], reach[k] = expiry[k + 1], upper[k + 1], reach[k + 1]
    return count[b]


@kernel
def penalised(sums, penalty, min_size, length, most_blocks):
    """Best gains and predecessors for a penalty per segment.

    Candidates are kept in blocks, of ``length`` at first, ``most_blocks`` at most. Also returns how
    many gains were computed.
    """
    n = sums.shape[0] - 1
    best = np.full(n + 1, -np.inf)
    best[0] = 0.0
    before = np.zeros(n + 1, np.int64)
    most = most_blocks + 2
    first, count = np.empty(most, np.int64), np.empty(most, np.int64)
    anchor, expiry = np.empty(most, np.int64), np.empty(most, np.int64)
    upper, reach = np.empty(most), np.empty(most)
    # Candidates from ``fresh`` on are in no block yet.
    members, values = np.empty(n + 1, np.int64), np.empty(n + 1)
    n_blocks, fresh, ready, computed = 0, 0, 0, 0
    for t in range(min_size, n + 1):
        if best[t - min_size] > -np.inf:
            members[ready] = t - min_size
            ready += 1
        # What was best a row ago is a good start.
        where = before[t - 1]
        top = best[where] + gain(sums, where, t)
        for k in range(fresh, ready):
            values[k] = best[members[k]] + gain(sums, members[k], t)
            if values[k] > top:
                top, where = values[k], members[k]
        computed += ready - fresh + n_blocks + 1
        for b in range(n_blocks - 1, -1, -1):
            reach[b] = upper[b] + gain(sums, anchor[b], t)
            if reach[b] <= top:
                continue
            highest = -np.inf
            for k in range(first[b], first[b] + count[b]):
                values[k] = best[members[k]] + gain(sums, members[k], t)
                highest = max(highest, values[k])
                if values[k] > top:
                    top, where = values[k], members[k]
            computed += count[b]
            anchor[b], upper[b], reach[b] = t, highest, highest
        best[t], before[t] = top - penalty, where
        if ready - fresh == length:
            first[n_blocks], count[n_blocks], anchor[n_blocks] = fresh, length, t
            expiry[n_blocks], upper[n_blocks] = n + 1, values[fresh:ready].max()
            reach[n_blocks] = upper[n_blocks]
            n_blocks += 1
            fresh = ready
            if n_blocks > most_blocks:
                computed += _merge(
                    sums, best, first, count, anchor, expiry, upper, reach, members, values,
                    n_blocks, t,
                )  # fmt: skip
                n_blocks -= 1
        # From t + min_size on, t takes the place of all that reach less than it.
        limit = best[t] - GUARD * (1.0 + abs(best[t]))
        kept = 0
        for b in range(n_blocks):
            if reach[b] < limit:
                expiry[b] = min(expiry[b], t + min_size)
            elif anchor[b] == t and min_size == 1:
                left = first[b]
                for k in range(first[b], first[b] + count[b]):
                    if values[k] >= limit:
                        members[left] = members[k]
                        left += 1
                count[b] = left - first[b]
            if t + 1 < expiry[b]:
                first[kept], count[kept], anchor[kept] = first[b], count[b], anchor[b]
                expiry[kept], upper[kept] = expiry[b], upper[b]
                kept += 1
        n_blocks = kept
    return best, before, computed


@kernel
def _extend(gains, best, low, high, allowed, penalty):
    """The best predecessor among allowed rows from low to high, for one layer."""
    top, where = -np.inf, -1
    for s in range(low, high + 1):
        if allowed[s] and best[s] + gains[s] > top:
            top, where = best[s] + gains[s], s
    return top - penalty, where


@kernel
def _extend_all(gains, best, before, t, window, allowed, penalty):
    """Extend to t: one layer into itself, or every layer from the one below."""
    low, high = window
    if best.shape[0] == 1:
        best[0, t], before[0, t] = _extend(gains, best[0], low, high, allowed, penalty)
        return
    for k in range(1, best.shape[0]):
        best[k, t], before[k, t] = _extend(gains, best[k - 1], low, high, allowed, penalty)


@kernel
def windowed(sums, penalty, n_layers, low, high, allowed):
    """All pairs of rows that windows allow: s from low[t] to high[t] may come before t.

    With ``n_layers`` segments exactly; 0 is as many as pay. Returns best gains and predecessors by
    layer; the first layer is the start where there are several.
    """
    n = sums.shape[0] - 1
    best = np.full((n_layers + 1, n + 1), -np.inf)
    before = np.full((n_layers + 1, n + 1), -1, np.int32)
    best[0, 0] = 0.0
    gains = np.empty(n + 1)
    for t in range(1, n + 1):
        if not allowed[t]:
            continue
        for s in range(low[t], high[t] + 1):
            gains[s] = gain(sums, s, t)
        _extend_all(gains, best, before, t, (low[t], high[t]), allowed, penalty)
    return best, before


@kernel
def windowed_gram(gram, penalty, n_layers, low, high, allowed):
    """The same for symmetric scores: q(s, t) is the sum of a square block over its side.

    Algorithm 1 of lajugie2014 with two numbers per row in the place of its T x T tables.
    """
    n = gram.shape[0]
    best = np.full((n_layers + 1, n + 1), -np.inf)
    before = np.full((n_layers + 1, n + 1), -1, np.int32)
    best[0, 0] = 0.0
    gains, blocks = np.empty(n + 1), np.zeros(n + 1)
    for t in range(1, n + 1):
        own, others = gram[t - 1, t - 1], 0.0
        for s in range(t - 1, -1, -1):
            if s < t - 1:
                others += gram[t - 1, s]
            blocks[s] += 2.0 * others + own
            gains[s] = blocks[s] / (t - s)
        if allowed[t]:
            _extend_all(gains, best, before, t, (low[t], high[t]), allowed, penalty)
    return best, before
