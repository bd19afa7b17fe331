"""Ctrl-C at any moment of a training keeps the best weights so far; nothing else comes of it."""

from __future__ import annotations

import os
import signal
import threading
import warnings

import numpy as np
import pytest

import likewise as lw
from likewise.arrays.interruption import (
    IMPATIENT,
    check_interrupt,
    deferred_interrupts,
    interrupts_told_apart,
)
from likewise.datasets import make_partitioned_sets
from likewise.errors import LikewiseWarning

pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread() or os.name == "nt",
    reason="signals reach the main thread only, and differ on Windows",
)
MADE = make_partitioned_sets(4, 60, 30, 4, noisy=0.6, random_state=0)


def press(after: float) -> threading.Timer:
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("options", [{"strength": 0.1, "paths": None}, {}], ids=["one", "auto"])
def test_at_any_moment_of_a_fit(options: dict):
    rng = np.random.default_rng(0)
    learner = lw.ExemplarLearner(tol=1e-9, max_iter=1000, **options)
    seen = set()
    for _ in range(12):
        timer = press(rng.uniform(0.005, 0.6))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LikewiseWarning)
            learner.fit(MADE.sets, MADE.labels)
        timer.join()
        seen.add(learner.status_)
        assert np.isfinite(learner.weights_).all()
        assert np.isfinite(learner.opening_cost_)
        assert len(learner.cluster(MADE.sets)) == 4
    assert "interrupted" in seen
    assert seen <= {"interrupted", "stalled"}


def test_while_opening_costs_are_calibrated(monkeypatch: pytest.MonkeyPatch):
    def pressed(*args):
        signal.raise_signal(signal.SIGINT)
        check_interrupt()
        raise AssertionError("not noticed")

    monkeypatch.setattr("likewise.estimators.learning.fit_law", pressed)
    with pytest.warns(LikewiseWarning, match="interrupted"):
        learner = lw.ExemplarLearner(strength=0.1, paths=None).fit(MADE.sets, MADE.labels)
    assert learner.status_ == "interrupted"
    # What the training itself says of the opening cost.
    assert learner.score(MADE.sets, MADE.labels) > 0.8


def test_a_late_one_is_raised_at_the_end():
    with pytest.raises(KeyboardInterrupt), deferred_interrupts():
        signal.raise_signal(signal.SIGINT)
    check_interrupt()  # nothing is left of it


def test_again_and_again_needs_no_safe_place():
    def pressed():
        for _ in range(IMPATIENT):
            signal.raise_signal(signal.SIGINT)
        raise AssertionError("not raised")

    with pytest.raises(KeyboardInterrupt), deferred_interrupts():
        pressed()


def test_the_handler_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    with deferred_interrupts(), deferred_interrupts():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_what_comes_out_of_compiled_code():
    def raised(cause: BaseException) -> None:
        try:
            raise cause
        except BaseException as error:
            raise SystemError("returned a result with an exception set") from error

    with pytest.raises(KeyboardInterrupt), interrupts_told_apart():
        raised(KeyboardInterrupt())
    with pytest.raises(SystemError), interrupts_told_apart():
        raised(ValueError())
