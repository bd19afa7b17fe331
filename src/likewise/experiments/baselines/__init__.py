"""What the learners are compared with.

For clusters, classes with ``fit(sets, ys)`` and ``cluster(sets)``; for change points, classes with
``fit(series, labels)`` and ``metric_``.
"""

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
from likewise.experiments.baselines.segment_metrics import (
    EuclideanMetric,
    KnownSubspace,
    PairMetric,
    PrincipalMetric,
    RelevantMetric,
)
from likewise.experiments.baselines.svm_cluster import SVMCluster
from likewise.experiments.baselines.tuned import TunedExemplars

__all__ = [
    "AverageDistance",
    "BestSingleDistance",
    "EuclideanMetric",
    "KnownColumns",
    "KnownSubspace",
    "LocalFisher",
    "PairMetric",
    "PlainDistance",
    "PrincipalMetric",
    "RelevantComponents",
    "RelevantMetric",
    "SVMCluster",
    "SingleDistance",
    "StandardisedDistance",
    "TunedExemplars",
]
