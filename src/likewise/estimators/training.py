"""Training weights for one set of choices: the problem, and where to start.

Everything here sees scaled features: each has mean one over the pairs of the training sets, so
neither the result nor the path to it depends on units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.energies.exemplar import ExemplarEnergy
from likewise.errors import InputError
from likewise.estimators.examples import TrainingSet
from likewise.learners.base import Model, Problem
from likewise.learners.cutting_planes import CuttingPlanes
from likewise.learners.loop import Outcome, run
from likewise.learners.regularisers import L1, L2, Nonnegative, SumTo, Terrain, Towards
from likewise.learners.subgradient import Subgradient
from likewise.losses.exemplar import ExemplarLoss
from likewise.supervision import Example

Floats = NDArray[np.float64]

# The sum of scaled weights to begin with, and towards which "auto" pulls, for alpha = beta = 1:
# sums of 3 to 5 did best on real images.
TOTAL = 4.0
# A centre of zero would nail a weight to zero.
LEAST_SHARE = 1e-3
# Opening costs to begin with are this many times the mean cluster size (a row at distance 1 each).
OPENING_UNIT = 0.5
# No weight grows beyond this many times what it started with where nothing else bounds it.
LARGEST = 1000.0
# Other exemplars that the final training tries where it has converged: each takes some dozen passes
# and lowers the objective by up to two percent.
SHAKES = 2
# Scaled weights whose sum is below this share of what they started with have collapsed.
COLLAPSED = 1e-6


@dataclass(frozen=True)
class Settings:
    """The choices of the user, checked."""

    alpha: float
    beta: float
    opening_cost: float | None
    constraint: Any
    optimiser: str
    step: Any
    rounds: int
    max_iter: int
    tol: float
    n_jobs: int | None
    seed: int


@dataclass(frozen=True, eq=False)
class Centres:
    """Directions that weights may be pulled to: shares of a sum of one.

    ``plain`` adds columns up as they are given, and distances after each was divided by its mean.
    ``within`` divides every feature by its mean within shown clusters; ``contrast`` weighs it by
    how much smaller that is than the mean over all pairs, so a feature that says nothing gets
    nothing.
    """

    plain: Floats
    within: Floats
    contrast: Floats

    @classmethod
    def of(cls, sets: Sequence[TrainingSet], means: Floats, *, commensurable: bool) -> Centres:
        """From scaled training sets, and the means that the features had before.

        Columns may share a unit, so adding them up as they are means something; distances of
        different kinds do not.
        """
        n = len(means)
        scaled = np.full(n, 1.0 / n)
        # The largest is 1, so their sum is finite.
        relative = means / means.max()
        sums, count = np.zeros(n), 0.0
        for part in sets:
            own, pairs = part.pairs.sums_within(part.shown)
            # Every set counts the same, as for the means.
            if pairs:
                sums += own / pairs
                count += 1.0
        within = sums / count if count else np.ones(n)
        with np.errstate(divide="ignore"):
            closeness = np.clip(1.0 / within, 0.0, 1e6)
        contrast = np.maximum(closeness - 1.0, 0.0)
        return cls(
            plain=relative / relative.sum() if commensurable else scaled,
            within=closeness / closeness.sum(),
            contrast=contrast / contrast.sum() if contrast.sum() > 0.0 else scaled,
        )

    def named(self, name: str) -> Floats:
        """One of them."""
        found: Floats = getattr(self, name)
        return found


def total_for(sets: Sequence[TrainingSet], settings: Settings) -> float:
    """The sum of scaled weights to begin with.

    The objective is homogeneous in weights, margins and a fixed opening cost together: all are in
    one unit, which is up to the user.
    """
    margin = max(settings.alpha, settings.beta) or 1.0
    cost = abs(settings.opening_cost or 0.0)
    return max(TOTAL * margin, cost / (OPENING_UNIT * typical_size(sets)))


def typical_size(sets: Sequence[TrainingSet]) -> float:
    """Rows per shown cluster."""
    return float(np.mean([part.cluster_size for part in sets]))


def first_weights(sets: Sequence[TrainingSet], settings: Settings, shares: Floats) -> Floats:
    """Scaled weights to begin with: the nearest ones that the constraint allows."""
    constraint = settings.constraint
    if isinstance(constraint, Nonnegative):
        constraint = None
    return _allowed(total_for(sets, settings) * shares, constraint)


def build_problem(
    sets: Sequence[TrainingSet],
    settings: Settings,
    regulariser: Any,
    strength: float,
    start: Floats,
) -> Problem:
    """The objective (28) for scaled training sets.

    ``strength`` is per shown row; ``start`` are shares of the weights to begin with.
    """
    n = sets[0].pairs.n_features
    weights = first_weights(sets, settings, start)
    total = float(np.abs(weights).sum()) or total_for(sets, settings)
    fixed = settings.opening_cost is not None
    typical = typical_size(sets)
    unit = OPENING_UNIT * typical * total / TOTAL
    if settings.opening_cost is not None:
        unit = settings.opening_cost
    examples = [
        Example(part.pairs, part.shown, _openings(part, unit, 1.0 if fixed else typical))
        for part in sets
    ]
    n_openings = examples[0].openings.shape[1]
    lower, upper = np.full(n + n_openings, -LARGEST), np.full(n + n_openings, LARGEST)
    lower[n] = 0.0
    if fixed:
        lower[n] = upper[n] = 1.0
    constraint = settings.constraint
    if isinstance(constraint, (Nonnegative, SumTo)):
        lower[:n] = 0.0
    if isinstance(constraint, Nonnegative):
        constraint = None
    upper[:n] = LARGEST * total
    lower[:n] = np.maximum(lower[:n], -upper[:n])
    rows = sum(len(part.shown) for part in sets)
    return Problem(
        model=Model(ExemplarEnergy(), ExemplarLoss(settings.alpha, settings.beta)),
        examples=examples,
        terrain=Terrain(regulariser, strength * rows, n, lower, upper, constraint),
        start=np.concatenate([weights, [1.0], np.zeros(n_openings - 1)]),
        scale=np.concatenate([np.full(n, total / n), np.ones(n_openings)]),
    )


def _allowed(weights: Floats, constraint: Any) -> Floats:
    """The nearest weights that a constraint allows."""
    if constraint is None:
        return weights
    nearest = np.asarray(constraint.project(weights.copy()), dtype=np.float64)
    if nearest.shape != weights.shape or not np.isfinite(nearest).all():
        raise InputError(
            f"constraint.project(weights) must return {len(weights)} finite weights, one for every "
            f"feature; got {nearest!r}."
        )
    return nearest


def _openings(part: TrainingSet, unit: float, typical: float) -> Floats:
    """The features of opening costs: a constant that grows with the clusters, then the user's."""
    growth = unit if typical == 1.0 else unit * part.cluster_size / typical
    constant = np.full((len(part.shown), 1), growth)
    return np.hstack([constant, growth * part.openings])


def regulariser_named(name: Any, centre: Floats, total: float) -> Any:
    """The regulariser of a name; "auto" pulls towards the centre, weights that sum to a total."""
    if name == "l1":
        return L1()
    if name == "l2":
        return L2()
    if name == "auto":
        return Towards(total * np.maximum(centre, LEAST_SHARE * centre.mean()))
    return name


def train(
    sets: Sequence[TrainingSet],
    settings: Settings,
    regulariser: Any,
    strength: float,
    centre: Floats,
    *,
    tol: float | None = None,
    max_iter: int | None = None,
    callbacks: Sequence[Callable[[Any], object]] = (),
    stage: str = "learning",
    saved: Mapping[str, NDArray[Any]] | None = None,
    save: Callable[[dict[str, NDArray[Any]]], None] | None = None,
    quick: bool = False,
) -> Outcome:
    """Learn weights; ``quick`` trains with cutting planes whatever the optimiser asked for."""
    named = regulariser_named(regulariser, centre, total_for(sets, settings))
    problem = build_problem(sets, settings, named, strength, centre)
    learner: Any = CuttingPlanes(
        settings.tol if tol is None else tol, shakes=0 if quick else SHAKES, seed=settings.seed
    )
    if settings.optimiser != "auto" and not quick:
        learner = Subgradient(
            step_rule=settings.step, rounds=settings.rounds,
            stochastic=settings.optimiser == "stochastic", seed=settings.seed,
        )  # fmt: skip
    return run(
        learner, problem, max_iter=max_iter or settings.max_iter, n_jobs=settings.n_jobs,
        callbacks=callbacks, stage=stage, saved=saved, save=save,
    )  # fmt: skip
