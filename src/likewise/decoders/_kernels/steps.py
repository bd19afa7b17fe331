"""Compiled steps that dense and sparse bounds share."""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel, summing_kernel


@summing_kernel
def subgradient_step(v, direction, served, momentum, length):
    """Move v along the deflected subgradient; ``length`` is the Polyak step times its norm.

    Multipliers stay non-negative: the costs are, so a negative one never raises the bound. Returns
    False where the subgradient vanishes, that is, where v is a maximiser: what is left of earlier
    directions would only carry v far along a ridge, where the bound drowns in rounding.
    """
    norm = steepness = 0.0
    for p in range(v.shape[0]):
        slope = 1.0 - served[p]
        if v[p] <= 0.0 and slope < 0.0:
            slope = 0.0
        steepness += slope * slope
        direction[p] = momentum * direction[p] + slope
        norm += direction[p] * direction[p]
    if steepness == 0.0 or norm == 0.0:
        return False
    for p in range(v.shape[0]):
        v[p] = max(v[p] + length / norm * direction[p], 0.0)
    return True


@kernel
def least(candidates, slack, count):
    """The ``count`` candidates of least slack (more where slacks tie), in their order."""
    if candidates.shape[0] <= count:
        return candidates
    limit = np.partition(slack[candidates], count - 1)[count - 1]
    return candidates[slack[candidates] <= limit]
