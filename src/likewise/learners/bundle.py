"""The planes of a bundle: what is kept between two passes, and what enters and leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likewise.learners.base import Problem
from likewise.learners.violation import Violation

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# A plane without mass over this many passes leaves.
FORGOTTEN_AFTER = 15


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


def forgotten(state: PlanesState) -> PlanesState:
    """Without planes that have not been in use for long."""
    used = (state.mass > 0.0) | (state.reserve > 0.0)
    idle = np.where(used, 0, state.idle + 1)
    kept = (idle <= FORGOTTEN_AFTER) | ~state.features.any(axis=1)
    return replace(
        state, features=state.features[kept], losses=state.losses[kept], owner=state.owner[kept],
        mass=state.mass[kept], reserve=state.reserve[kept], idle=idle[kept],
    )  # fmt: skip


def with_planes(
    problem: Problem, state: PlanesState, found: list[Violation],
    chosen: Sequence[int] | None = None,
) -> PlanesState:  # fmt: skip
    """One more plane for every point found, in all examples or in those that were chosen."""
    n_examples = len(problem.examples)
    which = np.arange(n_examples) if chosen is None else np.asarray(chosen)
    owner = np.repeat(which, [len(v.losses) for v in found])
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


def with_cut(problem: Problem, state: PlanesState, weights: Floats, inside: Floats) -> PlanesState:
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
