"""What ``likewise inspect`` does, without a terminal: a model file -> what it holds."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import likewise.persistence.format as model_files
from likewise.app.learning import LearntWeight, shares
from likewise.app.learning_changes import learnt_facts
from likewise.app.reports import plain
from likewise.estimators.change_point_learner import ChangePointLearner
from likewise.estimators.change_points import ChangePointDetector
from likewise.estimators.exemplar_learner import ExemplarLearner


@dataclass(frozen=True, kw_only=True)
class ModelReport:
    """What the file of a clusterer holds."""

    file: str
    model: str
    parameters: dict[str, Any]
    fitted: bool
    clusters: int | None
    energy: float | None
    lower_bound: float | None
    gap: float | None
    bound_scope: str | None
    status: str | None
    opening_cost: float | list[float] | None
    rows: int | None
    columns: list[str] | int | None
    library_version: str
    file_format: int


@dataclass(frozen=True, kw_only=True)
class LearnerReport:
    """What the file of a learner holds."""

    file: str
    model: str
    parameters: dict[str, Any]
    fitted: bool
    columns: list[str] | int | None
    weights: list[LearntWeight] | None
    held_out: str | None
    opening_cost: float | None
    size_exponent: float | None
    rows_seen: list[int] | None
    clusters_seen: float | None
    chosen: str | None
    agreement: float | None
    validation: dict[str, list[Any]] | None
    status: str | None
    passes: int | None
    gap: float | None
    library_version: str
    file_format: int


@dataclass(frozen=True, kw_only=True)
class DetectorReport:
    """What the file of a detector of change points holds."""

    file: str
    model: str
    parameters: dict[str, Any]
    fitted: bool
    rows: int | None
    columns: list[str] | int | None
    segments: int | None
    change_points: list[int] | None
    cost: float | None
    library_version: str
    file_format: int


@dataclass(frozen=True, kw_only=True)
class LearntChanges:
    """What a learner of changes has learnt."""

    features: str
    rows_per_block: int
    rows_seen: list[int]
    metric: str
    criterion: str
    chosen: str
    status: str
    passes: int
    objective: float
    lower_bound: float
    gap: float
    penalty: float
    penalty_depends: bool
    loss: float
    one_segment_loss: float
    weights: list[FeatureWeight]
    validation: dict[str, list[Any]]
    features_validation: dict[str, list[Any]]


@dataclass(frozen=True)
class FeatureWeight:
    """The weight of one feature, in its own units."""

    feature: str
    weight: float


@dataclass(frozen=True, kw_only=True)
class SeriesLearnerReport:
    """What the file of a learner of changes holds; nothing in `fitted` where it is not."""

    file: str
    model: str
    parameters: dict[str, Any]
    columns: list[str] | int | None
    fitted: LearntChanges | None
    library_version: str
    file_format: int


def run_inspect(path: Path) -> ModelReport | LearnerReport | DetectorReport | SeriesLearnerReport:
    """Load a model file and describe it.

    Parameters
    ----------
    path : Path
        A ``.likewise`` file.

    Returns
    -------
    ModelReport, LearnerReport, DetectorReport or SeriesLearnerReport
        Fields of what was fitted are None where the model was saved before it was fitted.
    """
    model = model_files.load(path)
    # Read after the audit of `load`: what the file says about itself is in order.
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    fitted = vars(model)
    names = fitted.get("feature_names_in_")
    common: dict[str, Any] = {
        "file": str(path),
        "model": type(model).__name__,
        "parameters": {k: plain(value) for k, value in model.get_params(deep=False).items()},
        "columns": plain(fitted.get("n_features_in_") if names is None else names),
        "library_version": manifest["version"],
        "file_format": manifest["format"],
    }
    if isinstance(model, ChangePointDetector):
        return _detector_report(model, common)
    if isinstance(model, ChangePointLearner):
        return SeriesLearnerReport(**common, fitted=_learnt_changes(model))
    common |= {
        "status": plain(fitted.get("status_")),
        "gap": plain(fitted.get("gap_")),
        "opening_cost": plain(fitted.get("opening_cost_")),
    }
    if isinstance(model, ExemplarLearner):
        return _learner_report(model, common)
    labels = fitted.get("labels_")
    return ModelReport(
        **common,
        fitted=labels is not None,
        clusters=plain(fitted.get("n_clusters_")),
        energy=plain(fitted.get("energy_")),
        lower_bound=plain(fitted.get("lower_bound_")),
        bound_scope=plain(fitted.get("bound_scope_")),
        rows=None if labels is None else len(labels),
    )


def _learnt_changes(model: ChangePointLearner) -> LearntChanges | None:
    if "weights_" not in vars(model):
        return None
    weights = [
        FeatureWeight(name, float(weight))
        for name, weight in zip(model.feature_names_, model.weights_, strict=True)
    ]
    rows = [blocks * model.rows_per_block_ for blocks in model.n_blocks_seen_]
    return LearntChanges(**learnt_facts(model), weights=weights, rows_seen=rows)


def _detector_report(model: ChangePointDetector, common: dict[str, Any]) -> DetectorReport:
    fitted = vars(model)
    cuts = fitted.get("change_points_")
    return DetectorReport(
        **common,
        fitted=cuts is not None,
        rows=None if cuts is None else len(model.labels_),
        segments=None if cuts is None else len(cuts) + 1,
        change_points=plain(cuts),
        cost=plain(fitted.get("cost_")),
    )


def _learner_report(model: ExemplarLearner, common: dict[str, Any]) -> LearnerReport:
    fitted = vars(model)
    is_fitted = "weights_" in fitted
    return LearnerReport(
        **common,
        fitted=is_fitted,
        weights=shares(model) if is_fitted else None,
        held_out=plain(fitted.get("held_out_")),
        size_exponent=plain(fitted.get("size_exponent_")),
        rows_seen=plain(fitted.get("n_rows_seen_")),
        clusters_seen=plain(fitted.get("n_clusters_seen_")),
        chosen=plain(fitted.get("chosen_")),
        agreement=plain(fitted.get("agreement_")),
        validation=plain(fitted.get("validation_")),
        passes=plain(fitted.get("n_iter_")),
    )
