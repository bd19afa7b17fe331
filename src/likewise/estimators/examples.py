"""From tables, labels and groups to what a learner is shown.

Rows whose label is -1 were not shown and are left out; sets of which fewer than two rows were shown
say nothing and are left out with a warning. Labels are compared only inside a set.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from likewise.errors import InputError, LikewiseWarning
from likewise.geometry.pairs import Pairs, pairs_of_stack
from likewise.validation import as_sets

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """The rows of one set that were shown.

    ``shown`` are clusters 0..c-1; ``openings`` features of opening costs (n, g), g = 0 without any.
    """

    pairs: Pairs
    shown: Indices
    openings: Floats

    @property
    def n_clusters(self) -> int:
        """Number of shown clusters."""
        return int(self.shown.max()) + 1

    @property
    def cluster_size(self) -> float:
        """Rows per shown cluster."""
        return len(self.shown) / self.n_clusters

    def restricted_to(self, rows: Indices) -> TrainingSet:
        """Some of the rows, clusters numbered anew."""
        shown = np.unique(self.shown[rows], return_inverse=True)[1]
        return TrainingSet(self.pairs.restricted_to(rows), shown, self.openings[rows])

    def scaled(self, factors: Floats, kept: NDArray[np.bool_]) -> TrainingSet:
        """With features multiplied by factors, those not kept left out."""
        return replace(self, pairs=self.pairs.scaled(factors).with_features(kept))


def split_labels(y: Any, X: Any, groups: Any, sizes: Sequence[int]) -> list[NDArray[Any]]:
    """The labels of every set, checked against its number of rows.

    ``sizes`` are those of the sets that ``as_sets(X, groups)`` gave.
    """
    if y is None:
        raise InputError(
            "This estimator requires y to be passed, but the target y is None. Pass the clusters "
            "of the rows: one label per row, -1 where a row's cluster is not shown."
        )
    if groups is not None:
        parts = [part.ravel() for part in as_sets(_labels(y, "y")[:, None], groups)[0]]
    elif len(sizes) == 1 and not _is_list_of_labels(y):
        parts = [_labels(y, "y")]
    elif not isinstance(y, (list, tuple)) and np.ndim(y) == 0:
        raise InputError(
            f"y must have one array of labels per set: X has {len(sizes)} sets, y is {y!r}."
        )
    else:
        parts = [_labels(part, f"y[{k}]") for k, part in enumerate(y)]
    if len(parts) != len(sizes):
        raise InputError(
            f"y must have one array of labels per set: X has {len(sizes)} sets, y has {len(parts)}."
        )
    for k, (labels, size) in enumerate(zip(parts, sizes, strict=True)):
        if len(labels) != size:
            raise InputError(
                f"y must have one label per row: set {k} has {size} rows and {len(labels)} labels. "
                "Found input variables with inconsistent numbers of samples: "
                f"[{size}, {len(labels)}]"
            )
    return parts


def shown_rows(labels: NDArray[Any]) -> tuple[Indices, Indices]:
    """The rows that were shown, and their clusters 0..c-1 in the order of their first rows.

    What clusters are called must not change what is learnt.
    """
    hidden = labels == -1 if labels.dtype.kind in "iuf" else np.zeros(len(labels), dtype=bool)
    rows = np.flatnonzero(~hidden)
    _, first, cluster = np.unique(labels[rows], return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.intp)
    number[np.argsort(first)] = np.arange(len(first))
    return rows, number[cluster]


def warn_of_silent_sets(counts: Sequence[int]) -> list[int]:
    """Which sets have two shown rows at least; an error where none has."""
    telling = [k for k, count in enumerate(counts) if count >= 2]
    if not telling:
        raise InputError(
            f"y shows fewer than two rows of every set ({len(counts)} sets): nothing can be learnt "
            "from them. Label the rows that belong together with the same number (-1 means not "
            "shown)."
        )
    silent = [k for k in range(len(counts)) if k not in set(telling)]
    if silent:
        warnings.warn(
            f"sets {silent[:10]} were left out: fewer than two of their rows are shown, so they "
            "say nothing about what belongs together.",
            LikewiseWarning,
            stacklevel=4,
        )
    return telling


def precomputed_pairs(costs: Any, place: int) -> Pairs:
    """Pair features that the user computed for one set."""
    if issparse(costs):
        raise InputError(
            f"X[{place}] is sparse: learning needs the features of all pairs. Pass a dense array "
            "(n, n) or (n, n, F); the learnt clusterer_ takes sparse arrays."
        )
    return pairs_of_stack(costs)


def _numbered(y: Any, name: str) -> NDArray[Any]:
    """Numbers for labels of mixed kinds, such as text beside the number -1 for "not shown"."""
    given = np.empty(np.shape(y) if isinstance(y, np.ndarray) else len(y), dtype=object)
    given[:] = y
    numbers: dict[tuple[type, Any], int] = {}
    found = np.empty(given.shape, dtype=np.intp)
    for place, label in np.ndenumerate(given):
        if label is None or label != label:
            raise InputError(
                f"{name} has no label at row {place[0]} ({label!r}); use -1 for rows whose cluster "
                "is not shown."
            )
        # 1 and 1.0 are one label, 1 and "1" are two.
        kind = Number if isinstance(label, Number) else type(label)
        hidden = kind is Number and label == -1
        found[place] = -1 if hidden else numbers.setdefault((kind, label), len(numbers))
    return found


def _is_list_of_labels(y: Any) -> bool:
    return isinstance(y, (list, tuple)) and len(y) > 0 and np.ndim(y[0]) == 1


def _labels(y: Any, name: str) -> NDArray[Any]:
    labels = np.asarray(y)
    if labels.dtype == object or (labels.dtype.kind in "US" and isinstance(y, (list, tuple))):
        labels = _numbered(y, name)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.ndim != 1:
        raise InputError(
            f"{name} must be a one-dimensional array of labels, one per row; got shape "
            f"{labels.shape}."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        place = int(np.flatnonzero(~np.isfinite(labels))[0])
        word = "NaN" if np.isnan(labels[place]) else "infinity"
        raise InputError(
            f"Input {name} contains {word} at row {place}; use -1 for rows whose cluster is not "
            "shown."
        )
    return labels
