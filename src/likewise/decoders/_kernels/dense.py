"""Compiled search over dense facility-location costs.

``serve[j, p] >= 0`` is what client p pays when candidate j serves it, candidate-major so that the
inner loop runs along contiguous memory; ``opening[j]`` is what it costs to open j. A solution is
the array ``is_open``; beside it every kernel keeps, per client, its nearest and second nearest open
candidate (``first``, ``second``) and what they charge (``low``, ``high``).
"""

from __future__ import annotations

import numpy as np

from likewise.arrays.jit import kernel

# A move counts as an improvement when it gains more than this share of what is summed: far above
# the rounding of a sum of n terms, far below any gap that is reported. A share of the energy would
# not do: costs below zero may cancel it, and then rounding alone looks like a gain, for ever.
IMPROVEMENT = 1e-11
# What is left when two sums cancel is rounded like they are, relative to this.
ROUNDING = 1e-12


@kernel
def rank_two(serve, open_list, n_open, low, high, first, second):
    """Nearest and second nearest open candidate of every client, from scratch."""
    n = serve.shape[1]
    for p in range(n):
        low[p] = np.inf
        high[p] = np.inf
        first[p] = -1
        second[p] = -1
    for t in range(n_open):
        j = open_list[t]
        for p in range(n):
            cost = serve[j, p]
            if cost < low[p]:
                high[p] = low[p]
                second[p] = first[p]
                low[p] = cost
                first[p] = j
            elif cost < high[p]:
                high[p] = cost
                second[p] = j


@kernel
def _open_candidate(serve, j, open_list, n_open, low, high, first, second):
    open_list[n_open] = j
    for p in range(serve.shape[1]):
        cost = serve[j, p]
        if cost < high[p]:
            if cost < low[p]:
                high[p] = low[p]
                second[p] = first[p]
                low[p] = cost
                first[p] = j
            else:
                high[p] = cost
                second[p] = j
    return n_open + 1


@kernel
def _close_candidate(serve, r, open_list, n_open, low, high, first, second):
    n_open -= 1
    for t in range(n_open):
        if open_list[t] == r:
            open_list[t] = open_list[n_open]
            break
    for p in range(serve.shape[1]):
        if first[p] == r:
            low[p] = high[p]
            first[p] = second[p]
        elif second[p] != r:
            continue
        high[p] = np.inf
        second[p] = -1
        for t in range(n_open):
            j = open_list[t]
            if j != first[p] and serve[j, p] < high[p]:
                high[p] = serve[j, p]
                second[p] = j
    return n_open


@kernel
def _closing_losses(opening, open_list, n_open, low, high, first, loss):
    for t in range(n_open):
        loss[open_list[t]] = -opening[open_list[t]]
    for p in range(low.shape[0]):
        loss[first[p]] += high[p] - low[p]


@kernel
def _least(values, open_list, n_open):
    best = open_list[0]
    for t in range(1, n_open):
        if values[open_list[t]] < values[best]:
            best = open_list[t]
    return best


@kernel
def _price_opening(serve, opening, j, low, high, first, loss, swapped, open_list, n_open):
    """Cost of opening j alone, and into ``swapped[r]`` what closing r costs besides."""
    change = opening[j]
    for t in range(n_open):
        swapped[open_list[t]] = loss[open_list[t]]
    for p in range(low.shape[0]):
        cost = serve[j, p]
        if cost < high[p]:
            if cost < low[p]:
                change += cost - low[p]
                swapped[first[p]] -= high[p] - low[p]
            else:
                swapped[first[p]] -= high[p] - cost
    return change


@kernel
def _close_useless(
    serve, opening, threshold, is_open, open_list, n_open, low, high, first, second, loss
):
    """Close, worst first, what saves less than it costs; leave ``loss`` up to date."""
    _closing_losses(opening, open_list, n_open, low, high, first, loss)
    while n_open > 1:
        r = _least(loss, open_list, n_open)
        if loss[r] >= threshold:
            break
        n_open = _close_candidate(serve, r, open_list, n_open, low, high, first, second)
        is_open[r] = False
        _closing_losses(opening, open_list, n_open, low, high, first, loss)
    return n_open


@kernel
def energy_of_open(opening, open_list, n_open, low):
    """Opening costs plus what every client pays."""
    total = 0.0
    for t in range(n_open):
        total += opening[open_list[t]]
    return total + low.sum()


@kernel
def _threshold(opening, open_list, n_open, low):
    """What a move must stay below to be a gain: terms count by their size, not their sign."""
    total = low.sum()
    for t in range(n_open):
        total += abs(opening[open_list[t]])
    return -IMPROVEMENT * total


@kernel
def local_search(
    serve, opening, candidates, is_open, open_list, n_open, low, high, first, second, loss, swapped
):
    """Add, drop and swap, first improvement, until none of them helps.

    Expects ``low``, ``high``, ``first`` and ``second`` to be up to date; returns the number of open
    candidates. Only ``candidates`` are opened.
    """
    m = candidates.shape[0]
    threshold = _threshold(opening, open_list, n_open, low)
    n_open = _close_useless(
        serve, opening, threshold, is_open, open_list, n_open, low, high, first, second, loss
    )
    at = 0
    unchanged = 0
    while unchanged < m:
        j = candidates[at]
        at = at + 1 if at + 1 < m else 0
        unchanged += 1
        if is_open[j]:
            continue
        if n_open == 1:
            add = opening[j] + np.minimum(serve[j] - low, 0.0).sum()
            r = open_list[0]
            swap = opening[j] - opening[r] + (serve[j] - low).sum()
        else:
            add = _price_opening(
                serve, opening, j, low, high, first, loss, swapped, open_list, n_open
            )
            r = _least(swapped, open_list, n_open)
            swap = add + swapped[r] + ROUNDING * abs(loss[r])
        if min(add, swap) >= threshold:
            continue
        n_open = _open_candidate(serve, j, open_list, n_open, low, high, first, second)
        is_open[j] = True
        if swap < add:
            n_open = _close_candidate(serve, r, open_list, n_open, low, high, first, second)
            is_open[r] = False
        threshold = _threshold(opening, open_list, n_open, low)
        n_open = _close_useless(
            serve, opening, threshold, is_open, open_list, n_open, low, high, first, second, loss
        )
        unchanged = 0
    return n_open


@kernel
def kick(serve, candidates, draws, strength, is_open, open_list, n_open, low, high, first, second):
    """Swap random closed candidates for open ones; ``draws`` are three per swap, in [0, 1).

    Half of the swaps are local (the exemplar that serves the newcomer leaves), half global.
    """
    m = candidates.shape[0]
    for s in range(strength):
        j = candidates[int(draws[3 * s] * m)]
        if is_open[j]:
            continue
        r = open_list[int(draws[3 * s + 1] * n_open)]
        if draws[3 * s + 2] < 0.5:
            r = open_list[0]
            for t in range(1, n_open):
                if serve[open_list[t], j] < serve[r, j]:
                    r = open_list[t]
        n_open = _open_candidate(serve, j, open_list, n_open, low, high, first, second)
        is_open[j] = True
        n_open = _close_candidate(serve, r, open_list, n_open, low, high, first, second)
        is_open[r] = False
    return n_open


@kernel
def _copy_state(
    is_open,
    open_list,
    low,
    high,
    first,
    second,
    is_open_to,
    open_list_to,
    low_to,
    high_to,
    first_to,
    second_to,
):
    is_open_to[:] = is_open
    open_list_to[:] = open_list
    low_to[:] = low
    high_to[:] = high
    first_to[:] = first
    second_to[:] = second


@kernel
def iterated_search(serve, opening, candidates, is_open, draws, weakest, drift):
    """Local search, then one round of kick and local search per row of ``draws``.

    A round is kept when its energy is within ``drift`` (relative) of the last one kept, so the
    search can leave a deep valley; ``is_open`` ends as the best solution met. Returns its energy. A
    row of ``draws`` holds three numbers
    for every swap and one that chooses how many swaps, ``weakest`` at least.
    """
    m, n = serve.shape
    strongest = (draws.shape[1] - 1) // 3
    low, high = np.empty(n), np.empty(n)
    first, second = np.empty(n, np.int32), np.empty(n, np.int32)
    loss, swapped = np.empty(m), np.empty(m)
    open_list = np.empty(m + 1, np.int32)
    n_open = 0
    for j in np.flatnonzero(is_open):
        open_list[n_open] = j
        n_open += 1
    rank_two(serve, open_list, n_open, low, high, first, second)
    n_open = local_search(
        serve, opening, candidates, is_open, open_list, n_open,
        low, high, first, second, loss, swapped,
    )  # fmt: skip
    kept = best = energy_of_open(opening, open_list, n_open, low)
    n_kept = n_open
    best_open = is_open.copy()
    kept_open, kept_list = is_open.copy(), open_list.copy()
    kept_low, kept_high = low.copy(), high.copy()
    kept_first, kept_second = first.copy(), second.copy()
    for t in range(draws.shape[0]):
        strength = weakest + int(draws[t, -1] * (strongest - weakest + 1))
        n_open = kick(
            serve, candidates, draws[t], strength, is_open, open_list, n_open,
            low, high, first, second,
        )  # fmt: skip
        n_open = local_search(
            serve, opening, candidates, is_open, open_list, n_open,
            low, high, first, second, loss, swapped,
        )  # fmt: skip
        energy = energy_of_open(opening, open_list, n_open, low)
        if energy < best - IMPROVEMENT * abs(best):
            best = energy
            best_open[:] = is_open
        if energy <= kept + drift * abs(kept):
            kept, n_kept = energy, n_open
            _copy_state(
                is_open, open_list, low, high, first, second,
                kept_open, kept_list, kept_low, kept_high, kept_first, kept_second,
            )  # fmt: skip
        else:
            n_open = n_kept
            _copy_state(
                kept_open, kept_list, kept_low, kept_high, kept_first, kept_second,
                is_open, open_list, low, high, first, second,
            )  # fmt: skip
    is_open[:] = best_open
    return best
