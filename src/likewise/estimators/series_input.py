"""From what `ChangePointLearner` is given to sequences with what is shown of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.estimators.examples import split_labels
from likewise.metrics import change_point_f1, covering, projection_loss
from likewise.supervision import RegionLabels
from likewise.validation import as_sets, validate_rows

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

CRITERIA = ("auto", "projection", "covering", "f1")
# Changes of a sequence of T rows are found where they are at most T / F1_SHARE rows away.
F1_SHARE = 100
# Segments of interest: this many for every one that there may be, and some.
MOST_PER_SHOWN, MOST_MORE = 3, 10


@dataclass(frozen=True, eq=False)
class ShownSeries:
    """A sequence, and what is shown of its segments.

    Attributes
    ----------
    rows : array of shape (T, p)
        The sequence.
    places, segments : array of shape (m,)
        The rows that are labelled, and their segments 0, 1, ... in the order of time; none where
        regions are shown.
    classes : array of shape (k,)
        Which label every segment has; numbers mean the same in all sequences.
    regions : RegionLabels
        How many changes there are, wherever that is known; of labelled rows, too.
    annotated : bool
        Whether regions are what was given.
    """

    rows: Floats
    places: Indices
    segments: Indices
    classes: Indices
    regions: RegionLabels
    annotated: bool

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def is_complete(self) -> bool:
        """Whether every row is labelled."""
        return len(self.places) == self.n_rows

    @property
    def is_silent(self) -> bool:
        """Whether nothing is shown."""
        return not self.regions.rows and not len(self.places)

    @property
    def n_changes(self) -> int:
        """How many changes are shown at least."""
        return sum(changes != "0" for _, _, changes in self.regions.rows)

    @property
    def most_segments(self) -> int:
        """More segments than this are of no interest."""
        if self.annotated:
            unseen = np.sqrt(self.n_rows)
        else:
            unseen = (1 + self.n_changes) * (self.n_rows / max(len(self.places), 1) - 1.0)
        return int(MOST_PER_SHOWN * (1 + self.n_changes + unseen)) + MOST_MORE

    def loss(self, change_points: Indices, criterion: str) -> float:
        """How bad a segmentation of the sequence is where something is shown; 0 is best."""
        if self.annotated:
            return self.regions.errors(change_points) / max(len(self.regions.rows), 1)
        found = np.searchsorted(change_points, self.places, side="right")
        return loss_between(self.segments, found, criterion)

    def invented(self, change_points: Indices) -> float:
        """How much worse a segmentation is than none, by the loss of projections.

        Above zero it has more changes that are wrong than changes that are right.
        """
        if self.annotated:
            return 0.0
        found = np.searchsorted(change_points, self.places, side="right")
        whole = np.zeros(len(self.places), dtype=np.intp)
        return projection_loss(self.segments, found) - projection_loss(self.segments, whole)


def criterion_for(criterion: str, shown: Sequence[ShownSeries]) -> str:
    """The criterion; "auto" is coverings where all rows are labelled.

    Labelled stretches of a few segments are covered well by one of them, so there it is
    projections.
    """
    if criterion != "auto":
        return criterion
    complete = all(part.is_complete or part.is_silent for part in shown)
    return "covering" if complete else "projection"


def loss_between(segments: Indices, found: Indices, criterion: str) -> float:
    """How bad a segmentation is beside another one; 0 is best."""
    match criterion:
        case "projection":
            return projection_loss(segments, found)
        case "covering":
            return 1.0 - covering(segments, found)
    return 1.0 - change_point_f1(segments, found, max(len(segments) // F1_SHARE, 1))


def shown_series(learner: Any, X: Any, y: Any, groups: Any) -> list[ShownSeries]:
    """The training sequences, checked; records the columns of X on the learner."""
    tables = tables_of(learner, X, groups, reset=True)
    if any(isinstance(part, RegionLabels) for part in _parts(y)):
        return _with_regions(tables, y, groups)
    labels = split_labels(y, X, groups, [len(table) for table in tables])
    numbers: dict[str, int] = {}
    shown = [
        _labelled(table, own, numbers, y[k] if len(tables) > 1 and groups is None else own)
        for k, (table, own) in enumerate(zip(tables, labels, strict=True))
    ]
    if not any(len(part.places) >= 2 for part in shown):
        raise InputError(
            f"y shows fewer than two rows of every sequence ({len(shown)} sequences): nothing can "
            "be learnt from them. Label rows with the number of their segment (-1 means not shown)."
        )
    return shown


def tables_of(learner: Any, X: Any, groups: Any, *, reset: bool) -> list[Floats]:
    """The sequences, checked; ``reset`` records their columns."""
    sets, _ = as_sets(X, groups)
    alone = reset and len(sets) == 1
    return [
        validate_rows(learner, part, reset=reset and k == 0, min_rows=2 if alone else 1)
        for k, part in enumerate(sets)
    ]


def _parts(y: Any) -> Sequence[Any]:
    if isinstance(y, RegionLabels):
        return [y]
    return y if isinstance(y, (list, tuple)) else []


def _with_regions(tables: list[Floats], y: Any, groups: Any) -> list[ShownSeries]:
    parts = _parts(y)
    if groups is not None and len(tables) > 1 and isinstance(y, RegionLabels):
        raise InputError("with groups, y must be a list of RegionLabels, one per sequence.")
    if len(parts) != len(tables):
        raise InputError(
            f"y must have one RegionLabels or array of labels per sequence: X has {len(tables)} "
            f"sequences, y has {len(parts)}."
        )
    found, numbers = [], dict[str, int]()
    for k, (table, part) in enumerate(zip(tables, parts, strict=True)):
        if isinstance(part, RegionLabels):
            try:
                part.windows(len(table))
            except InputError as error:
                raise InputError(f"y[{k}]: {error}") from error
            nothing = np.empty(0, dtype=np.intp)
            found.append(ShownSeries(table, nothing, nothing, nothing, part, True))
        else:
            own = split_labels([part], [table], None, [len(table)])[0]
            found.append(_labelled(table, own, numbers, part))
    if all(part.is_silent for part in found):
        raise InputError(
            f"y has neither a region nor a labelled row of any sequence ({len(found)} sequences): "
            "nothing can be learnt from them."
        )
    return found


def _labelled(
    table: Floats, labels: NDArray[Any], numbers: dict[str, int], names: Any
) -> ShownSeries:
    """Rows without a label between two of one segment belong to it.

    Where two segments follow each other, there is a change between their nearest labelled rows.
    ``names`` are the labels as they were given, ``numbers`` those that were met so far.
    """
    hidden = labels == -1 if labels.dtype.kind in "iuf" else np.zeros(len(labels), dtype=bool)
    places = np.flatnonzero(~hidden)
    own = labels[places]
    segments = np.concatenate([[0], np.cumsum(own[1:] != own[:-1])])[: len(places)]
    numbered = np.full(len(labels), -1, dtype=np.intp)
    numbered[places] = segments
    firsts = places[np.unique(segments, return_index=True)[1]]
    given = np.asarray(names, dtype=object).ravel()
    classes = [numbers.setdefault(str(given[row]), len(numbers)) for row in firsts]
    return ShownSeries(
        table, places, segments.astype(np.intp), np.array(classes, dtype=np.intp),
        regions_of(numbered), False,
    )  # fmt: skip


def regions_of(labels: Indices) -> RegionLabels:
    """What segments of rows, -1 where they are not shown, say about changes."""
    places = np.flatnonzero(labels >= 0)
    regions: list[tuple[int, int, Any]] = []
    for start, end in pairwise(places):
        first, behind = int(start) + 1, int(end) + 1
        if labels[start] != labels[end]:
            regions.append((first, behind, ">=1"))
        elif regions and regions[-1][2] == 0 and regions[-1][1] == first:
            regions[-1] = (regions[-1][0], behind, 0)
        else:
            regions.append((first, behind, 0))
    return RegionLabels(regions)
