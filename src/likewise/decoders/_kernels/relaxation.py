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

# A trial becomes the new centre if it keeps this share of what was promised. Then the stride grows
# if it was in line with what came before; it shrinks where planes of trials say little about the
# centre, being this far above it. Chosen on costs from trainings with 80 and 150 items.
SERIOUS, LENGTHENED = 0.05, 2.0
FAR, SHORTENED = 0.5, 0.9
# What is left to gain counts for nothing below this, relative to the bound.
ROUNDING = 1e-8


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


@summing_kernel
def _missing(service, served):
    """The product of two subgradients: how far every item is from being served once."""
    total = 0.0
    for p in range(service.shape[0]):
        total += (1.0 - service[p]) * (1.0 - served[p])
    return total


@kernel
def ascend(serve, opening, cluster, first, prices, total, upper, steps):
    """A proximal bundle of two planes: raise L(v) from ``prices``, averaging minimisers on the way.

    At the best multipliers v' so far with L' = L(v'), L is known to lie below two planes: the one
    of the last trial, L' + own + <g, v - v'>, and the average of all before it, with ``error`` and
    1 - service in place of own and g = 1 - served. The next trial maximises the better mixture of
    both minus |v - v'|^2 / (2 stride). What it promises, error + stride |1 - service|^2, tends to
    zero, and the averaged minimiser with it to an optimal one (Bahiense, Maculan and Sagastizabal,
    "The volume algorithm revisited", 2002). ``upper`` only sets the first stride.

    Changes ``prices`` in place; returns the bound and the averaged openness.
    """
    n = prices.shape[0]
    is_open, served = np.empty(n), np.empty(n)
    best = bound(serve, opening, cluster, first, prices, is_open, served, total)
    openness, service, trial = is_open.copy(), served.copy(), prices.copy()
    norm, error = _missing(service, service), 0.0
    stride = 0.3 * max(upper - best, 1e-9 * (1.0 + abs(best))) / max(norm, 1e-300)
    for _ in range(steps):
        rounding = ROUNDING * (1.0 + abs(best))
        if norm < 1e-10 * n and error < rounding:
            break
        # Only rounding is left to gain at this stride: the next plane is looked for further away.
        while error + stride * norm < rounding:
            stride *= 2.0
        for p in range(n):
            trial[p] = prices[p] + stride * (1.0 - service[p])
        value = bound(serve, opening, cluster, first, trial, is_open, served, total)
        agreement = _missing(service, served)
        spread = norm - 2.0 * agreement + _missing(served, served)
        rise, promised = value - best, error + stride * norm
        following = stride
        if rise > SERIOUS * promised:
            best, own = value, 0.0
            prices[:] = trial
            error = max(promised - rise, 0.0)
            if agreement > 0.0:
                following *= LENGTHENED
        else:
            own = max(rise - stride * agreement, 0.0)
            if own > FAR * max(error, promised):
                following *= SHORTENED
        share = 1.0
        if spread > 0.0:
            share = (error - own + stride * (norm - agreement)) / (stride * spread)
            share = min(max(share, 0.0), 1.0)
        for p in range(n):
            service[p] += share * (served[p] - service[p])
            openness[p] += share * (is_open[p] - openness[p])
        error += share * (own - error)
        norm, stride = _missing(service, service), following
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
