"""Exemplar decoder: assignment costs in, partition with energy and certificate out.

Four parts take turns until the gap that was asked for is certified or nothing improves any more:

1. local search (add, drop, swap) from a first solution,
2. subgradient ascent of the Lagrangian bound towards the energy of the best solution,
3. reduced-cost fixing: candidates that are in no better solution leave,
4. iterated local search among the candidates that the bound holds promising,

and, where it is worth it, HiGHS on what is left (`likewise.decoders.exact`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.interruption import interrupts_told_apart
from likewise.arrays.random import stream
from likewise.decoders.ascent import Ascent, promising
from likewise.decoders.base import Journal, Progress, Solution, relative_gap
from likewise.decoders.exact import ReducedProblem, solve_reduced
from likewise.decoders.facilities import (
    DRAWS_PER_ROUND,
    Candidates,
    Facilities,
    Opened,
    facilities_of,
    no_draws,
)
from likewise.decoders.linked import LinkedFacilities
from likewise.partitions import Partition
from likewise.potentials import AssignmentCosts, LinkedCosts


@dataclass(frozen=True)
class Effort:
    """How hard a solver tries."""

    # Turns of ascent and search at most, and without progress before the search gives up: fewer
    # where the bound is tight, because then there is little left to find.
    turns: int
    patience: int
    patience_if_loose: int
    # Subgradient steps and kicks of one turn.
    steps: int = 96
    kicks: int = 50
    # HiGHS is called when no more pairs than this are left, with that many nodes at most; fewer
    # pairs where the gap says that it will have to search a tree.
    pairs: float = 0
    pairs_if_hard: float = 0
    nodes: int | None = None


EFFORTS = {
    # Not for users: what refines a graph of candidates, where the bound does not matter yet.
    "draft": Effort(turns=2, patience=1, patience_if_loose=1, kicks=10),
    "fast": Effort(turns=3, patience=1, patience_if_loose=2, steps=80, kicks=4),
    "auto": Effort(
        turns=200, patience=9, patience_if_loose=40, pairs=10_000, pairs_if_hard=1000, nodes=100
    ),
    "exact": Effort(
        turns=200, patience=6, patience_if_loose=12, pairs=np.inf, pairs_if_hard=np.inf
    ),
}

# A gap above this calls the bound loose.
LOOSE = 0.05
# A gap above this makes the exact stage a search in a tree.
HARD = 0.01
# Rounds of kicks may drift above the last solution kept by half the gap, and by this at most.
LARGEST_DRIFT = 0.005
# A kick concerns a few clusters: with more than this many, the drift shrinks accordingly.
FEW_CLUSTERS = 32
# Kicks go to the candidates that are nearly paid for; every sixth turn to all, which costs more and
# finds little, except where the bound is loose.
ALL_KICKED_EVERY = 6
# A turn that closes less than this share of the gap is one without progress.
PROGRESS = 0.02
# Differences below this share of what was summed are rounding.
ROUNDING = 1e-12


def decode(
    costs: AssignmentCosts | LinkedCosts,
    *,
    solver: str = "auto",
    gap: float = 0.0,
    time_limit: float = np.inf,
    random_state: int | None = None,
    callbacks: Sequence[Callable[[Progress], object]] = (),
    start: NDArray[np.intp] | None = None,
    started: float | None = None,
) -> Solution:
    """Find the partition of least energy, with a lower bound on that energy.

    ``start`` are exemplars to begin with; None leaves that to the search. ``time_limit`` counts
    from now; the seconds reported count from ``started`` (of ``time.perf_counter``; None is now).
    The costs are trusted: finite (stored) entries, at least one item. Ctrl-C ends the search early,
    with status ``"interrupted"``.
    """
    journal = Journal(callbacks, time_limit, started)
    facilities: Facilities = (
        LinkedFacilities(costs) if isinstance(costs, LinkedCosts) else facilities_of(costs)
    )
    search = _Search(facilities, EFFORTS[solver], gap, random_state, journal)
    status = search.run(start)
    partition = Partition.from_service(facilities.served_by(search.best))
    energy = costs.energy_of(partition)
    constant = facilities.constant
    return Solution(
        partition=partition,
        energy=energy,
        lower_bound=min(search.lower_bound + constant, energy),
        status=status,
        n_iter=max(search.turns, 1),
        history=journal.history(),
        prices=search.prices(),
    )


class _Search:
    """One run: the best solution, the bound, and the candidates that may still improve it."""

    def __init__(
        self,
        facilities: Facilities,
        effort: Effort,
        gap: float,
        random_state: int | None,
        journal: Journal,
    ) -> None:
        self.facilities = facilities
        self.effort = effort
        self.gap = gap
        self.random_state = random_state
        self.journal = journal
        self.turns = 0
        self.alive: Candidates = np.flatnonzero(np.isfinite(facilities.opening)).astype(np.int32)
        # Everybody an exemplar: what Ctrl-C before the first solution would return.
        self.best = facilities.all_open()
        # L(0).
        self.lower_bound = float(np.minimum(facilities.opening, 0.0).sum())
        self.ascent = Ascent(facilities, np.zeros_like(facilities.least))
        journal.constant = facilities.constant

    def run(self, start: NDArray[np.intp] | None) -> str:
        """Search until done; returns the status."""
        try:
            with interrupts_told_apart():
                status = self._search(start)
        except KeyboardInterrupt:
            status = "interrupted"
        return "converged" if self._certified() else status

    def _search(self, start: NDArray[np.intp] | None) -> str:
        self._begin(self._first_solution(start))
        self.ascent = Ascent(self.facilities, self.facilities.first_multipliers(self.best))
        # The bound of the first multipliers, also where there is no time for more.
        self.ascent.climb(self.alive, self.best.energy, steps=0)
        self.lower_bound = max(self.lower_bound, self.ascent.bound)
        status = self._take_turns()
        if status == "gap" and self.effort.pairs:
            status = self._finish_exactly()
        return status

    def _first_solution(self, start: NDArray[np.intp] | None) -> Opened:
        if start is None:
            return self.facilities.first_solution()
        is_open = np.zeros_like(self.best.is_open)
        is_open[start] = True
        return self.facilities.search(Opened(is_open, np.inf), self.alive, no_draws(), 0.0)

    def prices(self) -> NDArray[np.float64] | None:
        """Multipliers that prove the bound, in the units of the costs as they were given.

        None where they do not by themselves, over all candidates: fixing takes part in a bound
        over the candidates that are left, and what it is based on are other multipliers.
        """
        v, slack = self.ascent.v, np.empty(len(self.facilities.opening))
        everyone = np.arange(len(slack), dtype=np.int32)
        bound = self.facilities.bound(v, everyone, slack, np.empty_like(v))
        claimed = min(self.lower_bound, self.best.energy)
        if bound < claimed - ROUNDING * self._magnitude():
            return None
        return v + self.facilities.least

    def _take_turns(self) -> str:
        without_progress = 0
        while not self._certified() and self.turns < self.effort.turns:
            if self.journal.seconds_left() <= 0:
                return "time_limit"
            self.turns += 1
            self.ascent.climb(self.alive, self.best.energy, self.effort.steps)
            self.lower_bound = max(self.lower_bound, self.ascent.bound)
            self._fix_candidates()
            self._note("bound")
            if self._certified():
                break
            if self._kick():
                without_progress = 0
                self.ascent.renew()
                continue
            without_progress += 1
            loose = self._relative_gap() > LOOSE
            patience = self.effort.patience_if_loose if loose else self.effort.patience
            if self.ascent.finished and without_progress >= patience:
                break
        return "gap"

    def _kick(self) -> bool:
        """One turn of iterated local search; whether it closed a good part of the gap."""
        rng = stream(self.random_state, "kicks", self.turns)
        kicks = int(self.facilities.kicks_per_cluster * self.best.n_clusters)
        kicks = max(self.effort.kicks, kicks)
        draws = rng.random((kicks, DRAWS_PER_ROUND))
        pool = self.alive
        if self.turns % ALL_KICKED_EVERY:
            few = max(64, 4 * self.best.n_clusters)
            pool = promising(self.alive, self.ascent.slack, self.facilities.share_kicked, few)
        drift = min(LARGEST_DRIFT, self._relative_gap() / 2)
        drift *= min(1.0, FEW_CLUSTERS / self.best.n_clusters)
        before = self.best.energy
        self._improve(self.facilities.search(self.best, pool, draws, drift), "search")
        return before - self.best.energy > PROGRESS * (before - self.lower_bound)

    def _begin(self, found: Opened) -> None:
        """Take a first solution even where everybody an exemplar is as good, up to rounding."""
        if found.energy <= self.best.energy + ROUNDING * self._magnitude():
            self.best = found
        self._note("search")

    def _improve(self, found: Opened, stage: str) -> bool:
        if found.energy >= self.best.energy:
            return False
        self.best = found
        self._note(stage)
        return True

    def _fix_candidates(self) -> None:
        allowance = self._allowance()
        self.alive = self.alive[self.ascent.slack[self.alive] <= allowance]

    def _allowance(self) -> float:
        """How far above the bound a solution as good as the best may be, rounding included."""
        return self.best.energy - self.ascent.bound + 1e-9 * self._magnitude()

    def _finish_exactly(self) -> str:
        which, client, cost = self.facilities.useful_pairs(
            self.alive, self.ascent.v, self.ascent.slack, self._allowance()
        )
        hard = self._relative_gap() > HARD
        if len(cost) > (self.effort.pairs_if_hard if hard else self.effort.pairs):
            return "gap"
        opening = self.facilities.opening
        n_clients = len(self.facilities.least)
        problem = ReducedProblem(opening[self.alive], which, client, cost, n_clients)
        problem = self.facilities.constrained(problem, self.alive)
        result = solve_reduced(
            problem, time_limit=self.journal.seconds_left(), node_limit=self.effort.nodes
        )
        if result.opened is not None:
            is_open = np.zeros(len(opening), dtype=bool)
            is_open[self.alive[result.opened]] = True
            served, nobody = result.served, self.alive[:0]
            service = None if served is None else problem.service(served, self.alive)
            start = Opened(is_open, np.inf, service)
            found = self.facilities.search(start, nobody, no_draws(), 0.0)
            self._improve(found, "exact")
        # What was fixed is no better than the best, so the bound holds for the whole problem.
        self.lower_bound = max(self.lower_bound, min(result.lower_bound, self.best.energy))
        self._note("exact")
        return result.status if result.status != "converged" else "gap"

    def _relative_gap(self) -> float:
        constant = self.facilities.constant
        return relative_gap(self.best.energy + constant, self.lower_bound + constant)

    def _certified(self) -> bool:
        rounding = ROUNDING * (self._magnitude() + abs(self.facilities.constant))
        return self.best.energy - self.lower_bound <= rounding or self._relative_gap() <= self.gap

    def _magnitude(self) -> float:
        """What the best energy sums up, signs left out: opening costs below zero may cancel it."""
        opened = self.facilities.opening[self.best.is_open]
        return self.best.energy - 2.0 * float(np.minimum(opened, 0.0).sum())

    def _note(self, stage: str) -> None:
        self.journal.note(stage, self.best.energy, self.lower_bound, self.best.n_clusters)
