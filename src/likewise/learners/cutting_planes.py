"""The cutting planes of a proximal bundle: ``optimiser="auto"``.

Every pass bounds the hinge of each example from above at the present weights, and from below, for
all weights, by planes (`likewise.learners.violation`). The master problem finds the weights that
are best under all planes seen, near the best weights so far where the regulariser is not strongly
convex (Kiwiel, "Proximity control in bundle methods", 1990); its dual gives a lower bound on the
objective, so the gap is known and training stops on it.

Planes are kept as joint features and losses of the points that made them. They stay valid when the
completion of an example changes, so rounds of completion and training, which komodakis2011
alternates in fig. 1, share them: a round ends when its gap is closed, and training when completions
stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.random import stream
from likewise.learners.base import Problem, relative_gap
from likewise.learners.bundle import Inherited, PlanesState, forgotten, with_cut, with_planes
from likewise.learners.master import SWEEPS, Master
from likewise.learners.violation import Violation, complete, violation
from likewise.parallel.local import map_in_order

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Steps of the relaxation per pass and example, at first and at most. They grow by half where the
# relaxations are looser than the planes.
FIRST_STEPS, MOST_STEPS = 100, 1500
LOOSE = 0.3
# How much weaker the pull to the best weights is in the problem that only bounds.
BOUND_REACH = 5000.0
# Balancing stops when no example gains more than this share of the gap allowed.
BALANCED = 0.02
# A smaller share after every pass without progress, this many times at most.
SHARPER, MOST_SHARPER = 0.1, 5
# Passes without a better objective or bound, after which a round ends.
PATIENCE = 20
# After this many of them the bound is that of the planes alone, by a linear program.
IMPATIENCE = 5
# A change of the objective that says nothing, as a share of it.
NEGLIGIBLE = 1e-3
# Half-spaces per pass, and how far outside, in shares of the weights, needs none.
MOST_CUTS, OUTSIDE = 10, 1e-9
# Exemplars are completed anew this often within a round.
COMPLETED_EVERY = 5
# Batches of a pass that looks at a few examples at a time, and the share of the usual pull then.
BATCHES, BATCH_PULL = 10, 0.3
# The spread of the logarithms of shaken weights.
SHAKEN = 0.7


@dataclass(frozen=True)
class CuttingPlanes:
    """Proximal bundle over the planes of all examples.

    Parameters
    ----------
    tol : float
        Relative duality gap at which a round ends.
    max_rounds : int
        Rounds of completion at most, between two shakes.
    shakes : int
        The objective is convex for given exemplars only. Where it is minimal and the exemplars
        stay, they are completed anew with shaken weights, this often; the best is kept.
    seed : int
        Of the shakes.
    pull : float
        How strongly the first steps are pulled to the start, where 1 lets weights change by about
        half.
    inherited : Inherited or None
        What is known already.
    sweeps : int
        Of the master problem at most. Few weights with little curvature need many, or steps end
        far from where they lead.
    batched : int
        Passes after the first in which weights follow every few examples. Then nothing is known of
        the objective, but far from the minimum they do the work of several. None where planes were
        inherited.
    """

    tol: float = 0.02
    max_rounds: int = 20
    shakes: int = 0
    seed: int = 0
    pull: float = 1.0
    inherited: Inherited | None = None
    sweeps: int = SWEEPS
    batched: int = 0

    state_type = PlanesState

    def init(self, problem: Problem) -> PlanesState:
        """The exemplars are those of the starting weights; planes there are only if inherited."""
        n, none = problem.n_weights, np.empty(0)
        nothing = np.empty(0, dtype=np.intp)
        codes = _completions(problem, problem.start)
        fresh = PlanesState(
            best=problem.start, objective=np.inf, lower_bound=-np.inf, weights=problem.start,
            centre=problem.start, upper=np.inf, lower=-np.inf, predicted=np.inf, proximity=0.0,
            steps=FIRST_STEPS, stalled=0, age=0, round=1, shaken=0, status="",
            codes=codes, prices=(), shown=_shown(problem, codes),
            features=np.empty((0, n)), losses=none, owner=nothing, mass=none, reserve=none,
            idle=nothing,
        )  # fmt: skip
        return fresh if self.inherited is None else self._continued(problem, fresh, self.inherited)

    def _continued(self, problem: Problem, state: PlanesState, known: Inherited) -> PlanesState:
        """The same with the planes of examples that are known, and weights that follow from them.

        Completions must be the same in both trainings.
        """
        old = known.state
        best = problem.terrain.project(old.best)
        of_examples = old.owner < len(problem.examples)
        state = replace(
            state, best=best, centre=best, steps=old.steps, prices=old.prices,
            features=old.features[of_examples], losses=old.losses[of_examples],
            owner=old.owner[of_examples], mass=old.mass[of_examples],
            reserve=old.mass[of_examples], idle=np.zeros(int(of_examples.sum()), dtype=np.intp),
        )  # fmt: skip
        upper = problem.terrain.value(best) + known.losses
        return _balanced(problem, replace(state, upper=upper), self.tol, self.pull, self.sweeps)

    def step(self, problem: Problem, state: PlanesState, n_jobs: int | None) -> PlanesState:
        """Look at the present weights, then choose the next ones."""
        if 1 <= state.age <= self.batched and self.inherited is None:
            return self._in_batches(problem, state, n_jobs)
        found = _looked_at(problem, state, n_jobs)
        state = with_planes(problem, forgotten(_judged(problem, state, found)), found)
        if not np.isfinite(state.upper) or not np.isfinite(state.features).all():
            return replace(state, status="nonfinite")
        state = _answered(_balanced(problem, state, self.tol, self.pull, self.sweeps))
        closed = relative_gap(state.upper, state.lower) <= self.tol
        if closed or state.stalled >= PATIENCE:
            return self._completed(problem, state)
        if state.age % COMPLETED_EVERY == 0 and state.round < self.max_rounds:
            return self._new_round(problem, state, state.centre) or state
        return state

    def _in_batches(self, problem: Problem, state: PlanesState, n_jobs: int | None) -> PlanesState:
        """Look at a few examples at a time, each at the weights that the others lead to."""
        n = len(problem.examples)
        count = min(BATCHES, n)
        for first in range(count):
            chosen = range(first, n, count)
            found = _looked_at(problem, state, n_jobs, chosen)
            state = with_planes(problem, state, found, chosen)
            if not np.isfinite(state.features).all():
                return replace(state, status="nonfinite")
            master, mass = _master(problem, state, self.sweeps), state.mass.copy()
            allowed = BALANCED * self.tol * abs(master.value(state.weights)) / n
            weights = master.solve(state.weights, BATCH_PULL * state.proximity, mass, allowed)
            state = replace(state, weights=problem.terrain.project(weights), mass=mass)
        return replace(state, centre=state.weights, upper=np.inf, age=state.age + 1)

    def _completed(self, problem: Problem, state: PlanesState) -> PlanesState:
        """A new round with new exemplars; where they stay, a shake, or the end."""
        if state.round < self.max_rounds:
            following = self._new_round(problem, state, state.centre)
            if following is not None:
                return following
        for shaken in range(state.shaken, self.shakes):
            noise = stream(self.seed, "shake", shaken).normal(size=problem.n_weights)
            # The exemplars of the answer may not be those of the present round: what it costs with
            # shaken ones is seen in the next pass.
            again = replace(
                state, centre=state.best, upper=np.inf, lower=-np.inf, round=0, shaken=shaken + 1
            )
            following = self._new_round(problem, again, state.best * np.exp(SHAKEN * noise))
            if following is not None:
                return following
        closed = relative_gap(state.objective, state.lower_bound) <= self.tol
        return replace(state, status="converged" if closed else "stalled")

    def _new_round(
        self, problem: Problem, state: PlanesState, weights: Floats
    ) -> PlanesState | None:
        """Complete with some weights and begin at the centre; None where nothing changes."""
        codes = _completions(problem, weights)
        if all(map(np.array_equal, codes, state.codes)):
            return None
        shown = _shown(problem, codes)
        # The same minima at the centre; only the energies of what was shown are others.
        change = float(((shown - state.shown) @ state.centre).sum())
        return replace(
            state, weights=state.centre, upper=state.upper + change, lower=-np.inf, stalled=0,
            age=0, round=state.round + 1, codes=codes, shown=shown,
        )  # fmt: skip


def _completions(problem: Problem, weights: Floats) -> tuple[Indices, ...]:
    energy = problem.model.energy
    return tuple(complete(energy, example, weights) for example in problem.examples)


def _answered(state: PlanesState) -> PlanesState:
    """The answer follows the present round where that is no worse."""
    if state.upper > state.objective:
        return state
    return replace(state, best=state.centre, objective=state.upper, lower_bound=state.lower)


def _shown(problem: Problem, codes: tuple[Indices, ...]) -> Floats:
    """The joint features of the completed partitions."""
    energy = problem.model.energy
    return np.array(
        [
            energy.joint_features(example, energy.point_of(code))
            for example, code in zip(problem.examples, codes, strict=True)
        ]
    )


def _judged(problem: Problem, state: PlanesState, found: list[Violation]) -> PlanesState:
    """The best weights after the hinges at the present ones are known."""
    objective = problem.terrain.value(state.weights) + sum(v.hinge for v in found)
    decrease = state.upper - objective
    # Where the relaxations leave more open than the planes do, they get more steps.
    loose = sum(
        v.hinge - max(0.0, float(np.max((shown - v.features) @ state.weights + v.losses)))
        for v, shown in zip(found, state.shown, strict=True)
    )
    steps = state.steps
    if loose > LOOSE * state.predicted:
        steps = min(int(1.5 * steps), MOST_STEPS)
    proximity = state.proximity
    if np.isfinite(state.upper):
        if decrease > 0.5 * state.predicted:
            proximity *= 0.6
        elif decrease < -max(state.predicted, NEGLIGIBLE * abs(state.upper)):
            proximity *= 1.6
        elif decrease <= 0.0 and state.predicted <= 0.0:
            # With hardly any pull, the balance of the planes was not found.
            proximity *= 4.0
    prices = tuple(v.prices for v in found)
    if decrease > 0.0:
        stalled = 0 if decrease > 1e-4 * abs(objective) else state.stalled + 1
        return replace(
            state, centre=state.weights, upper=objective, steps=steps, proximity=proximity,
            prices=prices, stalled=stalled,
        )  # fmt: skip
    return replace(
        state, steps=steps, proximity=proximity, prices=prices, stalled=state.stalled + 1
    )


def _looked_at(
    problem: Problem, state: PlanesState, n_jobs: int | None, chosen: Sequence[int] | None = None
) -> list[Violation]:
    """The worst points of all examples, or some of them, at the present weights."""
    prices: Sequence[Floats | None] = state.prices or (None,) * len(problem.examples)
    tasks = [
        (problem.model, problem.examples[k], state.codes[k], state.weights, prices[k], state.steps)
        for k in (range(len(problem.examples)) if chosen is None else chosen)
    ]
    return map_in_order(violation, tasks, n_jobs)


def _balanced(
    problem: Problem, state: PlanesState, tol: float, pull: float, sweeps: int
) -> PlanesState:
    """The next weights, what they promise, and the lower bound."""
    # Where nothing moves any more, what is left may be what the balance leaves.
    share = BALANCED * SHARPER ** min(state.stalled, MOST_SHARPER)
    allowed = share * tol * abs(state.upper) / len(problem.examples)
    master = _master(problem, state, sweeps)
    proximity = state.proximity or pull * master.first_proximity(state.mass, state.upper)
    for _ in range(MOST_CUTS):
        mass = state.mass.copy()
        weights = master.solve(state.centre, proximity, mass, allowed)
        state, inside = replace(state, mass=mass), problem.terrain.project(weights)
        if float(np.abs(weights - inside).max()) <= OUTSIDE * float(np.abs(weights).max()):
            break
        state = with_cut(problem, state, weights, inside)
        master = _master(problem, state, sweeps)
    predicted = max(state.upper - master.value(weights), 0.0)
    reserve = state.reserve.copy()
    bounds = [master.bound(state.mass, state.upper), state.lower]
    if problem.terrain.quadratic is not None:
        # Neither these regularisers nor losses are negative.
        bounds.append(0.0)
    if predicted <= 10.0 * tol * abs(state.upper):
        master.solve(state.centre, proximity / BOUND_REACH, reserve, allowed)
        bounds.append(master.bound(reserve, state.upper))
    if state.stalled >= IMPATIENCE and relative_gap(state.upper, max(bounds)) > tol:
        sharpest = master.sharpest(state.centre)
        if sharpest is not None:
            bounds.append(master.bound(sharpest, state.upper))
    lower = min(max(bounds), state.upper)
    risen = lower > state.lower + 1e-4 * abs(state.upper)
    return replace(
        state, weights=inside, predicted=predicted, proximity=proximity, lower=lower,
        reserve=reserve, stalled=0 if risen else state.stalled, age=state.age + 1,
    )  # fmt: skip


def _master(problem: Problem, state: PlanesState, sweeps: int) -> Master:
    found = Master.of(problem, state.shown, state.features, state.losses, state.owner)
    return replace(found, sweeps=sweeps)
