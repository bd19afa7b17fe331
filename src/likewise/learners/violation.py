"""Violation: the worst partitions of one example, as hinge and subgradient.

For weights w and the completed partition x of an example,

    hinge(w) = E(x; w) - min over x' of (E(x'; w) - Delta(x'))            komodakis2011, (14), (27)

What finds the minimum depends on the potentials with the loss folded in: a relaxation bounds it
from below, hence the hinge from above, a decoder of segments attains it. Every point x' that is
found bounds the hinge from below, for all weights at once, by a plane:

    <phi(x) - phi(x'), w> + Delta(x')
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.decoders.augmented import decode_augmented
from likewise.decoders.relaxation import relax
from likewise.partitions import FractionalPartition, Partition
from likewise.potentials import AugmentedCosts, AugmentedScores

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Violation:
    """What one example says at some weights.

    ``hinge`` is an upper bound of its loss; row i of ``features`` are the joint features of the
    i-th point that violates the margin, ``losses[i]`` its loss. ``prices`` are where to go on next
    time.
    """

    hinge: float
    features: Floats
    losses: Floats
    prices: Floats


@dataclass(frozen=True, eq=False)
class Worst:
    """Points of low energy, and a bound that no point is below; None where a point attains it."""

    points: Sequence[Partition | FractionalPartition]
    bound: float | None
    prices: Floats


@singledispatch
def worst_points(augmented: Any, prices: Floats | None, upper: float, steps: int) -> Worst:
    """The points of least energy of potentials that have a loss folded in.

    Parameters
    ----------
    augmented : AugmentedCosts or AugmentedScores
        The potentials.
    prices : array or None
        Where an earlier search ended.
    upper : float
        The energy of some partition.
    steps : int
        Of a search that is not exact, at most.
    """
    raise TypeError(f"no decoder for {type(augmented).__name__}")


@worst_points.register
def _of_costs(augmented: AugmentedCosts, prices: Floats | None, upper: float, steps: int) -> Worst:
    relaxed = relax(augmented, prices=prices, upper=upper, steps=steps)
    return Worst(relaxed.points, relaxed.bound, relaxed.prices)


@worst_points.register
def _of_scores(
    augmented: AugmentedScores, prices: Floats | None, upper: float, steps: int
) -> Worst:
    return Worst([decode_augmented(augmented)], None, np.empty(0))


def complete(energy: Any, example: Any, weights: Floats) -> Indices:
    """The best partition that shows what the example shows, as an array."""
    code: Indices = energy.complete(example, energy.potentials(example, weights)).code
    return code


def violation(
    model: Any,
    example: Any,
    code: Indices,
    weights: Floats,
    prices: Floats | None,
    steps: int,
) -> Violation:
    """The worst points of one example.

    ``model`` has the energy and the loss; ``code`` is the completed partition.
    """
    joint = model.energy.joint_features
    potentials = model.energy.potentials(example, weights)
    shown = joint(example, model.energy.point_of(code))
    shown_energy = float(shown @ weights)
    augmented = model.loss.augment(potentials, example.shown)
    worst = worst_points(augmented, prices, shown_energy, steps)
    features = np.array([joint(example, point) for point in worst.points])
    losses = np.array([model.loss.value(example.shown, point) for point in worst.points])
    if worst.bound is None:
        hinge = float(np.max((shown - features) @ weights + losses))
    else:
        hinge = shown_energy - worst.bound
    return Violation(max(hinge, 0.0), features, losses, worst.prices)
