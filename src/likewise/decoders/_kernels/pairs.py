"""Compiled grouping of (client, candidate, cost) pairs."""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel


@kernel
def group(key, other, cost, n):
    """Pairs grouped by key, in the order they come: (start of every group, other, cost)."""
    start = np.zeros(n + 1, np.int64)
    for t in range(key.shape[0]):
        start[key[t] + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    at = start[:n].copy()
    grouped_other = np.empty(key.shape[0], np.int32)
    grouped_cost = np.empty(key.shape[0])
    for t in range(key.shape[0]):
        place = at[key[t]]
        at[key[t]] += 1
        grouped_other[place] = other[t]
        grouped_cost[place] = cost[t]
    return start, grouped_other, grouped_cost


@kernel
def sort_groups(start, other, cost):
    """Sort every group by cost, in place; equal costs keep their order."""
    for i in range(start.shape[0] - 1):
        begin, end = start[i], start[i + 1]
        order = np.argsort(cost[begin:end], kind="mergesort")
        cost[begin:end] = cost[begin:end][order]
        other[begin:end] = other[begin:end][order]
