"""Exemplar clustering as facility location, dense and sparse, behind one face.

`AssignmentCosts` become non-negative by taking from every row, diagonal included, its least cost
where that is negative: every partition loses the same ``constant``. Then an exemplar is best served
by itself, at no cost, which makes the problem facility location with

* *candidates* j, the items as exemplars, ``opening[j]``;
* *clients* p, the items to be served, at ``serve[j, p] >= 0`` and ``serve[p, p] = 0``.

`DenseFacilities` and `SparseFacilities` offer the same steps (first solution, search, bound, useful
pairs); `likewise.decoders.exemplar` composes them and knows nothing of arrays. Under links, clients
are blocks of items, and `likewise.decoders.linked` has the same steps for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.arrays.namespace import to_host
from likewise.decoders._kernels import dense, dense_dual, pairs, sparse_dual
from likewise.decoders._kernels import sparse as sparse_search
from likewise.decoders.exact import ReducedProblem
from likewise.potentials import AssignmentCosts

Floats = NDArray[np.float64]
Candidates = NDArray[np.int32]
Mask = NDArray[np.bool_]
Pairs = tuple[NDArray[np.int64], NDArray[np.int64], Floats]

# A kick swaps between one and six exemplars.
WEAKEST_KICK, STRONGEST_KICK = 1, 6
# A turn of kicks over a graph looks at each pair this often at most, less than the bound does, but
# at so many in any case.
WORK_PER_PAIR, LEAST_WORK = 3, 1e7
DRAWS_PER_ROUND = 3 * STRONGEST_KICK + 1


@dataclass(frozen=True)
class Opened:
    """A feasible solution: which candidates are open, and what that costs.

    ``service`` is the open candidate of every client where it is not simply the cheapest: under
    links; -1 there leaves the client to the search.
    """

    is_open: Mask
    energy: float
    service: Candidates | None = None

    @property
    def n_clusters(self) -> int:
        """Number of open candidates."""
        return int(np.count_nonzero(self.is_open))


class Facilities(Protocol):
    """The steps that a search is composed of."""

    opening: Floats
    least: Floats
    constant: float
    # Kicks that a turn makes for every cluster at least: a dense kick looks at all pairs, a sparse
    # one at its neighbourhood, so it takes many to shake the whole of a large graph.
    kicks_per_cluster: float
    # Share of the candidates that most turns kick: in a graph only those nearly paid for, because
    # most candidates of clusters larger than their links never are.
    share_kicked: float

    def all_open(self) -> Opened:
        """As many clusters as there can be."""

    def first_solution(self) -> Opened:
        """A local optimum, found from nothing."""

    def first_multipliers(self, solution: Opened) -> Floats:
        """Multipliers to start the bound from."""

    def bound(self, v: Floats, candidates: Candidates, slack: Floats, served: Floats) -> float:
        """L(v) over ``candidates``; fills their slack and how often each client is served."""

    def search(self, solution: Opened, pool: Candidates, draws: Floats, drift: float) -> Opened:
        """Iterated local search among ``pool``, one round per row of ``draws``."""

    def useful_pairs(
        self, candidates: Candidates, v: Floats, slack: Floats, allowance: float
    ) -> Pairs:
        """Pairs (position in ``candidates``, client, cost) of solutions within an allowance."""

    def constrained(self, problem: ReducedProblem, candidates: Candidates) -> ReducedProblem:
        """The problem over useful pairs of ``candidates`` with what else a solution has to keep."""

    def served_by(self, solution: Opened) -> NDArray[np.intp]:
        """The exemplar of each item, an exemplar itself."""


class Unlinked:
    """What facilities share whose clients are single items, each served where it is cheapest."""

    opening: Floats

    def all_open(self) -> Opened:
        """Everybody an exemplar."""
        return Opened(np.ones(len(self.opening), dtype=bool), float(self.opening.sum()))

    def constrained(self, problem: ReducedProblem, candidates: Candidates) -> ReducedProblem:
        """Nothing else to keep."""
        return problem


def facilities_of(costs: AssignmentCosts) -> Facilities:
    """The facility-location form of assignment costs."""
    if costs.is_sparse:
        return SparseFacilities(costs)
    return DenseFacilities(costs)


class DenseFacilities(Unlinked):
    """Facility location over all pairs."""

    kicks_per_cluster = 0.0
    share_kicked = 1 / 8

    def __init__(self, costs: AssignmentCosts) -> None:
        service = to_host(costs.service)
        serve = np.ascontiguousarray(service.T)
        shared = np.shares_memory(serve, service)
        if shared and np.any(np.diagonal(serve) != 0.0):
            serve, shared = serve.copy(), False
        if not shared:
            np.fill_diagonal(serve, 0.0)
        least = serve.min(axis=0)
        if np.any(least < 0):
            serve = serve - least
            np.fill_diagonal(serve, 0.0)
        self.serve = serve
        self.least: Floats = least
        self.opening: Floats = to_host(costs.opening) - least
        self.constant = float(least.sum())

    def first_solution(self) -> Opened:
        """Local search from the one candidate that serves everybody best."""
        is_open = np.zeros(len(self.opening), dtype=bool)
        is_open[np.argmin(self.opening + self.serve.sum(axis=1))] = True
        everyone = np.arange(len(self.opening), dtype=np.int32)
        return self.search(Opened(is_open, np.inf), everyone, no_draws(), 0.0)

    def first_multipliers(self, solution: Opened) -> Floats:
        """Each cluster pays for its exemplar, its members up to one level."""
        low, _, first, _ = self._ranked(solution.is_open)
        return dense_dual.water_levels(self.opening, first, low)

    def bound(self, v: Floats, candidates: Candidates, slack: Floats, served: Floats) -> float:
        """L(v) over ``candidates``; fills their slack and how often each client is served."""
        return float(dense_dual.bound(self.serve, self.opening, candidates, v, slack, served))

    def search(self, solution: Opened, pool: Candidates, draws: Floats, drift: float) -> Opened:
        """Iterated local search among ``pool``, one round per row of ``draws``."""
        is_open = solution.is_open.copy()
        energy = dense.iterated_search(
            self.serve, self.opening, pool, is_open, draws, WEAKEST_KICK, drift
        )
        return Opened(is_open, float(energy))

    def useful_pairs(
        self, candidates: Candidates, v: Floats, slack: Floats, allowance: float
    ) -> Pairs:
        """Pairs (position in ``candidates``, client, cost) of solutions within an allowance."""
        return dense_dual.useful_pairs(self.serve, candidates, v, slack, allowance)

    def served_by(self, solution: Opened) -> NDArray[np.intp]:
        """The open candidate that serves each client, an exemplar itself."""
        first = self._ranked(solution.is_open)[2].astype(np.intp)
        first[solution.is_open] = np.flatnonzero(solution.is_open)
        return first

    def _ranked(self, is_open: Mask) -> tuple[Floats, Floats, Candidates, Candidates]:
        n = len(self.opening)
        low, high = np.empty(n), np.empty(n)
        first, second = np.empty(n, np.int32), np.empty(n, np.int32)
        open_list = np.flatnonzero(is_open).astype(np.int32)
        dense.rank_two(self.serve, open_list, len(open_list), low, high, first, second)
        return low, high, first, second


class SparseFacilities(Unlinked):
    """Facility location over the stored pairs and every item itself."""

    kicks_per_cluster = 0.3
    share_kicked = 0.0

    def __init__(self, costs: AssignmentCosts) -> None:
        n = costs.n_items
        rows = sparse.coo_array(costs.service)
        off = rows.row != rows.col
        client, candidate, cost = rows.row[off], rows.col[off], rows.data[off].astype(float)
        least = np.zeros(n)
        np.minimum.at(least, client, cost)
        self.least: Floats = least
        self.opening: Floats = costs.opening - least
        self.constant = float(least.sum())
        cost -= least[client]
        # Whoever pays more than its own opening cost opens itself instead.
        useful = cost <= self.opening[client]
        itself = np.arange(n, dtype=client.dtype)
        client = np.concatenate([itself, client[useful]])
        candidate = np.concatenate([itself, candidate[useful]])
        cost = np.concatenate([np.zeros(n), cost[useful]])
        by_client = pairs.group(client, candidate, cost, n)
        pairs.sort_groups(*by_client)
        self.graph = (*by_client, *pairs.group(candidate, client, cost, n))
        self._queue = (
            np.empty(n, dtype=np.int64), np.zeros(n, dtype=bool), np.zeros(2, dtype=np.int64),
            np.zeros(n, dtype=bool),
        )  # fmt: skip

    def first_solution(self) -> Opened:
        """What dual ascent pays for, improved by local search."""
        row = self.graph[:3]
        v, slack = sparse_dual.dual_ascent(*row, self.opening)
        tolerance = 1e-9 * float(np.abs(v).max(initial=0.0))
        is_open = sparse_dual.cover(*row, v, slack, tolerance)
        everyone = np.arange(len(self.opening), dtype=np.int32)
        return self.search(Opened(is_open, np.inf), everyone, no_draws(), 0.0)

    def first_multipliers(self, solution: Opened) -> Floats:
        """Those of dual ascent."""
        v, _ = sparse_dual.dual_ascent(*self.graph[:3], self.opening)
        return v

    def bound(self, v: Floats, candidates: Candidates, slack: Floats, served: Floats) -> float:
        """L(v) over ``candidates``; fills their slack and how often each client is served."""
        column = self.graph[3:]
        return float(sparse_dual.bound(*column, self.opening, candidates, v, slack, served))

    def search(self, solution: Opened, pool: Candidates, draws: Floats, drift: float) -> Opened:
        """Iterated local search among ``pool``, one round per row of ``draws``."""
        state = self._state(solution.is_open)
        sparse_search.iterated_search(
            self.graph,
            self.opening,
            state,
            self._queue,
            pool,
            draws,
            WEAKEST_KICK,
            drift,
            max(LEAST_WORK, WORK_PER_PAIR * len(self.graph[2])),
        )
        # Summed anew: the running energy of the search carries the rounding of every move.
        sparse_search.rank_all(self.graph, self.opening, state)
        return Opened(state[0], float(state[7][0]))

    def useful_pairs(
        self, candidates: Candidates, v: Floats, slack: Floats, allowance: float
    ) -> Pairs:
        """Pairs (position in ``candidates``, client, cost) of solutions within an allowance."""
        return sparse_dual.useful_pairs(*self.graph[3:], candidates, v, slack, allowance)

    def served_by(self, solution: Opened) -> NDArray[np.intp]:
        """The open candidate that serves each client, an exemplar itself."""
        first = self._state(solution.is_open)[3].astype(np.intp)
        first[solution.is_open] = np.flatnonzero(solution.is_open)
        return first

    def _state(self, is_open: Mask) -> tuple:
        n = len(self.opening)
        state = (
            is_open.copy(), np.empty(n), np.empty(n), np.empty(n, np.int32), np.empty(n, np.int32),
            np.empty(n), np.empty(n, np.int64), np.zeros(4),
        )  # fmt: skip
        sparse_search.rank_all(self.graph, self.opening, state)
        unserved = state[3] < 0
        if np.any(unserved):
            state[0][unserved] = True
            sparse_search.rank_all(self.graph, self.opening, state)
        return state


def no_draws() -> Floats:
    """Zero rounds of kicks: local search alone."""
    return np.empty((0, DRAWS_PER_ROUND))
