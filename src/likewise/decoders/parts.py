"""Dual decomposition of augmented exemplar costs, komodakis2011 section 4.

The energy is split into one part per item and one per shown cluster, each of which is minimised in
closed form. Multipliers that add up to zero leave the sum of the parts as it is, so the sum of
their minima is a lower bound of the energy, and its maximum over the multipliers is the value of
the linear relaxation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.decoders._kernels import parts as kernels
from likewise.potentials import AugmentedCosts

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of one set, at some costs.

    Attributes
    ----------
    costs : array (n, n)
        By client: ``costs[p, q]`` is what p pays when q serves it.
    shared : array (n,)
        The share of each item's opening cost that every part in which it may be open carries.
    order, starts : arrays
        ``order[starts[c]:starts[c + 1]]`` are the members of shown cluster c.
    alpha : float
        The weight of the loss per cluster.
    constant : float
        Part of the energy that no part carries.
    """

    costs: Floats
    shared: Floats
    order: Indices
    starts: Indices
    alpha: float
    constant: float

    @classmethod
    def of(cls, augmented: AugmentedCosts) -> Parts:
        """Decompose costs into which `ExemplarLoss` was folded."""
        n, alpha = augmented.n_items, 0.5 * augmented.first_opening
        order = np.argsort(augmented.cluster_of, kind="stable")
        starts = np.searchsorted(augmented.cluster_of[order], np.arange(augmented.n_shown + 1))
        # The loss per cluster is in the clusters' parts: -alpha |1 - m| instead of its unfolding.
        return cls(
            costs=np.ascontiguousarray(augmented.serve.T),
            shared=(augmented.opening + alpha) / (n + 1),
            order=order,
            starts=starts,
            alpha=alpha,
            constant=augmented.constant + alpha * augmented.n_shown,
        )

    def minimise(self, multipliers: Multipliers) -> Minimisers:
        """Minimise every part."""
        value, server, opened, own = kernels.minimise(
            self.costs, self.shared, self.order, self.starts, self.alpha,
            multipliers.items, multipliers.clusters,
        )  # fmt: skip
        return Minimisers(float(value) + self.constant, server, opened, own)


@dataclass(frozen=True, eq=False)
class Multipliers:
    """lambda_pq of every item's part, and lambda_Cq of the clusters' parts."""

    items: Floats
    clusters: Floats

    @classmethod
    def zero(cls, n: int) -> Multipliers:
        """All zero."""
        return cls(np.zeros((n, n)), np.zeros(n))

    def moved(self, minimisers: Minimisers, step: float) -> tuple[Multipliers, Floats]:
        """After a projected subgradient step, and how many parts have each item open."""
        items, clusters = self.items.copy(), self.clusters.copy()
        count = kernels.move(items, clusters, minimisers.opened, minimisers.own, step)
        return Multipliers(items, clusters), count


@dataclass(frozen=True, eq=False)
class Minimisers:
    """The sum of the minima, and where they are attained.

    ``server[p]`` serves p in p's part, ``opened[p]`` is who is open there, and ``own[q]`` whether q
    is open in the part of its cluster.
    """

    value: float
    server: Indices
    opened: NDArray[np.bool_]
    own: NDArray[np.bool_]

    @property
    def count(self) -> Floats:
        """X_q: in how many parts each item is open."""
        return self.opened.sum(axis=0) + self.own.astype(float)
