"""Trainings of ChangePointLearner: the same bits however they run, end early, and go on."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import tracemalloc
import warnings

import numpy as np
import pytest

import likewise as lw
from likewise.datasets import make_segmented_series
from likewise.errors import LikewiseWarning
from likewise.persistence import checkpoint as checkpoints

MADE = make_segmented_series(5, 50, 4, 2, n_changes=2, jump=1.5, nuisance=1.0, random_state=3)
HIDDEN = [*MADE.labels[:3], np.full(50, -1), np.where(np.arange(50) < 30, MADE.labels[4], -1)]
OPTIONS: dict[str, tuple[dict, list]] = {
    "auto": ({"max_iter": 12, "regulariser": "l2"}, MADE.labels),
    "one strength": ({"strength": 0.04, "tol": 1e-6, "max_iter": 15}, MADE.labels),
    "hidden rows": ({"strength": 0.12}, HIDDEN),
    "features": ({"features": "hermite", "strength": 0.4, "max_iter": 6}, MADE.labels),
    "subgradient": ({"strength": 0.1, "optimiser": "subgradient", "max_iter": 8}, MADE.labels),
    "stochastic": ({"strength": 0.1, "optimiser": "stochastic", "max_iter": 9}, MADE.labels),
}
trainings = pytest.mark.parametrize("name", OPTIONS)


def learner(name: str, **more) -> lw.ChangePointLearner:
    return lw.ChangePointLearner(**{**OPTIONS[name][0], "random_state": 1, **more})


def fitted(name: str, **more) -> lw.ChangePointLearner:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikewiseWarning)
        return learner(name, **more).fit(MADE.series, OPTIONS[name][1])


def digest(found: lw.ChangePointLearner) -> str:
    total = hashlib.sha256((found.chosen_ + found.status_ + found.look_).encode())
    for value in (
        found.metric_, found.penalty_, found.objective_, found.lower_bound_, found.label_cost_,
        found.history_["objective"], found.history_["lower_bound"], found.training_loss_,
        found.validation_.get("loss", []), *found.cluster(MADE.series),
    ):  # fmt: skip
        total.update(np.asarray(value).tobytes())
    return total.hexdigest()


@trainings
def test_any_number_of_workers(name: str):
    counts = (1, 2, -1) if name == "one strength" else (1, 2)
    assert len({digest(fitted(name, n_jobs=n_jobs)) for n_jobs in counts}) == 1


SELECTING = ("validating", "features")


class Presser:
    """Counts what it is told, and raises at one place."""

    def __init__(self, place: int, error: type[BaseException]):
        self.left, self.error = place, error

    def __call__(self, progress) -> None:
        self.left -= 1
        if self.left < 0:
            self.left = 10**9
            raise self.error


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError], ids=["Ctrl-C", "an error"])
@trainings
def test_it_goes_on_to_the_same_bits(name: str, error, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "_SHARE_OF_TIME", np.inf)
    told: list[str] = []
    whole = digest(fitted(name, callbacks=lambda progress: told.append(progress.stage)))
    assert len(told) >= 6
    # Parts of the selection, first and middle passes, the last one.
    selecting = sum(stage in SELECTING for stage in told)
    n = len(told) - 1
    places = {0, max(selecting - 1, 0), selecting, (selecting + n) // 2, n}
    ended = []
    for place in sorted(places):
        path = tmp_path / f"{place}.state"
        presser = Presser(place, error)
        if error is RuntimeError:
            with pytest.raises(RuntimeError):
                fitted(name, checkpoint=path, callbacks=presser)
        else:
            cut = fitted(name, checkpoint=path, callbacks=presser)
            assert cut.status_ == "interrupted", (place, told[place])
            assert np.isfinite(cut.metric_).all()
            assert len(cut.cluster(MADE.series)) == 5
            ended.append(digest(cut))
        again: list[str] = []
        found = fitted(name, checkpoint=path, callbacks=lambda p, own=again: own.append(p.stage))
        assert digest(found) == whole, (place, told[place])
        if told[place] not in (*SELECTING, "stronger"):
            # No pass is made twice but for those that only prepare.
            passes = [stage for stage in again if stage not in (*SELECTING, "stronger")]
            left = [stage for stage in told[place + 1 :] if stage not in (*SELECTING, "stronger")]
            assert len(passes) == len(left)
    assert error is RuntimeError or len(set(ended)) > 1


def test_a_checkpoint_is_of_one_training(tmp_path):
    path = tmp_path / "a.state"
    fitted("one strength", checkpoint=path)
    with pytest.raises(ValueError, match="other data or parameters"):
        fitted("one strength", checkpoint=path, loss="rand")
    with pytest.raises(ValueError, match="other data or parameters"):
        learner("one strength", checkpoint=path).fit(MADE.series, HIDDEN)


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread() or os.name == "nt",
    reason="signals reach the main thread only, and differ on Windows",
)
@pytest.mark.parametrize("name", ["auto", "one strength"])
def test_ctrl_c_at_any_moment(name: str):
    rng, seen = np.random.default_rng(0), set()
    for _ in range(6):
        latest = 0.05 if name == "one strength" else 0.5
        timer = threading.Timer(rng.uniform(0.003, latest), os.kill, (os.getpid(), signal.SIGINT))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LikewiseWarning)
            own = learner(name, tol=1e-12, max_iter=5000)
            own.set_params(callbacks=lambda _: None)
            timer.start()
            try:
                own.fit(MADE.series, MADE.labels)
            except KeyboardInterrupt:
                # Too late for the training: raised at the end.
                seen.add("raised")
            timer.join()
        if hasattr(own, "status_"):
            seen.add(own.status_)
            assert np.isfinite(own.weights_).all()
            assert len(own.cluster(MADE.series)) == 5
    assert "interrupted" in seen


def test_ctrl_c_in_the_selection_is_not_taken_for_a_verdict(monkeypatch, tmp_path):
    """What was cut short is neither kept nor chosen by."""
    import likewise.estimators.series_training as module

    original, calls = module.run, []

    def pressed(*args, **more):
        calls.append(1)
        if len(calls) == 7:
            signal.raise_signal(signal.SIGINT)
        return original(*args, **more)

    whole = digest(fitted("auto"))
    path = tmp_path / "a.state"
    monkeypatch.setattr(module, "run", pressed)
    cut = fitted("auto", checkpoint=path)
    # The one weight, and nothing more.
    assert len(calls) == 8
    assert (cut.status_, cut.chosen_) == ("interrupted", "penalty only")
    assert cut.validation_ == {}
    assert digest(fitted("auto", checkpoint=path)) == whole


def peak_of(call) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_grows_with_rows_times_columns():
    """A matrix of all pairs of 20,000 rows would have 3 GiB."""
    rng = np.random.default_rng(0)
    labels = [np.repeat(np.arange(20), 1000) for _ in range(3)]
    series = [rng.normal(size=(20_000, 3)) + 3.0 * (own % 2)[:, None] for own in labels]
    size = sum(X.nbytes for X in series)
    own = lw.ChangePointLearner(strength=0.1, features=lw.transformers.WindowFeatures(5))
    small = lw.ChangePointLearner(strength=0.1)
    small.fit([X[900:1100] for X in series], [y[900:1100] for y in labels])  # compile
    assert peak_of(lambda: own.fit(series, labels)) < 40 * size
    assert peak_of(lambda: own.cluster(series)) < 20 * size
    assert own.score(series, labels) > 0.95
