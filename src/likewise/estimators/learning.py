"""Learning to cluster, from training sets to a way of clustering new ones.

scale features -> choose on held-out clusters -> train on everything -> calibrate opening costs
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, LikewiseWarning
from likewise.estimators.examples import TrainingSet
from likewise.estimators.selection import (
    STRENGTHS,
    Candidate,
    Verdict,
    candidates_for,
    distances_of,
    select,
)
from likewise.estimators.training import COLLAPSED, TOTAL, Centres, Settings, train
from likewise.geometry.pairs import mean_features
from likewise.learners.base import TrainingProgress, relative_gap
from likewise.learners.calibration import ShownSet, SizeLaw, fit_law
from likewise.learners.loop import HISTORY, Outcome

Floats = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]

# A feature whose mean is below this share of the largest value that it takes part in is constant.
SMALLEST_MEAN = 1e-300
# Below this share of what they started with, weights have all but collapsed.
NEARLY_COLLAPSED = 0.01


@dataclass(frozen=True, eq=False)
class View:
    """One geometry of the training sets: with or without local scales."""

    sets: list[TrainingSet]
    local_scale: int | None = None


@dataclass(frozen=True)
class Wishes:
    """What the user asked for beside the settings of a training, checked."""

    regulariser: Any
    strength: float | None
    paths: float | str | None
    size_exponent: float | None
    commensurable: bool


@dataclass(frozen=True, eq=False)
class Learned:
    """A way of clustering.

    ``weights`` are of the features as given; ``kept`` says which of them vary. ``profile`` are the
    weights of opening features, ``law`` how the opening cost depends on the set.
    """

    weights: Floats
    kept: NDArray[np.bool_]
    profile: Floats
    law: SizeLaw
    candidate: Candidate
    local_scale: int | None
    verdict: Verdict | None
    agreement: float
    status: str
    n_iter: int
    objective: float
    lower_bound: float
    history: dict[str, list[float]] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """Relative duality gap; NaN where nothing was trained."""
        if np.isnan(self.objective):
            return np.nan
        return relative_gap(self.objective, self.lower_bound)


def learn(
    views: Sequence[View],
    names: Sequence[str],
    settings: Settings,
    wishes: Wishes,
    *,
    callbacks: Sequence[Callable[[TrainingProgress], object]],
    saved: Arrays | None,
    save: Callable[[dict[str, NDArray[Any]]], None] | None,
) -> Learned:
    """Learn from the training sets; every view has the same sets in another geometry."""
    scaled, means, kept = _scaled(views, names)
    candidates = _candidates(wishes, len(views))
    verdict, interrupted = _chosen(scaled, means, candidates, settings, wishes, callbacks, saved)
    candidate = candidates[0] if verdict is None else verdict.chosen
    sets = scaled[candidate.view]
    centres = Centres.of(sets, means[candidate.view], commensurable=wishes.commensurable)
    centre = centres.named(candidate.centre)
    outcome: Outcome | None = None
    if candidate.strength is not None and not interrupted:
        remembered = {} if verdict is None else _as_arrays(verdict)
        outcome = train(
            sets, settings, wishes.regulariser, candidate.strength, centre, callbacks=callbacks,
            saved=_training_of(saved),
            save=None if save is None else lambda arrays: save({**arrays, **remembered}),
        )  # fmt: skip
    return _finished(
        sets, means[candidate.view], kept, centre, candidate, settings, wishes, verdict, outcome,
        views[candidate.view].local_scale, interrupted,
    )  # fmt: skip


def _scaled(
    views: Sequence[View], names: Sequence[str]
) -> tuple[list[list[TrainingSet]], list[Floats], NDArray[np.bool_]]:
    """Features divided by their means; those that never vary are left out, with a warning."""
    means = [mean_features([part.pairs for part in view.sets]) for view in views]
    kept = np.all([mean > SMALLEST_MEAN for mean in means], axis=0)
    if not kept.any():
        raise InputError(
            "no feature tells the rows of any training set apart: all are constant. Pass columns or "
            "comparisons that vary."
        )
    if not kept.all():
        dropped = [name for name, keep in zip(names, kept, strict=True) if not keep]
        warnings.warn(
            f"features {dropped[:10]} ({len(dropped)} in total) are constant within every training "
            "set and were dropped: their weight is 0.",
            LikewiseWarning,
            stacklevel=4,
        )
    factors = [np.where(kept, 1.0 / np.where(kept, mean, 1.0), 0.0) for mean in means]
    scaled = [
        [part.scaled(factor, kept) for part in view.sets]
        for view, factor in zip(views, factors, strict=True)
    ]
    return scaled, [mean[kept] for mean in means], kept


def _candidates(wishes: Wishes, views: int) -> list[Candidate]:
    name = wishes.regulariser if isinstance(wishes.regulariser, str) else "l1"
    strengths = STRENGTHS[name] if wishes.strength is None else (wishes.strength,)
    found = candidates_for(
        wishes.regulariser, strengths, paths=wishes.paths, views=views,
        commensurable=wishes.commensurable,
    )  # fmt: skip
    if wishes.strength is None:
        return found
    # A strength that is given leaves nothing to choose but what is learnt with it.
    return [c for c in found if c.strength is not None and c.centre == "contrast"]


def _chosen(
    scaled: list[list[TrainingSet]],
    means: list[Floats],
    candidates: list[Candidate],
    settings: Settings,
    wishes: Wishes,
    callbacks: Sequence[Callable[[TrainingProgress], object]],
    saved: Arrays | None,
) -> tuple[Verdict | None, bool]:
    """What selection says, from the checkpoint where it is there; and whether Ctrl-C ended it."""
    if len(candidates) == 1:
        return None, False
    if saved is not None and "selection.scores" in saved:
        return _from_arrays(saved, candidates), False

    def told(done: int, total: int, seconds: float) -> None:
        left = seconds / done * (total - done) if done else np.nan
        progress = TrainingProgress("validating", done, seconds, np.nan, np.nan, left)
        for callback in callbacks:
            callback(progress)

    try:
        verdict = select(
            scaled, means, candidates, settings, wishes.regulariser,
            commensurable=wishes.commensurable, told=told,
        )  # fmt: skip
    except KeyboardInterrupt:
        return None, True
    return verdict, False


def _finished(
    sets: list[TrainingSet],
    means: Floats,
    kept: NDArray[np.bool_],
    centre: Floats,
    candidate: Candidate,
    settings: Settings,
    wishes: Wishes,
    verdict: Verdict | None,
    outcome: Outcome | None,
    local_scale: int | None,
    interrupted: bool,
) -> Learned:
    """Weights in the user's units, and the opening costs that go with them."""
    n = len(centre)
    weights, openings = centre, np.append(1.0, np.zeros(sets[0].openings.shape[1]))
    status = "interrupted" if interrupted else "converged"
    if outcome is not None:
        weights, openings, status = outcome.weights[:n], outcome.weights[n:], outcome.status
        total = float(np.abs(weights).sum())
        if total < NEARLY_COLLAPSED * TOTAL:
            warnings.warn(
                f"the weights have collapsed (their sum fell to {total:.2g} of {TOTAL:g}): the "
                "examples do not separate under this strength. Lower strength, or leave "
                "strength='auto' to have it chosen on held-out clusters.",
                LikewiseWarning,
                stacklevel=5,
            )
            status = "collapsed"
        if total < COLLAPSED:
            weights = centre
    profile = openings[1:] / openings[0] if openings[0] > 0.0 else np.zeros(len(openings) - 1)
    if settings.opening_cost is None:
        weights = weights / np.abs(weights).sum()
    shown = [
        ShownSet(distances_of(p, weights, candidate.paths), p.shown, 1.0 + p.openings @ profile)
        for p in sets
    ]
    if settings.opening_cost is not None:
        law, agreement = SizeLaw(settings.opening_cost, 0.0), np.nan
    else:
        law, agreement = fit_law(shown, 1.0, wishes.size_exponent, settings.n_jobs)
    given = np.zeros(len(kept))
    given[kept] = weights / means
    return Learned(
        weights=given, kept=kept, profile=profile, law=law, candidate=candidate,
        local_scale=local_scale, verdict=verdict, agreement=agreement, status=status,
        n_iter=0 if outcome is None else outcome.n_iter,
        objective=np.nan if outcome is None else outcome.objective,
        lower_bound=np.nan if outcome is None else outcome.lower_bound,
        history={name: [] for name in HISTORY} if outcome is None else outcome.history,
    )  # fmt: skip


def _training_of(saved: Arrays | None) -> Arrays | None:
    """The part of a checkpoint that is a state of the loop."""
    return saved if saved is not None and "best" in saved else None


def _as_arrays(verdict: Verdict) -> dict[str, NDArray[Any]]:
    return {
        "selection.scores": verdict.scores,
        "selection.errors": verdict.errors,
        "selection.chosen": np.array(verdict.candidates.index(verdict.chosen)),
        "selection.held_out": np.array(verdict.held_out),
    }


def _from_arrays(saved: Arrays, candidates: list[Candidate]) -> Verdict:
    return Verdict(
        candidates, saved["selection.scores"], saved["selection.errors"],
        candidates[int(saved["selection.chosen"])], str(saved["selection.held_out"]),
    )  # fmt: skip
