"""The projected subgradient methods of the papers: ``optimiser="subgradient"``.

Every iteration takes one step of length s_t along a subgradient of the objective, batch or, with
``optimiser="stochastic"``, of one example drawn at random, and every T iterations partitions that
are not wholly shown are completed anew with the present weights.

What an example says depends on its potentials. Exemplar costs are split into parts, as in fig. 1 of
komodakis2011: weights and multipliers move together along the subgradient of the joint objective
(28). Segments have an exact decoder, and the subgradient is that of the hinge itself (lajugie2014,
section 3.1).

Departures from the print, all of them errata (docs/papers): steps are subtracted, the chosen
exemplar of a part is open, and completion serves every item by the exemplar of its own cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.random import stream
from likewise.decoders.augmented import decode_augmented
from likewise.decoders.parts import Multipliers, Parts
from likewise.learners.base import Model, Problem
from likewise.learners.violation import complete
from likewise.parallel.local import map_in_order
from likewise.partitions import FractionalPartition, Partition
from likewise.potentials import AugmentedCosts, AugmentedScores

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# s_t = step / sqrt(t) unless the user says otherwise.
DEFAULT_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class Descent:
    """What one example says: its loss, a subgradient of it, and its next multipliers."""

    loss: float
    gradient: Floats
    memory: Floats


@dataclass(frozen=True, eq=False)
class SubgradientState:
    """Between two passes; ``codes`` and ``memory`` have one entry per example."""

    weights: Floats
    best: Floats
    objective: float
    lower_bound: float
    iteration: int
    status: str
    codes: tuple[Indices, ...]
    memory: tuple[Floats, ...]


@singledispatch
def lowest(
    augmented: Any, memory: Floats, step: float
) -> tuple[float | None, Partition | FractionalPartition, Floats]:
    """A lower bound of the energy, None where the point attains it; the point; the next memory."""
    raise TypeError(f"no decoder for {type(augmented).__name__}")


@lowest.register
def _of_costs(
    augmented: AugmentedCosts, memory: Floats, step: float
) -> tuple[float | None, Partition | FractionalPartition, Floats]:
    """The memory are the multipliers of the items' parts, and in the last row of the clusters'."""
    n = augmented.n_items
    multipliers = Multipliers.zero(n) if not memory.size else Multipliers(memory[:-1], memory[-1])
    minimisers = Parts.of(augmented).minimise(multipliers)
    moved, count = multipliers.moved(minimisers, step)
    # sum_q X_q f_qq / (n + 1): the parts share every opening cost.
    clients = np.flatnonzero(minimisers.server != np.arange(n))
    point = FractionalPartition(
        count / (n + 1), clients, minimisers.server[clients], np.ones(len(clients))
    )
    return minimisers.value, point, np.vstack([moved.items, moved.clusters])


@lowest.register
def _of_scores(
    augmented: AugmentedScores, memory: Floats, step: float
) -> tuple[float | None, Partition | FractionalPartition, Floats]:
    return None, decode_augmented(augmented), memory


def descent(
    model: Model, example: Any, code: Indices, weights: Floats, memory: Floats, step: float
) -> Descent:
    """Look at one example; the multipliers it has move by a step."""
    energy = model.energy
    shown = energy.joint_features(example, energy.point_of(code))
    augmented = model.loss.augment(energy.potentials(example, weights), example.shown)
    bound, point, memory = lowest(augmented, memory, step)
    gradient = shown - energy.joint_features(example, point)
    if bound is None:
        loss = float(gradient @ weights) + model.loss.value(example.shown, point)
    else:
        loss = float(shown @ weights) - bound
    return Descent(loss, gradient, memory)


@dataclass(frozen=True)
class Subgradient:
    """The projected subgradient method.

    Parameters
    ----------
    step_rule : float or callable
        s_t: a number s for s / sqrt(t), or a function of t = 1, 2, ...
    rounds : int
        T, rounds of the subgradient method between completions.
    stochastic : bool
        One example per iteration instead of all.
    seed : int
        Of the examples that are drawn.
    """

    step_rule: float | Callable[[int], float] = DEFAULT_STEP
    rounds: int = 1
    stochastic: bool = False
    seed: int = 0

    state_type = SubgradientState

    def init(self, problem: Problem) -> SubgradientState:
        """Multipliers zero."""
        n = len(problem.examples)
        return SubgradientState(
            weights=problem.start, best=problem.start, objective=np.inf, lower_bound=-np.inf,
            iteration=0, status="", codes=(np.empty(0, dtype=np.intp),) * n,
            memory=(np.empty(0),) * n,
        )  # fmt: skip

    def step(
        self, problem: Problem, state: SubgradientState, n_jobs: int | None
    ) -> SubgradientState:
        """One iteration."""
        t, everyone = state.iteration + 1, range(len(problem.examples))
        chosen = list(everyone)
        if self.stochastic:
            chosen = [int(stream(self.seed, "example", t).integers(len(chosen)))]
        codes, memory = list(state.codes), list(state.memory)
        for k in chosen if self.stochastic or (t - 1) % self.rounds == 0 else []:
            codes[k] = complete(problem.model.energy, problem.examples[k], state.weights)
        length = self.length(t)
        tasks = [
            (problem.model, problem.examples[k], codes[k], state.weights, memory[k], length)
            for k in chosen
        ]
        found = map_in_order(descent, tasks, n_jobs)
        # One example stands for all of them.
        factor = len(everyone) if self.stochastic else 1
        gradient = problem.terrain.gradient(state.weights)
        for part in found:
            gradient = gradient + factor * part.gradient
        objective = problem.terrain.value(state.weights) + sum(part.loss for part in found)
        if not (np.isfinite(gradient).all() and np.isfinite(objective)):
            return replace(state, status="nonfinite")
        for k, part in zip(chosen, found, strict=True):
            memory[k] = part.memory
        # The stochastic objective is of one example only, so the last weights are taken there.
        better = self.stochastic or objective < state.objective
        return replace(
            state,
            weights=problem.terrain.project(state.weights - length * gradient),
            best=state.weights if better else state.best,
            objective=objective if better else state.objective,
            iteration=t, codes=tuple(codes), memory=tuple(memory),
        )  # fmt: skip

    def length(self, t: int) -> float:
        """s_t."""
        return self.step_rule(t) if callable(self.step_rule) else self.step_rule / np.sqrt(t)
