"""From what `ExemplarLearner` is given to training sets, and to new sets as rows or features."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from likewise.errors import InputError, InputTypeError
from likewise.estimators.examples import (
    TrainingSet,
    precomputed_pairs,
    shown_rows,
    split_labels,
    warn_of_silent_sets,
)
from likewise.estimators.learner_options import described, is_columns, is_precomputed
from likewise.estimators.learning import View
from likewise.estimators.opening_features import Standardised, opening_features_of
from likewise.geometry.compare import Compare, name_of
from likewise.geometry.features import PairFeatures, resolve_features
from likewise.geometry.pairs import ColumnPairs, Pairs, pairs_of_features
from likewise.persistence.checkpoint import Checkpoint, fingerprint_of
from likewise.validation import (
    as_sets,
    validate_choice,
    validate_int,
    validate_precomputed,
    validate_rows,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ShownSets:
    """What was shown, in every geometry; and how opening features were standardised."""

    views: list[View]
    names: list[str]
    openings: Standardised


def n_rows(table: Any) -> int:
    """The number of rows of a table of any kind."""
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def shown_sets(learner: Any, X: Any, y: Any, groups: Any) -> ShownSets:
    """The training sets; records the columns of X on the learner."""
    precomputed = is_precomputed(learner.features)
    sets, _ = as_sets(X, groups, square=precomputed)
    labels = split_labels(y, X, groups, [n_rows(part) for part in sets])
    tables = tables_of(learner, sets)
    shown = [shown_rows(own) for own in labels]
    telling = warn_of_silent_sets([len(rows) for rows, _ in shown])
    features = opening_features_of(learner, tables, groups, learner.opening_features)
    openings = Standardised.of([features[k][shown[k][0]] for k in telling])
    views: list[View] = []
    names: list[str] = []
    for local_scale in _local_scales(learner, [shown[k] for k in telling]):
        parts = []
        for k, opening in zip(telling, openings.sets, strict=True):
            pairs, names = _pairs(learner, tables[k], k, local_scale)
            rows, clusters = shown[k]
            if len(rows) < pairs.n_items:
                pairs = pairs.restricted_to(rows)
            parts.append(TrainingSet(pairs, clusters, opening))
        views.append(View(parts, local_scale))
    return ShownSets(views, names, openings)


def checkpoint_of(learner: Any, shown: ShownSets, seed: int) -> Checkpoint | None:
    """The checkpoint of this training, if one is wanted."""
    if learner.checkpoint is None:
        return None
    if not isinstance(learner.checkpoint, (str, os.PathLike)):
        raise InputTypeError(f"checkpoint must be a path or None; got {learner.checkpoint!r}.")
    arrays = []
    for view in shown.views:
        for part in view.sets:
            pairs = part.pairs
            values = pairs.rows if isinstance(pairs, ColumnPairs) else pairs.stack
            arrays += [values, part.shown, part.openings]
    return Checkpoint(learner.checkpoint, fingerprint_of(arrays, described(learner, seed)))


def learnt_features(learner: Any, n: int | None = None) -> Any:
    """``features=`` of a clusterer that compares as learnt, local scales fit for sets of n rows."""
    if learner.local_scale_ is None or is_columns(learner.features):
        return learner.features
    k = learner.local_scale_ if n is None else max(1, min(learner.local_scale_, n - 1))
    return _with_local_scale(learner.features, k)


def tables_of(learner: Any, sets: Sequence[Any], *, reset: bool = True) -> list[Any]:
    """The sets, checked; ``reset`` records their columns, otherwise they must have the same."""
    if is_precomputed(learner.features):
        tables = [validate_precomputed(BaseEstimator(), part, reset=True).costs for part in sets]
        counts = {1 if table.ndim == 2 else table.shape[2] for table in tables}
        expected = counts if reset else {len(learner.weights_)}
        if len(counts) > 1 or counts != expected:
            raise InputError(
                f"all sets must have the same pair features; found {sorted(counts)} features, "
                f"expected {sorted(expected)}."
            )
        if reset:
            learner.n_features_in_ = counts.pop()
        return tables
    alone = reset and len(sets) == 1
    return [
        validate_rows(learner, part, reset=reset and k == 0, min_rows=2 if alone else 1)
        for k, part in enumerate(sets)
    ]


def table_of(learner: Any, X: Any) -> Any:
    """One new set, checked."""
    return tables_of(learner, [X], reset=False)[0]


def resolved(learner: Any, n: int) -> PairFeatures:
    """How rows of a new set of n rows are compared."""
    return _resolved(learner, learner.local_scale_, n)


def _pairs(
    learner: Any, table: Any, place: int, local_scale: int | None
) -> tuple[Pairs, list[str]]:
    """The pair features of one training set, and their names."""
    if is_precomputed(learner.features):
        stack = precomputed_pairs(table, place)
        return stack, [f"feature {f}" for f in range(stack.n_features)]
    features = _resolved(learner, local_scale, len(table))
    return pairs_of_features(features, table, n_jobs=learner.n_jobs), features.names


def _resolved(learner: Any, local_scale: int | None, n: int) -> PairFeatures:
    features = learner.features
    if local_scale is not None and not is_columns(features):
        features = _with_local_scale(features, max(1, min(local_scale, n - 1)))
    return resolve_features(
        features, learner.n_features_in_, getattr(learner, "feature_names_in_", None)
    )


def _with_local_scale(features: Any, k: int) -> list[Compare]:
    if isinstance(features, str):
        features = Compare(features, features)
    elif callable(features):
        features = Compare(name_of(features), features)
    listed = [features] if isinstance(features, Compare) else features
    return [
        item if item.local_scale is not None
        else Compare(item.name, item.distance, item.columns, local_scale=k)
        for item in listed
    ]  # fmt: skip


def _local_scales(learner: Any, shown: Sequence[tuple[Indices, Indices]]) -> list[int | None]:
    """The geometries to try."""
    wish = learner.local_scale
    unscaled = is_precomputed(learner.features) or is_columns(learner.features)
    if isinstance(wish, str):
        validate_choice("local_scale", wish, ["auto"])
        if unscaled or learner.strength != "auto":
            return [None]
        sizes = [len(rows) / (int(clusters.max()) + 1) for rows, clusters in shown]
        return [None, max(1, round(float(np.mean(sizes)) / 2.0))]
    if wish is None:
        return [None]
    if unscaled:
        raise InputError(
            f"local_scale={wish!r} needs comparisons of rows, features=[Compare(...), ...]; leave "
            "it at 'auto' for columns and precomputed features, which have no scale of their own."
        )
    return [validate_int("local_scale", wish, 1)]
