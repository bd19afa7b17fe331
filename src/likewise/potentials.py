"""Potentials: the energy of one set with the weights applied, as the arrays a decoder reads.

``AssignmentCosts`` are the potentials of exemplar clustering, eq. (1) of komodakis2011:

    E(Q) = sum over p not in Q of min over q in Q of service[p, q] + sum over q in Q of opening[q]

Whatever changes a problem maps potentials to potentials; the same decoder runs afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.arrays.namespace import namespace_of, to_device
from likewise.partitions import Partition

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
    >>> from likewise.partitions import Partition
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
