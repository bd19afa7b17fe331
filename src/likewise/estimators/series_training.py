"""Training a metric for sequences: candidates, the problem, and what a training gives.

Weights are in units in which the best single feature, of weight one, tells the segments on the two
sides of a typical shown change apart by the weight of the loss. So strengths mean the same for all
data, and neither the result nor the path to it depends on units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.energies.segments import SegmentEnergy, factor_of
from likewise.learners.base import Model, Problem
from likewise.learners.cone import ConeTerrain
from likewise.learners.cutting_planes import CuttingPlanes, Inherited
from likewise.learners.loop import Outcome, run
from likewise.learners.regularisers import L1, L2, Elastic, Near, Terrain
from likewise.learners.subgradient import Subgradient
from likewise.losses.segments import ProjectionLoss, RandLoss
from likewise.metrics import rand_loss
from likewise.potentials import ShownSegments
from likewise.supervision import SegmentedSeries

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Part = tuple[Floats, Indices]

# No weight and no penalty grows beyond this.
LARGEST = 1e3
# The penalty to begin with.
FIRST_PENALTY = 2.0
# How strongly the first steps are pulled to the start.
PULL = 0.05
# Passes after the first that look at a few sequences at a time.
BATCHED = 3
# Sweeps of a master problem at most.
SWEEPS, ROUGH_SWEEPS = 2000, 400
# What all weights together count, and the strengths of their squares, from the strongest.
LINEAR = 0.02
SPARSE = (0.4, 0.12, 0.04, 0.012, 0.004, 0.0012)
# Strengths of the pull to one weight for all features.
NEAR = (3.0, 0.3)
NEAR_KINDS = 0.3
# Strengths of the named regularisers.
PATHS: Mapping[str, tuple[float, ...]] = {
    "l1": (1.0, 0.3, 0.1, 0.03, 0.01),
    "trace": (1.0, 0.3, 0.1, 0.03, 0.01),
    "l2": SPARSE,
}
# A training is not looked at again where the gap is below this in selection.
ROUGH = 0.05
# A change that no feature shows gains this, relatively.
LEAST_GAIN = 1e-12


@dataclass(frozen=True)
class SeriesSettings:
    """The choices of the user, checked."""

    full: bool
    loss: str
    known: bool
    optimiser: str
    step: Any
    max_iter: int
    tol: float
    n_jobs: int | None
    seed: int


@dataclass(frozen=True)
class Candidate:
    """What a metric may be.

    ``shape`` is "one" (a weight for all features), "kinds" (one for each kind of feature),
    "diagonal" or "full"; ``pull`` says what the regulariser is: "near" the one weight, "sparse"
    (elastic), "l1", "l2" or "trace".
    """

    shape: str
    pull: str = "none"
    strength: float = 0.0

    @property
    def name(self) -> str:
        """What it is called in tables."""
        match self.shape:
            case "one":
                return "penalty only"
            case "kinds":
                return "one weight per kind of feature"
        return f"{self.shape}, {self.pull}, strength {self.strength:g}"


@dataclass(frozen=True, eq=False)
class Trained:
    """A metric, in units of the features as they were passed, and how the training ended.

    ``metric`` is a vector or a matrix; ``penalty`` is as learnt, before it is fitted to labels.
    """

    metric: Floats
    penalty: float
    outcome: Outcome | None

    @property
    def ended(self) -> Outcome:
        """How the training ended, if there was one."""
        if self.outcome is None:
            raise ValueError("this metric was not trained")
        return self.outcome

    def factored(self, rows: Floats) -> Floats:
        """Rows in the factor space of the metric."""
        if self.metric.ndim == 2:
            found = rows @ factor_of(self.metric)
        else:
            used = self.metric > 0.0
            found = rows[:, used] * np.sqrt(self.metric[used])
        return np.ascontiguousarray(found) if found.shape[1] else np.zeros((len(rows), 1))


@dataclass(frozen=True, eq=False)
class Training:
    """Parts of sequences that are wholly labelled, and what a training of them needs.

    Attributes
    ----------
    examples : list of SegmentedSeries
        The parts, in the units of the weights.
    unit : float
        What squares of rows were multiplied by.
    settings : SeriesSettings
        The choices of the user.
    kinds : array of shape (p,) or None
        The kind of every feature.
    """

    examples: list[SegmentedSeries]
    unit: float
    settings: SeriesSettings
    kinds: Indices | None

    @classmethod
    def of(cls, parts: Sequence[Part], settings: SeriesSettings, kinds: Indices | None) -> Training:
        """From rows in comparable units, and their segments."""
        gain = np.max(_gains(parts), initial=0.0)
        unit = 1.0 / gain if gain > LEAST_GAIN else 1.0 / parts[0][0].shape[1]
        mean_rows = float(np.mean([len(rows) for rows, _ in parts]))
        examples = [
            SegmentedSeries(
                (rows - rows.mean(axis=0)) * np.sqrt(unit),
                ShownSegments(labels, mean_rows / len(rows) / len(parts)),
            )
            for rows, labels in parts
        ]
        return cls(examples, unit, settings, kinds)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.examples[0].rows.shape[1])

    def loss(self) -> ProjectionLoss | RandLoss:
        """The loss; that of pairs is weighted such that one segment for all costs as much."""
        known = self.settings.known
        if self.settings.loss == "projection":
            return ProjectionLoss(1.0, known)
        changes = [len(example.shown.starts) - 2 for example in self.examples]
        apart = [
            rand_loss(example.shown.labels, np.zeros(len(example.rows), dtype=np.intp))
            for example in self.examples
        ]
        return RandLoss(max(float(np.sum(changes)), 1.0) / max(float(np.sum(apart)), 0.1), known)

    def learn(self, candidate: Candidate, **watch: Any) -> tuple[Trained, int]:
        """Train one candidate; and how many passes that took.

        Strong regularisers are trained first, roughly: what they find are planes for weaker ones.
        """
        if candidate.shape == "one":
            trained = self.one_weight(**watch)
            return trained, trained.ended.n_iter
        one = self.one_weight() if candidate.pull == "near" else None
        passes = 0 if one is None else one.ended.n_iter
        if one is not None and one.ended.status == "interrupted":
            return one, passes
        known, told = None, {"callbacks": watch.get("callbacks", ()), "stage": "stronger"}
        for strength in stronger(candidate) if self.settings.optimiser == "auto" else []:
            harder = replace(candidate, strength=strength)
            step, known = self.train(harder, one, known, tol=ROUGH, **told)
            passes += step.ended.n_iter
            if step.ended.status == "interrupted":
                return step, passes
        trained, _ = self.train(candidate, one, known, **watch)
        return trained, passes + trained.ended.n_iter

    def one_weight(self, **watch: Any) -> Trained:
        """The best weight for all features, and the penalty."""
        p = self.n_features
        groups = np.zeros(p, dtype=np.intp)
        start = np.array([1.0 / p, FIRST_PENALTY])
        problem = self._problem(Elastic(LINEAR, SPARSE[-1]), groups, start)
        outcome = self._run(self._planes(None, ROUGH), problem, **watch)
        weights = outcome.weights
        return Trained(np.full(p, weights[0] * self.unit), float(weights[1]), outcome)

    def train(
        self, candidate: Candidate, one: Trained | None, known: Inherited | None = None,
        tol: float | None = None, **watch: Any,
    ) -> tuple[Trained, Inherited | None]:  # fmt: skip
        """Train one candidate; and what the next strength may start from.

        ``one`` is the training of one weight, which some candidates are pulled to.
        """
        if candidate.shape == "one":
            assert one is not None
            return one, None
        problem, groups = self._problem_of(candidate, one)
        settings = self.settings
        learner: Any = self._planes(known, settings.tol if tol is None else tol)
        if settings.optimiser != "auto" and tol is None:
            learner = Subgradient(
                step_rule=settings.step, stochastic=settings.optimiser == "stochastic",
                seed=settings.seed,
            )  # fmt: skip
        outcome = self._run(learner, problem, **watch)
        heir = None
        if isinstance(learner, CuttingPlanes) and np.isfinite(outcome.objective):
            losses = outcome.objective - problem.terrain.value(outcome.weights)
            heir = Inherited(outcome.state, losses)
        weights, p = outcome.weights[:-1] * self.unit, self.n_features
        metric = weights.reshape(p, p) if candidate.shape == "full" else weights
        if groups is not None:
            metric = weights[groups]
        return Trained(metric, float(outcome.weights[-1]), outcome), heir

    def _planes(self, known: Inherited | None, tol: float) -> CuttingPlanes:
        sweeps = ROUGH_SWEEPS if tol >= ROUGH else SWEEPS
        return CuttingPlanes(tol, pull=PULL, inherited=known, sweeps=sweeps, batched=BATCHED)

    def _run(self, learner: Any, problem: Problem, **watch: Any) -> Outcome:
        settings = self.settings
        return run(learner, problem, max_iter=settings.max_iter, n_jobs=settings.n_jobs, **watch)

    def _problem_of(
        self, candidate: Candidate, one: Trained | None
    ) -> tuple[Problem, Indices | None]:
        p, groups = self.n_features, None
        centre, penalty = 1.0 / p, FIRST_PENALTY
        if candidate.pull == "near":
            assert one is not None
            centre, penalty = max(float(one.metric[0]) / self.unit, 1e-6), one.penalty
        if candidate.shape == "kinds" and self.kinds is not None:
            groups = self.kinds
            n = int(groups.max()) + 1
            first = np.full(n, centre)
        elif candidate.shape == "full":
            n, first = p * p, (centre * np.eye(p)).ravel()
        else:
            n, first = p, np.full(p, centre)
        diagonal = np.eye(p).ravel() if candidate.shape == "full" else None
        strength = candidate.strength
        regulariser: Any = {
            "near": lambda: Near(first, centre**2 * (p if candidate.shape == "full" else n)),
            "sparse": lambda: Elastic(LINEAR, strength, diagonal),
            "l1": lambda: L1() if diagonal is None else Elastic(1.0, 0.0, diagonal),
            "trace": lambda: Elastic(1.0, 0.0, diagonal),
            "l2": L2,
        }[candidate.pull]()
        start = np.append(first, penalty)
        full = candidate.shape == "full"
        # The strength of an elastic regulariser is that of its squares alone.
        tau = 1.0 if candidate.pull == "sparse" else strength
        return self._problem(regulariser, groups, start, tau, full=full), groups

    def _problem(
        self, regulariser: Any, groups: Indices | None, start: Floats, strength: float = 1.0, *,
        full: bool = False,
    ) -> Problem:  # fmt: skip
        loss, n = self.loss(), len(start) - 1
        lower, upper = np.zeros(n + 1), np.full(n + 1, LARGEST)
        lower[n] = loss.least_penalty
        if self.settings.known:
            # A number that is given needs no penalty.
            lower[n] = upper[n] = 0.0
        terrain = Terrain(regulariser, strength, n, lower, upper)
        if full:
            lower[:n] = -LARGEST
            terrain = ConeTerrain(regulariser, strength, n, lower, upper, side=self.n_features)
        scale = np.append(np.full(n, max(float(np.abs(start[:n]).max()), 0.1)), FIRST_PENALTY)
        return Problem(
            model=Model(SegmentEnergy(full, groups), loss), examples=self.examples, terrain=terrain,
            start=terrain.project(start), scale=scale,
        )  # fmt: skip


def _gains(parts: Sequence[Part]) -> Floats:
    """How much scatter every feature loses by a shown change, on average."""
    total, count = np.zeros(parts[0][0].shape[1]), 0
    for rows, labels in parts:
        changes = int(labels[-1])
        if not changes:
            continue
        sizes = np.bincount(labels)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        means = np.add.reduceat(rows - rows.mean(axis=0), starts, axis=0) / sizes[:, None]
        total += (sizes[:, None] * np.square(means)).sum(axis=0)
        count += changes
    found: Floats = total / max(count, 1)
    return found


def stronger(candidate: Candidate) -> list[float]:
    """Strengths above that of a candidate, from the strongest."""
    known = SPARSE if candidate.pull == "sparse" else PATHS.get(candidate.pull, ())
    return [value for value in known if value > candidate.strength]


def path_of(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Candidates that may share planes, from the strongest; the others alone."""
    paths: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in candidates:
        paths.setdefault((candidate.shape, candidate.pull), []).append(candidate)
    return [sorted(own, key=lambda c: -c.strength) for own in paths.values()]


def candidates_for(
    full: bool, regulariser: str, strength: float | None, n_features: int, has_kinds: bool
) -> list[Candidate]:
    """What is tried, from the least that can go wrong."""
    shape = "full" if full else "diagonal"
    if strength is not None:
        return [Candidate(shape, "sparse" if regulariser == "auto" else regulariser, strength)]
    found = [Candidate("one")]
    if n_features == 1:
        return found
    if regulariser == "auto":
        if has_kinds:
            found.append(Candidate("kinds", "near", NEAR_KINDS))
        found += [Candidate(shape, "near", value) for value in NEAR]
        return found + [Candidate(shape, "sparse", value) for value in SPARSE]
    return found + [Candidate(shape, regulariser, value) for value in PATHS[regulariser]]
