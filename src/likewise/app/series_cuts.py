"""What ``likewise segment`` is asked for, and the cutting of series that were read."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from likewise.app.labelled_tables import LabelledSet
from likewise.app.layout import counted
from likewise.app.learning import said
from likewise.app.segment_defaults import Noise, default_penalty, few_rows, in_noise
from likewise.errors import InputError, LikewiseError
from likewise.estimators.change_point_learner import ChangePointLearner
from likewise.estimators.change_points import ChangePointDetector
from likewise.estimators.series_output import penalty_for
from likewise.supervision import RegionLabels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class SegmentRequest:
    """What to cut, how, and where to write; named as the options of the command."""

    data: tuple[Path, ...]
    model: Path | None = None
    penalty: float | None = None
    n_segments: int | None = None
    share_labels: bool = False
    min_size: int = 1
    scale: bool | None = None
    columns: tuple[str, ...] | None = None
    header: bool | None = None
    split: str | None = None
    labels: Path | None = None
    out: Path | None = None
    plot: Path | None = None

    @property
    def by_default(self) -> bool:
        """Whether nothing says what a segment costs."""
        return self.model is None and self.penalty is None and self.n_segments is None

    @property
    def scaled(self) -> bool:
        """Whether columns are divided by their noise."""
        return self.by_default if self.scale is None else self.scale


@dataclass(frozen=True)
class ReadSeries:
    """A series that was read; ``offset`` is where its file starts among the rows of all files."""

    name: str
    part: LabelledSet
    offset: int


@dataclass(frozen=True)
class Cut:
    """A series, and what was found: the first rows of segments, and the labels of rows."""

    series: ReadSeries
    change_points: Indices
    labels: Indices
    noise: Noise | None
    penalty: float | None
    cost: float | None


def cut_by_learner(
    request: SegmentRequest,
    model: ChangePointLearner,
    series: Sequence[ReadSeries],
    on_stage: Callable[[str], None],
) -> tuple[list[Cut], list[str]]:
    """All series at once, as labels may be shared between them."""
    named = names_of(model) is not None
    tables = [own.part.table.rows() if named else own.part.table.values for own in series]
    on_stage(f"cutting {counted(sum(len(own.part.places) for own in series), 'row')}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = model.cluster(tables, n_segments=request.n_segments)
        labels = found
        if request.share_labels:
            labels = model.cluster(tables, n_segments=request.n_segments, share_labels=True)
        given = request.n_segments is not None
        penalties = [
            None if given else penalty_for(model, model.features_of(table)) for table in tables
        ]
    cuts = [
        Cut(own, np.flatnonzero(np.diff(numbers)) + 1, named_by, None, penalty, None)
        for own, numbers, named_by, penalty in zip(series, found, labels, penalties, strict=True)
    ]
    return cuts, said(caught)


def cut_by_detector(
    request: SegmentRequest,
    model: ChangePointDetector | None,
    regions: RegionLabels | None,
    series: Sequence[ReadSeries],
    on_stage: Callable[[str], None],
) -> tuple[list[Cut], list[str]]:
    """One series after the other."""
    cuts, notes = [], []
    several = len(series) > 1
    for place, own in enumerate(series):
        rows = len(own.part.places)
        count = f"series {place + 1} of {len(series)}, " if several else ""
        on_stage(f"cutting {count}{counted(rows, 'row')}")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cut = _cut(request, model, regions, own, several)
        cuts.append(cut)
        known = [] if cut.noise is None else cut.noise.notes()
        known += few_rows(rows) if request.by_default else []
        where = f"{own.name}: " if several else ""
        notes += [where + note for note in (*said(caught), *known)]
    return cuts, notes


def _cut(
    request: SegmentRequest,
    model: ChangePointDetector | None,
    regions: RegionLabels | None,
    series: ReadSeries,
    several: bool,
) -> Cut:
    rows, noise = series.part.table.values, None
    try:
        if request.scaled:
            rows, noise = in_noise(series.part.table)
        if model is not None:
            detector = clone(model)
        else:
            penalty = default_penalty(rows) if request.by_default else request.penalty or 0.0
            detector = ChangePointDetector(
                penalty=penalty, n_segments=request.n_segments, min_size=request.min_size
            )
        detector.fit(rows, labels=regions)
    except LikewiseError as error:
        if not several:
            raise
        raise InputError(f"{series.name}: {error}") from error
    return Cut(
        series,
        detector.change_points_,
        detector.labels_,
        noise,
        None if detector.n_segments is not None else float(detector.penalty),
        float(detector.cost_),
    )


def names_of(model: Any) -> tuple[str, ...] | None:
    """The columns that a model knows by name."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))
