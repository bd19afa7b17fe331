"""Compiled search over a sparse candidate graph.

Two copies of the same pairs: by client (``row_start``, ``row_candidate``, ``row_cost``, cheapest
first) and by candidate (``col_start``, ``col_client``, ``col_cost``). Every client is its own
candidate at cost zero, so every graph has a feasible solution. Beside ``low``, ``high``, ``first``
and ``second`` (as in the dense kernels; -1 and infinity where there is none), a search keeps for
every open candidate the extra service cost if it closed (``loss``) and the number of clients that
only it serves (``sole``): it may close only when that number is zero.

``graph`` is the tuple of the six arrays; ``state`` the tuple (is_open, low, high, first, second,
loss, sole, tally), the last an array of four: the energy, kept up to date; the work done, in pairs
looked at; the sum of the sizes of all terms of the energy; the largest sum there has been.
``queue`` is (ring, queued, bounds, wanted), a first-in first-out list of candidates to look at,
each at most once in it and only if it is wanted; ``log`` is the list of openings (j + 1) and
closings (-j - 1) since the best solution, so that a search can take them back.
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel

# As in the dense kernels: a share of the sizes of the terms, not of the energy.
IMPROVEMENT = 1e-11
# Sums that are kept up to date remember the rounding of the largest value they have had.
ROUNDING = 1e-13


@kernel
def push(queue, j):
    """Put candidate j into the queue unless it waits there already or is not wanted."""
    ring, queued, bounds, wanted = queue
    if wanted[j] and not queued[j]:
        queued[j] = True
        ring[bounds[1] % ring.shape[0]] = j
        bounds[1] += 1


@kernel
def _pop(queue):
    ring, queued, bounds, _ = queue
    j = ring[bounds[0] % ring.shape[0]]
    bounds[0] += 1
    queued[j] = False
    return j


@kernel
def _count(state, p, sign):
    """Add (sign 1) or remove (sign -1) client p in ``loss``, ``sole`` and the energy."""
    _, low, high, first, second, loss, sole, tally = state
    if first[p] < 0:
        return
    tally[0] += sign * low[p]
    tally[2] += sign * low[p]
    if second[p] < 0:
        sole[first[p]] += sign
    else:
        loss[first[p]] += sign * (high[p] - low[p])
    tally[3] = max(tally[3], tally[2], loss[first[p]])


@kernel
def _rank(graph, state, p):
    """Find the two cheapest open candidates of client p in its row."""
    row_start, row_candidate, row_cost = graph[0], graph[1], graph[2]
    is_open, low, high, first, second, _, _, _ = state
    low[p] = np.inf
    high[p] = np.inf
    first[p] = -1
    second[p] = -1
    for t in range(row_start[p], row_start[p + 1]):
        if is_open[row_candidate[t]]:
            if first[p] < 0:
                first[p] = row_candidate[t]
                low[p] = row_cost[t]
            else:
                second[p] = row_candidate[t]
                high[p] = row_cost[t]
                break


@kernel
def _wake(graph, state, queue, p):
    """Queue the candidates of client p, which has changed."""
    row_start, row_candidate = graph[0], graph[1]
    state[7][1] += row_start[p + 1] - row_start[p]
    for t in range(row_start[p], row_start[p + 1]):
        push(queue, row_candidate[t])


@kernel
def rank_all(graph, opening, state):
    """Bring everything else in the state up to date with ``is_open``."""
    is_open, _, _, first, _, loss, sole, tally = state
    loss[:] = 0.0
    sole[:] = 0
    tally[0] = 0.0
    tally[2] = 0.0
    tally[3] = 0.0
    for p in range(first.shape[0]):
        _rank(graph, state, p)
        _count(state, p, 1)
        if is_open[p]:
            tally[0] += opening[p]
            tally[2] += abs(opening[p])


@kernel
def open_candidate(graph, opening, state, queue, log, j):
    """Open j and wake the candidates of every client that it changes."""
    col_start, col_client, col_cost = graph[3], graph[4], graph[5]
    is_open, low, high, first, second, _, _, tally = state
    is_open[j] = True
    queue[3][j] = True
    tally[0] += opening[j]
    tally[2] += abs(opening[j])
    tally[1] += col_start[j + 1] - col_start[j]
    log.append(j + 1)
    for t in range(col_start[j], col_start[j + 1]):
        p, cost = col_client[t], col_cost[t]
        if second[p] >= 0 and cost >= high[p]:
            continue
        _count(state, p, -1)
        if first[p] < 0 or cost < low[p]:
            second[p] = first[p]
            high[p] = low[p]
            first[p] = j
            low[p] = cost
        else:
            second[p] = j
            high[p] = cost
        _count(state, p, 1)
        _wake(graph, state, queue, p)


@kernel
def close_candidate(graph, opening, state, queue, log, r):
    """Close r and wake the candidates of every client that it changes."""
    col_start, col_client = graph[3], graph[4]
    is_open, _, _, first, second, _, _, tally = state
    is_open[r] = False
    tally[0] -= opening[r]
    tally[2] -= abs(opening[r])
    tally[1] += col_start[r + 1] - col_start[r]
    log.append(-r - 1)
    for t in range(col_start[r], col_start[r + 1]):
        p = col_client[t]
        if first[p] == r or second[p] == r:
            _count(state, p, -1)
            _rank(graph, state, p)
            _count(state, p, 1)
            _wake(graph, state, queue, p)


@kernel
def _price_opening(graph, opening, state, j, change, rescued, touched):
    """Cost of opening j, and per exemplar that shares clients with it what closing it adds.

    Fills ``change[r]`` and ``rescued[r]`` (sole clients of r that j can take) for the exemplars
    listed in ``touched``; returns (cost of opening, length of that list). The caller resets both.
    """
    col_start, col_client, col_cost = graph[3], graph[4], graph[5]
    _, low, high, first, second, _, _, tally = state
    add = opening[j]
    tally[1] += col_start[j + 1] - col_start[j]
    n_touched = 0
    for t in range(col_start[j], col_start[j + 1]):
        p, cost = col_client[t], col_cost[t]
        if second[p] >= 0 and cost >= high[p]:
            continue
        r = first[p]
        if rescued[r] < 0:
            rescued[r] = 0
            change[r] = 0.0
            touched[n_touched] = r
            n_touched += 1
        stays = min(cost, low[p])
        add += stays - low[p]
        if second[p] < 0:
            rescued[r] += 1
            change[r] += cost - stays
        else:
            change[r] += (cost - stays) - (high[p] - low[p])
    return add, n_touched


@kernel
def local_search(graph, opening, state, queue, log):
    """Add, drop and swap for the queued candidates until the queue is empty."""
    is_open, _, _, _, _, loss, sole, tally = state
    m = opening.shape[0]
    bounds = queue[2]
    change = np.empty(m)
    rescued = np.full(m, -1, np.int64)
    touched = np.empty(m, np.int64)
    while bounds[0] < bounds[1]:
        j = _pop(queue)
        threshold = -IMPROVEMENT * tally[2] - ROUNDING * tally[3]
        if is_open[j]:
            if sole[j] == 0 and loss[j] - opening[j] < threshold:
                close_candidate(graph, opening, state, queue, log, j)
            continue
        add, n_touched = _price_opening(graph, opening, state, j, change, rescued, touched)
        best, leaving = add, -1
        for t in range(n_touched):
            r = touched[t]
            swap = add + change[r] + loss[r] - opening[r]
            if rescued[r] == sole[r] and swap < best:
                best, leaving = swap, r
            rescued[r] = -1
        if best < threshold:
            open_candidate(graph, opening, state, queue, log, j)
            if leaving >= 0:
                close_candidate(graph, opening, state, queue, log, leaving)


@kernel
def _evict(graph, opening, state, queue, log, r):
    """Close r even where only it serves a client: such a client opens itself."""
    col_start, col_client = graph[3], graph[4]
    first, second = state[3], state[4]
    for t in range(col_start[r], col_start[r + 1]):
        p = col_client[t]
        if first[p] == r and second[p] < 0 and p != r:
            open_candidate(graph, opening, state, queue, log, p)
    if second[r] >= 0:
        close_candidate(graph, opening, state, queue, log, r)


@kernel
def _undo(graph, opening, state, queue, log, length):
    """Take moves back until the log has ``length`` entries; the queue ends empty."""
    while len(log) > length:
        move = log.pop()
        if move > 0:
            close_candidate(graph, opening, state, queue, log, move - 1)
        else:
            open_candidate(graph, opening, state, queue, log, -move - 1)
        log.pop()
    while queue[2][0] < queue[2][1]:
        _pop(queue)


@kernel
def iterated_search(graph, opening, state, queue, pool, draws, weakest, drift, work):
    """Local search over ``pool``, then a round of kick and search per row of ``draws``.

    A kick opens a random candidate of ``pool`` and closes the exemplar that served it; a row holds
    three numbers for every kick and one that chooses how many. Rounds within ``drift`` (relative)
    of the last one kept are kept. Ends after ``work`` pairs looked at, if not before; the state
    ends as the best solution met.
    """
    is_open, first, tally = state[0], state[3], state[7]
    strongest = (draws.shape[1] - 1) // 3
    log = [np.int64(0)]
    wanted = queue[3]
    wanted[:] = is_open
    wanted[pool] = True
    for j in pool:
        push(queue, j)
    local_search(graph, opening, state, queue, log)
    log.clear()
    kept = best = tally[0]
    n_kept = 0
    tally[1] = 0.0
    for t in range(draws.shape[0]):
        if tally[1] > work:
            break
        strength = weakest + int(draws[t, -1] * (strongest - weakest + 1))
        for s in range(strength):
            j = pool[int(draws[t, 3 * s] * pool.shape[0])]
            if not is_open[j]:
                r = first[j]
                open_candidate(graph, opening, state, queue, log, j)
                _evict(graph, opening, state, queue, log, r)
        local_search(graph, opening, state, queue, log)
        if tally[0] < best - IMPROVEMENT * abs(best):
            best = tally[0]
            log.clear()
        if tally[0] <= kept + drift * abs(kept):
            kept = tally[0]
            n_kept = len(log)
        else:
            _undo(graph, opening, state, queue, log, n_kept)
    _undo(graph, opening, state, queue, log, 0)
