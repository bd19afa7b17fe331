"""Compiled Lagrangian bound of exemplar costs in which clusters were shown.

With ``serve[q, p]`` the cost of p when q serves it (infinite for p = q), an opening cost per item
and a further cost ``first`` for the first exemplar that is opened in a shown cluster C, relaxing
"every item is served once" with multipliers v gives

    L(v) = sum_p v_p + sum_C min(0, first + sum_{q in C} min(0, rho_q)),
    rho_q = opening_q - v_q - sum_{p != q} max(0, v_p - serve_qp)

which never exceeds the minimum; its maximum is the value of the linear relaxation.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel, summing_kernel


@summing_kernel
def offered(prices, costs):
    """What the clients of one candidate would pay beyond their costs."""
    total = 0.0
    for p in range(prices.shape[0]):
        total += max(prices[p] - costs[p], 0.0)
    return total


@summing_kernel
def count_served(prices, costs, served):
    """Add one to every client that the candidate serves."""
    for p in range(prices.shape[0]):
        served[p] += 1.0 if prices[p] > costs[p] else 0.0


@kernel
def bound(serve, opening, cluster, first, prices, is_open, served, total):
    """L(v), constant left out; fills who is open, how often each is served, and cluster totals."""
    n = prices.shape[0]
    total[:] = first
    for q in range(n):
        rho = opening[q] - prices[q] - offered(prices, serve[q])
        is_open[q] = rho
        if rho < 0.0:
            total[cluster[q]] += rho
    value = 0.0
    for p in range(n):
        value += prices[p]
    for c in range(total.shape[0]):
        value += min(total[c], 0.0)
    served[:] = 0.0
    for q in range(n):
        if is_open[q] < 0.0 and total[cluster[q]] < 0.0:
            is_open[q] = 1.0
            served[q] += 1.0
            count_served(prices, serve[q], served)
        else:
            is_open[q] = 0.0
    return value


@kernel
def ascend(serve, opening, cluster, first, prices, total, upper, steps):
    """The volume algorithm: raise L(v) towards ``upper``, averaging the minimisers on the way.

    Steps start from the best multipliers along the violation of the averaged minimiser, so where
    the bound converges, that average becomes feasible, hence optimal (Barahona and Anbil, 2000).
    Changes ``prices`` in place; returns the bound and the averaged openness.
    """
    n = prices.shape[0]
    is_open, served = np.empty(n), np.empty(n)
    best = bound(serve, opening, cluster, first, prices, is_open, served, total)
    openness, service = is_open.copy(), served.copy()
    trial = prices.copy()
    length, stalled = 0.3, 0
    least = max(min(0.05, 20.0 / steps), 0.005)
    for step in range(steps):
        norm = 0.0
        for p in range(n):
            norm += (1.0 - service[p]) ** 2
        if norm < 1e-10 * n or length < 1e-4:
            break
        stride = length * max(upper - best, 1e-9 * abs(upper)) / norm
        for p in range(n):
            trial[p] = prices[p] + stride * (1.0 - service[p])
        value = bound(serve, opening, cluster, first, trial, is_open, served, total)
        share = max(0.3 / (1.0 + 0.3 * step), least)
        agreement = 0.0
        for p in range(n):
            agreement += (1.0 - service[p]) * (1.0 - served[p])
            service[p] += share * (served[p] - service[p])
            openness[p] += share * (is_open[p] - openness[p])
        if value > best:
            best = value
            prices[:] = trial
            stalled = 0
            if agreement > 0.0:
                length = min(1.2 * length, 2.0)
        else:
            stalled += 1
            if stalled == 10:
                length *= 0.66
                stalled = 0
    return best, openness


@kernel
def cheapest_service(serve, openness):
    """Serve every item at least cost when item q may serve up to ``openness[q]`` of each other.

    Returns clients, servers and amounts; an item serves itself by its own openness. The openness
    must sum to one at least.
    """
    n = openness.shape[0]
    candidates = np.flatnonzero(openness > 0.0)
    m = candidates.shape[0]
    client, server = np.empty(n * m, np.int64), np.empty(n * m, np.int64)
    amount = np.empty(n * m)
    count = 0
    costs = np.empty(m)
    for p in range(n):
        for i in range(m):
            costs[i] = serve[candidates[i], p]
        left = 1.0 - openness[p]
        for i in np.argsort(costs):
            if left <= 1e-12:
                break
            q = candidates[i]
            if q == p:
                continue
            taken = min(openness[q], left)
            left -= taken
            client[count], server[count], amount[count] = p, q, taken
            count += 1
    return client[:count], server[:count], amount[:count]
