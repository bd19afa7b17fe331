"""What ``likewise segment`` does, without a terminal: series -> the segment of every row."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sklearn.base import clone

import likewise.persistence.format as model_files
from likewise.app.columns import import_polars
from likewise.app.labelled_tables import LabelledSet, Wanted, read_sets
from likewise.app.layout import counted
from likewise.app.learning import said
from likewise.app.region_files import read_regions
from likewise.app.segment_defaults import Noise, default_penalty, few_rows, in_noise
from likewise.app.targets import as_text, check_targets, write_figure
from likewise.errors import InputError, LikewiseError
from likewise.estimators.change_points import ChangePointDetector
from likewise.persistence.atomic import write_atomically
from likewise.supervision import RegionLabels

# Series that a picture shows, and column names that a message lists.
DRAWN, LISTED = 4, 8


@dataclass(frozen=True, kw_only=True)
class SegmentRequest:
    """What to cut, how, and where to write; named as the options of the command."""

    data: tuple[Path, ...]
    model: Path | None = None
    penalty: float | None = None
    n_segments: int | None = None
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


@dataclass(frozen=True, kw_only=True)
class SegmentedSeries:
    """One series and its segments; rows are numbered from 0 in each.

    `noise` has what each column was divided by: 0 for those that are constant, and None where
    columns were taken as they are.
    """

    name: str
    rows: int
    segments: int
    change_points: list[int]
    sizes: list[int]
    columns: list[str]
    noise: list[float] | None
    penalty: float | None
    cost: float


@dataclass(frozen=True, kw_only=True)
class SegmentReport:
    """What was found; `labels` are in the order of the lines of the file that ``--out`` writes."""

    data: list[str]
    model: str | None
    rows: int
    series: list[SegmentedSeries]
    scaled: bool
    default_penalty: bool
    n_segments: int | None
    min_size: int
    parameters: dict[str, Any] | None
    regions: int
    labels: list[int]
    seconds: float
    drawn: int
    warnings: list[str]
    out: str | None
    plot: str | None


@dataclass(frozen=True)
class _Cut:
    """A series, what the detector was given, and what it found."""

    name: str
    part: LabelledSet
    detector: ChangePointDetector
    noise: Noise | None
    # Where the first row of its file is among the rows of all files.
    offset: int


def run_segment(request: SegmentRequest, on_stage: Callable[[str], None]) -> SegmentReport:
    """Read, cut, write.

    Parameters
    ----------
    request : SegmentRequest
        What to do.
    on_stage : callable
        Given the name of each stage.
    """
    inputs = {"data file": request.data}
    read = {"model file": request.model, "file of --labels": request.labels}
    inputs |= {name: (path,) for name, path in read.items() if path is not None}
    check_targets({"--out": request.out, "--plot": request.plot}, inputs)
    model = None if request.model is None else _loaded(request, request.model)
    regions = None if request.labels is None else read_regions(request.labels)
    series = _read(request, model, on_stage)
    if regions is not None and len(series) > 1:
        raise InputError(
            f"--labels are regions of one series, but there are {len(series):,}: cut that series "
            "by itself."
        )
    start = time.perf_counter()
    cuts, notes = [], []
    for place, (name, part, offset) in enumerate(series):
        rows = counted(len(part.places), "row")
        count = "" if len(series) == 1 else f"series {place + 1} of {len(series)}, "
        on_stage(f"cutting {count}{rows}")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cut = _cut(request, model, regions, (name, part, offset), len(series) > 1)
        cuts.append(cut)
        own = [] if cut.noise is None else cut.noise.notes()
        own += few_rows(len(part.places)) if request.by_default else []
        where = f"{name}: " if len(series) > 1 else ""
        notes += [where + note for note in (*said(caught), *own)]
    seconds = time.perf_counter() - start
    on_stage("writing")
    lines = _lines(cuts)
    if request.out is not None:
        write_atomically(request.out, lambda stream: _write(stream, lines))
    if request.plot is not None:
        _draw(request.plot, cuts[:DRAWN])
    return SegmentReport(
        data=[str(path) for path in request.data],
        model=as_text(request.model),
        rows=len(lines["row"]),
        series=[_described(cut) for cut in cuts],
        scaled=request.scaled,
        default_penalty=request.by_default,
        n_segments=cuts[0].detector.n_segments,
        min_size=cuts[0].detector.min_size,
        parameters=None if model is None else model.get_params(deep=False),
        regions=0 if regions is None else len(regions.rows),
        labels=lines["label"].tolist(),
        seconds=seconds,
        drawn=0 if request.plot is None else min(len(cuts), DRAWN),
        warnings=list(dict.fromkeys(notes)),
        out=as_text(request.out),
        plot=as_text(request.plot),
    )


def _loaded(request: SegmentRequest, path: Path) -> ChangePointDetector:
    model = model_files.load(path)
    if not isinstance(model, ChangePointDetector):
        raise InputError(
            f"{path} holds {type(model).__name__}, which cuts no series; give a ChangePointDetector"
            " that was saved, or leave out --model."
        )
    names = _names(model)
    if names is not None and request.columns is not None:
        raise InputError(
            f"{path} knows its columns by name: leave out --columns. They are {', '.join(names)}."
        )
    if _is_precomputed(model) and (request.split is not None or request.plot is not None):
        raise InputError(
            f"{path} compares by a precomputed kernel, so a file is one series that cannot be "
            "drawn: leave out --set and --plot."
        )
    return model


def _read(
    request: SegmentRequest, model: ChangePointDetector | None, on_stage: Callable[[str], None]
) -> list[tuple[str, LabelledSet, int]]:
    """All series with what to call them and where their files start."""
    names = None if model is None else _names(model)
    wanted = Wanted(
        None,
        request.split,
        request.columns if names is None else names,
        request.header,
        None if names is None else str(request.model),
    )
    found: list[tuple[str, LabelledSet, int]] = []
    stems = [path.stem for path in request.data]
    rows = 0
    for place, path in enumerate(request.data):
        if path.resolve() in [other.resolve() for other in request.data[:place]]:
            raise InputError(f"{path} is named twice; name each file once.")
        on_stage(f"reading {path.name}")
        sets = read_sets(path, wanted)
        # Files of one name in several folders are told apart by their paths.
        stem = path.stem if stems.count(path.stem) == 1 else str(path)
        for part in sets:
            _check_count(request, model, part)
            if len(request.data) == 1:
                name = part.name if part.value is None else part.value
            else:
                name = stem if part.value is None else f"{stem}: {part.value}"
            found.append((name, part, rows))
        rows += sum(len(part.places) for part in sets)
    return found


def _check_count(
    request: SegmentRequest, model: ChangePointDetector | None, part: LabelledSet
) -> None:
    needed = getattr(model, "n_features_in_", None)
    found = part.table.columns
    if model is None or needed in (None, len(found)) or _is_precomputed(model):
        return
    raise InputError(
        f"{part.table.path} has {counted(len(found), 'column')} of numbers "
        f"({', '.join(found[:LISTED])}), {request.model} was fitted on {needed}, without names; "
        "say which they are with --columns, in the same order."
    )


def _cut(
    request: SegmentRequest,
    model: ChangePointDetector | None,
    regions: RegionLabels | None,
    series: tuple[str, LabelledSet, int],
    several: bool,
) -> _Cut:
    name, part, offset = series
    rows, noise = part.table.values, None
    try:
        if request.scaled:
            rows, noise = in_noise(part.table)
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
        raise InputError(f"{name}: {error}") from error
    return _Cut(name, part, detector, noise, offset)


def _described(cut: _Cut) -> SegmentedSeries:
    detector = cut.detector
    sizes = np.bincount(detector.labels_).tolist()
    return SegmentedSeries(
        name=cut.name,
        rows=len(detector.labels_),
        segments=len(sizes),
        change_points=detector.change_points_.tolist(),
        sizes=sizes,
        columns=list(cut.part.table.columns),
        noise=None if cut.noise is None else cut.noise.scales.tolist(),
        penalty=None if detector.n_segments is not None else float(detector.penalty),
        cost=float(detector.cost_),
    )


def _lines(cuts: Sequence[_Cut]) -> dict[str, Any]:
    """The columns of the file of labels: file after file, rows in the order of each."""
    places = np.concatenate([cut.part.places for cut in cuts])
    order = np.argsort(np.concatenate([cut.part.places + cut.offset for cut in cuts]))
    lines: dict[str, Any] = {"row": places[order]}
    if len(cuts) > 1 or cuts[0].part.value is not None:
        names = [np.full(len(cut.part.places), cut.name, dtype=object) for cut in cuts]
        lines["set"] = np.concatenate(names)[order].tolist()
    return {**lines, "label": np.concatenate([cut.detector.labels_ for cut in cuts])[order]}


def _write(stream: BinaryIO, lines: dict[str, Any]) -> None:
    import_polars().DataFrame(lines).write_csv(stream)


def _draw(path: Path, cuts: Sequence[_Cut]) -> None:
    from likewise.plots.segments import SegmentsDisplay, draw_several

    displays = [
        SegmentsDisplay(
            cut.part.table.values,
            cut.detector.change_points_,
            names=cut.part.table.columns,
            title=cut.name,
        )
        for cut in cuts
    ]
    write_figure(path, draw_several(displays))


def _names(model: ChangePointDetector) -> tuple[str, ...] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def _is_precomputed(model: ChangePointDetector) -> bool:
    return isinstance(model.kernel, str) and model.kernel == "precomputed"
