"""Compiled Lagrangian bound of dense facility-location costs.

Relaxing "every client is served once" with multipliers v gives, for ``serve >= 0``,

    L(v) = sum_p v_p + sum_j min(0, slack_j),   slack_j = opening_j - sum_p max(0, v_p - serve_jp)

which never exceeds the minimum of komodakis2011 eq. (1): every v is a certificate.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel, summing_kernel


@summing_kernel
def slack_of(serve, opening, j, v):
    """What opening j would cost beyond what its clients offer."""
    offered = 0.0
    for p in range(v.shape[0]):
        offered += max(v[p] - serve[j, p], 0.0)
    return opening[j] - offered


@summing_kernel
def bound(serve, opening, candidates, v, slack, served):
    """L(v) over ``candidates``; fills their slack and how often each client is served."""
    served[:] = 0.0
    total = v.sum()
    for j in candidates:
        slack[j] = slack_of(serve, opening, j, v)
        if slack[j] < 0.0:
            total += slack[j]
            for p in range(v.shape[0]):
                served[p] += 1.0 if v[p] > serve[j, p] else 0.0
    return total


@kernel
def useful_pairs(serve, candidates, v, slack, allowance):
    """Pairs (position in ``candidates``, client, cost) that a solution near L(v) may use.

    A solution that serves p from j costs at least L(v) + max(0, slack_j) + serve_jp - v_p, so pairs
    beyond ``allowance`` above L(v) are in no solution that good.
    """
    n = v.shape[0]
    count = 0
    for j in candidates:
        for p in range(n):
            if max(slack[j], 0.0) + serve[j, p] - v[p] <= allowance:
                count += 1
    which = np.empty(count, np.int64)
    client = np.empty(count, np.int64)
    cost = np.empty(count)
    at = 0
    for i in range(candidates.shape[0]):
        j = candidates[i]
        for p in range(n):
            if max(slack[j], 0.0) + serve[j, p] - v[p] <= allowance:
                which[at] = i
                client[at] = p
                cost[at] = serve[j, p]
                at += 1
    return which, client, cost


@kernel
def water_levels(opening, first, low):
    """Multipliers that pay exactly for the open candidates: each cluster to one level."""
    v = low.copy()
    order = np.argsort(low)
    members = np.zeros(opening.shape[0], np.int64)
    spent = opening.copy()
    level = np.full(opening.shape[0], np.inf)
    # Clients join their cluster's level cheapest first; one that costs more than the level so far
    # pays its own cost, and so do all after it.
    for p in order:
        j = first[p]
        if low[p] < level[j]:
            members[j] += 1
            spent[j] += low[p]
            level[j] = spent[j] / members[j]
    for p in range(low.shape[0]):
        v[p] = max(low[p], level[first[p]])
    return v
