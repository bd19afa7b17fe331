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
from likewise.learners.master import SWEEPS, Master
from likewise.learners.violation import Violation, complete, violation
from likewise.parallel.local import map_in_order

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Steps of the relaxation per pass and example, at first and at most. They grow by half where the
# relaxations are looser than the planes.
FIRST_STEPS, MOST_STEPS = 100, 1500
LOOSE = 0.3
# A plane without mass over this many passes leaves.
FORGOTTEN_AFTER = 15
# How much weaker the pull to the best weights is in the problem that only bounds.
BOUND_REACH = 5000.0
# Balancing stops when no example gains more than this share of the gap allowed.
BALANCED = 0.02
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
# The spread of the logarithms of shaken weights.
SHAKEN = 0.7


@dataclass(frozen=True, eq=False)
class PlanesState:
    """Between two passes.

    ``best``, ``objective`` and ``lower_bound`` are the answer so far; ``centre``, ``upper`` and
    ``lower`` the same for the exemplars of the present round. ``weights`` are looked at next.
    ``features``, ``losses``, ``owner``, ``mass``, ``reserve`` and ``idle`` have one entry per
    plane; ``codes``, ``prices`` and ``shown`` one per example.
    """

    best: Floats
    objective: float
    lower_bound: float
    weights: Floats
    centre: Floats
    upper: float
    lower: float
    predicted: float
    proximity: float
    steps: int
    stalled: int
    age: int
    round: int
    shaken: int
    status: str
    codes: tuple[Indices, ...]
    prices: tuple[Floats, ...]
    shown: Floats
    features: Floats
    losses: Floats
    owner: Indices
    mass: Floats
    reserve: Floats
    idle: Indices


@dataclass(frozen=True, eq=False)
class Inherited:
    """Where a training of the same losses on another terrain ended: planes say nothing of terrains.

    ``losses`` is the sum of all hinges at its best weights.
    """

    state: PlanesState
    losses: float


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
    """

    tol: float = 0.02
    max_rounds: int = 20
    shakes: int = 0
    seed: int = 0
    pull: float = 1.0
    inherited: Inherited | None = None
    sweeps: int = SWEEPS

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
        found = _looked_at(problem, state, n_jobs)
        state = _with_planes(problem, _forgotten(_judged(problem, state, found)), found)
        if not np.isfinite(state.upper) or not np.isfinite(state.features).all():
            return replace(state, status="nonfinite")
        state = _answered(_balanced(problem, state, self.tol, self.pull, self.sweeps))
        closed = relative_gap(state.upper, state.lower) <= self.tol
        if closed or state.stalled >= PATIENCE:
            return self._completed(problem, state)
        if state.age % COMPLETED_EVERY == 0 and state.round < self.max_rounds:
            return self._new_round(problem, state, state.centre) or state
        return state

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


def _looked_at(problem: Problem, state: PlanesState, n_jobs: int | None) -> list[Violation]:
    """The worst points of all examples at the present weights."""
    prices: Sequence[Floats | None] = state.prices or (None,) * len(problem.examples)
    tasks = [
        (problem.model, example, code, state.weights, price, state.steps)
        for example, code, price in zip(problem.examples, state.codes, prices, strict=True)
    ]
    return map_in_order(violation, tasks, n_jobs)


def _forgotten(state: PlanesState) -> PlanesState:
    """Without planes that have not been in use for long."""
    used = (state.mass > 0.0) | (state.reserve > 0.0)
    idle = np.where(used, 0, state.idle + 1)
    kept = (idle <= FORGOTTEN_AFTER) | ~state.features.any(axis=1)
    return replace(
        state, features=state.features[kept], losses=state.losses[kept], owner=state.owner[kept],
        mass=state.mass[kept], reserve=state.reserve[kept], idle=idle[kept],
    )  # fmt: skip


def _with_planes(problem: Problem, state: PlanesState, found: list[Violation]) -> PlanesState:
    """One more plane for every point found."""
    n_examples = len(problem.examples)
    owner = np.repeat(np.arange(n_examples), [len(v.losses) for v in found])
    features = np.vstack([v.features for v in found])
    losses = np.concatenate([v.losses for v in found])
    if problem.terrain.quadratic is None:
        # The regulariser is one more owner: its plane at the present weights.
        gradient = problem.terrain.gradient(state.weights)
        offset = problem.terrain.value(state.weights) - gradient @ state.weights
        features, losses = np.vstack([features, -gradient]), np.append(losses, offset)
        owner = np.append(owner, n_examples)
    if problem.terrain.constraint is not None and not len(state.owner):
        # The constraint is the last owner. Inside its set it costs nothing.
        features = np.vstack([features, np.zeros((1, problem.n_weights))])
        losses, owner = np.append(losses, 0.0), np.append(owner, n_examples + 1)
    # Whoever had no plane yet puts its mass on its first one.
    first = np.zeros(len(owner))
    names, places = np.unique(owner, return_index=True)
    first[places[~np.isin(names, state.owner)]] = 1.0
    return replace(
        state,
        features=np.vstack([state.features, features]),
        losses=np.concatenate([state.losses, losses]),
        owner=np.concatenate([state.owner, owner]),
        mass=np.concatenate([state.mass, first]),
        reserve=np.concatenate([state.reserve, first]),
        idle=np.concatenate([state.idle, np.zeros(len(owner), dtype=np.intp)]),
    )


def _balanced(
    problem: Problem, state: PlanesState, tol: float, pull: float, sweeps: int
) -> PlanesState:
    """The next weights, what they promise, and the lower bound."""
    allowed = BALANCED * tol * abs(state.upper) / len(problem.examples)
    master = _master(problem, state, sweeps)
    proximity = state.proximity or pull * master.first_proximity(state.mass, state.upper)
    for _ in range(MOST_CUTS):
        mass = state.mass.copy()
        weights = master.solve(state.centre, proximity, mass, allowed)
        state, inside = replace(state, mass=mass), problem.terrain.project(weights)
        if float(np.abs(weights - inside).max()) <= OUTSIDE * float(np.abs(weights).max()):
            break
        state = _with_cut(problem, state, weights, inside)
        master = _master(problem, state, sweeps)
    predicted = max(state.upper - master.value(weights), 0.0)
    reserve = state.reserve.copy()
    bounds = [master.bound(state.mass, state.upper), state.lower]
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


def _with_cut(problem: Problem, state: PlanesState, weights: Floats, inside: Floats) -> PlanesState:
    """One more half-space: all allowed weights are in it, these are not."""
    normal = (weights - inside) / np.linalg.norm(weights - inside)
    return replace(
        state,
        features=np.vstack([state.features, -normal]),
        losses=np.append(state.losses, -float(normal @ inside)),
        owner=np.append(state.owner, len(problem.examples) + 1),
        mass=np.append(state.mass, 0.0), reserve=np.append(state.reserve, 0.0),
        idle=np.append(state.idle, 0),
    )  # fmt: skip
