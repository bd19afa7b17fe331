"""Compiled minimisers of the parts into which komodakis2011 decomposes augmented exemplar costs.

One part per item p, eq. (23), and one per shown cluster C, eq. (24), with multipliers lambda that
add up to zero over the parts in which an item may be open. Lemma 2 as printed leaves the exemplar
that is chosen closed; here x_{qbar, qbar} = 1 as well, and x_pp = [qbar = p] even where
theta_p < 0.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel


@kernel
def item_part(costs, theta, p, is_open):
    """Minimise one item's part: who serves p, and who is open. Returns the value and the server.

    ``costs[q]`` is what p pays when q serves it, ``theta[q]`` what q costs here when it is open.
    """
    negative = 0.0
    best, server = theta[p], p
    for q in range(theta.shape[0]):
        is_open[q] = False
        if q == p:
            continue
        paid = costs[q]
        if theta[q] < 0.0:
            negative += theta[q]
            is_open[q] = True
        else:
            paid += theta[q]
        if paid < best:
            best, server = paid, q
    is_open[server] = True
    return negative + best, server


@kernel
def cluster_part(theta, members, alpha, is_open):
    """Minimise one cluster's part, eq. (34), over its members; returns the value."""
    gain = 0.0
    for q in members:
        is_open[q] = False
        gain += min(theta[q] - alpha, 0.0)
    if 2.0 * alpha + gain >= 0.0:
        return -alpha
    for q in members:
        is_open[q] = theta[q] < alpha
    return alpha + gain


@kernel
def minimise(costs, shared, order, starts, alpha, multipliers, cluster_multipliers):
    """Minimise all parts of one set.

    ``costs[p, q]`` by client, ``shared[q]`` the share of q's opening cost in every part,
    ``order[starts[c]:starts[c + 1]]`` the members of cluster c. Returns the sum of the values, the
    server in every item's part, and who is open in item's and clusters' parts.
    """
    n = costs.shape[0]
    opened = np.empty((n, n), np.bool_)
    own = np.empty(n, np.bool_)
    server = np.empty(n, np.int64)
    theta = np.empty(n)
    value = 0.0
    for p in range(n):
        for q in range(n):
            theta[q] = shared[q] + multipliers[p, q]
        part, server[p] = item_part(costs[p], theta, p, opened[p])
        value += part
    for q in range(n):
        theta[q] = shared[q] + cluster_multipliers[q]
    for c in range(starts.shape[0] - 1):
        value += cluster_part(theta, order[starts[c] : starts[c + 1]], alpha, own)
    return value, server, opened, own


@kernel
def move(multipliers, cluster_multipliers, opened, own, step):
    """The projected subgradient step on the multipliers, eq. (31) with the sign mended, in place.

    Returns how many parts have each item open, X_q.
    """
    n = multipliers.shape[0]
    count = np.zeros(n)
    for p in range(n):
        for q in range(n):
            if opened[p, q]:
                count[q] += 1.0
    for q in range(n):
        if own[q]:
            count[q] += 1.0
    for p in range(n):
        for q in range(n):
            multipliers[p, q] -= step * (count[q] / (n + 1.0) - (1.0 if opened[p, q] else 0.0))
    for q in range(n):
        cluster_multipliers[q] -= step * (count[q] / (n + 1.0) - (1.0 if own[q] else 0.0))
    return count
