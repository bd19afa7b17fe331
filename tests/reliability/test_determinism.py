"""Same seed, same bits: over runs, numbers of threads and processes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import likewise as lw

N = 200


def digest(*arrays) -> str:
    """A hash of values, bit by bit."""
    return hashlib.sha256(b"".join(np.asarray(a).tobytes() for a in arrays)).hexdigest()


def result(found: lw.ExemplarClusterer) -> str:
    return digest(
        found.labels_, found.exemplars_, found.energy_, found.lower_bound_, found.opening_cost_
    )


def rows(n: int = N) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 3))


def costs() -> np.ndarray:
    return np.random.default_rng(1).random((120, 120))


def pairs() -> sparse.csr_array:
    d = costs()
    return sparse.csr_array(np.where(d < 0.3, d, 0.0))


def tilted(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.abs(A[:, None, 0] - B[None, :, 0]) + np.maximum(B[None, :, 1] - A[:, None, 1], 0.0)


FITS: dict[str, tuple[dict, Callable]] = {
    "dense": ({"gap": 1e-3}, rows),
    "columns": ({"features": "columns", "weights": [1.0, 0.1, 2.0]}, rows),
    "scaled": ({"features": [lw.Compare("near", "euclidean", local_scale=5)], "gap": 0.01}, rows),
    "callable": ({"features": tilted}, rows),
    "candidates": ({"candidates": 6, "solver": "fast"}, lambda: rows(2500)),
    "candidates of few": ({"candidates": 6, "gap": 1e-3}, rows),
    "many dimensions": ({"candidates": 6, "features": "cosine", "solver": "fast"}, rows),
    "precomputed": ({"features": "precomputed"}, costs),
    "sparse": ({"features": "precomputed"}, pairs),
}


def fitted(name: str, **more) -> str:
    options, data = FITS[name]
    return result(lw.ExemplarClusterer(**options, **more).fit(data()))


@pytest.mark.parametrize("name", FITS)
def test_fit(name: str):
    found = {fitted(name, random_state=7, n_jobs=n_jobs) for n_jobs in (1, 2, 8, 1, None)}
    assert len(found) == 1


@pytest.mark.parametrize("name", ["dense", "candidates"])
def test_weights_and_predictions(name: str):
    options, data = FITS[name]
    X = data()
    weight = np.random.default_rng(2).integers(0, 4, size=len(X))
    hashes = set()
    for n_jobs in (1, 2):
        found = lw.ExemplarClusterer(**options, n_jobs=n_jobs).fit(X, sample_weight=weight)
        new = X + 0.1
        hashes.add(digest(found.labels_, found.energy_, found.predict(new), found.transform(new)))
    assert len(hashes) == 1


@pytest.mark.parametrize("seed_of", [lambda: 3, lambda: np.random.RandomState(3)])
def test_cluster(seed_of: Callable):
    rng = np.random.default_rng(3)
    sets = [rng.normal(size=(n, 2)) for n in (60, 5, 90, 1, 70, 33)]
    hashes = set()
    for n_jobs in (1, 2, 2, 6):
        clusterer = lw.ExemplarClusterer(solver="fast", random_state=seed_of(), n_jobs=n_jobs)
        hashes.add(digest(*clusterer.cluster(sets)))
        groups = np.repeat(np.arange(6), [len(X) for X in sets])
        again = lw.ExemplarClusterer(solver="fast", random_state=seed_of(), n_jobs=n_jobs)
        hashes.add(digest(again.cluster(np.vstack(sets), groups)))
    assert len(hashes) == 1


def test_without_a_seed():
    assert fitted("precomputed") == fitted("precomputed")


def test_the_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    fitted("dense", random_state=1)
    fitted("candidates", random_state=None)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_seeds_are_used():
    """On costs without structure, other seeds take other ways."""
    histories = {
        tuple(lw.ExemplarClusterer("precomputed", random_state=s).fit(costs()).history_["energy"])
        for s in range(4)
    }
    assert len(histories) > 1


def test_instances_are_drawn_from():
    rng = np.random.RandomState(0)
    first = lw.ExemplarClusterer(random_state=rng).fit(rows())
    state = rng.get_state()[1].copy()
    second = lw.ExemplarClusterer(random_state=np.random.RandomState(0)).fit(rows())
    assert result(first) == result(second)
    first.fit(rows())
    assert not np.array_equal(rng.get_state()[1], state) or rng.get_state()[2] != 1


@pytest.mark.parametrize("threads", ["1", "2"])
def test_another_process(threads: str):
    code = f"import sys; sys.path[:0] = {sys.path!r}; import {__name__.split('.')[-1]} as own; "
    code += "print(own.fitted('candidates', n_jobs=2), own.fitted('sparse'))"
    environment = os.environ | {
        "PYTHONHASHSEED": threads,
        "PYTHONPATH": os.path.dirname(__file__),
        "NUMBA_NUM_THREADS": threads,
    }
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == [fitted("candidates"), fitted("sparse")]
