"""The loss of exemplar clustering, eq. (15) of komodakis2011.

    Delta(x; C) = alpha sum_C |1 - sum_{q in C} x_qq|
                  + beta sum_C sum_{p in C} (1 - sum_{q in C} x_pq)

It is zero for the partitions that show the clusters C, and linear in x but for its first term. That
term is concave after the sign change: -|1 - m| = -1 - m + 2 min(m, 1) for the number m of exemplars
in a cluster, so folding it in leaves opening costs, and a price for the first exemplar of a
cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.partitions import FractionalPartition, Partition
from likewise.potentials import AssignmentCosts, AugmentedCosts

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class ExemplarLoss:
    """Delta, with the weights of its two terms.

    Parameters
    ----------
    alpha, beta : float
        Weights, not negative, of clusters with another number of exemplars than one, and of items
        that are served from another cluster than their own.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.losses.exemplar import ExemplarLoss
    >>> from likewise.partitions import Partition
    >>> shown = np.array([0, 0, 1])
    >>> ExemplarLoss().value(shown, Partition.from_service([0, 0, 0]))
    2.0
    """

    alpha: float = 1.0
    beta: float = 1.0

    def value(self, shown: Indices, partition: Partition | FractionalPartition) -> float:
        """The loss of a partition; of a point of the relaxation, its concave extension."""
        point = partition
        if isinstance(point, Partition):
            point = FractionalPartition.from_service(point.served_by)
        n_shown = int(shown.max()) + 1
        most = np.zeros(n_shown)
        np.maximum.at(most, shown, point.openness)
        exemplars = float(point.openness.sum())
        kept = float(point.amounts @ (shown[point.clients] == shown[point.servers])) + exemplars
        deviation = n_shown + exemplars - 2.0 * float(most.sum())
        return self.alpha * deviation + self.beta * (len(shown) - kept)

    def augment(self, costs: AssignmentCosts, shown: Indices) -> AugmentedCosts:
        """The costs minus this loss; every energy falls by the loss of its partition."""
        if not isinstance(costs, AssignmentCosts) or costs.is_sparse:
            raise TypeError("ExemplarLoss folds into dense AssignmentCosts only.")
        serve = np.array(costs.service.T, order="C")
        for cluster in range(int(shown.max()) + 1):
            members = np.flatnonzero(shown == cluster)
            serve[members[:, None], members] += self.beta
        np.fill_diagonal(serve, np.inf)
        return AugmentedCosts(
            serve=serve,
            opening=costs.opening + (self.beta - self.alpha),
            cluster_of=shown,
            first_opening=2.0 * self.alpha,
            constant=-self.beta * len(shown) - self.alpha * (int(shown.max()) + 1),
        )
