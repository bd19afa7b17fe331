"""Show it how you group things, and it groups new things likewise.

Public names are loaded on first use, so ``import likewise`` stays light: neither scikit-learn nor
numba, matplotlib or a table library is imported before it is needed.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "ChangePointDetector": "likewise.estimators.change_points",
    "ChangePointLearner": "likewise.estimators.change_point_learner",
    "Compare": "likewise.geometry.features",
    "ExemplarClusterer": "likewise.estimators.exemplar",
    "ExemplarLearner": "likewise.estimators.exemplar_learner",
    "PenaltyRegressor": "likewise.estimators.penalty_regressor",
    "RegionLabels": "likewise.supervision",
    "errors": "likewise.errors",
    "load": "likewise.persistence.format",
    "metrics": "likewise.metrics",
    "plots": "likewise.plots",
    "save": "likewise.persistence.format",
}

__all__ = [
    "ChangePointDetector",
    "ChangePointLearner",
    "Compare",
    "ExemplarClusterer",
    "ExemplarLearner",
    "PenaltyRegressor",
    "RegionLabels",
    "__version__",
    "errors",
    "load",
    "metrics",
    "plots",
    "save",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'likewise' has no attribute {name!r}")
    module = importlib.import_module(home)
    value = module if home == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
