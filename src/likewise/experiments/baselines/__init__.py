"""What the learner is compared with: classes with ``fit(sets, ys)`` and ``cluster(sets)``."""

from __future__ import annotations

from likewise.experiments.baselines.distances import (
    AverageDistance,
    BestSingleDistance,
    KnownColumns,
    PlainDistance,
    SingleDistance,
    StandardisedDistance,
)
from likewise.experiments.baselines.linear import LocalFisher, RelevantComponents
from likewise.experiments.baselines.svm_cluster import SVMCluster
from likewise.experiments.baselines.tuned import TunedExemplars

__all__ = [
    "AverageDistance",
    "BestSingleDistance",
    "KnownColumns",
    "LocalFisher",
    "PlainDistance",
    "RelevantComponents",
    "SVMCluster",
    "SingleDistance",
    "StandardisedDistance",
    "TunedExemplars",
]
