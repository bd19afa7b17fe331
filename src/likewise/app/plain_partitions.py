"""What one would have without learning: the plain distance, with as many clusters.

Features are added up as they are where they are columns, which may share a unit; comparisons, which
do not, are first divided by their means. An opening cost is looked for that leads to a given number
of clusters, so a picture shows what the distance does and not what a cost does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.estimators.exemplar import ExemplarClusterer
from likewise.geometry import distance_matrix, resolve_features
from likewise.geometry.pairs import pairs_of_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Bisections of the opening cost: each halves the range of its logarithm.
STEPS = 24


def plain_partition(learner: Any, table: Any, n_clusters: int) -> NDArray[np.intp]:
    """Labels of a set by the plain distance, in the given number of clusters where a cost gives it.

    Parameters
    ----------
    learner : fitted ExemplarLearner
        What is compared.
    table : frame or array of shape (n, p)
        The set; distances where the learner takes these.
    n_clusters : int
        The number of clusters; the nearest number to it that some cost leads to is taken.
    """
    distances = plain_distances(learner, table)
    positive = distances[distances > 0]
    if not positive.size:
        return np.zeros(len(distances), dtype=np.intp)
    low, high = float(positive.min()) * 1e-3, float(positive.max()) * len(distances)
    best: NDArray[np.intp] | None = None
    for _ in range(STEPS):
        cost = float(np.sqrt(low * high))
        labels = ExemplarClusterer("precomputed", None, cost, solver="fast").cluster([distances])[0]
        count = len(np.unique(labels))
        if best is None or abs(count - n_clusters) < abs(len(np.unique(best)) - n_clusters):
            best = labels
        if count == n_clusters:
            break
        low, high = (cost, high) if count > n_clusters else (low, cost)
    return np.asarray(best)


def plain_distances(learner: Any, table: Any) -> NDArray[np.float64]:
    """Distances of a set without what was learnt."""
    rows = np.asarray(table, dtype=np.float64)
    if isinstance(learner.features, str) and learner.features == "precomputed":
        return rows if rows.ndim == 2 else rows.sum(axis=2)
    names = getattr(learner, "feature_names_in_", None)
    features = resolve_features(learner.features, rows.shape[1], names)
    weights = np.ones(len(features.names))
    if learner.features != "columns":
        means = pairs_of_features(features, rows).means()
        weights = np.divide(1.0, means, out=np.zeros_like(means), where=means > 0)
    found: NDArray[np.float64] = distance_matrix(features, rows, weights)
    return found
