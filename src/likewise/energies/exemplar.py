"""The energy of exemplar clustering with learnt distances and opening costs.

    E(x; w) = sum_{p != q} x_pq <w_d, f_pq> + sum_q x_qq <w_o, g_q>         komodakis2011, (1), (10)

Weights are one vector (w_d, w_o): of the pair features f, then of the opening features g.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.partitions import FractionalPartition, Partition
from likewise.potentials import AssignmentCosts
from likewise.supervision import Example

Floats = NDArray[np.float64]


class ExemplarEnergy:
    """What turns an example and weights into costs, and a partition into features."""

    def potentials(self, example: Example, weights: Floats) -> AssignmentCosts:
        """The costs of one set with the weights applied."""
        n_features = example.pairs.n_features
        serve = example.pairs.costs(weights[:n_features])
        # The transpose of what is stored by candidate: readers transpose it back.
        return AssignmentCosts(serve.T, example.openings @ weights[n_features:])

    def joint_features(
        self, example: Example, partition: Partition | FractionalPartition
    ) -> Floats:
        """The features whose product with the weights is the energy."""
        point = partition
        if isinstance(point, Partition):
            point = FractionalPartition.from_service(point.served_by)
        paid = example.pairs.summed(point.clients, point.servers, point.amounts)
        return np.concatenate([paid, point.openness @ example.openings])

    def complete(self, example: Example, costs: AssignmentCosts) -> Partition:
        """The partition of least energy that shows the example's clusters, eq. (29).

        Every item is served by the exemplar of its own cluster, which need not be the nearest one.
        """
        served_by = np.empty(len(example.shown), dtype=np.intp)
        for cluster in range(example.n_shown):
            members = np.flatnonzero(example.shown == cluster)
            within = costs.service[np.ix_(members, members)].sum(axis=0)
            served_by[members] = members[np.argmin(within + costs.opening[members])]
        return Partition.from_service(served_by)

    def point_of(self, code: NDArray[np.intp]) -> FractionalPartition:
        """A partition from what it is kept as: who serves whom."""
        return FractionalPartition.from_service(code)
