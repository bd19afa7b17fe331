"""New rows of a fitted `ExemplarClusterer`: their distances to its exemplars, and the nearest.

What is compared comes from the parameters, what it is compared with from the fitted attributes.
Rows, distances that the user computed, and paths through the fitted rows are told apart here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.estimators.exemplar_costs import summed_features
from likewise.estimators.exemplar_paths import (
    Steps,
    Waypoints,
    refuse_sparse,
    steps_between,
)
from likewise.estimators.exemplar_sets import cheapest_exemplar, nearest_exemplar
from likewise.geometry import PairFeatures, distance_matrix, resolve_features
from likewise.validation import validate_precomputed, validate_rows

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def is_precomputed(clusterer: Any) -> bool:
    """Whether X is what the user computed, and not rows."""
    return isinstance(clusterer.features, str) and clusterer.features == "precomputed"


def features_of(clusterer: Any) -> PairFeatures:
    """How a clusterer that has seen columns compares rows."""
    return resolve_features(
        clusterer.features,
        clusterer.n_features_in_,
        getattr(clusterer, "feature_names_in_", None),
    )


def waypoints_of(clusterer: Any) -> Waypoints | None:
    """What a fitted clusterer keeps about paths."""
    if clusterer.paths is None:
        return None
    return Waypoints(
        clusterer.waypoints_,
        clusterer.path_lengths_,
        float(clusterer.paths),
        float(clusterer.path_step_),
    )


def label_new(clusterer: Any, X: Any) -> Indices:
    """The label of the nearest exemplar of every new row."""
    waypoints = waypoints_of(clusterer)
    if not is_precomputed(clusterer):
        rows, features = _rows(clusterer, X)
        others = clusterer.exemplar_rows_ if waypoints is None else clusterer.waypoint_rows_
        return nearest_exemplar(
            features, features.resolve_weights(clusterer.weights), rows, others,
            _scales(clusterer, features, rows, others), clusterer.n_jobs, waypoints=waypoints,
        )  # fmt: skip
    if waypoints is None:
        return cheapest_exemplar(_precomputed(clusterer, X, clusterer.exemplars_))
    steps, n_rows = _precomputed_steps(clusterer, X, waypoints)
    return waypoints.labels(steps, n_rows, clusterer.n_jobs)


def compare_new(clusterer: Any, X: Any) -> Floats:
    """The distances from every new row to every exemplar; infinite where there is no entry."""
    waypoints = waypoints_of(clusterer)
    if is_precomputed(clusterer):
        if waypoints is not None:
            steps, n_rows = _precomputed_steps(clusterer, X, waypoints)
            return waypoints.distances(steps, n_rows, clusterer.n_jobs)
        return _filled(_precomputed(clusterer, X, clusterer.exemplars_))
    rows, features = _rows(clusterer, X)
    if waypoints is None:
        others = clusterer.exemplar_rows_
        return distance_matrix(
            features, rows, clusterer.weights, Y=others,
            scales=_scales(clusterer, features, rows, others), n_jobs=clusterer.n_jobs,
        )  # fmt: skip
    others = clusterer.waypoint_rows_
    weights = features.resolve_weights(clusterer.weights)
    steps = steps_between(
        features, weights, rows, others, _scales(clusterer, features, rows, others)
    )
    threads = 1 if features.has_callables else clusterer.n_jobs
    return waypoints.distances(steps, len(rows), threads)


def _rows(clusterer: Any, X: Any) -> tuple[Floats, PairFeatures]:
    rows = validate_rows(clusterer, X, reset=False)
    features = features_of(clusterer)
    features.check(rows)
    return rows, features


def _scales(
    clusterer: Any, features: PairFeatures, rows: Floats, others: Floats
) -> tuple[Floats, Floats] | None:
    if not features.needs_scales:
        return None
    reference, n_jobs = clusterer.reference_rows_, clusterer.n_jobs
    scales = features.local_scales(rows, reference, n_jobs=n_jobs)
    own = features.local_scales(others, reference, n_jobs=n_jobs)
    return None if scales is None or own is None else (scales, own)


def _precomputed(clusterer: Any, X: Any, items: Indices) -> Any:
    given = validate_precomputed(clusterer, X, reset=False)
    return summed_features(given.costs[:, items], clusterer.weights, is_fit=False)


def _precomputed_steps(clusterer: Any, X: Any, waypoints: Waypoints) -> tuple[Steps, int]:
    costs = validate_precomputed(clusterer, X, reset=False).costs
    if sparse.issparse(costs):
        refuse_sparse(waypoints.power)

    def steps(block: slice) -> Floats:
        part = costs[block][:, waypoints.items]
        found: Floats = summed_features(part, clusterer.weights, is_fit=False)
        return found

    return steps, costs.shape[0]


def _filled(costs: Any) -> Floats:
    if not sparse.issparse(costs):
        dense: Floats = costs
        return dense
    entries = sparse.coo_array(costs)
    filled = np.full(entries.shape, np.inf)
    filled[entries.row, entries.col] = entries.data
    return filled
