"""Violation: the worst partitions of one example, as hinge and subgradient.

For weights w and the completed partition x of an example,

    hinge(w) = E(x; w) - min over x' of (E(x'; w) - Delta(x'))            komodakis2011, (14), (27)

The relaxation bounds the minimum from below, hence the hinge from above; every point x' that it
finds bounds the hinge from below, for all weights at once, by a plane:

    <phi(x) - phi(x'), w> + Delta(x')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.decoders.relaxation import relax
from likewise.partitions import Partition
from likewise.supervision import Example

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


def complete(energy: Any, example: Example, weights: Floats) -> Indices:
    """Who serves whom in the best partition that shows the clusters of the example."""
    return energy.complete(example, energy.potentials(example, weights)).served_by


def violation(
    model: Any,
    example: Example,
    served_by: Indices,
    weights: Floats,
    prices: Floats | None,
    steps: int,
) -> Violation:
    """The worst points of one example.

    ``model`` has the energy and the loss; ``served_by`` is the completed partition.
    """
    costs = model.energy.potentials(example, weights)
    shown_energy = costs.energy_of(Partition.from_service(served_by))
    augmented = model.loss.augment(costs, example.shown)
    relaxed = relax(augmented, prices=prices, upper=shown_energy, steps=steps)
    features = [model.energy.joint_features(example, point) for point in relaxed.points]
    losses = [model.loss.value_of_fractional(example.shown, point) for point in relaxed.points]
    return Violation(
        hinge=max(shown_energy - relaxed.bound, 0.0),
        features=np.array(features),
        losses=np.array(losses),
        prices=relaxed.prices,
    )
