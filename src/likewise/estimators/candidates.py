"""Candidate graphs for large sets: nearest neighbours, and exemplars for clusters beyond them.

With k nearest neighbours alone no cluster can be much larger than k. So rows are also linked to
global candidates:

1. a sample is solved, each row standing for many, and enlarged until its clusters hold several
   sampled rows: that shows how large clusters are and roughly where their exemplars lie. More
   samples of that size give alternatives;
2. every exemplar moves to the best of its neighbours for the rows it serves, over and over (a
   descent over the graph of nearest neighbours);
3. every row is linked to its k nearest neighbours and to the nearest of all these exemplars; the
   problem over that graph is solved fast, and 2 and 3 are repeated with the exemplars it chose.

The problem over the stored pairs is what is solved in the end and what the bound is about.
`reaches_all_pairs` tells when the bound holds over all pairs as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.arrays.interruption import interrupts_told_apart
from likewise.arrays.random import stream
from likewise.decoders.exemplar import decode
from likewise.estimators.exemplar_costs import (
    OpeningCost,
    RowGeometry,
    estimated_median,
    opening_of,
    settled,
)
from likewise.estimators.units import Units
from likewise.geometry import candidate_graph, link_to, merge_graphs
from likewise.potentials import AssignmentCosts

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

FIRST_SAMPLE = 2000
GROWTH = 4
# A sample tells the size of clusters when they hold this many sampled rows on average.
ROWS_PER_CLUSTER = 8
# Links of a sampled row: enough for clusters of a well-sized sample.
SAMPLE_LINKS = 40
# Samples of that size that are solved: their exemplars are each other's alternatives.
SAMPLES = 4
# Times that exemplars move, are linked to the rows around them, and are chosen anew.
REFINEMENTS = 2
# Links of every row to the exemplars nearest to it: its cluster and those around.
EXEMPLAR_LINKS = 12
# Descent of the exemplars over the graph: rounds at most.
DESCENT_ROUNDS = 10


@dataclass(frozen=True)
class Candidates:
    """The potentials over the graph, and the exemplars to start from, if any were found.

    ``reach[p]`` is a cost below which every pair of p is stored: infinite where all pairs are.
    ``interrupted`` says that Ctrl-C cut the building short.
    """

    costs: AssignmentCosts
    start: Indices | None
    reach: Floats
    opening_cost: float | Floats
    interrupted: bool


def sparse_costs(
    geometry: RowGeometry,
    units: Units,
    opening: OpeningCost,
    k: int,
    seed: int,
    seconds_left: Callable[[], float],
) -> Candidates:
    """Potentials over the candidate graph of a set of rows.

    Where time is short the graph is refined less, and so it is after Ctrl-C; the neighbours of all
    rows are found in any case.
    """
    used = settled(opening, lambda: estimated_median(geometry, units, seed))
    own = geometry.restricted_to(units.row_of)
    cost = opening_of(used, units)
    nearest = _linked(own, k)
    reach = _reach(nearest, k, len(units)) * units.weight
    graph, start, interrupted = nearest, None, False
    try:
        with interrupts_told_apart():
            sampling = _Sampling(own, units.weight, cost, k, seed, seconds_left)
            start, exemplars = sampling.exemplars()
            graph = merge_graphs(nearest, _linked_to(own, exemplars, EXEMPLAR_LINKS))
            for _ in range(REFINEMENTS):
                if seconds_left() <= 0:
                    break
                exemplars = _descended(own, units.weight, nearest, exemplars)
                graph = merge_graphs(graph, _linked_to(own, exemplars, EXEMPLAR_LINKS))
                costs = AssignmentCosts(_weighted(graph, units.weight), cost)
                start = exemplars = _solved("draft", costs, seed, start, seconds_left())
    except KeyboardInterrupt:
        interrupted = True
    costs = AssignmentCosts(_weighted(graph, units.weight), cost)
    return Candidates(costs, start, reach, used, interrupted)


def reaches_all_pairs(prices: Floats, reach: Floats) -> bool:
    """Whether a bound over the stored pairs also bounds the problem over all pairs.

    A pair that is not stored changes L(v) only where v_p exceeds its cost, so the bound stands if
    no multiplier exceeds the cost up to which the pairs of its client are all stored.
    """
    return bool(np.all(prices <= reach))


def _linked(geometry: RowGeometry, k: int) -> sparse.csr_array:
    return candidate_graph(
        geometry.features, geometry.X, geometry.weights, min(k, len(geometry.X) - 1),
        scales=geometry.scales, n_jobs=geometry.n_jobs,
    )  # fmt: skip


def _linked_to(geometry: RowGeometry, targets: Indices, k: int) -> sparse.csr_array:
    return link_to(
        geometry.features, geometry.X, geometry.weights, np.unique(targets), k,
        scales=geometry.scales, n_jobs=geometry.n_jobs,
    )  # fmt: skip


def _reach(nearest: sparse.csr_array, k: int, n: int) -> Floats:
    if k >= n - 1:
        return np.full(n, np.inf)
    return np.maximum.reduceat(nearest.data, nearest.indptr[:-1])


@dataclass(frozen=True)
class _Sampling:
    """Samples of a set, each row standing for many, and the exemplars that they choose."""

    geometry: RowGeometry
    weight: Floats
    opening: Floats
    k: int
    seed: int
    seconds_left: Callable[[], float]

    def exemplars(self) -> tuple[Indices, Indices]:
        """Those of a sample that is large enough to tell how large clusters are, and of more.

        Where that sample is the whole of a small set, the others are solved from other seeds;
        where it is the whole of a large one, clusters are so small that they need no others.
        """
        n = len(self.weight)
        size = min(FIRST_SAMPLE, n)
        found = self._of_sample(size, 0)
        while size < min(n, ROWS_PER_CLUSTER * len(found)) and self.seconds_left() > 0:
            size = min(GROWTH * size, n)
            found = self._of_sample(size, 0)
        others = [
            self._of_sample(size, place)
            for place in range(1, SAMPLES if size < n or size <= FIRST_SAMPLE else 1)
            if self.seconds_left() > 0
        ]
        return found, np.unique(np.concatenate([found, *others]))

    def _of_sample(self, size: int, place: int) -> Indices:
        n = len(self.weight)
        sampled = np.sort(stream(self.seed, "sample", place).permutation(n)[:size])
        part = self.geometry.restricted_to(sampled)
        times = self.weight[sampled] * (n / size)
        # All pairs of the first sample: how large its clusters are is not known yet. Those of a
        # larger one are small, or it would not have been needed.
        if size <= FIRST_SAMPLE:
            service = times[:, None] * part.distances()
        else:
            service = _weighted(_linked(part, max(self.k, SAMPLE_LINKS)), times)
        costs = AssignmentCosts(service, self.opening[sampled])
        return sampled[_solved("fast", costs, self.seed + place, None, self.seconds_left())]


def _solved(
    solver: str, costs: AssignmentCosts, seed: int, start: Indices | None, time_limit: float
) -> Indices:
    found = decode(costs, solver=solver, random_state=seed, start=start, time_limit=time_limit)
    if found.status == "interrupted":
        raise KeyboardInterrupt
    return found.partition.exemplars


def _served_by(geometry: RowGeometry, exemplars: Indices) -> tuple[Indices, Floats]:
    """The nearest exemplar of every row and its distance; an exemplar serves itself."""
    n = len(geometry.X)
    links = _linked_to(geometry, exemplars, 1)
    served, cost = np.arange(n), np.zeros(n)
    linked = np.flatnonzero(np.diff(links.indptr))
    served[linked], cost[linked] = links.indices, links.data
    served[exemplars], cost[exemplars] = exemplars, 0.0
    return served, cost


def _descended(
    geometry: RowGeometry, weight: Floats, nearest: sparse.csr_array, exemplars: Indices
) -> Indices:
    """Move every exemplar to its best neighbour for the rows it serves, until none gains."""
    for _ in range(DESCENT_ROUNDS):
        served, cost = _served_by(geometry, exemplars)
        total = np.bincount(served, weights=weight * cost, minlength=len(weight))
        by_exemplar = np.argsort(served, kind="stable")
        starts = np.searchsorted(served[by_exemplar], exemplars)
        stops = np.searchsorted(served[by_exemplar], exemplars, side="right")
        moved = exemplars.copy()
        for place, exemplar in enumerate(exemplars):
            members = by_exemplar[starts[place] : stops[place]]
            options = nearest.indices[nearest.indptr[exemplar] : nearest.indptr[exemplar + 1]]
            sums = _sums_of_distances(geometry, weight, members, options)
            if sums.min() < total[exemplar] * (1 - 1e-9):
                moved[place] = options[np.argmin(sums)]
        moved = np.unique(moved)
        if np.array_equal(moved, np.unique(exemplars)):
            return moved
        exemplars = moved
    return exemplars


def _sums_of_distances(
    geometry: RowGeometry, weight: Floats, members: Indices, options: Indices
) -> Floats:
    scales = geometry.scales
    d = geometry.features.distance(
        geometry.X[members],
        geometry.X[options],
        geometry.weights,
        scales=None if scales is None else (scales[members], scales[options]),
    )
    d[members[:, None] == options] = 0.0
    return weight[members] @ d


def _weighted(graph: sparse.csr_array, weight: Floats) -> sparse.csr_array:
    """What the rows pay: their weight times the distance."""
    paid = graph.data * np.repeat(weight, np.diff(graph.indptr))
    return sparse.csr_array((paid, graph.indices, graph.indptr), shape=graph.shape)
