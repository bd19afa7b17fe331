"""What ``likewise learn --kind changes`` does, without a terminal: segmented series -> a model."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import likewise.persistence.format as model_files
from likewise.app.interruption import Interruption
from likewise.app.labelled_tables import LabelledSet, Wanted
from likewise.app.learning import HEIGHT, NOT_SHOWN, WIDTH, LearntWeight, kept, read_aligned, said
from likewise.app.region_files import read_regions_of
from likewise.app.targets import as_text, check_targets, write_figure
from likewise.errors import LikewiseWarning
from likewise.estimators.change_point_learner import ChangePointLearner
from likewise.learners.base import TrainingProgress
from likewise.plots.canvas import blank_figure


@dataclass(frozen=True, kw_only=True)
class LearnChangesRequest:
    """What to learn from, how, and where to write; named as the options of the command."""

    data: tuple[Path, ...]
    out: Path
    label: str | None = None
    regions: Path | None = None
    split: str | None = None
    columns: tuple[str, ...] | None = None
    header: bool | None = None
    metric: str = "diagonal"
    features: str | None = None
    penalty: str = "constant"
    criterion: str = "auto"
    strength: float | str = "auto"
    regulariser: str = "auto"
    optimiser: str = "auto"
    max_iter: int = 200
    tol: float = 0.01
    seed: int | None = None
    jobs: int | None = None
    checkpoint: Path | None = None
    plot: Path | None = None


@dataclass(frozen=True)
class LearntSeries:
    """One series that was learnt from: its rows, and what was shown of it."""

    name: str
    rows: int
    shown: int
    segments: int
    regions: int


@dataclass(frozen=True, kw_only=True)
class LearnChangesReport:
    """What was learnt; losses are those of the criterion, or the shares of wrong regions."""

    data: list[str]
    series: list[LearntSeries]
    columns: list[str]
    features: str
    rows_per_block: int
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
    weights: list[LearntWeight]
    validation: dict[str, list[Any]]
    features_validation: dict[str, list[Any]]
    interrupted: bool
    seconds: float
    warnings: list[str]
    out: str
    plot: str | None
    checkpoint: str | None


def run_learn_changes(
    request: LearnChangesRequest,
    on_progress: Callable[[TrainingProgress], None],
    on_stage: Callable[[str], None],
) -> LearnChangesReport:
    """Read, learn, write.

    Parameters
    ----------
    request : LearnChangesRequest
        What to do.
    on_progress : callable
        Given the progress records of the learner.
    on_stage : callable
        Given the name of each other stage.

    Returns
    -------
    LearnChangesReport
        With `interrupted` where Ctrl-C ended the training; the files are written all the same.
    """
    targets = {"--out": request.out, "--plot": request.plot, "--checkpoint": request.checkpoint}
    inputs = {"data file": request.data}
    if request.regions is not None:
        inputs["file of --regions"] = (request.regions,)
    check_targets(targets, inputs)
    wanted = Wanted(request.label, request.split, request.columns, request.header)
    parts = read_aligned(request.data, wanted, "segment", on_stage)
    tables, shown = [part.table.rows() for part in parts], _shown(request, parts)
    learner = _learner(request)
    on_stage(f"looking at {sum(len(part.places) for part in parts):,} rows")
    with warnings.catch_warnings(record=True) as caught, Interruption() as interruption:
        warnings.simplefilter("always", LikewiseWarning)
        learner.set_params(callbacks=[on_progress, interruption.check])
        start = time.perf_counter()
        learner.fit(tables, shown)
        seconds = time.perf_counter() - start
    on_stage("writing")
    # What belongs to this run only.
    learner.set_params(callbacks=None, checkpoint=None)
    model_files.save(learner, request.out)
    if request.plot is not None:
        _draw(request.plot, learner, tables, shown)
    interrupted = interruption.noticed or learner.status_ == "interrupted"
    series = [_described(part, own) for part, own in zip(parts, shown, strict=True)]
    return LearnChangesReport(
        data=[str(path) for path in request.data],
        series=series,
        columns=list(parts[0].table.columns),
        **learnt_facts(learner),
        weights=weights_of(learner, tables),
        interrupted=interrupted,
        seconds=seconds,
        warnings=[*_doubts(request, series), *said(caught)],
        out=str(request.out),
        plot=as_text(request.plot),
        checkpoint=kept(request.checkpoint),
    )


def learnt_facts(learner: ChangePointLearner) -> dict[str, Any]:
    """What reports say of a learner that was fitted, by their fields."""
    return {
        "features": learner.look_,
        "rows_per_block": int(learner.rows_per_block_),
        "metric": learner.metric,
        "criterion": learner.criterion_,
        "chosen": learner.chosen_,
        "status": learner.status_,
        "passes": int(learner.n_iter_),
        "objective": float(learner.objective_),
        "lower_bound": float(learner.lower_bound_),
        "gap": float(learner.gap_),
        "penalty": float(learner.penalty_),
        "penalty_depends": learner.penalty_regressor_ is not None,
        "loss": float(learner.training_loss_),
        "one_segment_loss": float(learner.one_segment_loss_),
        "validation": dict(learner.validation_),
        "features_validation": dict(learner.features_validation_),
    }


def weights_of(learner: ChangePointLearner, tables: Sequence[Any]) -> list[LearntWeight]:
    """The weights, each with its share of a typical learnt distance between rows of a series."""
    from likewise.plots.weights import shares_of

    found = shares_of(learner, list(tables))
    return [
        LearntWeight(name, float(weight), float(share))
        for name, weight, share in zip(learner.feature_names_, learner.weights_, found, strict=True)
    ]


def _shown(request: LearnChangesRequest, parts: Sequence[LabelledSet]) -> list[Any]:
    """What is shown of every series: labels that mean the same in all of them, or regions."""
    if request.regions is not None:
        alone = len(request.data) == 1
        sizes = {_name(part, alone): len(part.places) for part in parts}
        return list(read_regions_of(request.regions, sizes))
    numbers: dict[str, int] = {}
    shown = []
    for part in parts:
        own = [numbers.setdefault(name, len(numbers)) for name in part.clusters]
        # The last number is that of label -1.
        shown.append(np.array([*own, NOT_SHOWN])[part.labels])
    return shown


def _name(part: LabelledSet, alone: bool) -> str:
    """What a file of regions calls a series: one of several files by its name as well."""
    return part.value if alone and part.value is not None else part.name


def _learner(request: LearnChangesRequest) -> ChangePointLearner:
    return ChangePointLearner(
        request.metric,
        regulariser=request.regulariser,
        strength=request.strength,
        features=request.features,
        penalty=request.penalty,
        criterion=request.criterion,
        optimiser=request.optimiser,
        max_iter=request.max_iter,
        tol=request.tol,
        n_jobs=request.jobs,
        random_state=request.seed,
        checkpoint=as_text(request.checkpoint),
    )


def _described(part: LabelledSet, shown: Any) -> LearntSeries:
    rows = len(part.places)
    if part.labels is None:
        return LearntSeries(part.name, rows, 0, 0, len(shown.rows))
    known = shown[shown != NOT_SHOWN]
    segments = int(np.count_nonzero(np.diff(known))) + 1 if len(known) else 0
    return LearntSeries(part.name, rows, len(known), segments, 0)


def _doubts(request: LearnChangesRequest, series: Sequence[LearntSeries]) -> list[str]:
    """Say so where the label column does not look like one of segments."""
    if request.label is None:
        return []
    if all(own.segments <= 1 for own in series):
        what = "every series is one segment"
    elif all(own.segments == own.shown for own in series):
        what = "every row is a segment of its own"
    else:
        return []
    return [f"{what}; make sure that column {request.label!r} says which segment a row is in."]


def _draw(
    path: Path, learner: ChangePointLearner, tables: Sequence[Any], shown: Sequence[Any]
) -> None:
    """The weights and the training, and below them the loss by penalty."""
    from likewise.plots import PenaltyPathDisplay, TrainingDisplay, WeightsDisplay

    figure = blank_figure(2 * WIDTH, 2 * HEIGHT)
    above, below = figure.subfigures(2, 1, squeeze=False)[:, 0]
    trained = bool(learner.history_["objective"])
    axes = above.subplots(1, 1 + trained, squeeze=False)[0]
    WeightsDisplay.from_estimator(learner, list(tables), ax=axes[0])
    if trained:
        TrainingDisplay.from_estimator(learner, ax=axes[1])
    PenaltyPathDisplay.from_learner(learner, list(tables), list(shown), figure=below)
    write_figure(path, figure)
