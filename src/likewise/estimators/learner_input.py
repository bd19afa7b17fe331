"""What `ExemplarLearner` is given: parameters checked, sets as training sets, new sets as distances."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from likewise.arrays.random import draw_seed
from likewise.errors import InputError, InputTypeError
from likewise.estimators.examples import (
    TrainingSet,
    precomputed_pairs,
    shown_rows,
    split_labels,
    warn_of_silent_sets,
)
from likewise.estimators.learning import View, Wishes
from likewise.estimators.training import Settings
from likewise.geometry.compare import Compare, name_of, resolve_columns
from likewise.geometry.features import PairFeatures, resolve_features
from likewise.geometry.pairs import pairs_of_features
from likewise.learners.regularisers import Constraint, Nonnegative, Regulariser
from likewise.learners.subgradient import DEFAULT_STEP
from likewise.persistence.checkpoint import Checkpoint, fingerprint_of
from likewise.validation import (
    as_sets,
    validate_choice,
    validate_int,
    validate_number,
    validate_precomputed,
    validate_rows,
)

Floats = NDArray[np.float64]

OPTIMISERS = ("auto", "subgradient", "stochastic")
# What does not change the result of a training, only whether and when it ends.
NOT_IN_FINGERPRINT = {"n_jobs", "callbacks", "checkpoint", "max_iter"}


@dataclass(frozen=True, eq=False)
class ShownSets:
    """What was shown, in every geometry, and how opening features were standardised."""

    views: list[View]
    names: list[str]
    opening_means: Floats = field(default_factory=lambda: np.empty(0))
    opening_spread: Floats = field(default_factory=lambda: np.empty(0))


def is_precomputed(features: Any) -> bool:
    """Whether the user computes pair features."""
    return isinstance(features, str) and features == "precomputed"


def is_columns(features: Any) -> bool:
    """Whether there is one feature per column."""
    return isinstance(features, str) and features == "columns"


def n_rows(table: Any) -> int:
    """The number of rows of a table of any kind."""
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def checked(learner: Any) -> tuple[Settings, Wishes, list[Callable[..., object]]]:
    """The parameters, checked."""
    fixed = None
    if not (isinstance(learner.opening_cost, str) and learner.opening_cost == "learn"):
        if isinstance(learner.opening_cost, str):
            raise InputError(
                f"opening_cost must be 'learn' or a number; got {learner.opening_cost!r}."
            )
        fixed = validate_number("opening_cost", learner.opening_cost)
    step = DEFAULT_STEP if learner.step is None else learner.step
    if not callable(step):
        step = validate_number("step", step, 0.0, above_low=True)
    settings = Settings(
        alpha=validate_number("alpha", learner.alpha, 0.0),
        beta=validate_number("beta", learner.beta, 0.0),
        opening_cost=fixed,
        constraint=_constraint(learner.constraint),
        optimiser=validate_choice("optimiser", learner.optimiser, OPTIMISERS),
        step=step,
        rounds=validate_int("rounds", learner.rounds, 1),
        max_iter=validate_int("max_iter", learner.max_iter, 1),
        tol=validate_number("tol", learner.tol, 0.0),
        n_jobs=learner.n_jobs,
        seed=draw_seed(learner.random_state),
    )
    wishes = Wishes(
        regulariser=_regulariser(learner.regulariser),
        strength=_or_auto("strength", learner.strength, 0.0),
        paths=_paths(learner.paths, fixed),
        size_exponent=_or_auto("size_exponent", learner.size_exponent, 0.0),
        commensurable=is_columns(learner.features),
    )
    callbacks = learner.callbacks
    callbacks = [] if callbacks is None else [callbacks] if callable(callbacks) else callbacks
    if not isinstance(callbacks, (list, tuple)) or not all(map(callable, callbacks)):
        raise InputTypeError(
            f"callbacks must be None, a callable or a list of callables; got {learner.callbacks!r}. "
            "Pass for instance callbacks=print."
        )
    return settings, wishes, list(callbacks)


def shown_sets(learner: Any, X: Any, y: Any, groups: Any, wishes: Wishes) -> ShownSets:
    """The training sets; records the columns of X on the learner."""
    precomputed = is_precomputed(learner.features)
    sets, _ = as_sets(X, groups, square=precomputed)
    labels = split_labels(y, X, groups, [n_rows(part) for part in sets])
    tables = _tables(learner, sets)
    shown = [shown_rows(own) for own in labels]
    telling = warn_of_silent_sets([len(rows) for rows, _ in shown])
    openings, means, spread = _openings(learner, tables, [shown[k][0] for k in telling], telling)
    views, names = [], []
    for local_scale in _local_scales(learner, shown, telling):
        parts = []
        for place, k in enumerate(telling):
            rows, clusters = shown[k]
            if precomputed:
                pairs = precomputed_pairs(tables[k], k).restricted_to(rows)
                names = [f"feature {f}" for f in range(pairs.n_features)]
            else:
                features = _resolved(learner, local_scale, len(tables[k]))
                pairs = pairs_of_features(features, tables[k], n_jobs=learner.n_jobs)
                pairs = pairs if len(rows) == len(tables[k]) else pairs.restricted_to(rows)
                names = features.names
            parts.append(TrainingSet(pairs, clusters, openings[place]))
        views.append(View(parts, local_scale))
    return ShownSets(views, names, means, spread)


def checkpoint_of(learner: Any, shown: ShownSets) -> Checkpoint | None:
    """The checkpoint of this training, if one is wanted."""
    if learner.checkpoint is None:
        return None
    if not isinstance(learner.checkpoint, (str, os.PathLike)):
        raise InputTypeError(f"checkpoint must be a path or None; got {learner.checkpoint!r}.")
    arrays = []
    for view in shown.views:
        for part in view.sets:
            own = part.pairs
            arrays += [getattr(own, "rows", getattr(own, "stack", None)), part.shown, part.openings]
    words = {
        name: name_of(value) if callable(value) else value
        for name, value in learner.get_params(deep=False).items()
        if name not in NOT_IN_FINGERPRINT
    }
    return Checkpoint(learner.checkpoint, fingerprint_of(arrays, repr(sorted(words.items()))))


def learnt_features(learner: Any, n: int | None = None) -> Any:
    """``features=`` of a clusterer that compares as learnt; local scales fit into sets of n rows."""
    if learner.local_scale_ is None or is_columns(learner.features):
        return learner.features
    k = learner.local_scale_ if n is None else max(1, min(learner.local_scale_, n - 1))
    return _with_local_scale(learner.features, k)


def profiles_of(learner: Any, sets: Sequence[Any], arrays: Any) -> list[Floats | float]:
    """What the opening cost of every row of new sets is multiplied with."""
    if learner.opening_features is None:
        return [1.0] * len(sets)
    if _is_list_of_arrays(learner.opening_features):
        if arrays is None:
            raise InputError(
                "opening_features were arrays in training, so new sets need theirs: pass "
                "cluster(X, opening_features=[...]) with one array (n, g) per set."
            )
        features = [_opening_array(part, k) for k, part in enumerate(arrays)]
    else:
        features = _opening_columns(learner, _tables(learner, sets, reset=False))
    for k, (part, own) in enumerate(zip(features, sets, strict=True)):
        if part.shape != (n_rows(own), len(learner.opening_weights_)):
            raise InputError(
                f"opening_features[{k}] must have shape {(n_rows(own), len(learner.opening_weights_))}"
                f"; got {part.shape}."
            )
    return [1.0 + (part - learner.opening_means_) @ learner.opening_weights_ for part in features]


def table_of(learner: Any, X: Any) -> Any:
    """One new set, checked."""
    return _tables(learner, [X], reset=False)[0]


def resolved(learner: Any, n: int) -> PairFeatures:
    """How rows of a new set of n rows are compared."""
    return _resolved(learner, learner.local_scale_, n)


def _tables(learner: Any, sets: Sequence[Any], *, reset: bool = True) -> list[Any]:
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


def _local_scales(learner: Any, shown: Sequence[Any], telling: Sequence[int]) -> list[int | None]:
    """The geometries to try."""
    wish = learner.local_scale
    if is_precomputed(learner.features) or is_columns(learner.features):
        if isinstance(wish, (int, np.integer)) and not isinstance(wish, bool):
            raise InputError(
                f"local_scale={wish} needs comparisons of rows, features=[Compare(...), ...]; "
                "leave it at 'auto' for columns and precomputed features, which have no scale of "
                "their own."
            )
        return [None]
    if wish is None:
        return [None]
    if isinstance(wish, str):
        validate_choice("local_scale", wish, ["auto"])
        if learner.strength != "auto":
            return [None]
        sizes = [len(shown[k][0]) / (int(shown[k][1].max()) + 1) for k in telling]
        return [None, max(1, round(float(np.mean(sizes)) / 2.0))]
    return [validate_int("local_scale", wish, 1)]


def _openings(
    learner: Any, tables: Sequence[Any], rows: Sequence[Any], telling: Sequence[int]
) -> tuple[list[Floats], Floats, Floats]:
    """Standardised opening features of the shown rows, with their means and spreads."""
    if learner.opening_features is None:
        return [np.empty((len(own), 0)) for own in rows], np.empty(0), np.empty(0)
    if _is_list_of_arrays(learner.opening_features):
        every = [_opening_array(part, k) for k, part in enumerate(learner.opening_features)]
    else:
        every = _opening_columns(learner, tables)
    if len(every) != len(tables) or any(
        len(part) != n_rows(table) for part, table in zip(every, tables, strict=False)
    ):
        raise InputError(
            "opening_features must have one array (n, g) per set, a row per row of the set; got "
            f"{[part.shape for part in every][:5]} for sets of {[n_rows(t) for t in tables][:5]} "
            "rows."
        )
    parts = [every[k][own] for k, own in zip(telling, rows, strict=True)]
    stacked = np.vstack(parts)
    means, spread = stacked.mean(axis=0), stacked.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    return [(part - means) / spread for part in parts], means, spread


def _is_list_of_arrays(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and np.ndim(value[0]) > 0


def _opening_array(part: Any, place: int) -> Floats:
    array = np.asarray(part, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or not np.isfinite(array).all():
        raise InputError(
            f"opening_features[{place}] must be finite numbers of shape (n, g); got shape "
            f"{array.shape}."
        )
    return array


def _opening_columns(learner: Any, tables: Sequence[Any]) -> list[Floats]:
    if is_precomputed(learner.features):
        raise InputError(
            "opening_features names columns, but features='precomputed' has none: pass a list of "
            "arrays (n, g), one per set."
        )
    names = getattr(learner, "feature_names_in_", None)
    columns = Compare("opening_features", "sqeuclidean", learner.opening_features).columns
    chosen = resolve_columns(
        columns, learner.n_features_in_, None if names is None else list(names), "opening_features"
    )
    return [table if chosen is None else table[:, chosen] for table in tables]


def _regulariser(value: Any) -> Any:
    if isinstance(value, str):
        return validate_choice("regulariser", value, ["auto", "l1", "l2"])
    if isinstance(value, Regulariser):
        return value
    raise InputTypeError(
        "regulariser must be 'auto', 'l1', 'l2' or an object with value(weights) and "
        f"gradient(weights); got {value!r}."
    )


def _constraint(value: Any) -> Any:
    if isinstance(value, str):
        validate_choice("constraint", value, ["nonnegative", "none"])
        return Nonnegative() if value == "nonnegative" else None
    if isinstance(value, Constraint):
        return value
    raise InputTypeError(
        "constraint must be 'nonnegative', 'none' or an object with project(weights); got "
        f"{value!r}."
    )


def _or_auto(name: str, value: Any, low: float) -> float | None:
    if isinstance(value, str):
        validate_choice(name, value, ["auto"])
        return None
    return validate_number(name, value, low)


def _paths(value: Any, fixed: float | None) -> float | str | None:
    if isinstance(value, str):
        validate_choice("paths", value, ["auto"])
        # A fixed opening cost is in units of the distances themselves.
        return "auto" if fixed is None else None
    return None if value is None else validate_number("paths", value, 1.0)


__all__ = [
    "ShownSets", "checked", "checkpoint_of", "is_columns", "is_precomputed", "learnt_features",
    "n_rows", "profiles_of", "resolved", "shown_rows", "shown_sets", "split_labels", "table_of",
]  # fmt: skip
