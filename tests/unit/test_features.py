"""Compare, resolving `features=`, weighted sums, local scales, matrices."""

from __future__ import annotations

import copy
import functools
import re
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, clone

from likewise import Compare
from likewise.errors import InputError, InputTypeError, MemoryBudgetError
from likewise.geometry import (
    PairFeatures,
    combine_stack,
    distance_matrix,
    matrices,
    resolve_features,
)
from likewise.geometry.distances import DISTANCES
from likewise.geometry.terms import ColumnsTerm
from naive import distances as naive

COLUMNS = ["width", "height", "depth", "age"]


def table(seed: int, n: int = 17, p: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(n, p))
    X[1] = X[0]
    return X


def lopsided(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Asymmetric, negative, not zero on identical rows."""
    return A[:, :1] - 2.0 * B[:, :1].T - 1.0


def several() -> list[Compare]:
    return [
        Compare("size", "sqeuclidean", [0, 1]),
        Compare("shape", "cosine", slice(1, None)),
        Compare("mine", lopsided, [-1]),
        Compare("near", "euclidean", local_scale=3),
    ]


# --- Compare ---------------------------------------------------------------------------------


def test_compare_keeps_what_it_is_given():
    item = Compare("size", "manhattan", ("width", "height"), local_scale=np.int64(7))
    assert vars(item) == {
        "name": "size",
        "distance": "manhattan",
        "columns": ["width", "height"],
        "local_scale": 7,
    }
    assert repr(item) == "Compare('size', 'manhattan', columns=['width', 'height'], local_scale=7)"
    assert repr(Compare("mine", lopsided)) == "Compare('mine', lopsided)"


def test_compare_equality():
    item = Compare("a", "chi2", [0, 2])
    assert item == Compare("a", "chi2", np.array([0, 2]))
    assert item == copy.deepcopy(item)
    assert item != Compare("a", "chi2", [0, 1])
    assert item != Compare("b", "chi2", [0, 2])
    assert item != Compare("a", "chi2", [0, 2], local_scale=1)
    assert item != "a"
    with pytest.raises(TypeError, match="unhashable"):
        hash(item)


def test_compare_survives_clone():
    class Holder(BaseEstimator):
        def __init__(self, features=None):
            self.features = features

    holder = Holder([Compare("mine", lopsided, slice(0, 2)), Compare("a", "chi2", ["x"])])
    twin = clone(holder)
    assert twin.features == holder.features
    assert twin.features[0] is not holder.features[0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("", "chi2"), InputTypeError, "name must be a string that is not empty; got ''"),
        ((3, "chi2"), InputTypeError, "name must be a string"),
        (("a", "chi3"), InputError, "no distance named 'chi3'.*Did you mean 'chi2'"),
        (("a", "precomputed"), InputError, "no distance named 'precomputed'"),
        (("a", 3), InputTypeError, "Compare 'a': distance must be the name .* got 3"),
        (("a", "chi2", "width"), InputTypeError, "Compare 'a': columns must be .* got 'width'"),
        (("a", "chi2", 3), InputTypeError, "columns must be .* got 3"),
        (("a", "chi2", [0, "width"]), InputTypeError, "columns must be"),
        (("a", "chi2", [True, False]), InputTypeError, "columns must be"),
        (("a", "chi2", [0.5]), InputTypeError, "columns must be"),
        (("a", "chi2", slice("a", "c")), InputTypeError, "columns must be"),
        (("a", "chi2", []), InputError, "columns is empty"),
    ],
)
def test_compare_refuses(arguments: tuple, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        Compare(*arguments)


@pytest.mark.parametrize(
    ("scale", "error"), [(0, InputError), (1.5, InputTypeError), (True, InputTypeError)]
)
def test_compare_refuses_a_scale(scale: object, error: type[Exception]):
    with pytest.raises(error, match=f"local_scale must be None or an integer >= 1.*got {scale}"):
        Compare("a", "chi2", local_scale=scale)


# --- resolve_features --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "names"),
    [
        ("columns", ["x0", "x1", "x2", "x3"]),
        ("chi2", ["chi2"]),
        (lopsided, ["lopsided"]),
        (functools.partial(lopsided), ["partial"]),
        (Compare("one", "rbf"), ["one"]),
        ([Compare("one", "rbf"), Compare("two", lopsided)], ["one", "two"]),
        ((Compare("one", "rbf"),), ["one"]),
    ],
)
def test_every_form(features: object, names: list[str]):
    resolved = resolve_features(features, 4)
    assert resolved.names == names
    assert resolved.n_features == len(names)


def test_columns_are_named_after_the_frame():
    assert resolve_features("columns", 4, COLUMNS).names == COLUMNS


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_by_name(frame: type):
    X = table(0)
    data = frame({name: X[:, j] for j, name in enumerate(COLUMNS)})
    by_name = resolve_features([Compare("a", "manhattan", ["age", "width"])], 4, list(data.columns))
    by_place = resolve_features([Compare("a", "manhattan", [3, 0])], 4)
    np.testing.assert_array_equal(distance_matrix(by_name, X), distance_matrix(by_place, X))


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [(slice(1, 3), [1, 2]), (slice(None, None, -1), [3, 2, 1, 0]), ([-1, 0], [3, 0]), (None, None)],
)
def test_columns_by_place(columns: object, chosen: list[int] | None):
    (term,) = resolve_features([Compare("a", "chi2", columns)], 4).terms
    assert term.columns is chosen or term.columns.tolist() == chosen


@pytest.mark.parametrize(
    ("features", "names", "error", "message"),
    [
        ("chi3", None, InputError, "no distance named 'chi3'; there are 'columns', 'precomputed'"),
        ("column", None, InputError, "Did you mean 'columns'"),
        ([], None, InputTypeError, r"features must be 'columns'.* got \[\]"),
        (None, None, InputTypeError, "features must be 'columns'.* got None"),
        (["chi2"], None, InputTypeError, r"features\[0\] must be a Compare; got 'chi2'"),
        ([Compare("a", "chi2")] * 2, None, InputError, r"\['a'\] occur more than once"),
        (Compare("a", "chi2", ["width"]), None, InputError, "X has no column names"),
        (
            Compare("a", "chi2", ["widht", "age", "hue"]),
            COLUMNS,
            InputError,
            "Compare 'a': unknown columns 'widht', 'hue'; X has columns 'width'.*mean 'width'",
        ),
        (Compare("a", "chi2", [0, 4, -5]), None, InputError, r"positions from 0 to 3.*\[4, -5\]"),
        (Compare("a", "chi2", slice(9, 12)), None, InputError, "selects none of the 4 columns"),
    ],
)
def test_resolving_refuses(
    features: object, names: list[str] | None, error: type[Exception], message: str
):
    with pytest.raises(error, match=message):
        resolve_features(features, 4, names)


def test_many_unknown_names_are_cut_short():
    known = [f"column{j}" for j in range(500)]
    with pytest.raises(InputError, match=r"\(500 in total\)") as caught:
        resolve_features(Compare("a", "chi2", ["nothing"]), 500, known)
    assert len(str(caught.value)) < 1000


# --- weights and flags -------------------------------------------------------------------------


def test_weights():
    features = resolve_features("columns", 3)
    np.testing.assert_array_equal(features.resolve_weights(None), [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(features.resolve_weights((1, -2, 0)), [1.0, -2.0, 0.0])


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1.0, 2.0], InputError, r"one finite number per feature, 3 \('x0', 'x1', 'x2'\).*\(2,\)"),
        (1.0, InputError, r"got shape \(\)"),
        ([1.0, np.nan, 1.0], InputError, r"weights\[1\] \('x1'\) is nan"),
        ([1.0, 1.0, -np.inf], InputError, r"weights\[2\] \('x2'\) is -inf"),
        (["a", "b", "c"], InputTypeError, "got dtype <U1"),
        ([[1.0], [1.0, 2.0]], InputError, "not a list of numbers"),
    ],
)
def test_weights_refused(weights: object, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        resolve_features("columns", 3).resolve_weights(weights)


def test_flags():
    named, scaled, mine = (
        resolve_features(features, 4)
        for features in ("columns", Compare("a", "chi2", local_scale=2), lopsided)
    )
    assert (named.symmetric, named.zero_on_identical, named.needs_scales) == (True, True, False)
    assert (scaled.symmetric, scaled.zero_on_identical, scaled.needs_scales) == (True, False, True)
    assert (mine.symmetric, mine.zero_on_identical, mine.needs_scales) == (False, False, False)
    assert named.nonnegative(np.ones(4))
    assert not named.nonnegative(np.array([1.0, 1.0, -1.0, 1.0]))
    assert not mine.nonnegative(np.ones(1))


# --- stack, distance, paired -------------------------------------------------------------------


def naive_stack(features: PairFeatures, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Features without local scale, term by term."""
    layers = []
    for term in features.terms:
        if isinstance(term, ColumnsTerm):
            layers += [(A[:, j, None] - B[None, :, j]) ** 2 for j in range(A.shape[1])]
            continue
        columns = slice(None) if term.columns is None else term.columns
        a, b = A[:, columns], B[:, columns]
        if term.names == ("mine",):
            layers.append(lopsided(a, b))
        else:
            twin = naive.DISTANCES[term.distance.name]
            layers.append(np.array(naive.matrix(twin, a.tolist(), b.tolist())))
    return np.stack(layers, axis=2)


@pytest.mark.parametrize("weights", [[1.0, 0.5, 2.0], [-1.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
def test_distance_is_the_weighted_stack(weights: list[float], seed: int):
    features = resolve_features(several()[:3], 4)
    A, B = table(seed), table(seed + 1, n=5)
    stack = features.stack(A, B)
    np.testing.assert_allclose(stack, naive_stack(features, A, B), rtol=1e-12, atol=1e-14)
    d = features.distance(A, B, np.array(weights))
    np.testing.assert_allclose(d, stack @ weights, rtol=1e-13, atol=1e-14)
    out = np.full((len(A), len(B)), np.nan)
    assert features.distance(A, B, np.array(weights), out=out) is out
    np.testing.assert_array_equal(out, d)


@pytest.mark.parametrize(
    "weights", [[1.0, 1.0, 1.0, 1.0], [0.3, 0.0, 2.0, 0.0], [1.0, -2.0, 0.0, -0.1], [0.0] * 4]
)
def test_columns(weights: list[float], seed: int):
    features = resolve_features("columns", 4)
    X = table(seed)
    stack = features.stack(X, X)
    assert stack.shape == (17, 17, 4)
    np.testing.assert_allclose(stack, naive_stack(features, X, X), rtol=1e-14)
    d = distance_matrix(features, X, weights)
    # Positive and negative parts cancel: the error is relative to their sizes.
    np.testing.assert_allclose(d, stack @ weights, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(d, d.T)
    assert np.all(np.diag(d) == 0.0)
    assert d[0, 1] == 0.0


@pytest.mark.parametrize("features", ["columns", "rbf", several()], ids=["columns", "rbf", "list"])
def test_paired_is_the_matrix(features: object, seed: int):
    resolved = resolve_features(features, 4)
    X = table(seed)
    weights = np.linspace(0.5, 1.5, resolved.n_features)
    scales = resolved.local_scales(X)
    d = distance_matrix(resolved, X, weights)
    p, q = np.random.default_rng(seed).integers(len(X), size=(2, 60))
    own = None if scales is None else (scales[p], scales[q])
    np.testing.assert_allclose(
        resolved.paired(X[p], X[q], weights, scales=own), d[p, q], rtol=1e-13, atol=1e-14
    )


def test_chi2_names_the_row_and_the_column():
    X = table(0)
    X[5, 3] = -0.25
    features = resolve_features([Compare("hist", "chi2", ["depth", "age"])], 4, COLUMNS)
    with pytest.raises(InputError, match=r"'hist'.*'chi2' needs.*-0.25 at row 5, column 'age'"):
        distance_matrix(features, X)
    with pytest.raises(InputError, match=r"-0.25 at row 5, column 3"):
        distance_matrix(resolve_features("chi2", 4), X)


@pytest.mark.parametrize("features", ["sqeuclidean", "columns", "euclidean"])
def test_overflow_in_a_later_block_is_found(features: str, monkeypatch):
    monkeypatch.setattr(matrices, "_WORK", 8 * 17 * 6)
    X = np.zeros((17, 1))
    X[[8, 15], 0] = 9e153, -9e153
    with pytest.raises(InputError, match="distance of row 8 from row 15 is inf"):
        distance_matrix(resolve_features(features, 1), X)


@pytest.mark.parametrize("features", ["sqeuclidean", "columns", "euclidean"])
def test_overflow_is_an_error_with_its_position(features: str):
    X = np.array([[0.0], [1e300], [2.0]])
    resolved = resolve_features(features, 1)
    message = r"distance of row 0 from row 1 is inf.*Scale the columns"
    with pytest.raises(InputError, match=message):
        distance_matrix(resolved, X)
    with pytest.raises(InputError, match=message):
        resolved.stack(X, X)
    with pytest.raises(InputError, match="is inf"):
        resolved.paired(X[[0, 0]], X[[0, 1]], np.ones(1))


# --- callables ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (
            np.zeros(5),
            InputError,
            r"must return shape \(len\(A\), len\(B\)\) = \(5, 5\); got \(5,\)",
        ),
        (np.zeros((5, 4)), InputError, r"= \(5, 5\); got \(5, 4\)"),
        (1.0, InputError, r"got \(\)"),
        (None, InputError, r"got \(\)"),
        (np.zeros((5, 5), dtype=complex), InputTypeError, "real numbers; got dtype complex128"),
        ([["a"] * 5] * 5, InputTypeError, "real numbers; got dtype <U1"),
        ([[0.0] * 5, [0.0] * 3], InputTypeError, "must return an array of numbers; got a list"),
        (np.full((5, 5), np.nan), InputError, "finite numbers; got nan for row 0 of A and row 0"),
        (np.diag([0, 0, np.inf, 0, 0]), InputError, "got inf for row 2 of A and row 2 of B"),
    ],
)
def test_what_a_callable_returns_is_checked(result: object, error: type[Exception], message: str):
    features = resolve_features([Compare("mine", lambda A, B: result)], 2)
    with pytest.raises(error, match=f"feature 'mine': the distance callable .*{message}"):
        distance_matrix(features, np.zeros((5, 2)))


def test_a_callable_may_return_lists_integers_or_its_own_memory():
    X = table(0)
    kept = np.abs(np.subtract.outer(np.arange(17), np.arange(17)))
    expected = kept * 2.0
    for result in (kept, kept.tolist(), kept.astype(np.float32), kept.astype(float)):
        features = resolve_features(lambda A, B, result=result: result, 4)
        np.testing.assert_array_equal(distance_matrix(features, X, [2.0]), expected)
        np.testing.assert_array_equal(distance_matrix(features, X, [2.0]), expected)


def test_a_callable_gets_its_columns_and_blocks_and_one_thread(monkeypatch):
    calls = []

    def record(A, B):
        calls.append((A.shape, B.shape, threading.get_ident()))
        return np.zeros((len(A), len(B)))

    monkeypatch.setattr(matrices, "_WORK", 8 * 17 * 6)
    distance_matrix(resolve_features(Compare("a", record, [0, 2]), 4), table(0), n_jobs=2)
    assert [call[:2] for call in calls] == [((n, 2), (17, 2)) for n in (6, 6, 5)]
    assert {call[2] for call in calls} == {threading.get_ident()}


def test_the_row_of_a_bad_value_is_counted_from_the_first_block(monkeypatch):
    monkeypatch.setattr(matrices, "_WORK", 8 * 17 * 6)
    X = np.arange(17.0)[:, None]
    features = resolve_features(lambda A, B: np.where(A == 13.0, np.nan, A - B.T), 1)
    with pytest.raises(InputError, match="got nan for row 13 of A and row 0 of B"):
        distance_matrix(features, X)


def test_an_error_of_a_callable_is_its_own():
    def broken(A, B):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        distance_matrix(resolve_features(broken, 4), table(0))


# --- local scales ------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 7, 16])
@pytest.mark.parametrize("name", ["euclidean", "chi2", "hamming"])
def test_local_scale(name: str, k: int, seed: int):
    X = np.round(table(seed), 1)
    X[2] = X[0]
    features = resolve_features(Compare("a", name, local_scale=k), 4)
    plain = np.array(naive.matrix(naive.DISTANCES[name], X.tolist(), X.tolist()))
    s = [naive.local_scale(np.delete(plain[p], p).tolist(), k) for p in range(len(X))]
    d = distance_matrix(features, X)
    np.testing.assert_allclose(d, plain / np.sqrt(np.outer(s, s)), rtol=1e-12)
    np.testing.assert_array_equal(d, d.T)
    np.testing.assert_allclose(features.stack(X, X, scales=(np.sqrt(s)[:, None],) * 2)[..., 0], d)


def test_local_scale_by_hand():
    X = np.array([[0.0], [4.0], [13.0]])
    features = resolve_features(Compare("a", "manhattan", local_scale=1), 1)
    expected = [[0.0, 1.0, 13 / 6], [1.0, 0.0, 1.5], [13 / 6, 1.5, 0.0]]
    np.testing.assert_allclose(distance_matrix(features, X), expected, rtol=1e-15)


@pytest.mark.parametrize("distance", ["manhattan", lambda A, B: np.abs(A - B.T) + 3.0])
def test_a_row_of_the_set_gets_its_scale_when_it_comes_back(distance: object, seed: int):
    X = np.round(table(seed, p=1), 1)
    X[4] = 0.0
    features = resolve_features(Compare("a", distance, local_scale=2), 1)
    again = X.copy()
    again[4] = -0.0
    np.testing.assert_array_equal(features.local_scales(again, X), features.local_scales(X))


def test_scales_of_new_rows_are_taken_within_the_reference():
    reference = np.array([[0.0], [1.0], [5.0]])
    features = resolve_features(Compare("a", "manhattan", local_scale=2), 1)
    np.testing.assert_allclose(features.local_scales(np.array([[2.0]]), reference) ** 2, [[2.0]])
    d = distance_matrix(features, np.array([[2.0]]), Y=reference)
    np.testing.assert_allclose(d, [[2 / np.sqrt(10), 1 / np.sqrt(8), 3 / np.sqrt(10)]])


def test_scale_of_rows_at_distance_zero():
    X = np.array([[0.0], [0.0], [0.0], [3.0]])
    features = resolve_features(Compare("a", "manhattan", local_scale=2), 1)
    np.testing.assert_allclose(features.local_scales(X)[:, 0] ** 2, [3.0, 3.0, 3.0, 3.0])
    np.testing.assert_array_equal(features.local_scales(X * 0.0), np.ones((4, 1)))
    assert np.all(distance_matrix(features, X * 0.0) == 0.0)


@pytest.mark.parametrize("n", [1, 7])
def test_a_scale_needs_enough_rows(n: int):
    features = resolve_features(Compare("hog", "chi2", local_scale=7), 2)
    with pytest.raises(InputError, match=f"'hog': local_scale=7 needs .* 8 rows.*got {n} rows"):
        distance_matrix(features, np.zeros((n, 2)))


def test_a_scale_needs_distances_that_are_not_negative():
    features = resolve_features(Compare("mine", lopsided, local_scale=1), 4)
    with pytest.raises(InputError, match="'mine': local_scale needs distances >= 0; got -"):
        distance_matrix(features, table(0))


def test_scales_must_be_given_to_blocks():
    features = resolve_features(Compare("a", "manhattan", local_scale=2), 4)
    X = table(0)
    for call in (features.distance, features.paired):
        with pytest.raises(InputError, match="'a' is locally scaled, but no scales were given"):
            call(X, X, np.ones(1))
    with pytest.raises(InputError, match="no scales were given"):
        features.stack(X, X)


# --- matrices ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "features", ["columns", "rbf", "cosine", several()], ids=["columns", "rbf", "cosine", "list"]
)
def test_same_bits_for_any_number_of_threads_and_blocks(features: object, seed: int, monkeypatch):
    resolved = resolve_features(features, 4)
    X, Y = table(seed, n=50), table(seed + 1, n=21)
    whole, other = distance_matrix(resolved, X), distance_matrix(resolved, X, Y=Y)
    monkeypatch.setattr(matrices, "_WORK", 8 * 50 * 3)
    for n_jobs in (None, 1, 2, 8):
        np.testing.assert_array_equal(distance_matrix(resolved, X, n_jobs=n_jobs), whole)
        np.testing.assert_array_equal(distance_matrix(resolved, X, Y=Y, n_jobs=n_jobs), other)


def test_given_scales_and_output(seed: int):
    resolved = resolve_features(several(), 4)
    X = table(seed)
    scales = resolved.local_scales(X)
    out = np.empty((17, 17))
    d = distance_matrix(resolved, X, scales=(scales, scales), out=out)
    assert d is out
    np.testing.assert_array_equal(d, distance_matrix(resolved, X))
    part = distance_matrix(resolved, X, Y=X[3:9], scales=(scales, scales[3:9]))
    np.testing.assert_array_equal(part, d[:, 3:9])


def test_a_matrix_beyond_the_budget_is_refused(monkeypatch):
    monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", "1MiB")
    X = np.zeros((400, 1))
    with pytest.raises(
        MemoryBudgetError, match=r"400 x 400 rows needs 1.2 MiB.*1.0 MiB.*candidates"
    ):
        distance_matrix(resolve_features("manhattan", 1), X)
    with pytest.raises(MemoryBudgetError, match="400 x 400 rows"):
        combine_stack(np.zeros((400, 400, 1)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_combine_stack(n_jobs: int, seed: int, monkeypatch):
    monkeypatch.setattr(matrices, "_CACHED", 8 * 3 * 12 * 5)
    rng = np.random.default_rng(seed)
    stack = rng.normal(size=(12, 12, 3))
    stack[np.arange(12), np.arange(12)] = np.nan
    weights = [0.5, 0.0, -2.0]
    d = combine_stack(stack, weights, n_jobs=n_jobs)
    expected = stack @ np.array(weights)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(d, expected, rtol=1e-14, atol=1e-14)
    np.testing.assert_array_equal(combine_stack(np.swapaxes(stack, 0, 1), weights), d.T)
    rows = combine_stack(np.ones((4, 12, 3)))
    np.testing.assert_array_equal(rows, np.full((4, 12), 3.0))


def test_combine_stack_refuses():
    stack = np.ones((3, 3, 2))
    with pytest.raises(InputError, match=r"one finite number per feature, 2.*\(3,\)"):
        combine_stack(stack, [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match=r"X\[0, 1\] is inf: values or weights are too large"):
        combine_stack(stack * 1e200, [1e200, 1.0])


# --- embedding ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "weights", "power"),
    [
        ("sqeuclidean", [0.25], 2.0),
        ("euclidean", [3.0], 2.0),
        ("rbf", [1.0], 2.0),
        ("cosine", [2.0], 2.0),
        ("manhattan", [2.0], 1.0),
        ("chebyshev", [2.0], np.inf),
        ("columns", [1.0, 0.0, 0.5, 4.0], 2.0),
        ([Compare("a", "sqeuclidean", [0]), Compare("b", "cosine", [1, 2])], [2.0, 9.0], 2.0),
        ([Compare("a", "manhattan", [0]), Compare("b", "manhattan", [0, 2])], [2.0, 9.0], 1.0),
        ([Compare("a", "chi2"), Compare("b", "euclidean")], [0.0, 1.0], 2.0),
    ],
)
def test_embedding_orders_pairs(features: object, weights: list[float], power: float, seed: int):
    resolved = resolve_features(features, 4)
    X = table(seed)
    Z, p = resolved.embedding(X, np.array(weights))
    assert p == power
    d = distance_matrix(resolved, X, weights)
    difference = np.abs(Z[:, None] - Z[None])
    found = difference.max(axis=2) if p == np.inf else (difference**p).sum(axis=2)
    pairs = np.triu_indices(len(X), 1)
    order = np.argsort(found[pairs], kind="stable")
    steps = np.diff(d[pairs][order])
    assert steps.min() >= -1e-12


@pytest.mark.parametrize(
    ("features", "weights"),
    [
        ("chi2", [1.0]),
        ("hamming", [1.0]),
        (lopsided, [1.0]),
        ("sqeuclidean", [-1.0]),
        ("sqeuclidean", [0.0]),
        ("columns", [1.0, -1.0, 1.0, 1.0]),
        (Compare("a", "euclidean", local_scale=2), [1.0]),
        ([Compare("a", "euclidean", [0]), Compare("b", "euclidean", [1])], [1.0, 1.0]),
        ([Compare("a", "manhattan", [0]), Compare("b", "sqeuclidean", [1])], [1.0, 1.0]),
    ],
)
def test_no_embedding(features: object, weights: list[float]):
    assert resolve_features(features, 4).embedding(table(0), np.array(weights)) is None


def test_no_embedding_where_squares_overflow():
    assert resolve_features("euclidean", 4).embedding(table(0) * 1e200, np.ones(1)) is None


def test_every_distance_is_documented():
    for name in DISTANCES:
        assert re.search(rf'"{name}"', Compare.__doc__)
