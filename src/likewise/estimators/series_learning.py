"""Learning to segment, from training sequences to a metric and a penalty.

look at sequences -> choose on held-out ones -> train on all -> fit the penalty -> complete, again
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    SeriesSettings,
    Trained,
    candidates_for,
)
from likewise.learners.base import TrainingProgress, relative_gap
from likewise.learners.loop import HISTORY, Outcome
from likewise.parallel.local import one_blas_thread

Floats = NDArray[np.float64]
Arrays = Mapping[str, NDArray[Any]]
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
    """What was learnt: ``metric`` is of the features as they are, and ``losses`` by sequence."""

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
        look, looked, stopped = _chosen_look(lesson, ledger)
        pupils, units = lesson.pupils(look)
        telling = pupils.restricted_to(lesson.telling)
        verdict = None
        if not stopped:
            verdict, stopped = _verdict(lesson, telling, ledger)
        found = candidates_for(
            lesson.settings.full, lesson.wishes.regulariser, lesson.wishes.strength,
            pupils.n_features, pupils.kinds is not None,
        )  # fmt: skip
        candidate = found[0] if verdict is None else verdict.candidates[verdict.chosen]
        if stopped:
            candidate = Candidate("one")
        final = _trained(pupils, telling, candidate, lesson, ledger, stopped)
    return _learned(lesson, look, looked, units, pupils, telling, verdict, candidate, final)


@dataclass(frozen=True, eq=False)
class _Final:
    """The best of the rounds."""

    trained: Trained
    penalty: float
    loss: float
    outcome: Outcome
    n_calls: int


def _chosen_look(lesson: SeriesLesson, ledger: Ledger) -> tuple[Look, dict[str, list[Any]], bool]:
    """The first way to look at sequences, unless another one does clearly better held out."""
    looks = lesson.looks
    if len(looks) == 1:
        return looks[0], {"features": [looks[0].name], "loss": [np.nan], "chosen": [True]}, False
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
            return looks[0], {"features": [], "loss": [], "chosen": []}, True
    best = int(np.argmin(losses))
    chosen = best if losses[best] < (1.0 - OTHER_LOOK) * losses[0] else 0
    table: dict[str, list[Any]] = {
        "features": [look.name for look in looks], "loss": losses,
        "chosen": [k == chosen for k in range(len(looks))],
    }  # fmt: skip
    return looks[chosen], table, False


def _verdict(lesson: SeriesLesson, telling: Pupils, ledger: Ledger) -> tuple[Verdict | None, bool]:
    """What candidates lose on sequences that are held out, None where there are too few.

    And whether Ctrl-C ended it.
    """
    wishes, n = lesson.wishes, len(telling.viewed)
    candidates = candidates_for(
        lesson.settings.full, wishes.regulariser, wishes.strength, telling.n_features,
        telling.kinds is not None,
    )  # fmt: skip
    if n < 2:
        return None, False
    folds, losses = folds_of(n), np.zeros((len(candidates), n))
    started = time.perf_counter()
    for place, held in enumerate(folds):
        try:
            lesson.told("validating", place, len(folds), started)
            losses[:, held] = ledger.recall(
                f"fold {place}", partial(judge_fold, telling, held, candidates)
            )
        except KeyboardInterrupt:
            return None, True
    return Verdict(candidates, losses), False


def _trained(
    pupils: Pupils, telling: Pupils, candidate: Candidate, lesson: SeriesLesson, ledger: Ledger,
    stopped: bool,
) -> _Final:  # fmt: skip
    """Train on what is shown; then on completions of the rest, while that fits better.

    ``stopped`` says that Ctrl-C was pressed before.
    """
    parts = telling.shown_parts() if lesson.wishes.start == "labelled" else pupils.projected()
    complete = all(part.is_complete for part in pupils.viewed)
    best, calls = None, 0
    for attempt in range(1 if complete else 1 + ROUNDS):
        if best is not None:
            parts = pupils.completed(best.trained, best.penalty)
        training = pupils.training(parts)
        watch = {"callbacks": lesson.callbacks, **ledger.watch(f"round {attempt}")}
        stage = "learning" if complete else f"round {attempt}"
        trained = training.one_weight()
        if trained.ended.status != "interrupted":
            trained, _ = training.train(candidate, trained, None, stage=stage, **watch)
        calls += len(parts) * trained.ended.n_iter
        fitted = telling.fitted(trained)
        found = _Final(trained, fitted.penalty, fitted.loss, trained.ended, calls)
        best = found if best is None or found.loss < best.loss else best
        if stopped or trained.ended.status == "interrupted":
            best = replace(best, outcome=replace(best.outcome, status="interrupted"))
            break
    assert best is not None
    return best


def _learned(
    lesson: SeriesLesson, look: Look, looked: dict[str, list[Any]], units: Units, pupils: Pupils,
    telling: Pupils, verdict: Verdict | None, candidate: Candidate, final: _Final,
) -> SeriesLearned:  # fmt: skip
    nothing = np.empty(0, dtype=np.intp)
    whole = float(np.mean([part.loss(nothing, lesson.wishes.criterion) for part in telling.viewed]))
    status, penalty = final.outcome.status, final.penalty
    reached = final.loss
    if verdict is not None:
        reached = max(reached, float(verdict.losses[verdict.chosen].mean()))
    changes = sum(part.source.n_changes for part in telling.viewed)
    if changes and not lesson.settings.known and reached >= UNINFORMATIVE * whole:
        status = "uninformative"
        penalty = _penalty_of_one_segment(telling, final.trained, penalty)
    n = len(units.kept)
    own = final.trained.metric
    metric: Floats
    if own.ndim == 2:
        metric = np.zeros((n, n))
        metric[np.ix_(units.kept, units.kept)] = own / np.outer(units.scales, units.scales)
    else:
        metric = np.zeros(n)
        metric[units.kept] = own / units.scales**2
    return SeriesLearned(
        look=look, metric=metric, penalty=penalty, trained=final.trained, pupils=pupils,
        candidate=candidate, verdict=verdict, loss=final.loss, one_segment=whole, status=status,
        n_calls=final.n_calls, objective=final.outcome.objective,
        lower_bound=final.outcome.lower_bound,
        history=final.outcome.history or {name: [] for name in HISTORY}, looked=looked,
    )  # fmt: skip


def _penalty_of_one_segment(pupils: Pupils, trained: Trained, penalty: float) -> float:
    """The first of the doubled penalties that leaves all training sequences in one piece."""
    for _ in range(DOUBLINGS):
        if not any(len(pupils.segmented(part, trained, penalty)) for part in pupils.viewed):
            break
        penalty *= 2.0
    return penalty
