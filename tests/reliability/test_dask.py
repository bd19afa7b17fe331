"""The same training on the workers of a Dask cluster: the same bits, also when a worker is killed.

The cluster is a local one of two worker processes, which `joblib.parallel_config("dask")` sends the
sets to. What is killed is a process, with SIGKILL, between two passes and in the middle of one.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time

import numpy as np
import pytest
from joblib import parallel_config

import likewise as lw
from likewise.datasets import make_partitioned_sets
from likewise.parallel.local import map_in_order

distributed = pytest.importorskip("distributed", reason="needs the extra dask")
# What tools of a cluster leave open when a process of theirs is killed is not what is tested here.
pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
# How long a cluster may take to notice that a worker is gone, and to start another one.
PATIENCE = 120.0


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        yield client


@pytest.fixture(scope="module")
def sets():
    return make_partitioned_sets(
        n_sets=4, n_rows=(30, 40), n_columns=6, n_clusters=3, noisy=0.5, noise=5.0, random_state=0
    )


def learner(**more) -> lw.ExemplarLearner:
    # A gap that takes some passes.
    return lw.ExemplarLearner(strength=0.03, paths=None, tol=1e-3, random_state=0, **more)


@pytest.fixture(scope="module")
def serial(sets):
    return learner(n_jobs=1).fit(sets.sets, sets.labels)


def same(found: lw.ExemplarLearner, serial: lw.ExemplarLearner) -> None:
    assert found.status_ == serial.status_ == "converged"
    np.testing.assert_array_equal(found.weights_, serial.weights_)
    assert found.opening_cost_ == serial.opening_cost_
    assert found.history_["objective"] == serial.history_["objective"]
    assert found.history_["lower_bound"] == serial.history_["lower_bound"]


def workers(client) -> list[int]:
    """The process of every worker."""
    return sorted(client.run(os.getpid).values())


def wait_for_workers(client, count: int, but: int) -> list[int]:
    """The workers, once there are so many and none of them is the process that was killed."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = workers(client)
        if len(found) == count and but not in found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"no {count} workers in time")


def test_tasks_run_on_the_workers(client):
    with parallel_config("dask"):
        ran_in = map_in_order(os.getpid, [()] * 8)
    assert set(ran_in) <= set(workers(client))
    assert os.getpid() not in ran_in


def test_a_cluster_changes_no_bit(client, sets, serial):
    with parallel_config("dask"):
        found = learner().fit(sets.sets, sets.labels)
    same(found, serial)
    with parallel_config("dask"):
        grouped = found.cluster(sets.sets)
    for one, other in zip(grouped, serial.cluster(sets.sets), strict=True):
        np.testing.assert_array_equal(one, other)


def test_nor_does_a_choice_among_candidates(client, sets):
    options = {"random_state": 0, "max_iter": 400}
    alone = lw.ExemplarLearner(**options).fit(sets.sets, sets.labels)
    with parallel_config("dask"):
        found = lw.ExemplarLearner(**options).fit(sets.sets, sets.labels)
    assert found.validation_ == alone.validation_
    np.testing.assert_array_equal(found.weights_, alone.weights_)
    assert found.opening_cost_ == alone.opening_cost_


def test_a_worker_killed_between_two_passes(client, sets, serial):
    killed = []

    def told(progress):
        if progress.iteration == 3:
            killed.append(workers(client)[0])
            os.kill(killed[0], signal.SIGKILL)

    with parallel_config("dask"):
        found = learner(callbacks=told).fit(sets.sets, sets.labels)
    assert len(killed) == 1
    same(found, serial)
    wait_for_workers(client, 2, killed[0])


def test_a_worker_killed_while_it_works(client, sets, serial):
    """At some moment that the training knows nothing of, while passes are being made."""
    killed, begun = [], threading.Event()

    def kill():
        begun.wait(PATIENCE)
        killed.append(workers(client)[-1])
        os.kill(killed[0], signal.SIGKILL)

    def told(progress):
        begun.set()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with parallel_config("dask"):
            found = learner(callbacks=told).fit(sets.sets, sets.labels)
    finally:
        begun.set()
        killer.join()
    assert len(killed) == 1
    same(found, serial)
    wait_for_workers(client, 2, killed[0])
