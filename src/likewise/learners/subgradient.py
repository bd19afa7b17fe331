"""The projected subgradient method of komodakis2011, fig. 1: ``optimiser="subgradient"``.

Weights and multipliers move together, with one step s_t for both, along the subgradient of the
joint objective (28); every T rounds the exemplars are completed anew with the present weights. The
stochastic form looks at one example, drawn at random, in every iteration.

Departures from the print, all of them errata (docs/papers/komodakis2011.md): steps are subtracted,
the chosen exemplar of a part is open, and completion serves every item by the exemplar of its own
cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.random import stream
from likewise.decoders.parts import Multipliers, Parts
from likewise.learners.base import Model, Problem
from likewise.learners.violation import complete
from likewise.parallel.local import map_in_order
from likewise.partitions import FractionalPartition, Partition
from likewise.supervision import Example

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# s_t = step / sqrt(t) unless the user says otherwise.
DEFAULT_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class PartsGradient:
    """What one example says: its share of (28) and of the subgradient, and its next multipliers."""

    loss: float
    gradient: Floats
    items: Floats
    clusters: Floats


@dataclass(frozen=True, eq=False)
class SubgradientState:
    """Between two passes; ``items``, ``clusters`` and ``served_by`` have one entry per example."""

    weights: Floats
    best: Floats
    objective: float
    lower_bound: float
    iteration: int
    status: str
    served_by: tuple[Indices, ...]
    items: tuple[Floats, ...]
    clusters: tuple[Floats, ...]


def parts_gradient(
    model: Model,
    example: Example,
    served_by: Indices,
    weights: Floats,
    multipliers: Multipliers,
    step: float,
) -> PartsGradient:
    """Minimise the parts of one example, and move its multipliers by a step."""
    costs = model.energy.potentials(example, weights)
    shown_energy = costs.energy_of(Partition.from_service(served_by))
    minimisers = Parts.of(model.loss.augment(costs, example.shown)).minimise(multipliers)
    moved, count = multipliers.moved(minimisers, step)
    # sum_q X_q f_qq / (n + 1): the parts share every opening cost.
    own = np.arange(example.n_items)
    clients = np.flatnonzero(minimisers.server != own)
    point = FractionalPartition(
        count / (example.n_items + 1), clients, minimisers.server[clients], np.ones(len(clients))
    )
    joint = model.energy.joint_features
    gradient = joint(example, FractionalPartition.from_service(served_by)) - joint(example, point)
    return PartsGradient(shown_energy - minimisers.value, gradient, moved.items, moved.clusters)


@dataclass(frozen=True)
class Subgradient:
    """Fig. 1.

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
        return SubgradientState(
            weights=problem.start, best=problem.start, objective=np.inf, lower_bound=-np.inf,
            iteration=0, status="",
            served_by=tuple(np.zeros(e.n_items, dtype=np.intp) for e in problem.examples),
            items=tuple(np.zeros((e.n_items, e.n_items)) for e in problem.examples),
            clusters=tuple(np.zeros(e.n_items) for e in problem.examples),
        )  # fmt: skip

    def step(
        self, problem: Problem, state: SubgradientState, n_jobs: int | None
    ) -> SubgradientState:
        """One iteration."""
        t, everyone = state.iteration + 1, range(len(problem.examples))
        chosen = list(everyone)
        if self.stochastic:
            chosen = [int(stream(self.seed, "example", t).integers(len(chosen)))]
        served_by = list(state.served_by)
        for k in chosen if self.stochastic or (t - 1) % self.rounds == 0 else []:
            served_by[k] = complete(problem.model.energy, problem.examples[k], state.weights)
        length = self.length(t)
        tasks = [
            (
                problem.model, problem.examples[k], served_by[k], state.weights,
                Multipliers(state.items[k], state.clusters[k]), length,
            )
            for k in chosen
        ]  # fmt: skip
        found = map_in_order(parts_gradient, tasks, n_jobs)
        gradient = problem.terrain.gradient(state.weights)
        for part in found:
            gradient = gradient + part.gradient
        objective = problem.terrain.value(state.weights) + sum(part.loss for part in found)
        if not (np.isfinite(gradient).all() and np.isfinite(objective)):
            return replace(state, status="nonfinite")
        items, clusters = list(state.items), list(state.clusters)
        for k, part in zip(chosen, found, strict=True):
            items[k], clusters[k] = part.items, part.clusters
        # The stochastic objective is of one example only, so the last weights are taken there.
        better = self.stochastic or objective < state.objective
        return replace(
            state,
            weights=problem.terrain.project(state.weights - length * gradient),
            best=state.weights if better else state.best,
            objective=objective if better else state.objective,
            iteration=t, served_by=tuple(served_by), items=tuple(items), clusters=tuple(clusters),
        )  # fmt: skip

    def length(self, t: int) -> float:
        """s_t."""
        return self.step_rule(t) if callable(self.step_rule) else self.step_rule / np.sqrt(t)
