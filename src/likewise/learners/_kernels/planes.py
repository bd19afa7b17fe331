"""Compiled master problem of cutting planes: weights that balance the planes of all examples.

With planes <g_j, w> + h_j that belong to examples, the weights minimise

    <b, w> + 1/2 sum_i c_i (w_i - m_i)^2 + sum over examples of max over its planes,
    lower <= w <= upper,

by ascent of the dual: every example spreads one unit of mass over its planes, and
w_i = clip(m_i - (b_i + sum_j a_j g_ji) / c_i). Mass moves between the two planes of an example that
gain most from it, as far as the dual rises.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel, summing_kernel


@summing_kernel
def plane_value(plane, offset, weights):
    """<g, w> + h."""
    total = offset
    for i in range(weights.shape[0]):
        total += plane[i] * weights[i]
    return total


@kernel
def weights_at(slope, inverse, middle, lower, upper, weights):
    """The weights for an aggregated slope b + sum_j a_j g_j."""
    for i in range(slope.shape[0]):
        weights[i] = min(max(middle[i] - slope[i] * inverse[i], lower[i]), upper[i])


@kernel
def _moved(slope, direction, length, box, trial):
    """The weights after ``length`` of mass has moved, in ``trial``."""
    inverse, middle, lower, upper = box
    for i in range(slope.shape[0]):
        value = middle[i] - (slope[i] + length * direction[i]) * inverse[i]
        trial[i] = min(max(value, lower[i]), upper[i])


@kernel
def _mass_to_move(slope, direction, rise, gain, most, box, trial):
    """How much mass to move: the root of the derivative, by false position and bisection."""
    _moved(slope, direction, most, box, trial)
    right = plane_value(direction, rise, trial)
    if right >= 0.0:
        return most
    low, high, left = 0.0, most, gain
    length = 0.0
    for attempt in range(30):
        if attempt % 3 == 2:
            length = 0.5 * (low + high)
        else:
            length = low + (high - low) * left / (left - right)
        _moved(slope, direction, length, box, trial)
        value = plane_value(direction, rise, trial)
        if abs(value) <= 0.01 * gain:
            break
        if value > 0.0:
            low, left = length, value
        else:
            high, right = length, value
    return length


@kernel
def _best_and_worst(planes, offsets, mass, first, last, weights, order):
    """The highest plane of an example, and the lowest one that has mass."""
    top, bottom = -1, -1
    highest, lowest = -np.inf, np.inf
    for place in range(first, last):
        j = order[place]
        value = plane_value(planes[j], offsets[j], weights)
        if value > highest:
            top, highest = j, value
        if mass[j] > 0.0 and value < lowest:
            bottom, lowest = j, value
    return top, bottom, highest - lowest


@kernel
def balance(planes, offsets, order, starts, mass, slope, box, tolerance, sweeps):
    """Move mass until no example gains more than ``tolerance``; returns the weights.

    ``order[starts[k]:starts[k + 1]]`` are the planes of example k. ``mass`` and ``slope`` (b + the
    planes weighted with the mass) change in place.
    """
    inverse, middle, lower, upper = box
    n = slope.shape[0]
    weights, trial, direction = np.empty(n), np.empty(n), np.empty(n)
    weights_at(slope, inverse, middle, lower, upper, weights)
    for _ in range(sweeps):
        worst = 0.0
        for k in range(starts.shape[0] - 1):
            top, bottom, gain = _best_and_worst(
                planes, offsets, mass, starts[k], starts[k + 1], weights, order
            )
            if top == bottom or top < 0 or gain <= tolerance:
                continue
            worst = max(worst, gain)
            for i in range(n):
                direction[i] = planes[top, i] - planes[bottom, i]
            rise = offsets[top] - offsets[bottom]
            moved = _mass_to_move(slope, direction, rise, gain, mass[bottom], box, trial)
            for i in range(n):
                slope[i] += moved * direction[i]
            mass[top] += moved
            mass[bottom] -= moved
            if mass[bottom] < 1e-12:
                mass[bottom] = 0.0
            weights_at(slope, inverse, middle, lower, upper, weights)
        if worst <= tolerance:
            break
    return weights
