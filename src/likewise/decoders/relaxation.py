"""The linear relaxation of loss-augmented exemplar clustering: a bound, and solutions near it.

Used in training, where the same problem returns with slightly other weights: multipliers are passed
in and out, so each call goes on where the last one stopped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.decoders._kernels import relaxation
from likewise.partitions import FractionalPartition
from likewise.potentials import AugmentedCosts

Floats = NDArray[np.float64]

# Averaged openness is rounded at these shares: whole solutions are often better than the average.
ROUNDED_AT = (0.1, 0.3, 0.5)


@dataclass(frozen=True, eq=False)
class Relaxed:
    """A lower bound, the multipliers that prove it, and feasible points with their energies."""

    bound: float
    prices: Floats
    points: list[FractionalPartition]
    energies: list[float]


def relax(costs: AugmentedCosts, *, prices: Floats | None, upper: float, steps: int) -> Relaxed:
    """Bound the minimum of the costs from below and from above.

    Parameters
    ----------
    costs : AugmentedCosts
        Exemplar costs with a loss folded in.
    prices : array of shape (n,) or None
        Multipliers to start from.
    upper : float
        The energy of some partition, which steps aim at.
    steps : int
        At most so many.
    """
    serve = costs.serve
    if prices is None:
        prices = first_prices(serve)
    prices = prices.copy()
    total = np.empty(costs.n_shown)
    value, average = relaxation.ascend(
        serve, costs.opening, costs.cluster_of, costs.first_opening, prices, total,
        upper - costs.constant, steps,
    )  # fmt: skip
    points = [_served(serve, _at_least_one(average))]
    energies = [costs.energy_of_fractional(points[0])]
    best: FractionalPartition | None = None
    least = energies[0]
    for share in ROUNDED_AT:
        rounded = (average > share).astype(float)
        if not rounded.any():
            break
        point = _served(serve, rounded)
        energy = costs.energy_of_fractional(point)
        if energy < least:
            best, least = point, energy
    if best is not None:
        points.append(best)
        energies.append(least)
    return Relaxed(float(value) + costs.constant, prices, points, energies)


def first_prices(serve: Floats) -> Floats:
    """Multipliers to begin with: what the third-nearest candidate would cost."""
    nearest = min(3, len(serve) - 1)
    prices: Floats = np.partition(serve, max(nearest - 1, 0), axis=0)[max(nearest - 1, 0)]
    return np.where(np.isfinite(prices), prices, 0.0) + 1.0


def _at_least_one(openness: Floats) -> Floats:
    total = openness.sum()
    if total >= 1.0:
        return openness
    if total == 0.0:
        return np.full(len(openness), 1.0 / len(openness))
    return np.minimum(openness / total * (1.0 + 1e-12), 1.0)


def _served(serve: Floats, openness: Floats) -> FractionalPartition:
    clients, servers, amounts = relaxation.cheapest_service(serve, openness)
    return FractionalPartition(openness, clients, servers, amounts)
