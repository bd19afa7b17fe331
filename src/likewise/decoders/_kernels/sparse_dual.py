"""Compiled Lagrangian bound and dual ascent over a sparse candidate graph.

The bound is that of the dense kernels with the missing pairs at infinite cost. Dual ascent
(Erlenkotter 1978) gives the first multipliers and the first open set: every client raises what it
offers, from one of its costs to the next, until a candidate that it reaches is paid for.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel, summing_kernel


@summing_kernel
def slack_of(col_start, col_client, col_cost, opening, j, v):
    """What opening j would cost beyond what its clients offer."""
    offered = 0.0
    for t in range(col_start[j], col_start[j + 1]):
        offered += max(v[col_client[t]] - col_cost[t], 0.0)
    return opening[j] - offered


@kernel
def bound(col_start, col_client, col_cost, opening, candidates, v, slack, served):
    """L(v) over ``candidates``; fills their slack and how often each client is served."""
    served[:] = 0.0
    total = v.sum()
    for j in candidates:
        slack[j] = slack_of(col_start, col_client, col_cost, opening, j, v)
        if slack[j] < 0.0:
            total += slack[j]
            for t in range(col_start[j], col_start[j + 1]):
                if v[col_client[t]] > col_cost[t]:
                    served[col_client[t]] += 1.0
    return total


@kernel
def dual_ascent(row_start, row_candidate, row_cost, opening):
    """Multipliers by dual ascent, and the slack they leave at every candidate."""
    n = row_start.shape[0] - 1
    v = np.zeros(n)
    slack = np.maximum(opening, 0.0)
    reached = row_start[:n].copy()
    active = np.arange(n)
    while active.shape[0] > 0:
        n_active = 0
        for a in range(active.shape[0]):
            p = active[a]
            end = row_start[p + 1]
            while reached[p] < end and row_cost[reached[p]] <= v[p]:
                reached[p] += 1
            limit = row_cost[reached[p]] - v[p] if reached[p] < end else np.inf
            room = limit
            for t in range(row_start[p], reached[p]):
                room = min(room, slack[row_candidate[t]])
            if room > 0.0:
                v[p] = row_cost[reached[p]] if room == limit else v[p] + room
                for t in range(row_start[p], reached[p]):
                    slack[row_candidate[t]] -= room
            if room == limit:
                active[n_active] = p
                n_active += 1
        active = active[:n_active]
    return v, slack


@kernel
def cover(row_start, row_candidate, row_cost, v, slack, tolerance):
    """A feasible open set of candidates that the multipliers pay for.

    Clients come in the order of what they offer; one that reaches no open candidate opens the
    candidate it reaches that has the least slack, which dual ascent has brought to zero.
    """
    n = v.shape[0]
    is_open = np.zeros(n, np.bool_)
    for p in np.argsort(v):
        best = -1
        served = False
        for t in range(row_start[p], row_start[p + 1]):
            if row_cost[t] > v[p] + tolerance and best >= 0:
                break
            j = row_candidate[t]
            if is_open[j]:
                served = True
                break
            if best < 0 or slack[j] < slack[best]:
                best = j
        if not served:
            is_open[best] = True
    return is_open


@kernel
def useful_pairs(col_start, col_client, col_cost, candidates, v, slack, allowance):
    """Pairs (position in ``candidates``, client, cost) that a solution near L(v) may use."""
    count = 0
    for j in candidates:
        for t in range(col_start[j], col_start[j + 1]):
            if max(slack[j], 0.0) + col_cost[t] - v[col_client[t]] <= allowance:
                count += 1
    which = np.empty(count, np.int64)
    client = np.empty(count, np.int64)
    cost = np.empty(count)
    at = 0
    for i in range(candidates.shape[0]):
        j = candidates[i]
        for t in range(col_start[j], col_start[j + 1]):
            if max(slack[j], 0.0) + col_cost[t] - v[col_client[t]] <= allowance:
                which[at] = i
                client[at] = col_client[t]
                cost[at] = col_cost[t]
                at += 1
    return which, client, cost
