"""Named distances: their definitions, exactness and independence of blocks."""

from __future__ import annotations

import platform

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.geometry.distances import DISTANCES, distance_named
from naive import distances as naive

NAMES = sorted(DISTANCES)
# Elsewhere SciPy may be compiled with fused multiply-add, whose sums differ in the last bits.
PLAIN_ARITHMETIC = platform.machine().lower() in ("x86_64", "amd64")


def rows(seed: int, n: int = 23, p: int = 7) -> np.ndarray:
    """Values >= 0 with ties, equal rows, rows of zeros and very different lengths."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, p)) * rng.choice([0.5, 1.0, 0.1], size=(n, p))
    X[1] = X[0]
    X[2] = X[3] = 0.0
    X[4] *= 1e3
    X[5] += 1e-9
    return X


@pytest.mark.parametrize("name", NAMES)
def test_definition(name: str, seed: int):
    A, B = rows(seed), rows(seed + 1, n=11)
    expected = naive.matrix(naive.DISTANCES[name], A.tolist(), B.tolist())
    # A sum of p terms of size up to s is off by p * eps * s; 1 - cos cancels in the naive form;
    # the root in rbf turns an error e near 0 into sqrt(e).
    tolerance = {"cosine": 1e-14, "rbf": 1e-7}.get(name, 0.0)
    np.testing.assert_allclose(DISTANCES[name](A, B), expected, rtol=1e-14, atol=tolerance)


def test_every_distance_has_a_naive_twin():
    assert set(naive.DISTANCES) == set(DISTANCES)


@pytest.mark.parametrize("name", NAMES)
def test_symmetric_and_zero_to_the_bit(name: str, seed: int):
    X = rows(seed)
    values = DISTANCES[name](X, X)
    np.testing.assert_array_equal(values, values.T)
    assert np.all(np.diag(values) == 0.0)
    assert values[0, 1] == values[2, 3] == 0.0
    assert not np.signbit(values).any()


@pytest.mark.parametrize("name", NAMES)
def test_value_of_a_pair_is_independent_of_its_block(name: str, seed: int):
    X = rows(seed, n=37, p=9)
    whole = DISTANCES[name](X, X)
    by_row = np.vstack([DISTANCES[name](X[i : i + 1], X) for i in range(len(X))])
    by_column = np.hstack([DISTANCES[name](X, X[j : j + 3]) for j in range(0, len(X), 3)])
    np.testing.assert_array_equal(by_row, whole)
    np.testing.assert_array_equal(by_column, whole)
    out = np.empty((len(X), 40))[:, 2:39]
    np.testing.assert_array_equal(DISTANCES[name](X, X, out), whole)
    np.testing.assert_array_equal(out, whole)


@pytest.mark.parametrize("name", NAMES)
def test_paired_is_the_block_form(name: str, seed: int):
    X = rows(seed, n=37, p=9)
    rng = np.random.default_rng(seed)
    p, q = rng.integers(len(X), size=(2, 300))
    whole = DISTANCES[name](X, X)
    if PLAIN_ARITHMETIC:
        np.testing.assert_array_equal(DISTANCES[name].paired(X[p], X[q]), whole[p, q])
    else:
        np.testing.assert_allclose(DISTANCES[name].paired(X[p], X[q]), whole[p, q], rtol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_inputs_stay_as_they_are(name: str):
    X = rows(0)
    before = X.copy()
    X.flags.writeable = False
    DISTANCES[name](X, X)
    DISTANCES[name].paired(X, X)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("name", NAMES)
def test_one_column_and_no_rows(name: str):
    X = np.array([[0.0], [2.0]])
    assert DISTANCES[name](X, X)[0, 0] == 0.0
    assert DISTANCES[name](X, X)[0, 1] > 0.0
    assert DISTANCES[name](X, X[:0]).shape == (2, 0)


def test_cosine_of_zero_and_of_extreme_rows():
    X = np.array([[0.0, 0.0], [3.0, 0.0], [1e300, 1e300], [0.0, 5e-324], [-1.0, 0.0]])
    values = DISTANCES["cosine"](X, X)
    np.testing.assert_allclose(values[0], [0.0, 1.0, 1.0, 1.0, 1.0], rtol=1e-15)
    np.testing.assert_allclose(values[1], [1.0, 0.0, 1.0 - np.sqrt(0.5), 1.0, 2.0], rtol=1e-15)


def test_chi2_near_zero():
    X = np.array([[0.0, 5e-324], [0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(DISTANCES["chi2"](X, X)[:, 1], [0.0, 0.0, 1.0], atol=1e-300)


def test_rbf_is_accurate_for_close_rows():
    # sqrt(2 - 2 exp(-t)) = sqrt(2 t) to first order; the plain formula gives 0 here.
    X = np.array([[0.0], [1e-9]])
    np.testing.assert_allclose(DISTANCES["rbf"](X, X)[0, 1], np.sqrt(2.0) * 1e-9, rtol=1e-12)


@pytest.mark.parametrize("call", ["block", "paired"])
def test_chi2_refuses_negative_values(call: str):
    X = np.array([[1.0, 0.0], [1.0, -0.5]])
    distance = DISTANCES["chi2"]
    with pytest.raises(InputError, match=r"'chi2' needs values >= 0; got -0.5 at row 1, column 1"):
        distance(X, X) if call == "block" else distance.paired(X, X)


@pytest.mark.parametrize("name", NAMES)
def test_overflow_is_silent_inf_here(name: str):
    X = np.array([[1e308, 0.0], [0.0, 1e308]])
    for values in (DISTANCES[name](X, X), DISTANCES[name].paired(X, X[::-1])):
        assert np.all(values >= 0.0)


def test_unknown_names():
    with pytest.raises(InputError, match=r"no distance named 'chi_2'.*Did you mean 'chi2'"):
        distance_named("chi_2")
    with pytest.raises(InputError, match=r"Pass one of these, or a callable"):
        distance_named("wasserstein")
