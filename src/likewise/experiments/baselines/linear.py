"""Linear maps learnt in closed form, after which rows are compared by the Euclidean distance.

Labels only compare rows of one set, so every scatter matrix is summed over the sets.

- RCA: N. Shental, T. Hertz, D. Weinshall, M. Pavel, "Adjustment learning and relevant component
  analysis", ECCV 2002. The chunklets are the clusters that are shown.
- LFDA: M. Sugiyama, "Dimensionality reduction of multimodal labeled data by local Fisher
  discriminant analysis", Journal of Machine Learning Research 8, 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from scipy.linalg import eigh

from likewise.experiments.baselines.distances import squared_distances
from likewise.experiments.baselines.tuned import Floats, Labels

# Directions in which the rows vary less than this, relative to the largest, count as constant.
SMALLEST_VARIANCE = 1e-10


class RelevantComponents:
    """RCA: whiten the covariance within clusters.

    Attributes
    ----------
    map_ : array of shape (p, p)
        ``X @ map_`` are the coordinates to compare.
    """

    def fit(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Learn the map."""
        within = within_covariance(sets, ys)
        values, vectors = np.linalg.eigh(within)
        varies = values > SMALLEST_VARIANCE * values[-1]
        roots = np.where(varies, 1.0 / np.sqrt(np.where(varies, values, 1.0)), 0.0)
        self.map_ = (vectors * roots) @ vectors.T
        return self

    def matrix(self, X: Floats) -> Floats:
        """Distances between all rows of one set."""
        return squared_distances(X @ self.map_)


class LocalFisher:
    """LFDA: pull near rows of a cluster together, push clusters apart.

    Parameters
    ----------
    n_neighbors : int, default=7
        Two rows of a cluster count as near by the scale of their distances to this neighbour
        within the cluster.
    n_components : int, default=None
        Directions to keep; None keeps all.

    Attributes
    ----------
    map_ : array of shape (p, n_components)
        The generalised eigenvectors, each times the root of its eigenvalue: what separates the
        clusters more counts more.
    """

    def __init__(self, n_neighbors: int = 7, n_components: int | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components

    def fit(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Learn the map."""
        pairs = [local_scatters(X, y, self.n_neighbors) for X, y in zip(sets, ys, strict=True)]
        between = np.sum([pair[0] for pair in pairs], axis=0)
        within = np.sum([pair[1] for pair in pairs], axis=0)
        # Keeps the eigenproblem definite where a column is constant within clusters.
        ridge = SMALLEST_VARIANCE * np.trace(within) / len(within)
        values, vectors = eigh(between, within + ridge * np.eye(len(within)))
        kept = slice(None) if self.n_components is None else slice(self.n_components)
        order = np.argsort(values)[::-1][kept]
        self.map_ = vectors[:, order] * np.sqrt(np.maximum(values[order], 0.0))
        return self

    def matrix(self, X: Floats) -> Floats:
        """Distances between all rows of one set."""
        return squared_distances(X @ self.map_)


def within_covariance(sets: Sequence[Floats], ys: Sequence[Labels]) -> Floats:
    """Covariance of the rows around the mean of their cluster, over all sets."""
    centred = []
    for X, y in zip(sets, ys, strict=True):
        for label in np.unique(y):
            rows = X[y == label]
            centred.append(rows - rows.mean(axis=0))
    stacked = np.vstack(centred)
    return stacked.T @ stacked / len(stacked)


def local_scatters(X: Floats, y: Labels, n_neighbors: int) -> tuple[Floats, Floats]:
    """Local scatter between and within the clusters of one set.

    ``1/2 sum_pq W[p, q] (x_p - x_q)(x_p - x_q)^T``, where for n rows, n_c of them in a cluster, and
    affinities A: within ``A / n_c`` and between ``A (1/n - 1/n_c)`` for two rows of a cluster;
    within 0 and between ``1/n`` for two of different clusters.
    """
    n = len(X)
    same = np.zeros((n, n))
    between = np.full((n, n), 1.0 / n)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        block = np.ix_(rows, rows)
        near = affinities(squared_distances(X[rows]), n_neighbors)
        same[block] = near / len(rows)
        between[block] = near * (1.0 / n - 1.0 / len(rows))
    return _scatter(X, between), _scatter(X, same)


def affinities(squared: Floats, n_neighbors: int) -> Floats:
    """``exp(-d_pq^2 / (s_p s_q))``, s the distance to the n-th neighbour in the same cluster."""
    place = min(n_neighbors, len(squared) - 1)
    scale = np.sqrt(np.partition(squared, place, axis=1)[:, place])
    product = np.outer(scale, scale)
    safe = np.where(product > 0, product, 1.0)
    # Rows that coincide with so many others are at scale 0: near to their equals only.
    return np.where(product > 0, np.exp(-squared / safe), (squared == 0).astype(float))


def _scatter(X: Floats, weights: Floats) -> Floats:
    """``1/2 sum_pq W_pq (x_p - x_q)(x_p - x_q)^T`` for symmetric weights."""
    laplacian = np.diag(weights.sum(axis=1)) - weights
    return X.T @ laplacian @ X
