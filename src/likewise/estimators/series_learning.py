"""Learning to segment, from training sequences to a metric and a penalty.

look at sequences -> choose on held-out ones -> train on all -> fit the penalty -> complete, again
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.interruption import check_interrupt
from likewise.errors import InputError
from likewise.estimators.series_features import Look, Units, Viewed
from likewise.estimators.series_input import ShownSeries
from likewise.estimators.series_selection import (
    OTHER_LOOK,
    Pupils,
    Verdict,
    folds_of,
    judge_fold,
)
from likewise.estimators.series_training import (
    Candidate,
    Part,
    SeriesSettings,
    Trained,
    candidates_for,
)
from likewise.learners.base import TrainingProgress, relative_gap
from likewise.learners.loop import HISTORY, Outcome
from likewise.parallel.local import one_blas_thread

Floats = NDArray[np.float64]
Callback = Callable[[TrainingProgress], object]

# Rounds of completion and training; the best by what is shown is kept.
ROUNDS = 3
# Where the loss is above this share of that of one segment for everything, nothing was learnt.
UNINFORMATIVE = 0.98
# Penalties that lead to one segment are looked for by doubling, this many times at most.
DOUBLINGS = 200


@dataclass(frozen=True)
class SeriesWishes:
    """What the user asked for beside the settings of a training, checked."""

    regulariser: str
    strength: float | None
    criterion: str
    start: str


@dataclass(eq=False)
class Ledger:
    """What a training has come to so far, as arrays that can be written down.

    Parameters
    ----------
    arrays : dict
        What is known already.
    write : callable or None
        Called with all arrays whenever one is new.
    """

    arrays: dict[str, NDArray[Any]]
    write: Callable[[dict[str, NDArray[Any]]], None] | None
    # Whether Ctrl-C was pressed.
    stopped: bool = False

    def recall(self, name: str, compute: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """One array: from before, or computed now."""
        if name not in self.arrays:
            check_interrupt()
            self.arrays[name] = compute()
            if self.write is not None:
                self.write(self.arrays)
        return self.arrays[name]

    def watch(self, name: str) -> dict[str, Any]:
        """What `likewise.learners.loop.run` takes to keep the state of one training."""
        prefix = f"{name}:"
        saved = {
            key.removeprefix(prefix): value
            for key, value in self.arrays.items()
            if key.startswith(prefix)
        }

        def save(arrays: dict[str, NDArray[Any]]) -> None:
            for key in [key for key in self.arrays if key.startswith(prefix)]:
                del self.arrays[key]
            self.arrays.update({prefix + key: value for key, value in arrays.items()})
            if self.write is not None:
                self.write(self.arrays)

        return {"saved": saved or None, "save": None if self.write is None else save}


@dataclass(frozen=True, eq=False)
class SeriesLesson:
    """What is to be learnt from.

    Attributes
    ----------
    shown : list of ShownSeries
        The training sequences.
    looks : list of Look
        How they may be looked at, the preferred way first.
    columns : list of str
        Names of the columns.
    """

    shown: list[ShownSeries]
    looks: list[Look]
    columns: list[str]
    settings: SeriesSettings
    wishes: SeriesWishes
    callbacks: Sequence[Callback]

    def pupils(self, look: Look) -> tuple[Pupils, Units]:
        """The sequences, seen in one way."""
        viewed = [Viewed.of(part, look) for part in self.shown]
        units = Units.of(viewed)
        if not units.kept.any():
            raise InputError(
                "no column of X varies within any sequence: there is nothing to segment by."
            )
        kinds = look.kinds(self.columns)
        if kinds is not None:
            kinds = np.unique(kinds[units.kept], return_inverse=True)[1]
        return Pupils.of(viewed, units, self.settings, self.wishes.criterion, kinds), units

    @property
    def telling(self) -> list[int]:
        """The sequences of which something is shown."""
        return [k for k, part in enumerate(self.shown) if not part.is_silent]

    def told(self, stage: str, done: int, total: int, started: float) -> None:
        """Tell callbacks about a part of the selection."""
        seconds = time.perf_counter() - started
        left = seconds / done * (total - done) if done else np.nan
        progress = TrainingProgress(stage, done, seconds, np.nan, np.nan, left)
        for callback in self.callbacks:
            callback(progress)


@dataclass(frozen=True, eq=False)
class SeriesLearned:
    """What was learnt: ``metric`` is of the features as they are, ``trained`` in their units.

    ``loss`` is that of the criterion on what was shown, ``one_segment`` that of no changes at all,
    ``n_calls`` counts segmentations, and ``looked`` is the table of the ways to look.
    """

    look: Look
    metric: Floats
    penalty: float
    trained: Trained
    pupils: Pupils
    candidate: Candidate
    verdict: Verdict | None
    loss: float
    one_segment: float
    status: str
    n_calls: int
    objective: float
    lower_bound: float
    history: dict[str, list[float]]
    looked: dict[str, list[Any]]

    @property
    def gap(self) -> float:
        """Relative duality gap; NaN where nothing was trained."""
        return relative_gap(self.objective, self.lower_bound)


def learn_series(lesson: SeriesLesson, ledger: Ledger) -> SeriesLearned:
    """Choose, train, fit the penalty; complete and train again where not all is shown."""
    with one_blas_thread():
        look, looked = _chosen_look(lesson, ledger)
        course = _Course.of(lesson, ledger, look)
        verdict = course.verdict("fold", None)
        final = course.first_round(course.candidate(verdict))
        if not course.is_complete and not ledger.stopped:
            verdict, final = course.next_rounds(verdict, final)
    return course.learned(looked, verdict, final)


@dataclass(frozen=True, eq=False)
class _Final:
    """The best of the rounds so far, and the segmentations made until then."""

    candidate: Candidate
    trained: Trained
    penalty: float
    loss: float
    chance: float
    n_calls: int

    @property
    def outcome(self) -> Outcome:
        """How its training ended."""
        return self.trained.ended


@dataclass(frozen=True, eq=False)
class _Course:
    """One way to look at sequences, and what is done with it."""

    lesson: SeriesLesson
    ledger: Ledger
    look: Look
    pupils: Pupils
    telling: Pupils
    units: Units

    @classmethod
    def of(cls, lesson: SeriesLesson, ledger: Ledger, look: Look) -> _Course:
        pupils, units = lesson.pupils(look)
        telling = pupils.restricted_to(lesson.telling)
        return cls(lesson, ledger, look, pupils, telling, units)

    @property
    def is_complete(self) -> bool:
        """Whether every segment is shown."""
        return all(part.is_complete for part in self.pupils.viewed)

    def candidates(self) -> list[Candidate]:
        """What the metric may be."""
        wishes = self.lesson.wishes
        return candidates_for(
            self.lesson.settings.full, wishes.regulariser, wishes.strength, self.pupils.n_features,
            self.pupils.kinds is not None,
        )  # fmt: skip

    def candidate(self, verdict: Verdict | None) -> Candidate:
        """What the metric is to be; one weight after Ctrl-C."""
        if self.ledger.stopped:
            return Candidate("one")
        found = self.candidates()
        return found[0] if verdict is None else verdict.candidates[verdict.chosen]

    def verdict(self, name: str, parts: Sequence[Part] | None) -> Verdict | None:
        """What candidates lose on sequences that are held out; None where there are too few."""
        candidates, n = self.candidates(), len(self.telling.viewed)
        if n < 2 or self.ledger.stopped or self.lesson.wishes.strength is not None:
            return None
        folds, losses = folds_of(n), np.zeros((len(candidates), n))
        started = time.perf_counter()
        for place, held in enumerate(folds):
            judge = partial(judge_fold, self.telling, held, candidates, parts)
            try:
                self.lesson.told("validating", place, len(folds), started)
                losses[:, held] = self.ledger.recall(f"{name} {place}", judge)
            except KeyboardInterrupt:
                self.ledger.stopped = True
                return None
        return Verdict(candidates, losses)

    def first_round(self, candidate: Candidate) -> _Final:
        """Train on what is shown."""
        if self.lesson.wishes.start == "pca" and not self.is_complete:
            return self.round(0, candidate, self.pupils.projected(), 0)
        return self.round(0, candidate, self.telling.shown_parts(), 0)

    def next_rounds(self, verdict: Verdict | None, best: _Final) -> tuple[Verdict | None, _Final]:
        """Complete what is not shown and train again; the best by what is shown is kept.

        Completions are as long as the sequences, so the candidates are compared once more.
        """
        again = self.verdict("completed", self.telling.completed(best.trained, best.penalty))
        verdict = verdict if again is None else again
        calls = best.n_calls
        for attempt in range(1, 1 + ROUNDS):
            if self.ledger.stopped:
                break
            parts = self.pupils.completed(best.trained, best.penalty)
            found = self.round(attempt, self.candidate(verdict), parts, calls)
            calls = found.n_calls
            # The first completions are those of labelled stretches alone; later ones need not be
            # better than what is there by chance.
            if attempt == 1 or found.loss <= best.loss + best.chance:
                best = found
        return verdict, best

    def round(
        self, attempt: int, candidate: Candidate, parts: Sequence[Part], calls: int
    ) -> _Final:
        """Train once, and fit the penalty."""
        training = self.pupils.training(parts)
        watch = self.ledger.watch(f"round {attempt}, {candidate.name}") | {
            "callbacks": self.lesson.callbacks,
            "stage": "learning" if self.is_complete else f"round {attempt}",
        }
        trained, passes = training.learn(candidate, **watch)
        if trained.ended.status == "interrupted":
            self.ledger.stopped = True
        fitted = self.telling.fitted(trained)
        calls += len(parts) * passes
        return _Final(candidate, trained, fitted.penalty, fitted.loss, fitted.chance, calls)

    def learned(
        self, looked: dict[str, list[Any]], verdict: Verdict | None, final: _Final
    ) -> SeriesLearned:
        """What it came to, in units of the features as they are."""
        outcome, settings = final.outcome, self.lesson.settings
        whole = self.telling.one_segment_losses()
        tells = final.loss < UNINFORMATIVE * whole.mean()
        if verdict is not None and self.is_complete:
            tells = tells and verdict.gains_on(whole)
        status, penalty = outcome.status, final.penalty
        if self.ledger.stopped:
            status = "interrupted"
        elif whole.any() and not settings.known and not tells:
            status = "uninformative"
            penalty = _penalty_of_one_segment(self.telling, final.trained, penalty)
        return SeriesLearned(
            look=self.look, metric=self.units.metric_of(final.trained.metric), penalty=penalty,
            trained=final.trained, pupils=self.pupils, candidate=final.candidate, verdict=verdict,
            loss=final.loss, one_segment=float(whole.mean()), status=status, n_calls=final.n_calls,
            objective=outcome.objective, lower_bound=outcome.lower_bound,
            history=outcome.history or {name: [] for name in HISTORY}, looked=looked,
        )  # fmt: skip


def _chosen_look(lesson: SeriesLesson, ledger: Ledger) -> tuple[Look, dict[str, list[Any]]]:
    """The first way to look at sequences, unless another one does clearly better held out."""
    looks = lesson.looks
    if len(looks) == 1:
        return looks[0], {"features": [looks[0].name], "loss": [np.nan], "chosen": [True]}
    one, losses, started = [Candidate("one")], [], time.perf_counter()
    for place, look in enumerate(looks):

        def judged(look: Look = look) -> Floats:
            pupils = lesson.pupils(look)[0].restricted_to(lesson.telling)
            n = len(pupils.viewed)
            if n == 1:
                return pupils.fitted(pupils.equal()).losses
            return np.hstack([judge_fold(pupils, held, one)[0] for held in folds_of(n)])

        try:
            lesson.told("features", place, len(looks), started)
            losses.append(float(ledger.recall(f"look {place}", judged).mean()))
        except KeyboardInterrupt:
            ledger.stopped = True
            return looks[0], {"features": [], "loss": [], "chosen": []}
    best = int(np.argmin(losses))
    chosen = best if losses[best] < (1.0 - OTHER_LOOK) * losses[0] else 0
    table: dict[str, list[Any]] = {
        "features": [look.name for look in looks], "loss": losses,
        "chosen": [k == chosen for k in range(len(looks))],
    }  # fmt: skip
    return looks[chosen], table


def _penalty_of_one_segment(pupils: Pupils, trained: Trained, penalty: float) -> float:
    """The first of the doubled penalties that leaves all training sequences in one piece."""
    for _ in range(DOUBLINGS):
        if not any(len(pupils.segmented(part, trained, penalty)) for part in pupils.viewed):
            break
        penalty *= 2.0
    return penalty
