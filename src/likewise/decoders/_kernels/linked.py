"""Compiled steps of facility location under links, over all pairs of blocks and candidates.

Clients are the blocks of a set that must stay together; ``serve[j, p] >= 0`` is what block p pays
in the cluster of candidate j, infinite where that may not be. An open candidate serves its own
block ``own[j]``, at no cost, so a block has one open candidate at most. Blocks below ``n_free`` are
not kept apart from any other; the others have their neighbours in ``near[start[p]:start[p + 1]]``,
and ``clique[c]:clique[c + 1]`` are blocks kept apart from each other.

A solution is which candidates are open, and by which of them each block is served (``first``, at
the cost ``low``): with blocks kept apart that is not always the cheapest one. ``second`` and
``high`` are the cheapest other open candidate, or, where none may serve it, ``alone``, the cheapest
candidate of the block itself: it can always form a cluster of its own.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel, summing_kernel
from likewise.decoders._kernels.dense import IMPROVEMENT


@summing_kernel
def _offers(serve, j, v, n_free):
    offered = 0.0
    for p in range(n_free):
        offered += max(v[p] - serve[j, p], 0.0)
    return offered


@kernel
def bound(serve, opening, n_free, clique, candidates, v, slack, served):
    """L(v) over ``candidates``, one block of each clique at most in the cluster of each of them.

    As in `dense_dual.bound`; v must not be negative.
    """
    served[:] = 0.0
    total = v.sum()
    for j in candidates:
        slack[j] = opening[j] - _offers(serve, j, v, n_free)
        for c in range(clique.shape[0] - 1):
            best = 0.0
            for p in range(clique[c], clique[c + 1]):
                best = max(best, v[p] - serve[j, p])
            slack[j] -= best
        if slack[j] < 0.0:
            total += slack[j]
            for p in range(n_free):
                served[p] += 1.0 if v[p] > serve[j, p] else 0.0
            for c in range(clique.shape[0] - 1):
                best, chosen = 0.0, -1
                for p in range(clique[c], clique[c + 1]):
                    if v[p] - serve[j, p] > best:
                        best, chosen = v[p] - serve[j, p], p
                if chosen >= 0:
                    served[chosen] += 1.0
    return total


@kernel
def blocked(graph, first, p, j):
    """Whether the cluster of j holds a block that p is kept apart from."""
    start, near = graph
    for t in range(start[p], start[p + 1]):  # noqa: SIM110 (numba compiles no generators here)
        if first[near[t]] == j:
            return True
    return False


@kernel
def _two_best(serve, graph, open_list, n_open, first, p):
    """The cheapest cluster that p may join, its cost, and that of the next."""
    best, low, high = -1, np.inf, np.inf
    for t in range(n_open):
        j = open_list[t]
        cost = serve[j, p]
        if cost < high and not blocked(graph, first, p, j):
            if cost < low:
                best, low, high = j, cost, low
            else:
                high = cost
    return best, low, high


@kernel
def _open_alone(problem, state, n_open, p):
    """Open the cheapest candidate of block p itself, which serves it."""
    alone = problem[3]
    is_open, open_list, first, low = state
    is_open[alone[p]] = True
    open_list[n_open] = alone[p]
    first[p], low[p] = alone[p], 0.0
    return n_open + 1


@kernel
def _assign_apart(problem, state, n_open, waiting, n_waiting):
    """Serve the blocks among ``waiting`` that are kept apart from others, by regret.

    The block that has most to lose chooses first; one without any choice forms a cluster.
    """
    serve, opening, _, alone, n_free, graph = problem
    _, open_list, first, low = state
    turn = np.full(n_waiting, -1, np.int64)
    place = np.full(low.shape[0], -1, np.int64)
    count = 0
    for i in range(n_waiting):
        if waiting[i] >= n_free:
            turn[count], place[waiting[i]] = waiting[i], count
            count += 1
    best, cheapest, regret = np.empty(count, np.int64), np.empty(count), np.full(count, -np.inf)
    stale = np.ones(count, np.bool_)
    for _ in range(count):
        chosen = -1
        for i in range(count):
            if place[turn[i]] >= 0 and stale[i]:
                p = turn[i]
                best[i], cheapest[i], other = _two_best(serve, graph, open_list, n_open, first, p)
                other = min(other, opening[alone[p]])
                regret[i] = np.inf if best[i] < 0 else other - cheapest[i]
                stale[i] = False
            if place[turn[i]] >= 0 and (chosen < 0 or regret[i] > regret[chosen]):
                chosen = i
        p = turn[chosen]
        place[p] = -1
        if best[chosen] < 0:
            n_open = _open_alone(problem, state, n_open, p)
            stale[:] = True
        else:
            first[p], low[p] = best[chosen], cheapest[chosen]
            for t in range(graph[0][p], graph[0][p + 1]):
                if place[graph[1][t]] >= 0:
                    stale[place[graph[1][t]]] = True
    return n_open


@kernel
def assign(problem, state, n_open, waiting, n_waiting):
    """Serve the blocks that wait, each where it is cheapest; returns the number of clusters."""
    serve, _, _, _, n_free, _ = problem
    _, open_list, first, low = state
    n_open = _assign_apart(problem, state, n_open, waiting, n_waiting)
    for i in range(n_waiting):
        p = waiting[i]
        if p >= n_free:
            continue
        for t in range(n_open):
            if serve[open_list[t], p] < low[p]:
                first[p], low[p] = open_list[t], serve[open_list[t], p]
        if first[p] < 0:
            n_open = _open_alone(problem, state, n_open, p)
    return n_open


@kernel
def rank_second(problem, state, n_open, high, second):
    """The cheapest other open candidate of every block, whatever else is in its cluster."""
    serve, opening, _, alone, _, _ = problem
    _, open_list, first, _ = state
    high[:] = np.inf
    second[:] = -1
    for t in range(n_open):
        j = open_list[t]
        for p in range(high.shape[0]):
            if serve[j, p] < high[p] and first[p] != j:
                high[p] = serve[j, p]
                second[p] = j
    for p in range(high.shape[0]):
        if second[p] < 0:
            high[p] = opening[alone[p]]


@kernel
def energy_of(problem, state, n_open):
    """Opening costs plus what every block pays."""
    opening = problem[1]
    _, open_list, _, low = state
    total = 0.0
    for t in range(n_open):
        total += opening[open_list[t]]
    return total + low.sum()


@kernel
def threshold_of(problem, state, n_open):
    """What a move must stay below to be a gain: terms count by their size, not their sign."""
    opening = problem[1]
    _, open_list, _, low = state
    total = low.sum()
    for t in range(n_open):
        total += abs(opening[open_list[t]])
    return -IMPROVEMENT * total


@kernel
def copy_state(state, to):
    """Copy a solution."""
    to[0][:] = state[0]
    to[1][:] = state[1]
    to[2][:] = state[2]
    to[3][:] = state[3]


@kernel
def _join(problem, state, j):
    """Move to j the blocks that gain, those that gain most first, as far as they may.

    Exemplars pay nothing, so they gain nothing and stay.
    """
    serve, _, _, _, n_free, graph = problem
    _, _, first, low = state
    for p in range(n_free):
        if serve[j, p] < low[p]:
            first[p], low[p] = j, serve[j, p]
    gain = low[n_free:] - serve[j, n_free:]
    for i in np.argsort(-gain, kind="mergesort"):
        p = n_free + i
        if gain[i] <= 0.0:
            break
        if not blocked(graph, first, p, j):
            first[p], low[p] = j, serve[j, p]


@kernel
def move(problem, state, n_open, waiting, j, r):
    """Open j and close r (-1: none), and serve anew whoever is concerned.

    Returns the number of open candidates.
    """
    own = problem[2]
    is_open, open_list, first, low = state
    n_waiting = 0
    if r >= 0:
        n_open -= 1
        for t in range(n_open):
            if open_list[t] == r:
                open_list[t] = open_list[n_open]
                break
        is_open[r] = False
        for p in range(first.shape[0]):
            if first[p] == r:
                first[p], low[p] = -1, np.inf
                if j < 0 or own[j] != p:
                    waiting[n_waiting] = p
                    n_waiting += 1
    if j >= 0:
        is_open[j] = True
        open_list[n_open] = j
        n_open += 1
        first[own[j]], low[own[j]] = j, 0.0
    n_open = assign(problem, state, n_open, waiting, n_waiting)
    if j >= 0:
        _join(problem, state, j)
    return n_open


@kernel
def closing_losses(problem, state, n_open, high, loss):
    """What closing each open candidate costs, whatever else is in the clusters around it."""
    opening = problem[1]
    _, open_list, first, low = state
    for t in range(n_open):
        loss[open_list[t]] = -opening[open_list[t]]
    for p in range(low.shape[0]):
        loss[first[p]] += high[p] - low[p]


@kernel
def price_opening(problem, state, n_open, high, loss, swapped, j):
    """Cost of opening j alone, and into ``swapped[r]`` what closing r costs besides.

    No more than the true ones where blocks are kept apart.
    """
    serve, opening, _, _, _, _ = problem
    _, open_list, first, low = state
    change = opening[j]
    for t in range(n_open):
        swapped[open_list[t]] = loss[open_list[t]]
    for p in range(low.shape[0]):
        cost = serve[j, p]
        if cost < low[p]:
            change += cost - low[p]
            swapped[first[p]] -= high[p] - low[p]
        elif cost < high[p]:
            swapped[first[p]] -= high[p] - cost
    return change


@kernel
def least(values, open_list, n_open):
    """The open candidate of least value."""
    best = open_list[0]
    for t in range(1, n_open):
        if values[open_list[t]] < values[best]:
            best = open_list[t]
    return best
