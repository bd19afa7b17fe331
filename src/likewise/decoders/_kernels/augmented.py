"""Compiled segmentation with a loss folded in: the segmentations that violate a margin most.

A segment [s, t) of rows whose shown segments are known gains

    q(s, t) + pairs (t - s)^2 - overlap h(s, t) + constant,

where h adds up |[s, t) ∩ B|^2 over the shown segments B, each divided by |B| (t - s) where the loss
is that of projections. With the first and last shown segment that [s, t) meets, h is a sum of a
term of s and a term of t, so it costs no more than a look at two numbers.

With projections, splitting a segment at t changes h by between 0 and 1 (it is the square of one
direction under a projection), and q only grows. So

    G(s) + gain(s, t) < G(t) - overlap + constant

rules s out for all rows after t.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel
from likewise.decoders._kernels.segments import GUARD, gain


@kernel
def _loss_gain(terms, s, t):
    """pairs (t - s)^2 - overlap h(s, t) + constant."""
    left, right, block, inside, numbers = terms
    pairs, overlap, constant, divided = numbers
    length = float(t - s)
    same = block[s] == block[t - 1]
    met = length * length * inside[block[s]] if same else left[s] + right[t]
    if divided > 0.0:
        met /= length
    return pairs * length * length - overlap * met + constant


@kernel
def penalised(sums, terms, slack):
    """Best gains and predecessors; candidates that are behind by more than the slack leave.

    Also returns how many gains were computed.
    """
    n = sums.shape[0] - 1
    best = np.full(n + 1, -np.inf)
    best[0] = 0.0
    before = np.zeros(n + 1, np.int64)
    candidates, values = np.empty(n + 1, np.int64), np.empty(n + 1)
    count, computed = 0, 0
    for t in range(1, n + 1):
        candidates[count] = t - 1
        count += 1
        top, where = -np.inf, -1
        for k in range(count):
            s = candidates[k]
            values[k] = best[s] + gain(sums, s, t) + _loss_gain(terms, s, t)
            if values[k] > top:
                top, where = values[k], s
        best[t], before[t] = top, where
        computed += count
        limit = top - slack - GUARD * (1.0 + abs(top))
        kept = 0
        for k in range(count):
            if values[k] >= limit:
                candidates[kept] = candidates[k]
                kept += 1
        count = kept
    return best, before, computed


@kernel
def layered(sums, terms, n_segments):
    """The same for a number of segments: best gains and predecessors by layer."""
    n = sums.shape[0] - 1
    best = np.full((n_segments + 1, n + 1), -np.inf)
    before = np.full((n_segments + 1, n + 1), -1, np.int32)
    best[0, 0] = 0.0
    gains = np.empty(n + 1)
    for t in range(1, n + 1):
        for s in range(t):
            gains[s] = gain(sums, s, t) + _loss_gain(terms, s, t)
        for k in range(1, n_segments + 1):
            for s in range(k - 1, t):
                value = best[k - 1, s] + gains[s]
                if value > best[k, t]:
                    best[k, t], before[k, t] = value, s
    return best, before
