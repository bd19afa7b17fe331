"""What ``likewise learn`` does, without a terminal: labelled files -> a model file."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import likewise.persistence.format as model_files
from likewise.app.comparisons import (
    Comparison,
    columns_to_read,
    comparisons_of,
    described,
    features_of,
)
from likewise.app.interruption import Interruption
from likewise.app.labelled_tables import LabelledSet, Wanted, read_sets
from likewise.app.tables import Table
from likewise.app.targets import as_text, check_targets, write_figure
from likewise.errors import DataFileError, InputError, LikewiseWarning
from likewise.estimators.exemplar_learner import ExemplarLearner
from likewise.learners.base import TrainingProgress
from likewise.plots.canvas import blank_figure

NOT_SHOWN = -1
# Inches of the panels of a picture, and of each line of one.
WIDTH, HEIGHT, LINE = 6.4, 4.6, 0.22


@dataclass(frozen=True, kw_only=True)
class LearnRequest:
    """What to learn from, how, and where to write; named as the options of the command."""

    data: tuple[Path, ...]
    label: str
    out: Path
    split: str | None = None
    compare: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    header: bool | None = None
    opening_cost: float | str = "learn"
    strength: float | str = "auto"
    regulariser: str = "auto"
    optimiser: str = "auto"
    max_iter: int = 200
    tol: float = 0.02
    seed: int | None = None
    jobs: int | None = None
    checkpoint: Path | None = None
    plot: Path | None = None


@dataclass(frozen=True)
class ShownSet:
    """One set that was learnt from: its rows, how many are shown, and in how many clusters."""

    name: str
    rows: int
    shown: int
    clusters: int


@dataclass(frozen=True)
class LearntWeight:
    """The weight of one feature, and its share of a typical learnt distance."""

    feature: str
    weight: float
    share: float


@dataclass(frozen=True, kw_only=True)
class LearnReport:
    """What was learnt."""

    data: list[str]
    sets: list[ShownSet]
    columns: list[str]
    compared: list[str]
    chosen: str
    status: str
    passes: int
    objective: float
    lower_bound: float
    gap: float
    opening_cost: float
    opening_cost_is_learnt: bool
    agreement: float
    weights: list[LearntWeight]
    held_out: str
    validation: dict[str, list[Any]]
    interrupted: bool
    seconds: float
    warnings: list[str]
    out: str
    plot: str | None
    checkpoint: str | None


def run_learn(
    request: LearnRequest,
    on_progress: Callable[[TrainingProgress], None],
    on_stage: Callable[[str], None],
) -> LearnReport:
    """Read, learn, write.

    Parameters
    ----------
    request : LearnRequest
        What to do.
    on_progress : callable
        Given the progress records of the learner.
    on_stage : callable
        Given the name of each other stage.

    Returns
    -------
    LearnReport
        With `interrupted` where Ctrl-C ended the training; the files are written all the same.
    """
    # Not all the same option: a checkpoint may be there already, and is gone on from.
    targets = {"--out": request.out, "--plot": request.plot, "--checkpoint": request.checkpoint}
    check_targets(targets, {"data file": request.data})
    comparisons = comparisons_of(request.compare)
    columns = columns_to_read(request.columns, comparisons)
    wanted = Wanted(request.label, request.split, columns, request.header)
    sets = read_aligned(request.data, wanted, "cluster", on_stage)
    table = sets[0].table
    learner = _learner(request, comparisons, table)
    on_stage(f"comparing {sum(len(part.places) for part in sets):,} rows")
    with warnings.catch_warnings(record=True) as caught, Interruption() as interruption:
        warnings.simplefilter("always", LikewiseWarning)
        # A search inside may have caught Ctrl-C: then the next record ends the training.
        learner.set_params(callbacks=[on_progress, interruption.check])
        start = time.perf_counter()
        learner.fit([part.table.rows() for part in sets], [part.labels for part in sets])
        seconds = time.perf_counter() - start
    on_stage("writing")
    # What belongs to this run only.
    learner.set_params(callbacks=None, checkpoint=None)
    model_files.save(learner, request.out)
    if request.plot is not None:
        _draw(request.plot, learner, sets)
    return _report(request, learner, sets, (interruption.noticed, seconds, caught))


def shares(learner: Any) -> list[LearntWeight]:
    """The weights, each with its share of a typical learnt distance."""
    from likewise.plots.weights import shares_of

    found = shares_of(learner)
    return [
        LearntWeight(str(name), float(weight), float(share))
        for name, weight, share in zip(learner.feature_names_, learner.weights_, found, strict=True)
    ]


def read_aligned(
    paths: Sequence[Path], wanted: Wanted, what: str, on_stage: Callable[[str], None]
) -> list[LabelledSet]:
    """The sets of all files, their columns in the order of the first file; labels name `what`."""
    sets: list[LabelledSet] = []
    for place, path in enumerate(paths):
        if path.resolve() in [other.resolve() for other in paths[:place]]:
            raise InputError(f"{path} is named twice; name each file once.")
        on_stage(f"reading {path.name}")
        found = read_sets(path, wanted)
        sets += found if not sets else [_aligned(part, sets[0].table) for part in found]
    empty = all(part.labels is None or (part.labels == NOT_SHOWN).all() for part in sets)
    if wanted.label is not None and empty:
        raise DataFileError(
            f"column {wanted.label!r} is empty everywhere: it must name the {what} of rows."
        )
    return sets


def _aligned(part: LabelledSet, first: Table) -> LabelledSet:
    """A set with its columns in the order of the first file, which must be the same ones."""
    own = part.table
    for there, here in ((first, own), (own, first)):
        lacking = [name for name in there.columns if name not in here.columns]
        if lacking:
            raise DataFileError(
                f"{there.path} has a column of numbers {lacking[0]!r}, {here.path} has none "
                "of this name; all sets need the same columns: name those that are in all files "
                "with --columns."
            )
    order = [own.columns.index(name) for name in first.columns]
    table = Table(own.path, own.values[:, order], first.columns, own.named)
    return LabelledSet(part.name, table, part.places, part.labels, part.clusters, part.value)


def _learner(
    request: LearnRequest, comparisons: Sequence[Comparison], table: Table
) -> ExemplarLearner:
    return ExemplarLearner(
        features_of(comparisons, table),
        regulariser=request.regulariser,
        strength=request.strength,
        opening_cost=request.opening_cost,
        optimiser=request.optimiser,
        max_iter=request.max_iter,
        tol=request.tol,
        n_jobs=request.jobs,
        random_state=request.seed,
        checkpoint=as_text(request.checkpoint),
    )


def _report(
    request: LearnRequest, learner: Any, sets: Sequence[LabelledSet], run: tuple[bool, float, Any]
) -> LearnReport:
    interrupted, seconds, caught = run
    shown = [_shown(part) for part in sets]
    return LearnReport(
        data=[str(path) for path in request.data],
        sets=shown,
        columns=list(sets[0].table.columns),
        compared=described(learner.features),
        chosen=learner.chosen_,
        status=learner.status_,
        passes=int(learner.n_iter_),
        objective=float(learner.objective_),
        lower_bound=float(learner.lower_bound_),
        gap=float(learner.gap_),
        opening_cost=float(learner.opening_cost_),
        opening_cost_is_learnt=request.opening_cost == "learn",
        agreement=float(learner.agreement_),
        weights=shares(learner),
        validation=dict(learner.validation_),
        held_out=learner.held_out_,
        interrupted=interrupted or learner.status_ == "interrupted",
        seconds=seconds,
        warnings=[*_doubts(request.label, shown), *said(caught)],
        out=str(request.out),
        plot=as_text(request.plot),
        checkpoint=kept(request.checkpoint),
    )


def kept(checkpoint: Path | None) -> str | None:
    """The checkpoint, where the training came far enough to write one."""
    return as_text(checkpoint) if checkpoint is not None and checkpoint.exists() else None


def said(caught: Sequence[Any]) -> list[str]:
    """What warnings say, each once."""
    texts = [" ".join(str(warning.message).split()) for warning in caught]
    return list(dict.fromkeys(texts))


def _shown(part: LabelledSet) -> ShownSet:
    labels = np.empty(0, dtype=np.intp) if part.labels is None else part.labels
    shown = labels[labels != NOT_SHOWN]
    return ShownSet(part.name, len(part.places), len(shown), len(np.unique(shown)))


def _doubts(label: str, sets: Sequence[ShownSet]) -> list[str]:
    """Say so where the label column does not look like one of clusters."""
    if all(part.clusters <= 1 for part in sets):
        what = "all rows of every set are in one cluster"
    elif all(part.clusters == part.shown for part in sets):
        what = "every row of every set is a cluster of its own"
    else:
        return []
    return [f"{what}; make sure that column {label!r} says which rows belong together."]


def _draw(path: Path, learner: Any, sets: Sequence[LabelledSet]) -> None:
    """The weights, and what else there is to see: the training, and what was compared."""
    from likewise.plots import AgreementDisplay, TrainingDisplay, WeightsDisplay

    above = ["weights", *(["training"] if learner.history_["objective"] else [])]
    rows, heights = [above], [HEIGHT]
    if learner.validation_:
        rows.append(["agreement"] * len(above))
        heights.append(1.2 + LINE * len(learner.validation_["candidate"]))
    figure = blank_figure(WIDTH * len(above), sum(heights))
    axes = figure.subplot_mosaic(np.array(rows).tolist(), height_ratios=heights)
    tables = [part.table.rows() for part in sets]
    WeightsDisplay.from_estimator(learner, tables, ax=axes["weights"])
    if "training" in axes:
        TrainingDisplay.from_estimator(learner, ax=axes["training"])
    if "agreement" in axes:
        AgreementDisplay.from_estimator(learner, ax=axes["agreement"])
    write_figure(path, figure)
