"""Exemplar clustering as its definition reads: all exemplar sets, one client at a time.

Costs are a matrix ``d[p][q]``, "p served by q", infinite where the pair is forbidden; the diagonal
is never read.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def dense_of(costs) -> Floats:
    """The matrix of `AssignmentCosts`, infinite where a sparse one stores nothing."""
    if not costs.is_sparse:
        return np.array(costs.service)
    entries = costs.service.tocoo()
    matrix = np.full(entries.shape, np.inf)
    matrix[entries.row, entries.col] = entries.data
    return matrix


def energy_of_service(d: Floats, opening: Floats, served_by: Sequence[int]) -> float:
    """Eq. (1) of komodakis2011 for given servers, those of exemplars being themselves."""
    exemplars = set(served_by)
    paid = [d[p][q] for p, q in enumerate(served_by) if p not in exemplars]
    return math.fsum(paid) + math.fsum(opening[q] for q in exemplars)


def energy_of_set(d: Floats, opening: Floats, exemplars: Collection[int]) -> float:
    """Eq. (1) with everybody else served by the cheapest exemplar."""
    paid = [min(d[p][q] for q in exemplars) for p in range(len(opening)) if p not in exemplars]
    return math.fsum(paid) + math.fsum(opening[q] for q in exemplars)


def exemplar_sets(n: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, n + 1):
        yield from combinations(range(n), size)


def all_energies(d: Floats, opening: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Every exemplar set as a mask, and its energy: `energy_of_set` for all sets at once."""
    n = len(opening)
    masks = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1 == 1
    paid = np.where(masks[:, None, :], d, np.inf).min(axis=2)
    paid[masks] = 0.0
    return masks, paid.sum(axis=1) + np.where(masks, opening, 0.0).sum(axis=1)


def least_energy(d: Floats, opening: Floats) -> float:
    return float(all_energies(d, opening)[1].min())


def optimal_sets(d: Floats, opening: Floats, tolerance: float = 1e-9) -> list[list[int]]:
    masks, energies = all_energies(d, opening)
    best = energies.min()
    close = energies <= best + tolerance * max(1.0, abs(best))
    return [np.flatnonzero(mask).tolist() for mask in masks[close]]


def neighbouring_sets(exemplars: Collection[int], n: int) -> Iterator[set[int]]:
    """What one add, one drop or one swap makes of a set."""
    inside = set(exemplars)
    outside = set(range(n)) - inside
    yield from (inside | {j} for j in outside)
    yield from (inside - {r} for r in inside if len(inside) > 1)
    yield from ((inside | {j}) - {r} for j in outside for r in inside)


def slack(serve: Floats, opening: Floats, v: Sequence[float]) -> list[float]:
    """Opening cost of every candidate less what its clients offer; ``serve[j][p]``."""
    return [
        opening[j] - math.fsum(max(v[p] - serve[j][p], 0.0) for p in range(len(v)))
        for j in range(len(opening))
    ]


def lagrangian(serve: Floats, opening: Floats, v: Sequence[float], candidates) -> float:
    slacks = slack(serve, opening, v)
    return math.fsum(v) + math.fsum(min(slacks[j], 0.0) for j in candidates)


def times_served(serve: Floats, opening: Floats, v: Sequence[float], candidates) -> list[int]:
    slacks = slack(serve, opening, v)
    return [sum(slacks[j] < 0 and v[p] > serve[j][p] for j in candidates) for p in range(len(v))]


def median_of_repeated(d: Floats, times: Sequence[int]) -> float:
    """Median over pairs of different rows when row p is there ``times[p]`` times, at distance 0."""
    rows = [p for p, count in enumerate(times) for _ in range(int(count))]
    values = [
        0.0 if rows[a] == rows[b] else d[rows[a]][rows[b]]
        for a in range(len(rows))
        for b in range(len(rows))
        if a != b
    ]
    return float(np.median(values)) if values else 0.0


def least_linked_energy(
    d: Floats,
    opening: Floats,
    together: Sequence[tuple[int, int]] = (),
    apart: Sequence[tuple[int, int]] = (),
) -> float:
    """Least energy of eq. (1) over all ways to serve everybody that keep to the links.

    Items without links take the cheapest exemplar. Infinite where there is no way.
    """
    n, best = len(opening), math.inf
    linked = {p for pair in [*together, *apart] for p in pair}
    pairs = [(*sorted(pair), True) for pair in together if pair[0] != pair[1]]
    pairs += [(*sorted(pair), False) for pair in apart]
    for exemplars in exemplar_sets(n):
        placed: list[list[int]] = [[]]
        for p in range(n):
            choices = [q for q in exemplars if math.isfinite(d[p][q])]
            if p in exemplars:
                choices = [p]
            elif p not in linked:
                choices = sorted(choices, key=lambda q, p=p: d[p][q])[:1]
            earlier = [(first, same) for first, second, same in pairs if second == p]
            placed = [
                [*served, q]
                for served in placed
                for q in choices
                if all((served[other] == q) == same for other, same in earlier)
            ]
        best = min([best, *(energy_of_service(d, opening, served) for served in placed)])
    return best
