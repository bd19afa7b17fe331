"""What ``likewise segment`` does, without a terminal: series -> the segment of every row."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

import numpy as np

import likewise.persistence.format as model_files
from likewise.app.columns import import_polars
from likewise.app.labelled_tables import LabelledSet, Wanted, read_sets
from likewise.app.layout import counted
from likewise.app.region_files import read_regions
from likewise.app.series_cuts import (
    Cut,
    ReadSeries,
    SegmentRequest,
    cut_by_detector,
    cut_by_learner,
    names_of,
)
from likewise.app.targets import as_text, check_targets, write_figure
from likewise.errors import InputError
from likewise.estimators.change_point_learner import ChangePointLearner
from likewise.estimators.change_points import ChangePointDetector
from likewise.persistence.atomic import write_atomically

# Series that a picture shows, and column names that a message lists.
DRAWN, LISTED = 4, 8


@dataclass(frozen=True, kw_only=True)
class SegmentedSeries:
    """One series and its segments; rows are numbered from 0 in each.

    `noise` has what each column was divided by: 0 for those that are constant, and None where
    columns were taken as they are. `labels` has the label of every segment. The cost is None where
    a learner has cut.
    """

    name: str
    rows: int
    segments: int
    change_points: list[int]
    sizes: list[int]
    labels: list[int]
    columns: list[str]
    noise: list[float] | None
    penalty: float | None
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class SegmentReport:
    """What was found; `labels` are in the order of the lines of the file that ``--out`` writes."""

    data: list[str]
    model: str | None
    kind: str | None
    rows: int
    series: list[SegmentedSeries]
    scaled: bool
    default_penalty: bool
    n_segments: int | None
    share_labels: bool
    min_size: int
    parameters: dict[str, Any] | None
    regions: int
    labels: list[int]
    seconds: float
    drawn: int
    warnings: list[str]
    out: str | None
    plot: str | None


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
    if isinstance(model, ChangePointLearner):
        cuts, notes = cut_by_learner(request, model, series, on_stage)
    else:
        cuts, notes = cut_by_detector(request, model, regions, series, on_stage)
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
        kind=None if model is None else type(model).__name__,
        rows=len(lines["row"]),
        series=[_described(cut) for cut in cuts],
        scaled=request.scaled,
        default_penalty=request.by_default,
        n_segments=model.n_segments if _is_detector(model) else request.n_segments,
        share_labels=request.share_labels,
        min_size=model.min_size if _is_detector(model) else request.min_size,
        parameters=None if model is None else model.get_params(deep=False),
        regions=0 if regions is None else len(regions.rows),
        labels=lines["label"].tolist(),
        seconds=seconds,
        drawn=0 if request.plot is None else min(len(cuts), DRAWN),
        warnings=list(dict.fromkeys(notes)),
        out=as_text(request.out),
        plot=as_text(request.plot),
    )


def holds_learner(path: Path) -> bool:
    """Whether a model file holds what was learnt of changes."""
    return isinstance(model_files.load(path), ChangePointLearner)


def _loaded(request: SegmentRequest, path: Path) -> ChangePointDetector | ChangePointLearner:
    model = model_files.load(path)
    if not isinstance(model, ChangePointDetector | ChangePointLearner):
        raise InputError(
            f"{path} holds {type(model).__name__}, which cuts no series; give what likewise learn "
            "--kind changes has written, or a ChangePointDetector that was saved, or leave out "
            "--model."
        )
    if isinstance(model, ChangePointLearner):
        if not hasattr(model, "metric_"):
            raise InputError(
                f"{path} holds a ChangePointLearner that has learnt nothing yet; fit it before it "
                "is saved, or use likewise learn --kind changes."
            )
        if model.n_segments == "known" and request.n_segments is None:
            raise InputError(
                f"{path} has learnt from series whose number of segments is given: give it with "
                "--n-segments."
            )
    names = names_of(model)
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


def _read(request: SegmentRequest, model: Any, on_stage: Callable[[str], None]) -> list[ReadSeries]:
    """All series with what to call them and where their files start."""
    names = None if model is None else names_of(model)
    wanted = Wanted(
        None,
        request.split,
        request.columns if names is None else names,
        request.header,
        None if names is None else str(request.model),
    )
    found: list[ReadSeries] = []
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
            found.append(ReadSeries(name, part, rows))
        rows += sum(len(part.places) for part in sets)
    return found


def _check_count(request: SegmentRequest, model: Any, part: LabelledSet) -> None:
    needed = getattr(model, "n_features_in_", None)
    found = part.table.columns
    if model is None or needed in (None, len(found)) or _is_precomputed(model):
        return
    raise InputError(
        f"{part.table.path} has {counted(len(found), 'column')} of numbers "
        f"({', '.join(found[:LISTED])}), {request.model} was fitted on {needed}, without names; "
        "say which they are with --columns, in the same order."
    )


def _described(cut: Cut) -> SegmentedSeries:
    rows = len(cut.labels)
    starts = np.concatenate([[0], cut.change_points])
    return SegmentedSeries(
        name=cut.series.name,
        rows=rows,
        segments=len(starts),
        change_points=cut.change_points.tolist(),
        sizes=np.diff(np.append(starts, rows)).tolist(),
        labels=cut.labels[starts].tolist(),
        columns=list(cut.series.part.table.columns),
        noise=None if cut.noise is None else cut.noise.scales.tolist(),
        penalty=cut.penalty,
        cost=cut.cost,
    )


def _lines(cuts: Sequence[Cut]) -> dict[str, Any]:
    """The columns of the file of labels: file after file, rows in the order of each."""
    series = [cut.series for cut in cuts]
    places = np.concatenate([own.part.places for own in series])
    order = np.argsort(np.concatenate([own.part.places + own.offset for own in series]))
    lines: dict[str, Any] = {"row": places[order]}
    if len(series) > 1 or series[0].part.value is not None:
        names = [np.full(len(own.part.places), own.name, dtype=object) for own in series]
        lines["set"] = np.concatenate(names)[order].tolist()
    return {**lines, "label": np.concatenate([cut.labels for cut in cuts])[order]}


def _write(stream: BinaryIO, lines: dict[str, Any]) -> None:
    import_polars().DataFrame(lines).write_csv(stream)


def _draw(path: Path, cuts: Sequence[Cut]) -> None:
    from likewise.plots.segments import SegmentsDisplay, draw_several

    displays = [
        SegmentsDisplay(
            cut.series.part.table.values,
            cut.change_points,
            names=cut.series.part.table.columns,
            title=cut.series.name,
        )
        for cut in cuts
    ]
    write_figure(path, draw_several(displays))


def _is_detector(model: Any) -> TypeGuard[ChangePointDetector]:
    return isinstance(model, ChangePointDetector)


def _is_precomputed(model: Any) -> bool:
    return _is_detector(model) and isinstance(model.kernel, str) and model.kernel == "precomputed"
