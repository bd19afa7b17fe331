"""Exemplar clustering under links: facility location whose clients are blocks of linked items.

With x_Bq = 1 where block B is in the cluster of item q, and y_q = x_Bq for the block B of q itself,

    min  sum over B, q of x_Bq * sum over p in B of service[p, q]  +  sum over q of opening[q] y_q
    s.t. sum over q of x_Bq = 1,   x_Bq <= y_q,   x_Bq + x_Cq <= y_q where B and C are kept apart

which are eqs. (2) to (5) of komodakis2011 for blocks: an exemplar q takes its whole block with it,
and since a block is in one cluster, no two of its items are exemplars. What the block of q pays
becomes part of the opening cost of q, so that the rest is the facility location that
`likewise.decoders.exemplar` searches. The blocks that are kept apart are partitioned into cliques;
the bound lets one block at most of every clique into a cluster, and leaves out the pairs between
cliques, which the search and the exact stage keep.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.arrays.namespace import to_host
from likewise.decoders._kernels import dense_dual, linked, linked_search
from likewise.decoders.exact import ReducedProblem, solve_reduced
from likewise.decoders.facilities import (
    WEAKEST_KICK,
    Candidates,
    Floats,
    Opened,
    Pairs,
    no_draws,
)
from likewise.errors import InputError
from likewise.potentials import LinkedCosts

Indices = NDArray[np.intp]

# All pairs that are allowed: infinite costs are above it.
ANY_COST = float(np.finfo(float).max)


class LinkedFacilities:
    """Facility location of blocks, over all pairs of blocks and items; `Facilities` to a search.

    A block without an item that may serve all of it gets a candidate that is none, at a cost
    beyond all others, so that every search starts from something.
    """

    kicks_per_cluster = 0.0
    share_kicked = 1 / 8

    def __init__(self, problem: LinkedCosts) -> None:
        self._cliques = Cliques.of(problem.links.blocks, problem.links.apart)
        self._block = self._cliques.place[problem.links.blocks]
        serve = _joint_costs(problem, self._block)
        self._n_items, n_blocks = serve.shape
        own = self._block
        for block, other in self._cliques.apart:
            serve[own == block, other] = np.inf
            serve[own == other, block] = np.inf
        items = np.arange(self._n_items)
        usable = np.isfinite(serve[items, own])
        serve[~usable] = np.inf
        least = serve.min(axis=0, initial=np.inf)
        # Nobody may serve it: it stands alone at no cost, in a cluster that is none.
        self.least: Floats = np.where(np.isfinite(least), least, 0.0)
        serve -= self.least
        self.opening: Floats = to_host(problem.costs.opening) + serve[items, own]
        serve[items[usable], own[usable]] = 0.0
        alone = _cheapest_of_each(self.opening, own, n_blocks)
        helpless = np.flatnonzero(~np.isfinite(self.opening[alone]))
        if len(helpless):
            serve, own = self._with_stand_ins(serve, helpless)
            alone[helpless] = self._n_items + np.arange(len(helpless))
        self.serve, self._own = serve, own
        self.constant = float(self.least.sum())
        self._problem = (
            serve, self.opening, own.astype(np.int32), alone.astype(np.int32),
            self._cliques.n_free, self._cliques.graph,
        )  # fmt: skip

    def all_open(self) -> Opened:
        """Every block a cluster of its own."""
        alone = self._problem[3]
        is_open = np.zeros(len(self.opening), dtype=bool)
        is_open[alone] = True
        return Opened(is_open, float(self.opening[alone].sum()), alone.copy())

    def first_solution(self) -> Opened:
        """Local search from the one candidate that serves best whom it may serve."""
        everyone = np.flatnonzero(np.isfinite(self.opening)).astype(np.int32)
        dearest = np.where(np.isfinite(self.serve), self.serve, 0.0).max(axis=0)
        is_open = np.zeros(len(self.opening), dtype=bool)
        total = self.opening + np.minimum(self.serve, dearest).sum(axis=1)
        is_open[np.argmin(total)] = True
        found = self.search(Opened(is_open, np.inf), everyone, no_draws(), 0.0)
        if not np.any(found.is_open[self._n_items :]):
            return found
        return self.search(self._some_solution(everyone), everyone, no_draws(), 0.0)

    def first_multipliers(self, solution: Opened) -> Floats:
        """Each cluster pays for its exemplar, its members up to one level."""
        first = self._service(solution)
        low = self.serve[first, np.arange(len(first))]
        return dense_dual.water_levels(self.opening, first, low)

    def bound(self, v: Floats, candidates: Candidates, slack: Floats, served: Floats) -> float:
        """L(v) over ``candidates``; fills their slack and how often each client is served."""
        return float(
            linked.bound(
                self.serve, self.opening, self._cliques.n_free, self._cliques.bounds,
                candidates, v, slack, served,
            )
        )  # fmt: skip

    def search(self, solution: Opened, pool: Candidates, draws: Floats, drift: float) -> Opened:
        """Iterated local search among ``pool``, one round per row of ``draws``."""
        is_open, first = solution.is_open.copy(), self._service(solution)
        energy = linked_search.iterated_search(
            self._problem, pool, is_open, first, draws, WEAKEST_KICK, drift
        )
        return Opened(is_open, float(energy), first)

    def useful_pairs(
        self, candidates: Candidates, v: Floats, slack: Floats, allowance: float
    ) -> Pairs:
        """Pairs (position in ``candidates``, client, cost) of solutions within an allowance."""
        allowed = min(allowance, ANY_COST)
        return dense_dual.useful_pairs(self.serve, candidates, v, slack, allowed)

    def constrained(self, problem: ReducedProblem, candidates: Candidates) -> ReducedProblem:
        """The reduced problem with what the links ask for."""
        own = self._own[candidates[problem.which]] == problem.client
        pack, packed = self._cliques.packs(problem.which, problem.client)
        return replace(problem, forced=own, pack=pack, packed=packed)

    def served_by(self, solution: Opened) -> NDArray[np.intp]:
        """The exemplar of every item, that of its block."""
        served_by = self._service(solution).astype(np.intp)[self._block]
        if np.any(served_by >= self._n_items):
            raise InputError(_NO_PARTITION)
        return served_by

    def _service(self, solution: Opened) -> Candidates:
        if solution.service is None:
            return np.full(self.serve.shape[1], -1, dtype=np.int32)
        return solution.service.astype(np.int32)

    def _with_stand_ins(self, serve: Floats, blocks: Indices) -> tuple[Floats, Indices]:
        """Candidates for ``blocks`` that are no items, each at a cost beyond that of anything."""
        spent = np.where(np.isfinite(serve), serve, 0.0).max(axis=0).sum()
        opened = np.abs(self.opening[np.isfinite(self.opening)]).sum()
        stand_ins = np.full((len(blocks), serve.shape[1]), np.inf)
        stand_ins[np.arange(len(blocks)), blocks] = 0.0
        beyond = np.full(len(blocks), 4.0 * (1.0 + spent + opened))
        self.opening = np.concatenate([self.opening, beyond])
        return np.vstack([serve, stand_ins]), np.concatenate([self._block, blocks])

    def _some_solution(self, everyone: Candidates) -> Opened:
        """One without stand-ins, found by the exact stage; an error where there is none."""
        items = everyone[everyone < self._n_items]
        nothing = np.zeros(self.serve.shape[1])
        which, client, cost = self.useful_pairs(
            items, nothing, np.zeros(len(self.opening)), ANY_COST
        )
        # Any will do: it is improved afterwards.
        problem = ReducedProblem(np.zeros(len(items)), which, client, 0.0 * cost, len(nothing))
        problem = self.constrained(problem, items)
        if len(np.unique(client)) < len(nothing):
            raise InputError(_NO_PARTITION)
        result = solve_reduced(problem)
        if result.opened is None or result.served is None:
            raise InputError(_NO_PARTITION)
        is_open = np.zeros(len(self.opening), dtype=bool)
        is_open[items[result.opened]] = True
        return Opened(is_open, np.inf, problem.service(result.served, items))


_NO_PARTITION = (
    "no partition was found that keeps to must_link and cannot_link and uses only the pairs that "
    "the sparse X stores; store more pairs, so that each block of linked rows has a row that may "
    "serve all its rows, or remove links."
)


class Cliques:
    """Blocks in an order that puts those kept apart last, clique after clique.

    Attributes
    ----------
    place : array (m,)
        The position of every block in that order; all else is in terms of positions.
    n_free : int
        Number of blocks that are not kept apart from any other.
    bounds : array
        Where each clique begins, and the last one ends: blocks that are all kept apart from each
        other. Every block that is kept apart from one is in one clique.
    apart : array (e, 2)
        Pairs kept apart, each once.
    graph : pair of arrays
        The same as neighbours of every block.
    """

    def __init__(self, place: Indices, n_free: int, bounds: Indices, apart: Indices) -> None:
        self.place, self.n_free, self.bounds, self.apart = place, n_free, bounds, apart
        ends = np.concatenate([apart, apart[:, ::-1]])
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        start = np.searchsorted(ends[:, 0], np.arange(len(place) + 1))
        self.graph = (start.astype(np.int64), np.ascontiguousarray(ends[:, 1], dtype=np.int64))
        clique = np.full(len(place), -1)
        clique[n_free:] = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        crossing = apart[clique[apart[:, 0]] != clique[apart[:, 1]]]
        # Packs: sets of blocks of which one at most is in a cluster. Cliques, and the pairs left.
        edges = len(bounds) - 1 + np.arange(len(crossing))
        several = n_free + np.flatnonzero(np.diff(bounds)[clique[n_free:]] > 1)
        member = np.concatenate([several, crossing[:, 0], crossing[:, 1]])
        pack = np.concatenate([clique[several], edges, edges])
        by_member = np.argsort(member, kind="stable")
        self._pack = pack[by_member]
        self._start = np.searchsorted(member[by_member], np.arange(len(place) + 1))
        self._n_packs = len(bounds) - 1 + len(crossing)

    @classmethod
    def of(cls, blocks: Indices, apart: Indices) -> Cliques:
        """From pairs of items kept apart: each block joins the first clique that it can."""
        n_blocks = int(blocks.max()) + 1
        pairs = np.unique(np.sort(blocks[apart], axis=1), axis=0)
        near: list[set[int]] = [set() for _ in range(n_blocks)]
        for first, second in pairs.tolist():
            near[first].add(second)
            near[second].add(first)
        cliques: list[list[int]] = []
        left = {block for block in range(n_blocks) if near[block]}
        for block in sorted(left, key=lambda b: (-len(near[b]), b)):
            if block not in left:
                continue
            clique, others = [block], near[block] & left
            while others:
                # The one that leaves most to choose from.
                best = max(others, key=lambda b: (len(near[b] & others), -b))
                clique.append(best)
                others = others & near[best]
            left.difference_update(clique)
            cliques.append(sorted(clique))
        free = [block for block in range(n_blocks) if not near[block]]
        order = np.array(free + [block for clique in cliques for block in clique], dtype=np.intp)
        place = np.empty(n_blocks, dtype=np.intp)
        place[order] = np.arange(n_blocks)
        bounds = len(free) + np.cumsum([0, *map(len, cliques)])
        return cls(place, len(free), bounds.astype(np.int64), place[pairs])

    def packs(self, which: Indices, client: Indices) -> tuple[Indices, Indices]:
        """For every candidate the pairs of which one at most is used: (pack, pair), row by row."""
        times = self._start[client + 1] - self._start[client]
        pair = np.repeat(np.arange(len(client)), times)
        within = np.arange(len(pair)) - np.repeat(np.cumsum(times) - times, times)
        pack = which[pair] * self._n_packs + self._pack[self._start[client[pair]] + within]
        _, number = np.unique(pack, return_inverse=True)
        return number, pair


def _joint_costs(problem: LinkedCosts, block: Indices) -> Floats:
    """What every block pays in the cluster of every item, [item, block]; infinite: not allowed."""
    costs, n = problem.costs, problem.n_items
    by_candidate = np.full((n, n), np.inf) if costs.is_sparse else to_host(costs.service).T
    if costs.is_sparse:
        entries = sparse.coo_array(costs.service)
        by_candidate[entries.col, entries.row] = entries.data
    n_blocks = int(block.max()) + 1
    _, first = np.unique(block, return_index=True)
    is_first = np.zeros(n, dtype=bool)
    is_first[first] = True
    # The diagonal of what is given may hold anything.
    joint = by_candidate[:, first]
    joint[first, np.arange(n_blocks)] = 0.0
    for item in np.flatnonzero(~is_first):
        column = by_candidate[:, item].copy()
        column[item] = 0.0
        joint[:, block[item]] += column
    return np.ascontiguousarray(joint, dtype=float)


def _cheapest_of_each(opening: Floats, own: Indices, n_blocks: int) -> Indices:
    order = np.lexsort((opening, own))
    return order[np.searchsorted(own[order], np.arange(n_blocks))]
