"""Geometry: rows to pair features, distances and neighbours."""

from __future__ import annotations

from likewise.geometry.features import (
    Compare,
    PairFeatures,
    resolve_features,
)
from likewise.geometry.matrices import combine_stack, distance_matrix
from likewise.geometry.neighbours import candidate_graph, link_to, merge_graphs

__all__ = [
    "Compare",
    "PairFeatures",
    "candidate_graph",
    "combine_stack",
    "distance_matrix",
    "link_to",
    "merge_graphs",
    "resolve_features",
]
