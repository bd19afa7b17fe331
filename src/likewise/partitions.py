"""Partition: which items belong together.

The word **partition** of the library. A partition holds canonical labels 0..k-1 and, where clusters
are represented by one of their items, the representative of each cluster. Every producer of labels
goes through this class, so labels mean the same everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Partition:
    """Canonical labels of n items and the representative of each cluster.

    Parameters
    ----------
    labels : array (n,)
        Labels 0..k-1, every one of them used.
    representatives : array (k,) or None
        ``representatives[c]`` is the item that stands for cluster c, itself a member of it.

    Examples
    --------
    >>> from likewise.partitions import Partition
    >>> partition = Partition.from_service([2, 2, 2, 3])
    >>> partition.labels, partition.representatives
    (array([0, 0, 0, 1]), array([2, 3]))
    """

    labels: Indices
    representatives: Indices | None = None

    @classmethod
    def from_labels(cls, labels: ArrayLike) -> Partition:
        """Partition from any labels, numbered by first appearance."""
        values, first, inverse = np.unique(
            np.asarray(labels), return_index=True, return_inverse=True
        )
        rank = np.empty(len(values), dtype=np.intp)
        rank[np.argsort(first)] = np.arange(len(values))
        return cls(rank[inverse])

    @classmethod
    def from_service(cls, served_by: ArrayLike, weight: ArrayLike | None = None) -> Partition:
        """Partition from the representative of every item.

        Clusters are numbered by decreasing weight (number of items when ``weight`` is None), equal
        ones in the order of their representatives.
        """
        service = np.asarray(served_by, dtype=np.intp)
        representatives, position = np.unique(service, return_inverse=True)
        total = np.bincount(position, weights=None if weight is None else np.asarray(weight))
        by_weight = np.argsort(-total, kind="stable")
        label_of = np.empty(len(by_weight), dtype=np.intp)
        label_of[by_weight] = np.arange(len(by_weight))
        return cls(label_of[position], representatives[by_weight])

    @classmethod
    def from_change_points(cls, change_points: ArrayLike, n_items: int) -> Partition:
        """Contiguous segments; a change point is the first item of a segment after the first."""
        marks = np.zeros(n_items, dtype=np.intp)
        marks[np.asarray(change_points, dtype=np.intp)] = 1
        return cls(np.cumsum(marks))

    @property
    def change_points(self) -> Indices:
        """Items whose label is not that of the item before."""
        return np.flatnonzero(np.diff(self.labels)) + 1

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.labels)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1 if len(self.labels) else 0

    @property
    def sizes(self) -> Indices:
        """Number of items of each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    @property
    def exemplars(self) -> Indices:
        """The representatives; an error where there are none."""
        if self.representatives is None:
            raise ValueError("This partition has no representatives.")
        return self.representatives

    @property
    def served_by(self) -> Indices:
        """The representative of every item."""
        return self.exemplars[self.labels]

    @property
    def code(self) -> Indices:
        """The partition as one array: representatives of items where there are any, else labels."""
        return self.labels if self.representatives is None else self.served_by


@dataclass(frozen=True, eq=False)
class FractionalPartition:
    """A feasible point of the relaxation: how far each item is open, and who serves whom.

    A whole one is a partition with exemplars. ``clients`` are served by ``servers``, the amounts of
    each item adding up to one with its own openness: x_qq and x_pq of komodakis2011, eq. (3).

    Examples
    --------
    >>> from likewise.partitions import FractionalPartition
    >>> FractionalPartition.from_service([1, 1, 2]).openness
    array([0., 1., 1.])
    """

    openness: Floats
    clients: Indices
    servers: Indices
    amounts: Floats

    @classmethod
    def from_service(cls, served_by: ArrayLike) -> FractionalPartition:
        """The whole point of a partition, given who serves each item."""
        service = np.asarray(served_by, dtype=np.intp)
        openness = np.zeros(len(service))
        openness[service] = 1.0
        clients = np.flatnonzero(service != np.arange(len(service)))
        return cls(openness, clients, service[clients], np.ones(len(clients)))
