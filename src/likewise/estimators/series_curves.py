"""What a fitted `ChangePointLearner` loses on labelled sequences, as a function of the penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from likewise.decoders.segments import decode_segments
from likewise.errors import InputError
from likewise.estimators.series_input import ShownSeries, shown_series, tables_of
from likewise.estimators.series_output import features_of
from likewise.estimators.series_penalties import Curve, Task, curve_of, growth
from likewise.estimators.series_scores import checked_metric, trace_scores
from likewise.potentials import TraceScores

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# The least penalty to look at is looked for in such steps.
FINER = 1.25

__all__ = ["PenaltyCurve", "penalty_curve"]


@dataclass(frozen=True, eq=False)
class PenaltyCurve:
    """Means over sequences, by the penalty of one of typical length.

    Attributes
    ----------
    penalties : array of shape (m + 1,)
        Between two neighbours, nothing changes.
    n_segments, losses : array of shape (m,)
        The mean number of segments, and the mean loss, there.
    annotated : bool
        Whether all that is shown are regions.
    """

    penalties: Floats
    n_segments: Floats
    losses: Floats
    annotated: bool


def penalty_curve(
    learner: Any, X: Any, y: Any, groups: Any = None, *, reach: float = 30.0
) -> PenaltyCurve:
    """The loss of the criterion for penalties up to `reach` times smaller and larger than learnt.

    Parameters
    ----------
    learner : fitted ChangePointLearner
        Its metric and features are those that are segmented by.
    X, y, groups
        Labelled sequences, as in ``ChangePointLearner.fit``.
    reach : float, default=30.0
        How far to look.
    """
    if learner.n_segments == "known":
        raise InputError("n_segments='known' was learnt: there is no penalty to look at.")
    if not reach > 1.0:
        raise InputError(f"reach must be a number above 1; got {reach!r}.")
    # The columns are checked against those of the learner, and nothing is recorded on it.
    tables_of(learner, X, groups, reset=False)
    shown = [part for part in shown_series(BaseEstimator(), X, y, groups) if not part.is_silent]
    counts = [_task(learner, part, lambda part, cuts: float(len(cuts) + 1)) for part in shown]
    losses = [_task(learner, part, _loss_of(learner)) for part in shown]
    low, high = _lowest(counts, learner.penalty_, reach), learner.penalty_ * reach
    edges, n_segments = _mean_of([curve_of(task, low, high) for task in counts])
    _, loss = _mean_of([curve_of(task, low, high) for task in losses])
    return PenaltyCurve(edges, n_segments, loss, all(part.annotated for part in shown))


def _loss_of(learner: Any) -> Callable[[ShownSeries, Indices], float]:
    return lambda part, cuts: part.loss(cuts * learner.rows_per_block_, learner.criterion_)


def _task(learner: Any, part: ShownSeries, judge: Callable[[ShownSeries, Indices], float]) -> Task:
    features = features_of(learner, part.rows)
    rows = trace_scores(features, checked_metric(learner.metric_, features.shape[1]), 0.0).rows
    return Task(
        rows, growth(len(rows), learner.typical_blocks_), part.most_segments,
        lambda cuts: judge(part, cuts), lambda cuts: 0.0,
    )  # fmt: skip


def _lowest(tasks: list[Task], penalty: float, reach: float) -> float:
    """The least penalty to look at: below, there are more segments than anybody would look at."""
    low = penalty / reach
    while low * FINER < penalty and any(_is_beyond(task, low) for task in tasks):
        low *= FINER
    return low


def _is_beyond(task: Task, penalty: float) -> bool:
    found = decode_segments(TraceScores(task.rows, penalty * task.growth))
    return found is not None and found.n_segments > task.most


def _mean_of(curves: list[Curve]) -> tuple[Floats, Floats]:
    """The edges of all curves, and their mean between neighbouring ones."""
    edges = np.unique(np.concatenate([curve.edges for curve in curves]))
    middles = np.sqrt(edges[:-1] * edges[1:])
    mean: Floats = np.mean([curve.losses[curve.places(middles)] for curve in curves], axis=0)
    return edges, mean
