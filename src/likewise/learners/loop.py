"""The one loop of all learners: counts, checks, records, checkpoints, handles interruption."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.interruption import check_interrupt
from likewise.learners.base import Problem, TrainingProgress, from_arrays, relative_gap, to_arrays
from likewise.parallel.local import one_blas_thread

Callback = Callable[[TrainingProgress], object]
Arrays = Mapping[str, NDArray[Any]]

HISTORY = ("objective", "lower_bound", "gap", "seconds")


@dataclass(frozen=True, eq=False)
class Outcome:
    """Where a training ended."""

    weights: NDArray[np.float64]
    objective: float
    lower_bound: float
    status: str
    n_iter: int
    history: dict[str, list[float]]
    state: Any

    @property
    def gap(self) -> float:
        """Relative duality gap."""
        return relative_gap(self.objective, self.lower_bound)


def run(
    learner: Any,
    problem: Problem,
    *,
    max_iter: int,
    n_jobs: int | None = None,
    callbacks: Sequence[Callback] = (),
    stage: str = "learning",
    saved: Arrays | None = None,
    save: Callable[[dict[str, NDArray[Any]]], None] | None = None,
) -> Outcome:
    """Train until the learner is done, ``max_iter`` passes are made, or Ctrl-C.

    The last good state is kept where a pass ends in numbers that are not finite, and the best
    weights so far after Ctrl-C: those to begin with, where no pass was made.

    Parameters
    ----------
    learner : Learner
        What makes the passes.
    problem : Problem
        What it minimises.
    max_iter : int
        Passes at most, those before a resumption included.
    n_jobs : int or None
        Workers for the examples of a pass.
    callbacks : sequence of callable
        Each is told of every pass.
    stage : str
        What the passes are for, in progress records.
    saved : mapping of arrays or None
        What ``save`` was given last: the training goes on from there.
    save : callable or None
        Called with arrays after every pass.
    """
    started = time.perf_counter()
    history: dict[str, list[float]] = {name: [] for name in HISTORY}
    state, before, status = None, 0.0, ""
    with one_blas_thread():
        try:
            if saved is None:
                state = learner.init(problem)
            else:
                state = from_arrays(learner.state_type, saved)
                history = {name: saved[f"history.{name}"].tolist() for name in HISTORY}
                before = history["seconds"][-1]
            while not state.status and len(history["seconds"]) < max_iter:
                check_interrupt()
                following = learner.step(problem, state, n_jobs)
                if following.status == "nonfinite" or not _is_sound(following):
                    state = replace(state, status="nonfinite")
                    break
                state = following
                _record(history, state, before + time.perf_counter() - started)
                if save is not None:
                    past = {f"history.{name}": np.array(row) for name, row in history.items()}
                    save(to_arrays(state) | past)
                _tell(callbacks, stage, history, max_iter)
            status = state.status or "max_iter"
        except KeyboardInterrupt:
            status = "interrupted"
    if state is None:
        return Outcome(problem.start, np.inf, -np.inf, status, 0, history, None)
    return Outcome(
        weights=state.best, objective=state.objective, lower_bound=state.lower_bound, status=status,
        n_iter=len(history["seconds"]), history=history, state=state,
    )  # fmt: skip


def _is_sound(state: Any) -> bool:
    """Whether all arrays are finite and no number is NaN; bounds may still be infinite."""
    for field in fields(state):
        value = getattr(state, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, np.ndarray) and item.dtype.kind == "f":
                if not np.isfinite(item).all():
                    return False
            elif isinstance(item, float) and np.isnan(item):
                return False
    return True


def _record(history: dict[str, list[float]], state: Any, seconds: float) -> None:
    row = (
        state.objective,
        state.lower_bound,
        relative_gap(state.objective, state.lower_bound),
        seconds,
    )
    for name, value in zip(HISTORY, row, strict=True):
        history[name].append(float(value))


def _tell(
    callbacks: Sequence[Callback], stage: str, history: dict[str, list[float]], max_iter: int
) -> None:
    n_iter = len(history["seconds"])
    seconds = history["seconds"][-1]
    progress = TrainingProgress(
        stage=stage, iteration=n_iter, seconds=seconds, objective=history["objective"][-1],
        lower_bound=history["lower_bound"][-1], seconds_left=seconds / n_iter * (max_iter - n_iter),
    )  # fmt: skip
    for callback in callbacks:
        callback(progress)
