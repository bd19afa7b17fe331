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
    Judging,
    Verdict,
    candidates_for,
    distances_of,
    untrained,
)
from likewise.estimators.training import (
    COLLAPSED,
    OPENING_UNIT,
    TOTAL,
    Centres,
    Settings,
    first_weights,
    train,
)
from likewise.geometry.pairs import mean_features
from likewise.learners.base import TrainingProgress, relative_gap
from likewise.learners.calibration import ShownSet, SizeLaw, fit_law
from likewise.learners.loop import HISTORY, Outcome

Floats = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]
Save = Callable[[dict[str, NDArray[Any]]], None]

# A feature with a smaller mean is constant, for all that floating-point numbers can tell.
SMALLEST_MEAN = 1e-300
# Below this share of what they started with, weights have all but collapsed.
NEARLY_COLLAPSED = 0.01
# What checkpoints call the judgements of selection.
JUDGED = "selection.judged"


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

    def candidates(self, views: int) -> list[Candidate]:
        """What there is to choose from."""
        name = self.regulariser if isinstance(self.regulariser, str) else "l1"
        strengths = STRENGTHS[name] if self.strength is None else (self.strength,)
        found = candidates_for(
            self.regulariser, strengths, paths=self.paths, views=views,
            commensurable=self.commensurable,
        )  # fmt: skip
        if self.strength is None:
            return found
        # A strength that is given leaves nothing to choose but what is learnt with it.
        return [c for c in found if c.strength is not None and c.centre == "contrast"]


@dataclass(frozen=True, eq=False)
class Lesson:
    """What is to be learnt from: sets whose features have mean one, in every geometry.

    ``means`` are what features were divided by, per geometry; ``kept`` says which features vary.
    """

    views: list[View]
    means: list[Floats]
    kept: NDArray[np.bool_]
    settings: Settings
    wishes: Wishes
    callbacks: Sequence[Callable[[TrainingProgress], object]]

    @classmethod
    def of(
        cls, views: Sequence[View], names: Sequence[str], settings: Settings, wishes: Wishes,
        callbacks: Sequence[Callable[[TrainingProgress], object]],
    ) -> Lesson:  # fmt: skip
        """Scale the features; those that never vary are left out, with a warning."""
        means = [mean_features([part.pairs for part in view.sets]) for view in views]
        _check_finite(means, names)
        kept: NDArray[np.bool_] = np.all([mean > SMALLEST_MEAN for mean in means], axis=0)
        _warn_of_constants(kept, names)
        scaled = []
        for view, mean in zip(views, means, strict=True):
            factor = np.where(kept, 1.0 / np.where(kept, mean, 1.0), 0.0)
            parts = [part.scaled(factor, kept) for part in view.sets]
            scaled.append(View(parts, view.local_scale))
        return cls(scaled, [mean[kept] for mean in means], kept, settings, wishes, callbacks)

    def means_of(self, candidate: Candidate) -> Floats:
        """The means of the features as given; zero for those that were left out."""
        means = np.zeros(len(self.kept))
        means[self.kept] = self.means[candidate.view]
        return means

    def tells_apart(self) -> bool:
        """Whether some set has two clusters, and rows that belong together."""
        return any(1 < part.n_clusters < len(part.shown) for part in self.views[0].sets)

    def centre(self, candidate: Candidate) -> Floats:
        """The direction that a candidate takes or pulls to."""
        view = candidate.view
        commensurable = self.wishes.commensurable
        centres = Centres.of(self.views[view].sets, self.means[view], commensurable=commensurable)
        return centres.named(candidate.centre)

    def choose(
        self, candidates: list[Candidate], saved: Arrays, save: Save | None
    ) -> tuple[Verdict | None, bool]:
        """The verdict of held-out clusters, and whether Ctrl-C ended it before there was one."""
        if len(candidates) == 1:
            return None, False

        def told(done: int, total: int, seconds: float) -> None:
            left = seconds / done * (total - done) if done else np.nan
            progress = TrainingProgress("validating", done, seconds, np.nan, np.nan, left)
            for callback in self.callbacks:
                callback(progress)

        judging = Judging(
            [view.sets for view in self.views], self.means, candidates, self.settings,
            self.wishes.regulariser, self.wishes.commensurable,
        )  # fmt: skip
        keep = None if save is None else lambda judged: save({JUDGED: judged})
        try:
            return judging.run(saved.get(JUDGED), told, keep), False
        except KeyboardInterrupt:
            return None, True

    def train(
        self, candidate: Candidate, centre: Floats, saved: Arrays, save: Save | None
    ) -> Outcome | None:
        """Train on everything, unless the candidate takes its centre as it is."""
        if candidate.strength is None:
            return None
        return train(
            self.views[candidate.view].sets, self.settings, self.wishes.regulariser,
            candidate.strength, centre, callbacks=self.callbacks,
            saved=saved if "best" in saved else None, save=save,
        )  # fmt: skip

    def law(self, candidate: Candidate, weights: Floats, profile: Floats) -> tuple[SizeLaw, float]:
        """What a cluster costs by the size of its set, and the agreement that this reaches."""
        settings = self.settings
        if settings.opening_cost is not None:
            return SizeLaw(settings.opening_cost, 0.0), np.nan
        shown = [
            ShownSet(
                distances_of(part, weights, candidate.paths), part.shown,
                1.0 + part.openings @ profile,
            )
            for part in self.views[candidate.view].sets
        ]  # fmt: skip
        return fit_law(shown, self.wishes.size_exponent, settings.n_jobs)


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learnt.

    ``weights`` are of the features as given, zero for those that were left out; ``profile`` are the
    weights of opening features, ``law`` how the opening cost depends on the set.
    """

    weights: Floats
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


def learn(lesson: Lesson, saved: Arrays | None, save: Save | None) -> Learned:
    """Choose, train and calibrate; ``saved`` is what ``save`` was given last."""
    saved = saved or {}
    candidates = lesson.wishes.candidates(len(lesson.views))
    if not lesson.tells_apart():
        warnings.warn(
            "no training set has both rows that belong together and rows that do not, so nothing "
            "says how much features count: all count the same, and only the opening cost is "
            "learnt. Show sets of two clusters and more.",
            LikewiseWarning,
            stacklevel=3,
        )
        candidates = [Candidate("contrast", None, candidates[0].paths)]
    verdict, interrupted = lesson.choose(candidates, saved, save)
    candidate = candidates[0] if verdict is None else verdict.chosen
    centre = lesson.centre(candidate)
    outcome: Outcome | None = None
    if not interrupted:
        remembered = {} if verdict is None else {JUDGED: verdict.judged}
        keep = None if save is None else lambda arrays: save({**arrays, **remembered})
        outcome = lesson.train(candidate, centre, saved, keep)
    trained = _trained(lesson, candidate, centre, outcome)
    status = "interrupted" if interrupted else trained.status
    try:
        law, agreement = lesson.law(candidate, trained.weights, trained.profile)
    except KeyboardInterrupt:
        law, agreement, status = trained.law, np.nan, "interrupted"
    given = np.zeros(len(lesson.kept))
    given[lesson.kept] = trained.weights / lesson.means[candidate.view]
    return Learned(
        weights=given, profile=trained.profile, law=law, candidate=candidate,
        local_scale=lesson.views[candidate.view].local_scale, verdict=verdict,
        agreement=agreement, status=status,
        n_iter=0 if outcome is None else outcome.n_iter,
        objective=np.nan if outcome is None else outcome.objective,
        lower_bound=np.nan if outcome is None else outcome.lower_bound,
        history={name: [] for name in HISTORY} if outcome is None else outcome.history,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Trained:
    """Weights of scaled features, those of opening features, and how the training ended.

    ``law`` is what the training makes of opening costs, before they are calibrated.
    """

    weights: Floats
    profile: Floats
    status: str
    law: SizeLaw


def _trained(
    lesson: Lesson, candidate: Candidate, centre: Floats, outcome: Outcome | None
) -> _Trained:
    """What a training came to; collapsed weights give way to the centre, with a warning.

    Only their direction counts where the opening cost is learnt, so they add up to one there.
    """
    n = len(centre)
    sets = lesson.views[candidate.view].sets
    profile = np.zeros(sets[0].openings.shape[1])
    weights, status = centre, "converged"
    factor = OPENING_UNIT / TOTAL
    if outcome is None:
        weights = untrained(sets, centre, candidate.paths, lesson.settings)
    if outcome is not None:
        weights, openings, status = outcome.weights[:n], outcome.weights[n:], outcome.status
        before = float(np.abs(first_weights(sets, lesson.settings, centre)).sum())
        total = float(np.abs(weights).sum())
        if total < NEARLY_COLLAPSED * before:
            warnings.warn(
                f"the weights have collapsed (their sum fell to {total:.2g} of {before:.2g}): the "
                "examples do not separate under this strength. Lower strength, or leave "
                "strength='auto' to have it chosen on held-out clusters.",
                LikewiseWarning,
                stacklevel=4,
            )
            status = "collapsed"
        if total < COLLAPSED * before:
            weights = untrained(sets, centre, candidate.paths, lesson.settings)
        if openings[0] > 0.0:
            profile = openings[1:] / openings[0]
            factor *= float(openings[0]) * before / (total or before)
    if lesson.settings.opening_cost is not None:
        return _Trained(weights, profile, status, SizeLaw(lesson.settings.opening_cost, 0.0))
    return _Trained(weights / np.abs(weights).sum(), profile, status, SizeLaw(factor, 1.0))


def _check_finite(means: Sequence[Floats], names: Sequence[str]) -> None:
    finite = np.all([np.isfinite(mean) for mean in means], axis=0)
    if not finite.all():
        unfit = [name for name, fit in zip(names, finite, strict=True) if not fit]
        raise InputError(
            f"features {unfit[:10]} ({len(unfit)} in total) are too large: their mean over pairs "
            "of rows is beyond the largest number. Divide those columns by a power of ten; units "
            "change nothing else."
        )


def _warn_of_constants(kept: NDArray[np.bool_], names: Sequence[str]) -> None:
    if not kept.any():
        raise InputError(
            "no feature tells the rows of any training set apart: all are constant. Pass columns "
            "or comparisons that vary."
        )
    if not kept.all():
        dropped = [name for name, keep in zip(names, kept, strict=True) if not keep]
        warnings.warn(
            f"features {dropped[:10]} ({len(dropped)} in total) are constant within every training "
            "set and were dropped: their weight is 0.",
            LikewiseWarning,
            stacklevel=4,
        )
