"""Potentials: the energy of one set with the weights applied, as the arrays a decoder reads.

``AssignmentCosts`` are the potentials of exemplar clustering, eq. (1) of komodakis2011:

    E(Q) = sum over p not in Q of min over q in Q of service[p, q] + sum over q in Q of opening[q]

Whatever changes a problem maps potentials to potentials; the same decoder runs afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.arrays.namespace import namespace_of, to_device
from likewise.partitions import FractionalPartition, Partition
from likewise.supervision import Links

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AssignmentCosts:
    """What it costs that p is served by q, and that q is an exemplar.

    Parameters
    ----------
    service : array (n, n) or scipy.sparse.csr_array
        ``service[p, q]``, the cost of p when q serves it, weights of samples included. The
        diagonal is never read. In a sparse array a missing entry forbids the pair.
    opening : array (n,)
        The cost of every item as an exemplar.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.partitions import FractionalPartition, Partition
    >>> from likewise.potentials import AssignmentCosts
    >>> costs = AssignmentCosts(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([5.0, 5.0]))
    >>> costs.energy_of(Partition.from_service([1, 1]))
    6.0
    """

    service: Any
    opening: Any

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.service.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether only the stored pairs are allowed."""
        return bool(sparse.issparse(self.service))

    def energy_of(self, partition: Partition) -> float:
        """Energy of a partition with representatives; infinite if it uses a forbidden pair."""
        served_by = partition.served_by
        clients = np.flatnonzero(served_by != np.arange(self.n_items))
        paid = self._paid(clients, served_by[clients])
        xp = namespace_of(self.opening)
        exemplars = to_device(np.unique(served_by), self.opening)
        return float(xp.sum(paid)) + float(xp.sum(xp.take(self.opening, exemplars)))

    def _paid(self, clients: NDArray[np.intp], servers: NDArray[np.intp]) -> Any:
        if self.is_sparse:
            return _stored(self.service, clients, servers)
        xp = namespace_of(self.service)
        flat = to_device(clients * self.n_items + servers, self.service)
        return xp.take(xp.reshape(self.service, (-1,)), flat)

    def restricted_to(self, items: NDArray[np.intp]) -> AssignmentCosts:
        """The same costs for some of the items, in the order given (a permutation included)."""
        if self.is_sparse:
            service = sparse.csr_array(self.service[items][:, items])
            service.sort_indices()
            return AssignmentCosts(service, self.opening[items])
        xp = namespace_of(self.service)
        where = to_device(items, self.service)
        rows = xp.take(self.service, where, axis=0)
        return AssignmentCosts(xp.take(rows, where, axis=1), xp.take(self.opening, where))


@dataclass(frozen=True, eq=False)
class LinkedCosts:
    """Assignment costs of the partitions that keep to links; all others cost infinity.

    Parameters
    ----------
    costs : AssignmentCosts
        What a partition costs.
    links : Links
        Pairs of items that must, and pairs that must not, share a cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.partitions import FractionalPartition, Partition
    >>> from likewise.potentials import AssignmentCosts, LinkedCosts
    >>> from likewise.supervision import Links
    >>> costs = AssignmentCosts(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([5.0, 5.0]))
    >>> linked = LinkedCosts(costs, Links.of(2, cannot_link=[(0, 1)]))
    >>> linked.energy_of(Partition.from_service([1, 1]))
    inf
    """

    costs: AssignmentCosts
    links: Links

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.costs.n_items

    def energy_of(self, partition: Partition) -> float:
        """Energy of a partition with representatives; infinite if it violates a link."""
        if not self.links.hold_for(partition.labels):
            return float("inf")
        return self.costs.energy_of(partition)


@dataclass(frozen=True, eq=False)
class AugmentedCosts:
    """Assignment costs minus a loss that is kept per shown cluster.

    The energy is that of the assignment costs ``(serve, opening)``, plus ``first_opening`` for
    every shown cluster in which an exemplar is, plus a constant. What `likewise.losses` folds into
    `AssignmentCosts`; also defined between partitions, where the relaxation lives.

    Parameters
    ----------
    serve : array (n, n)
        By candidate: ``serve[q, p]`` is the cost of p when q serves it. Infinite on the diagonal.
    opening : array (n,)
        The cost of every item as an exemplar.
    cluster_of : array (n,)
        The shown cluster of every item, 0..c-1.
    first_opening : float
        What the first exemplar in a shown cluster costs beside that; not negative.
    constant : float
        Part of every energy.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.partitions import FractionalPartition, Partition
    >>> from likewise.potentials import AugmentedCosts
    >>> serve = np.array([[np.inf, 2.0], [1.0, np.inf]])
    >>> costs = AugmentedCosts(serve, np.array([5.0, 5.0]), np.array([0, 0]), 2.0, -3.0)
    >>> costs.energy_of(Partition.from_service([1, 1]))
    5.0
    """

    serve: Floats
    opening: Floats
    cluster_of: NDArray[np.intp]
    first_opening: float
    constant: float

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.opening)

    @property
    def n_shown(self) -> int:
        """Number of shown clusters."""
        return int(self.cluster_of.max()) + 1

    def energy_of(self, partition: Partition) -> float:
        """Energy of a partition with representatives."""
        return self.energy_of_fractional(FractionalPartition.from_service(partition.served_by))

    def energy_of_fractional(self, point: FractionalPartition) -> float:
        """Energy of a point of the relaxation: a cluster pays for its most open exemplar."""
        paid = self.serve[point.servers, point.clients] @ point.amounts
        most = np.zeros(self.n_shown)
        np.maximum.at(most, self.cluster_of, point.openness)
        first = self.first_opening * float(most.sum())
        return float(paid + self.opening @ point.openness) + first + self.constant


@dataclass(frozen=True, eq=False)
class TraceScores:
    """What a partition into segments costs: scatter, and a penalty per segment.

    Energy of lajugie2014, eqs. (3) and (5), for rows x in the factor space of the metric:

        sum over segments of sum |x - mean of the segment|^2 + penalty * number of segments

    T x T is never formed.

    Parameters
    ----------
    rows : array (T, r)
        Centred, metric applied.
    penalty : float
        What every segment costs.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.partitions import Partition
    >>> from likewise.potentials import TraceScores
    >>> scores = TraceScores(np.array([[-1.0], [-1.0], [2.0]]), 0.5)
    >>> scores.energy_of(Partition.from_labels([0, 0, 1]))
    1.0
    """

    rows: Floats
    penalty: float

    @property
    def n_items(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def energy_of(self, partition: Partition) -> float:
        """Energy of a partition."""
        return self.scatter_of(partition) + self.penalty * partition.n_clusters

    def scatter_of(self, partition: Partition) -> float:
        """Its scatter alone."""
        labels, rows = partition.labels, self.rows
        if np.any(np.diff(labels) < 0):
            rows = rows[np.argsort(labels, kind="stable")]
        total = 0.0
        for own in np.split(rows, np.cumsum(partition.sizes)[:-1]):
            own = own - own.mean(axis=0)
            total += float(np.vdot(own, own))
        return total


@dataclass(frozen=True, eq=False)
class ShownSegments:
    """The segments that were shown of a sequence, as losses and decoders look at them.

    Parameters
    ----------
    labels : array (T,)
        The shown segment of every row, 0, 1, ... in the order of time.
    share : float
        What the sequence counts among others.
    """

    labels: NDArray[np.intp]
    share: float = 1.0

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """The first row of every segment, and the number of rows."""
        cuts = np.flatnonzero(np.diff(self.labels)) + 1
        return np.concatenate([[0], cuts, [len(self.labels)]])

    def terms(self, divided: bool) -> tuple[Floats, Floats, NDArray[np.intp], Floats]:
        """What overlaps of rows s to t with shown segments are made of.

        The sum over shown segments B of |[s, t) ∩ B|^2, each over |B| where ``divided``, is
        ``left[s] + right[t]``, or ``inside * (t - s)^2`` within a segment.
        """
        starts = self.starts
        sizes = np.diff(starts).astype(np.float64)
        each = 1.0 / sizes if divided else np.ones(len(sizes))
        before = np.concatenate([[0.0], np.cumsum(sizes * sizes * each)])
        own = self.labels
        rows = np.arange(len(own))
        left = (starts[own + 1] - rows) ** 2 * each[own] - before[own + 1]
        right = (rows + 1 - starts[own]) ** 2 * each[own] + before[own]
        return np.append(left, 0.0), np.append(0.0, right), own, each


@dataclass(frozen=True, eq=False)
class AugmentedScores:
    """Scores of segments minus a loss against shown segments; see `likewise.losses.segments`.

    The energy of a partition into segments is

        sum over segments of (scatter + penalty - pairs n^2 + overlap h) + constant,

    for segments of n rows, h the overlap with the shown segments, divided as in
    ``ShownSegments.terms`` and by n where ``divided``.

    Parameters
    ----------
    scores : TraceScores
        Scatter and penalty.
    shown : ShownSegments
        What the loss compares with.
    pairs, overlap : float
        As above; ``overlap`` is not negative.
    constant : float
        Part of every energy.
    divided : bool
        Which overlap is meant.
    n_segments : int or None
        Only partitions into so many segments.
    """

    scores: TraceScores
    shown: ShownSegments
    pairs: float
    overlap: float
    constant: float
    divided: bool
    n_segments: int | None = None

    @property
    def n_items(self) -> int:
        """Number of rows."""
        return self.scores.n_items

    def energy_of(self, partition: Partition) -> float:
        """Energy of a partition into segments."""
        sizes = partition.sizes.astype(np.float64)
        shown = np.diff(self.shown.starts)
        met = np.zeros((len(sizes), len(shown)))
        np.add.at(met, (partition.labels, self.shown.labels), 1.0)
        squares = met * met
        overlap = squares.sum()
        if self.divided:
            overlap = (squares / shown / sizes[:, None]).sum()
        loss = -self.pairs * float(sizes @ sizes) + self.overlap * float(overlap)
        return self.scores.energy_of(partition) + loss + self.constant


@dataclass(frozen=True, eq=False)
class GramScores:
    """The same for a matrix of similarities in the place of rows, any symmetric one.

    The scatter of a cluster is the sum of the diagonal minus the mean of its block times its size.

    Parameters
    ----------
    gram : array (T, T)
        Symmetric.
    penalty : float
        What every segment costs.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.partitions import Partition
    >>> from likewise.potentials import GramScores
    >>> x = np.array([-1.0, -1.0, 2.0])
    >>> GramScores(np.outer(x, x), 0.5).energy_of(Partition.from_labels([0, 0, 1]))
    1.0
    """

    gram: Floats
    penalty: float

    @property
    def n_items(self) -> int:
        """Number of rows."""
        return len(self.gram)

    def energy_of(self, partition: Partition) -> float:
        """Energy of a partition."""
        return self.scatter_of(partition) + self.penalty * partition.n_clusters

    def scatter_of(self, partition: Partition) -> float:
        """Its scatter alone."""
        scatter = float(np.trace(self.gram))
        for cluster in range(partition.n_clusters):
            own = np.flatnonzero(partition.labels == cluster)
            scatter -= float(self.gram[np.ix_(own, own)].sum()) / len(own)
        return scatter


def _stored(matrix: Any, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
    """Entries of a CSR array with sorted indices; infinite where nothing is stored."""
    values = np.full(len(rows), np.inf)
    n_columns = matrix.shape[1]
    stored_rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    keys = stored_rows * n_columns + matrix.indices
    wanted = rows * n_columns + columns
    at = np.searchsorted(keys, wanted)
    at_safe = np.minimum(at, len(keys) - 1)
    found = (at < len(keys)) & (keys[at_safe] == wanted) if len(keys) else np.zeros(len(rows), bool)
    values[found] = matrix.data[at_safe[found]]
    return values
