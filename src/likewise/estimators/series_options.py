"""The parameters of `ChangePointLearner`, checked."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import NDArray

from likewise.arrays.random import draw_seed
from likewise.errors import InputError, InputTypeError
from likewise.estimators.learner_options import (
    OPTIMISERS,
    checked_n_jobs,
    checked_step,
    described,
    number_or_auto,
)
from likewise.estimators.series_input import CRITERIA, ShownSeries
from likewise.estimators.series_learning import SeriesWishes
from likewise.estimators.series_training import SeriesSettings
from likewise.persistence.checkpoint import Checkpoint, fingerprint_of
from likewise.validation import validate_choice, validate_int, validate_number

REGULARISERS = ("auto", "l2", "l1", "trace")


def checked_series(learner: Any) -> tuple[SeriesSettings, SeriesWishes]:
    """The parameters, checked."""
    full = validate_choice("metric", learner.metric, ("diagonal", "full")) == "full"
    regulariser = validate_choice("regulariser", learner.regulariser, REGULARISERS)
    if regulariser == "trace" and not full:
        raise InputError("regulariser='trace' is of matrices: set metric='full', or take 'l1'.")
    if learner.n_segments not in (None, "known"):
        raise InputError(
            f"n_segments must be None or 'known'; got {learner.n_segments!r}. A number is given "
            "to cluster."
        )
    validate_choice("penalty", learner.penalty, ("constant", "features"))
    settings = SeriesSettings(
        full=full,
        loss=validate_choice("loss", learner.loss, ("projection", "rand")),
        known=learner.n_segments == "known",
        optimiser=validate_choice("optimiser", learner.optimiser, OPTIMISERS),
        step=checked_step(learner.step),
        max_iter=validate_int("max_iter", learner.max_iter, 1),
        tol=validate_number("tol", learner.tol, 0.0),
        n_jobs=checked_n_jobs(learner.n_jobs),
        seed=draw_seed(learner.random_state),
    )
    wishes = SeriesWishes(
        regulariser,
        number_or_auto("strength", learner.strength, 0.0),
        validate_choice("criterion", learner.criterion, CRITERIA),
        validate_choice("completion_start", learner.completion_start, ("labelled", "pca")),
    )
    return settings, wishes


def series_checkpoint(learner: Any, shown: list[ShownSeries], seed: int) -> Checkpoint | None:
    """The checkpoint of this training, if one is wanted."""
    if learner.checkpoint is None:
        return None
    if not isinstance(learner.checkpoint, (str, os.PathLike)):
        raise InputTypeError(f"checkpoint must be a path or None; got {learner.checkpoint!r}.")
    arrays: list[NDArray[Any]] = []
    words = [described(learner, seed)]
    for part in shown:
        arrays += [part.rows, part.places, part.segments]
        words.append(repr(part.regions.rows))
    return Checkpoint(learner.checkpoint, fingerprint_of(arrays, "|".join(words)))
