"""Features of opening costs, f_qq of komodakis2011: what makes a row cheap or dear as an exemplar.

They are columns of X, or arrays of their own beside it. Learning sees them standardised over the
shown rows; the opening cost of a row is multiplied by one plus their weighted sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.estimators.learner_options import is_precomputed
from likewise.geometry.compare import Compare, resolve_columns
from likewise.validation import as_sets

__all__ = ["Standardised", "opening_features_of", "profiles_of"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Standardised:
    """Opening features of shown rows with mean 0 and spread 1, and what was done to them."""

    sets: list[Floats]
    means: Floats = field(default_factory=lambda: np.empty(0))
    spread: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, sets: Sequence[Floats]) -> Standardised:
        """A feature that never varies becomes zero."""
        stacked = np.vstack(sets)
        means, spread = stacked.mean(axis=0), stacked.std(axis=0)
        constant = np.all(stacked == stacked[0], axis=0)
        means = np.where(constant, stacked[0], means)
        spread = np.where(constant | (spread == 0.0), 1.0, spread)
        return cls([(part - means) / spread for part in sets], means, spread)


def opening_features_of(
    learner: Any, tables: Sequence[Any], groups: Any, arrays: Any
) -> list[Floats]:
    """The opening features of every row of every set, (n, g), as they were given.

    ``tables`` are the sets, checked; ``arrays`` is what was given beside them.
    """
    sizes = [table.shape[0] for table in tables]
    wanted = learner.opening_features
    if wanted is None:
        if arrays is not None:
            raise InputError(
                "opening_features were given for new sets, but the learner was made without: "
                "leave them out, or pass ExemplarLearner(opening_features=...) those of the "
                "training sets."
            )
        return [np.empty((size, 0)) for size in sizes]
    if not _are_arrays(wanted):
        if arrays is not None and arrays is not wanted:
            raise InputError(
                f"opening_features={wanted!r} are columns of X, so new sets bring theirs with "
                "them: leave out opening_features."
            )
        return _columns(learner, tables)
    if arrays is None:
        raise InputError(
            "opening_features were arrays in training, so new sets need theirs: pass "
            "opening_features=[...] with one array (n, g) per set."
        )
    return _arrays(arrays, groups, sizes)


def profiles_of(learner: Any, features: Sequence[Floats]) -> list[Floats]:
    """What the opening cost of every row of new sets is multiplied with."""
    expected = len(learner.opening_weights_)
    for k, part in enumerate(features):
        if part.shape[1] != expected:
            raise InputError(
                f"opening_features[{k}] must have {expected} features, as in training; got shape "
                f"{part.shape}."
            )
    return [1.0 + (part - learner.opening_means_) @ learner.opening_weights_ for part in features]


def _are_arrays(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and np.ndim(value[0]) > 0
    return np.ndim(value) == 2


def _arrays(given: Any, groups: Any, sizes: Sequence[int]) -> list[Floats]:
    if np.ndim(given) == 2 and not isinstance(given, (list, tuple)):
        # One array beside one table.
        whole = _array(given, "opening_features", sum(sizes))
        return [whole] if groups is None else as_sets(whole, groups)[0]
    if len(given) != len(sizes):
        raise InputError(
            f"opening_features must have one array (n, g) per set; got {len(given)} for "
            f"{len(sizes)} sets."
        )
    arrays = [
        _array(part, f"opening_features[{k}]", size)
        for k, (part, size) in enumerate(zip(given, sizes, strict=True))
    ]
    widths = {part.shape[1] for part in arrays}
    if len(widths) > 1:
        raise InputError(
            "opening_features must have the same features for every set; got "
            f"{[part.shape[1] for part in arrays][:10]} of them."
        )
    return arrays


def _array(given: Any, name: str, size: int) -> Floats:
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} must be an array of finite numbers of shape ({size}, g); got something that "
            f"is not ({error})."
        ) from error
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or len(array) != size or not array.shape[1]:
        raise InputError(
            f"{name} must have shape ({size}, g), one row per row of its set; got {array.shape}."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise InputError(
            f"{name} must be finite; [{bad[0][0]}, {bad[0][1]}] is {array[tuple(bad[0])]} "
            f"({len(bad)} such in total)."
        )
    return array


def _columns(learner: Any, tables: Sequence[Any]) -> list[Floats]:
    if is_precomputed(learner.features):
        raise InputError(
            "opening_features names columns, but features='precomputed' has none: pass a list of "
            "arrays (n, g), one per set."
        )
    names = getattr(learner, "feature_names_in_", None)
    wanted = learner.opening_features
    wanted = [wanted] if isinstance(wanted, str) else wanted
    columns = Compare("opening_features", "sqeuclidean", wanted).columns
    chosen = resolve_columns(
        columns, learner.n_features_in_, None if names is None else list(names), "opening_features"
    )
    return [table if chosen is None else table[:, chosen] for table in tables]
