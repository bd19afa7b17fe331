"""A training that is killed and started again ends with the bits of one that was never killed.

The kills happen in children of a light process of its own, because forking a test process with
threads is not safe: this module run as a script is that process. It trains once to the end, and
then, for every place, forks a child that trains until it kills itself there, and another one that
trains again with the checkpoint that is left.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import likewise
import likewise as lw
from likewise.datasets import make_partitioned_sets
from likewise.errors import LikewiseWarning
from likewise.persistence import checkpoint as checkpoints

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

# tol=0: every training makes as many passes as it may, so that there is always a next place.
TRAININGS = {
    "auto": {"paths": None, "tol": 0.0, "max_iter": 30},
    "comparisons": {
        "features": [lw.Compare("first", "euclidean", [0, 1]), lw.Compare("all", "manhattan")],
        "strength": 0.1, "local_scale": 3, "tol": 0.0, "max_iter": 12,
    },
    "subgradient": {"optimiser": "subgradient", "rounds": 3, "strength": 0.1, "max_iter": 12},
    "stochastic": {"optimiser": "stochastic", "strength": 0.1, "max_iter": 12},
}  # fmt: skip
# The names of events, and how many of them come before the one that kills.
PLACES = {
    "auto": [
        *[("validating", k) for k in range(3)],
        *[("learning", k) for k in (0, 1, 2, 4, 7, 12, 18, 23)],
        *[("open", k) for k in (1, 9)],
        *[("write", k) for k in (1, 8, 16)],
        *[("replace", k) for k in (0, 6)],
        *[("replaced", k) for k in (0, 13)],
    ],
    "comparisons": [("learning", 4), ("replace", 5)],
    "subgradient": [("learning", 3), ("replace", 7), ("replaced", 9)],
    "stochastic": [("learning", 5), ("replaced", 10)],
}


class Killer:
    """Counts events, and kills the process at one of them."""

    def __init__(self, name, count):
        self.left = {name: count}

    def __call__(self, name):
        if name in self.left:
            self.left[name] -= 1
            if self.left[name] < 0:
                os.kill(os.getpid(), signal.SIGKILL)


def watch_writes(patch, report):
    """Have `report` called at the steps of every write of a checkpoint."""
    original = checkpoints.write_archive

    def write_archive(stream, members, contents):
        report("open")
        original(stream, members, contents)
        stream.flush()
        report("write")

    replace = os.replace

    def replaced(source, target):
        report("replace")
        replace(source, target)
        report("replaced")

    patch.setattr(checkpoints, "write_archive", write_archive)
    patch.setattr(os, "replace", replaced)


def data():
    return make_partitioned_sets(
        n_sets=3, n_rows=(20, 26), n_columns=4, n_clusters=3, noisy=0.5, noise=5.0, random_state=3
    )


def trained(name, **more):
    """A digest of all that a training ends with, and how many passes it made itself."""
    sets = data()
    passes = []
    learner = lw.ExemplarLearner(**TRAININGS[name], **more, random_state=1)
    own = learner.callbacks or (lambda progress: None)

    def told(progress):
        passes.append(progress.stage)
        own(progress)

    learner.set_params(callbacks=told).fit(sets.sets, sets.labels)
    digest = hashlib.sha256()
    for value in (
        learner.weights_, learner.opening_cost_, learner.opening_weights_, learner.objective_,
        learner.lower_bound_, learner.history_["objective"], learner.history_["lower_bound"],
        learner.validation_.get("agreement", []), len(learner.history_["seconds"]),
    ):  # fmt: skip
        digest.update(np.asarray(value).tobytes())
    return {
        "digest": digest.hexdigest() + learner.status_ + learner.chosen_,
        "passes": passes.count("learning"),
        "splits": passes.count("validating"),
    }


# ---- the light process --------------------------------------------------------------------------


def train_until(place, name, path):
    report = Killer(*place)
    watch_writes(pytest.MonkeyPatch(), report)
    return trained(name, checkpoint=path, callbacks=lambda progress: report(progress.stage))


def in_child(action, *args):
    """What a child returns; None where it was killed."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, json.dumps(action(*args)).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as stream:
        text = stream.read()
    _, status = os.waitpid(pid, 0)
    return None if os.WIFSIGNALED(status) else json.loads(text)


def kill_at_places(name, folder):
    warnings.simplefilter("ignore")  # max_iter passes were made, which is what is wanted
    whole = trained(name)
    found = []
    for number, place in enumerate(PLACES[name]):
        path = folder / f"{number}.state"
        survived = in_child(train_until, place, name, path)
        kept = path.exists()
        again = in_child(lambda path=path: trained(name, checkpoint=path))
        left = [file for file in os.listdir(folder) if file.endswith(".tmp")]
        found.append({"survived": survived is not None, "kept": kept, "left": left, **again})
    return {"whole": whole, "found": found}


# ---- kills --------------------------------------------------------------------------------------


def run_light_process(name, folder):
    source = str(Path(likewise.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, __file__, name, folder],
        env=os.environ | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_that_is_killed_goes_on_to_the_same_bits(name, tmp_path):
    report = run_light_process(name, tmp_path)
    whole = report["whole"]
    assert len(report["found"]) == len(PLACES[name])
    for place, found in zip(PLACES[name], report["found"], strict=True):
        assert not found["survived"], place
        assert found["digest"] == whole["digest"], place
        # What a killed writer leaves is swept by the next one.
        assert not found["left"], place
        stage, count = place
        if stage == "validating":
            assert found["splits"] == whole["splits"] - count, place
        if stage == "learning":
            # Every pass was kept, the last one before its callback; none is made twice.
            assert found["kept"]
            assert found["passes"] == whole["passes"] - count - 1, place
            assert not found["splits"]


def test_trainings_are_killed_at_20_places_and_more():
    assert len(PLACES["auto"]) == 20


def test_a_training_goes_on_where_more_passes_are_allowed(tmp_path):
    sets = data()
    path = tmp_path / "a.state"
    options = TRAININGS["subgradient"]
    whole = lw.ExemplarLearner(**options)
    short = lw.ExemplarLearner(**options | {"max_iter": 5}, checkpoint=path)
    with pytest.warns(LikewiseWarning, match="max_iter"):
        whole.fit(sets.sets, sets.labels)
    for max_iter in (5, 12):
        with pytest.warns(LikewiseWarning, match="max_iter"):
            short.set_params(max_iter=max_iter).fit(sets.sets, sets.labels)
    assert short.history_["objective"] == whole.history_["objective"]
    np.testing.assert_array_equal(short.weights_, whole.weights_)


if __name__ == "__main__":
    # Every pass is kept here, so that the passes after a resumption are known.
    checkpoints._SHARE_OF_TIME = np.inf
    json.dump(kill_at_places(sys.argv[1], Path(sys.argv[2])), sys.stdout)
