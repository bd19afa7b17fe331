"""Compiled local search for facility location under links; the steps are those of `linked`.

Moves are priced as if no blocks were kept apart, which is never too much, then tried on a copy of
the solution: what counts is the energy they really lead to.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel
from likewise.decoders._kernels.dense import IMPROVEMENT, ROUNDING
from likewise.decoders._kernels.linked import (
    assign,
    closing_losses,
    copy_state,
    energy_of,
    least,
    move,
    price_opening,
    rank_second,
    threshold_of,
)


@kernel
def _try_move(problem, state, n_open, trial, waiting, j, r, threshold):
    """Open j and close r (-1: none) if that is a gain; the number of open candidates, or 0."""
    copy_state(state, trial)
    n_trial = move(problem, trial, n_open, waiting, j, r)
    gain = energy_of(problem, trial, n_trial) - energy_of(problem, state, n_open)
    if gain >= threshold:
        return 0
    copy_state(trial, state)
    return n_trial


@kernel
def _close_useless(problem, state, n_open, trial, waiting, second, threshold):
    """Close, worst first, what saves less than it costs."""
    high, choice, loss = second
    open_list = state[1]
    tried = np.zeros(loss.shape[0], np.bool_)
    while n_open > 1:
        rank_second(problem, state, n_open, high, choice)
        closing_losses(problem, state, n_open, high, loss)
        for t in range(n_open):
            if tried[open_list[t]]:
                loss[open_list[t]] = np.inf
        r = least(loss, open_list, n_open)
        if loss[r] >= threshold:
            break
        n_found = _try_move(problem, state, n_open, trial, waiting, -1, r, threshold)
        tried[r] = True
        if n_found > 0:
            n_open = n_found
    rank_second(problem, state, n_open, high, choice)
    closing_losses(problem, state, n_open, high, loss)
    return n_open


@kernel
def _eject(problem, state, n_open, trial, waiting, threshold):
    """Move blocks to clusters that hold what they are kept apart from, which leaves for others."""
    serve, _, _, _, n_free, graph = problem
    open_list, first, low = state[1], state[2], state[3]
    improved = False
    for p in range(n_free, first.shape[0]):
        for t in range(n_open):
            j = open_list[t]
            if serve[j, p] >= low[p]:
                continue
            copy_state(state, trial)
            n_waiting = 0
            for a in range(graph[0][p], graph[0][p + 1]):
                b = graph[1][a]
                if trial[2][b] == j:
                    trial[2][b], trial[3][b] = -1, np.inf
                    waiting[n_waiting] = b
                    n_waiting += 1
            trial[2][p], trial[3][p] = j, serve[j, p]
            n_trial = assign(problem, trial, n_open, waiting, n_waiting)
            gain = energy_of(problem, trial, n_trial) - energy_of(problem, state, n_open)
            if gain < threshold:
                copy_state(trial, state)
                n_open = n_trial
                improved = True
    return n_open, improved


@kernel
def _open_useful(problem, state, n_open, trial, waiting, second, swapped, threshold, j):
    """Add j, or swap it for the open candidate that is least missed, if that is a gain."""
    high, _, loss = second
    own, open_list, first = problem[2], state[1], state[2]
    add = price_opening(problem, state, n_open, high, loss, swapped, j)
    server = first[own[j]]
    if own[server] == own[j]:
        # A block has one exemplar at most.
        r = server
        swap, add = add + swapped[r], np.inf
    else:
        r = least(swapped, open_list, n_open)
        swap = add + swapped[r]
    swap += ROUNDING * abs(loss[r])
    if swap < threshold and swap <= add:
        n_found = _try_move(problem, state, n_open, trial, waiting, j, r, threshold)
        if n_found > 0:
            return n_found
    if add < threshold:
        return _try_move(problem, state, n_open, trial, waiting, j, -1, threshold)
    return 0


@kernel
def local_search(problem, candidates, state, n_open, trial, waiting, second, swapped):
    """Add, drop, swap and eject, first improvement, until none of them helps."""
    m = candidates.shape[0]
    is_open = state[0]
    threshold = threshold_of(problem, state, n_open)
    improved = True
    while improved:
        n_open = _close_useless(problem, state, n_open, trial, waiting, second, threshold)
        at, unchanged = 0, 0
        while unchanged < m:
            j = candidates[at]
            at = at + 1 if at + 1 < m else 0
            unchanged += 1
            if is_open[j]:
                continue
            n_found = _open_useful(
                problem, state, n_open, trial, waiting, second, swapped, threshold, j
            )
            if n_found == 0:
                continue
            threshold = threshold_of(problem, state, n_found)
            n_open = _close_useless(problem, state, n_found, trial, waiting, second, threshold)
            unchanged = 0
        n_open, improved = _eject(problem, state, n_open, trial, waiting, threshold)
    return n_open


@kernel
def kick(problem, candidates, draws, strength, state, n_open, waiting):
    """Swap random closed candidates for open ones; ``draws`` are three per swap, in [0, 1).

    Half of the swaps are local (the exemplar that serves the newcomer leaves), half global.
    """
    own, is_open, open_list, first = problem[2], state[0], state[1], state[2]
    for s in range(strength):
        j = candidates[int(draws[3 * s] * candidates.shape[0])]
        if is_open[j]:
            continue
        r = open_list[int(draws[3 * s + 1] * n_open)]
        server = first[own[j]]
        if draws[3 * s + 2] < 0.5 or own[server] == own[j]:
            r = server
        n_open = move(problem, state, n_open, waiting, j, r)
    return n_open


@kernel
def complete(problem, state, waiting):
    """Serve whoever is not served yet, opening what that needs; the number of open candidates.

    Of the open candidates of a block the first stays.
    """
    is_open, open_list, first, low = state
    serve, opening, own = problem[0], problem[1], problem[2]
    n_open = n_waiting = 0
    for j in np.flatnonzero(is_open):
        server = first[own[j]]
        taken = server >= 0 and own[server] == own[j] and server != j
        if taken or opening[j] == np.inf:
            is_open[j] = False
            continue
        open_list[n_open] = j
        n_open += 1
        first[own[j]] = j
    for p in range(first.shape[0]):
        if first[p] < 0:
            low[p] = np.inf
            waiting[n_waiting] = p
            n_waiting += 1
        else:
            low[p] = serve[first[p], p]
    return assign(problem, state, n_open, waiting, n_waiting)


@kernel
def iterated_search(problem, candidates, is_open, first, draws, weakest, drift):
    """Local search, then one round of kick and local search per row of ``draws``.

    As `dense.iterated_search`. ``is_open`` and ``first`` (-1: not decided) are where it starts and
    where it ends; returns the energy.
    """
    m, n = problem[0].shape
    strongest = (draws.shape[1] - 1) // 3
    state = (is_open, np.empty(m + 1, np.int32), first, np.empty(n))
    trial = (is_open.copy(), np.empty(m + 1, np.int32), first.copy(), np.empty(n))
    second = (np.empty(n), np.empty(n, np.int32), np.empty(m))
    waiting, swapped = np.empty(n, np.int64), np.empty(m)
    n_open = complete(problem, state, waiting)
    n_open = local_search(problem, candidates, state, n_open, trial, waiting, second, swapped)
    kept = best = energy_of(problem, state, n_open)
    n_kept = n_best = n_open
    best_state = (is_open.copy(), state[1].copy(), first.copy(), state[3].copy())
    kept_state = (is_open.copy(), state[1].copy(), first.copy(), state[3].copy())
    for t in range(draws.shape[0]):
        strength = weakest + int(draws[t, -1] * (strongest - weakest + 1))
        n_open = kick(problem, candidates, draws[t], strength, state, n_open, waiting)
        n_open = local_search(problem, candidates, state, n_open, trial, waiting, second, swapped)
        energy = energy_of(problem, state, n_open)
        if energy < best - IMPROVEMENT * abs(best):
            best, n_best = energy, n_open
            copy_state(state, best_state)
        if energy <= kept + drift * abs(kept):
            kept, n_kept = energy, n_open
            copy_state(state, kept_state)
        else:
            n_open = n_kept
            copy_state(kept_state, state)
    copy_state(best_state, state)
    return energy_of(problem, state, n_best)
