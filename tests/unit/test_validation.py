"""The gate: what is accepted, and that every refusal names the place and the remedy."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from likewise.arrays.finite import first_nonfinite
from likewise.errors import InputError, InputTypeError, LikewiseError, MemoryBudgetError
from likewise.validation import (
    as_sets,
    validate_choice,
    validate_int,
    validate_number,
    validate_opening_cost,
    validate_precomputed,
    validate_rows,
    validate_sample_weight,
)

FRAMES = [pd.DataFrame, pl.DataFrame]


def rows(X: object, **options: object) -> np.ndarray:
    return validate_rows(BaseEstimator(), X, reset=True, **options)


def costs(X: object):
    return validate_precomputed(BaseEstimator(), X, reset=True)


# --- rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "X",
    [
        [[1, 2], [3, 4]],
        ((1, 2), (3, 4)),
        np.array([[1, 2], [3, 4]], dtype=np.int8),
        np.array([[1, 2], [3, 4]], dtype=np.float32),
        np.array([[1, 2], [3, 4]], dtype=object),
        np.array([[1.0, 2.0], [3.0, 4.0]], order="F"),
        pd.DataFrame({"a": [1, 3], "b": [2.0, 4.0]}),
        pl.DataFrame({"a": [1, 3], "b": [2.0, 4.0]}),
        pd.DataFrame({"a": pd.array([1, 3], dtype="Int64"), "b": [2, 4]}),
    ],
)
def test_rows_of_any_kind(X: object):
    found = rows(X)
    np.testing.assert_array_equal(found, [[1.0, 2.0], [3.0, 4.0]])
    assert found.dtype == np.float64
    assert found.flags.c_contiguous


def test_good_rows_are_not_copied_and_may_be_read_only():
    X = np.ones((3, 2))
    X.flags.writeable = False
    assert np.shares_memory(rows(X), X)


@pytest.mark.parametrize("frame", FRAMES)
def test_names_are_recorded_and_checked(frame: type):
    estimator = BaseEstimator()
    validate_rows(estimator, frame({"a": [1.0, 2.0], "b": [3.0, 4.0]}), reset=True)
    assert estimator.n_features_in_ == 2
    assert list(estimator.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        validate_rows(estimator, frame({"a": [1.0], "c": [3.0]}), reset=False)


def test_the_number_of_columns_is_checked():
    estimator = BaseEstimator()
    validate_rows(estimator, np.ones((2, 2)), reset=True)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 2 features"):
        validate_rows(estimator, np.ones((2, 3)), reset=False)


@pytest.mark.parametrize(
    ("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
def test_position_of_values_that_are_not_finite(value: float, word: str):
    X = np.zeros((40, 5))
    X[17, 3] = X[20, 0] = value
    message = rf"Input X contains {word} at row 17, column 3 \(2 in total\); drop or impute"
    with pytest.raises(InputError, match=message):
        rows(X)
    for frame in FRAMES:
        with pytest.raises(InputError, match=f"contains {word} at row 17, column 'd' "):
            rows(frame({name: X[:, j] for j, name in enumerate("abcde")}))


def test_missing_values_of_frames():
    for frame in (
        pd.DataFrame({"a": [1.0, None]}),
        pl.DataFrame({"a": [1.0, None]}),
        pl.DataFrame({"a": [1, None]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
    ):
        with pytest.raises(InputError, match="contains NaN at row 1, column 'a'"):
            rows(frame)


def test_large_values_are_finite():
    X = np.full((3, 3), 1e308)
    np.testing.assert_array_equal(rows(X), X)


@pytest.mark.parametrize("frame", FRAMES)
def test_text_in_a_frame(frame: type):
    X = frame({"size": [1.0, 2.0, 3.0], "colour": ["1", "red", "blue"]})
    with pytest.raises(InputError, match=r"contains 'red' at row 1, column 'colour'.*encode"):
        rows(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1, 2], [3, "x"]], "contains 'x' at row 1, column 1"),
        (np.array([[1, 2], ["", 4]], dtype=object), "contains '' at row 1, column 0"),
        (np.array([["1", "a"]]), "contains .*'a'.* at row 0, column 1"),
        ([[1, 2], [3], [4, 5]], "row 0 has 2 values and row 1 has 1.*list of 2-D arrays"),
    ],
)
def test_no_tables_of_numbers(X: object, message: str):
    with pytest.raises(InputError, match=message):
        rows(X)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([1.0, 2.0], ValueError, "Expected 2D array, got 1D array instead"),
        (5.0, ValueError, "Expected 2D array, got scalar array instead"),
        ("words", ValueError, "could not convert string to float"),
        (np.zeros((2, 2, 2)), ValueError, "Found array with dim 3"),
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\)"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\)"),
        ([], ValueError, "Expected 2D array"),
        (np.ones((2, 2)) * 1j, ValueError, "Complex data not supported"),
        ([[{}, 1.0]], TypeError, "argument must be .* string or a real number"),
        (sp.eye_array(3), TypeError, "Sparse data was passed"),
    ],
)
def test_the_words_of_scikit_learn_stay(X: object, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        rows(X)


def test_least_number_of_rows():
    assert len(rows([[1.0]])) == 1
    with pytest.raises(ValueError, match=r"1 sample\(s\).*minimum of 2 is required"):
        rows([[1.0]], min_rows=2)


def test_a_conversion_beyond_the_budget_is_refused(monkeypatch):
    monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", "1KiB")
    with pytest.raises(MemoryBudgetError, match="X as 64-bit floating-point numbers"):
        rows(np.zeros((200, 1), dtype=np.float32))


# --- precomputed -------------------------------------------------------------------------------


def test_dense_costs():
    estimator = BaseEstimator()
    X = np.array([[np.nan, 1.0], [-2.0, np.inf]])
    found = validate_precomputed(estimator, X, reset=True)
    assert found.costs is X
    assert found.alone is None
    assert estimator.n_features_in_ == 2
    assert costs(np.zeros((3, 3, 4))).costs.shape == (3, 3, 4)
    assert costs([[0, 1], [2, 0]]).costs.dtype == np.float64


@pytest.mark.parametrize(
    "X", [np.zeros((3, 4)), np.zeros((3, 4, 2)), np.zeros((3, 3, 2, 2)), sp.csr_array((3, 4))]
)
def test_costs_must_be_square(X: object):
    with pytest.raises(InputError, match=r"must be a square matrix of shape \(n, n\).* got shape"):
        costs(X)


@pytest.mark.parametrize(
    ("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")]
)
def test_costs_must_be_finite_off_the_diagonal(value: float, word: str):
    X = np.zeros((5, 5))
    np.fill_diagonal(X, np.nan)
    X[3, 1] = value
    message = rf"contains {word} at \[3, 1\] \(1 in total\).*SciPy sparse array that leaves"
    with pytest.raises(InputError, match=message):
        costs(X)
    stack = np.zeros((5, 5, 2))
    stack[2, 4, 1] = value
    with pytest.raises(InputError, match=rf"contains {word} at \[2, 4, 1\] "):
        costs(stack)
    sparse = sp.coo_array(([1.0, value, value, 1.0], ([0, 0, 1, 1], [0, 1, 0, 1])))
    with pytest.raises(InputError, match=rf"contains {word} at \[0, 1\] \(2 in total\).*Leave out"):
        costs(sparse)


def test_large_costs_are_finite():
    X = np.full((3, 3), 1e308)
    assert costs(X).costs is X


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("make", [sp.coo_array, sp.coo_matrix])
def test_sparse_costs_of_any_format(form: str, make: type):
    X = make(([3, -1, 7, 5], ([0, 0, 1, 2], [2, 1, 1, 0])), shape=(3, 3)).asformat(form)
    before = X.toarray()
    found = costs(X)
    assert isinstance(found.costs, sp.csr_array)
    assert found.costs.indptr.tolist() == [0, 2, 2, 3]
    assert found.costs.indices.tolist() == [1, 2, 0]
    assert found.costs.data.tolist() == [-1.0, 3.0, 5.0]
    assert found.costs.data.dtype == np.float64
    assert found.alone.tolist() == [False, True, False]
    np.testing.assert_array_equal(X.toarray(), before)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_stored_zeros_stay_and_the_diagonal_may_be_anything(form: str):
    X = sp.coo_array(([0.0, np.nan, 0.0], ([0, 0, 1], [1, 0, 0])), shape=(2, 2)).asformat(form)
    found = costs(X)
    assert found.costs.data.tolist() == [0.0, 0.0]
    assert found.alone.tolist() == [True, False]


def test_unsorted_indices_are_sorted_in_a_copy():
    X = sp.csr_array(
        (np.array([2.0, 1.0, 4.0, 5.0]), np.array([2, 1, 0, 0]), np.array([0, 2, 3, 4]))
    )
    found = costs(X)
    assert found.costs.indices.tolist() == [1, 2, 0, 0]
    assert found.costs.data.tolist() == [1.0, 2.0, 4.0, 5.0]
    assert X.indices.tolist() == [2, 1, 0, 0]


def _fitted(n: int) -> BaseEstimator:
    estimator = BaseEstimator()
    validate_precomputed(estimator, np.zeros((n, n)), reset=True)
    return estimator


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_entries_stored_twice_are_refused(form: str):
    X = sp.coo_array(([1.0, 2.0, 3.0, 4.0], ([0, 1, 1, 2], [1, 2, 2, 0])), shape=(3, 3))
    if form != "coo":
        # SciPy adds them up when it converts.
        axes = (X.row, X.col) if form == "csr" else (X.col, X.row)
        kind = sp.csr_array if form == "csr" else sp.csc_array
        starts = np.concatenate([[0], np.cumsum(np.bincount(axes[0], minlength=3))])
        order = np.argsort(axes[0], kind="stable")
        X = kind((X.data[order], axes[1][order], starts), shape=(3, 3))
    with pytest.raises(InputError, match=r"\[1, 2\] is stored more than once.*sum_duplicates"):
        costs(X)


def test_the_same_column_in_neighbouring_rows_is_no_repetition():
    found = costs(sp.csr_array([[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 5, 0], [0, 0, 3, 0]]))
    assert found.costs.indices.tolist() == [1, 2, 2]
    X = sp.csr_array(np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 3, 0, 0], [0, 0, 3, 0]]))
    with pytest.raises(InputError, match=r"1 have none \(rows 1\)"):
        costs(X)


def test_rows_without_candidates():
    X = sp.coo_array(([1.0, 1.0], ([0, 3], [1, 3])), shape=(9, 9))
    with pytest.raises(InputError, match=r"7 have none \(rows 1, 2, 4, 5, 6, \.\.\.\).*diagonal"):
        costs(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (sp.csr_array(np.eye(2) * 1j), "Complex data not supported"),
        (sp.coo_array(np.ones(3)), r"two axes, rows and columns; got shape \(3,\)"),
    ],
)
def test_other_sparse_arrays(X: object, message: str):
    with pytest.raises((InputError, ValueError), match=message):
        costs(X)


def test_damaged_sparse_arrays():
    X = sp.csr_array(np.ones((2, 2)))
    X.indices[3] = 7
    with pytest.raises(InputError, match=r"the sparse X is damaged: .*indices"):
        costs(X)


def test_new_rows_of_costs():
    estimator = _fitted(3)
    dense = np.arange(6.0).reshape(2, 3)
    assert validate_precomputed(estimator, dense, reset=False).costs is dense
    stack = np.zeros((2, 3, 5))
    assert validate_precomputed(estimator, stack, reset=False).costs is stack
    # The "diagonal" counts.
    found = validate_precomputed(estimator, sp.csr_array(np.eye(3)), reset=False)
    assert found.costs.nnz == 3
    assert found.alone is None
    with pytest.raises(InputError, match=r"NaN at \[0, 0\]"):
        validate_precomputed(estimator, np.full((1, 3), np.nan), reset=False)
    for X in (np.zeros((2, 4)), sp.csr_array(np.ones((2, 4)))):
        with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 3 features"):
            validate_precomputed(estimator, X, reset=False)
    with pytest.raises(InputError, match=r"of shape \(m, n\) or \(m, n, F\)"):
        validate_precomputed(estimator, np.zeros((2, 3, 1, 1)), reset=False)


# --- weights and opening costs -----------------------------------------------------------------


@pytest.mark.parametrize(
    "given", [[1, 0, 2], (1.0, 0.0, 2.0), pd.Series([1, 0, 2]), np.array([1, 0, 2], "f4")]
)
def test_sample_weight(given: object):
    found = validate_sample_weight(given, 3)
    np.testing.assert_array_equal(found, [1.0, 0.0, 2.0])
    assert found.dtype == np.float64
    assert not np.shares_memory(found, np.asarray(given))


def test_sample_weight_for_all():
    assert validate_sample_weight(None, 3) is None
    np.testing.assert_array_equal(validate_sample_weight(2, 3), [2.0, 2.0, 2.0])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ([1.0, -0.5, -1.0], InputError, r"sample_weight\[1\] is -0.5 \(2 such in total\)"),
        ([1.0, np.nan, 1.0], InputError, r"sample_weight\[1\] is nan"),
        ([np.inf, 1.0, 1.0], InputError, r"sample_weight\[0\] is inf"),
        ([1.0, 1.0], InputError, r"one per row of X; got shape \(2,\)"),
        (np.ones((3, 2)), InputError, r"got shape \(3, 2\)"),
        ([0.0, 0.0, 0.0], InputError, "not zero; got only zeros.*weight zero"),
        (["a", "b", "c"], InputTypeError, r"got \['a', 'b', 'c'\]"),
        ([[1.0], [1.0, 2.0]], InputError, "not a list of numbers"),
    ],
)
def test_sample_weight_refused(given: object, error: type[Exception], message: str):
    with pytest.raises(error, match=f"sample_weight must be None or 3 finite numbers .*{message}"):
        validate_sample_weight(given, 3)


def test_opening_cost():
    assert validate_opening_cost("median", 3) == "median"
    for given in (2, 2.0, np.float32(2), np.array(2)):
        found = validate_opening_cost(given, 3)
        assert type(found) is float
        assert found == 2.0
    assert validate_opening_cost(-1.5, 3) == -1.5
    found = validate_opening_cost([1, -2, 3], 3)
    np.testing.assert_array_equal(found, [1.0, -2.0, 3.0])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("mean", InputError, "got 'mean'"),
        ([1.0, 2.0], InputError, r"got shape \(2,\)"),
        (np.ones((3, 1)), InputError, r"got shape \(3, 1\)"),
        ([1.0, np.nan, 1.0], InputError, r"opening_cost\[1\] is nan"),
        (np.inf, InputError, "got inf.*large finite cost"),
        (float("nan"), InputError, "got nan"),
        (True, InputTypeError, "got True"),
        ([True, False, True], InputTypeError, "got"),
        (None, InputTypeError, "got None"),
        (1j, InputTypeError, "got 1j"),
    ],
)
def test_opening_cost_refused(given: object, error: type[Exception], message: str):
    rule = "opening_cost must be 'median', a finite number, or 3 of them"
    with pytest.raises(error, match=f"{rule}.*{message}"):
        validate_opening_cost(given, 3)


# --- options -----------------------------------------------------------------------------------


def test_options():
    assert validate_choice("solver", "fast", ("auto", "fast")) == "fast"
    assert validate_int("candidates", np.int32(3), 1) == 3
    assert type(validate_int("candidates", np.int32(3), 1, 3)) is int
    assert validate_number("gap", 0, 0.0) == 0.0
    assert validate_number("gap", np.float32(0.5), above_low=True, low=0.0, high=1.0) == 0.5
    assert validate_number("shift", -3.0) == -3.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: validate_choice("solver", "best", ("auto", "fast")),
            InputError,
            "solver must be one of 'auto', 'fast'; got 'best'.",
        ),
        (
            lambda: validate_choice("solver", 3, ("auto",)),
            InputTypeError,
            "solver must be one of 'auto'; got 3.",
        ),
        (lambda: validate_int("k", 0, 1), InputError, "k must be an integer >= 1; got 0."),
        (
            lambda: validate_int("k", 9, 1, 8),
            InputError,
            "k must be an integer >= 1 and <= 8; got 9.",
        ),
        (lambda: validate_int("k", 2.0, 1), InputTypeError, "k must be an integer >= 1; got 2.0."),
        (
            lambda: validate_int("k", True, 1),
            InputTypeError,
            "k must be an integer >= 1; got True.",
        ),
        (
            lambda: validate_number("gap", -1, 0),
            InputError,
            "gap must be a finite number >= 0; got -1.",
        ),
        (
            lambda: validate_number("gap", 0, 0, above_low=True),
            InputError,
            "gap must be a finite number > 0; got 0.",
        ),
        (
            lambda: validate_number("gap", 2, high=1),
            InputError,
            "gap must be a finite number <= 1; got 2.",
        ),
        (
            lambda: validate_number("gap", float("nan")),
            InputError,
            "gap must be a finite number; got nan.",
        ),
        (
            lambda: validate_number("gap", float("inf"), 0),
            InputError,
            "gap must be a finite number >= 0; got inf.",
        ),
        (
            lambda: validate_number("gap", "1"),
            InputTypeError,
            "gap must be a finite number; got '1'.",
        ),
        (
            lambda: validate_number("gap", None),
            InputTypeError,
            "gap must be a finite number; got None.",
        ),
        (
            lambda: validate_number("gap", False),
            InputTypeError,
            "gap must be a finite number; got False.",
        ),
    ],
)
def test_options_refused(call, error: type[Exception], message: str):
    with pytest.raises(error, match=re.escape(message)) as caught:
        call()
    assert isinstance(caught.value, LikewiseError)


# --- sets --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "X",
    [
        np.ones((3, 2)),
        [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        pd.DataFrame({"a": [1, 2, 3]}),
        pl.DataFrame({"a": [1, 2, 3]}),
        sp.eye_array(3),
        np.ones((3, 3, 2)),
        np.array([[1, "a"]] * 3, dtype=object),
    ],
)
def test_one_table_is_one_set(X: object):
    sets, restore = as_sets(X)
    assert len(sets) == 1
    assert sets[0] is X
    labels = np.array([0, 1, 0])
    assert restore([labels]) is labels


@pytest.mark.parametrize(
    "X",
    [
        [np.ones((3, 2)), np.ones((1, 2))],
        (np.ones((3, 2)), np.ones((1, 2))),
        [[[1, 2], [3, 4], [5, 6]], [[7, 8]]],
        [pd.DataFrame({"a": [1, 2, 3]}), pd.DataFrame({"a": [1]})],
        [pl.DataFrame({"a": [1, 2, 3]}), pl.DataFrame({"a": [1]})],
        [sp.eye_array(3), sp.eye_array(1)],
        [np.ones((3, 3, 2)), np.ones((1, 1, 2))],
    ],
)
def test_a_list_of_tables_is_many_sets(X: list):
    sets, restore = as_sets(X)
    assert len(sets) == 2
    assert all(one is other for one, other in zip(sets, X, strict=True))
    labels = [np.array([0, 1, 0]), np.array([0])]
    found = restore(labels)
    assert isinstance(found, list)
    assert all(one is other for one, other in zip(found, labels, strict=True))
    with pytest.raises(InputError, match="X is a list, whose elements are the sets already"):
        as_sets(X, groups=[0, 0, 1, 1])


def test_an_object_array_of_tables_is_a_list():
    X = np.empty(2, dtype=object)
    X[0], X[1] = np.ones((3, 2)), np.ones((1, 2))
    assert [len(part) for part in as_sets(X)[0]] == [3, 1]


def test_mixed_lists_are_refused():
    with pytest.raises(InputError, match=r"one 2-D table per set; X\[1\] is not one"):
        as_sets([np.ones((3, 2)), np.ones(3)])


@pytest.mark.parametrize(
    "groups", [[2, 1, 2, 1], ["b", "a", "b", "a"], pd.Series([2.5, 1, 2.5, 1])]
)
@pytest.mark.parametrize(
    "X",
    [
        np.arange(4.0)[:, None],
        [[0.0], [1.0], [2.0], [3.0]],
        pd.DataFrame({"a": np.arange(4.0)}, index=[9, 9, 3, 4]),
        pl.DataFrame({"a": np.arange(4.0)}),
        sp.coo_array(np.arange(4.0)[:, None]),
    ],
)
def test_groups(X: object, groups: object):
    sets, restore = as_sets(X, groups)
    dense = [part.toarray() if sp.issparse(part) else np.asarray(part) for part in sets]
    assert [part.ravel().tolist() for part in dense] == [[1.0, 3.0], [0.0, 2.0]]
    if hasattr(X, "columns"):
        assert all(type(part) is type(X) for part in sets)
    found = restore([np.array([10, 30]), np.array([0, 20])])
    assert found.tolist() == [0, 10, 20, 30]
    assert found.dtype.kind == "i"


@pytest.mark.parametrize("kind", ["dense", "stack", "csr", "coo"])
def test_groups_of_precomputed_costs(kind: str):
    full = np.arange(1.0, 17.0).reshape(4, 4)
    X = {
        "dense": full,
        "stack": full[:, :, None],
        "csr": sp.csr_array(full),
        "coo": sp.coo_array(full),
    }
    sets, _ = as_sets(X[kind], [0, 1, 0, 1], square=True)
    found = sets[1].toarray() if sp.issparse(sets[1]) else sets[1].reshape(2, 2)
    np.testing.assert_array_equal(found, [[6.0, 8.0], [14.0, 16.0]])


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ([0, 1], InputError, r"groups must be 3 labels, one per row of X.* got shape \(2,\)"),
        ([[0], [1], [1]], InputError, r"got shape \(3, 1\)"),
        ([0.0, np.nan, 1.0], InputError, r"groups\[1\] is NaN"),
        (np.array([0, "a", None], dtype=object), InputTypeError, "cannot be compared"),
    ],
)
def test_bad_groups(groups: object, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        as_sets(np.ones((3, 2)), groups)


# --- finiteness --------------------------------------------------------------------------------


def test_first_nonfinite_over_several_blocks(monkeypatch):
    values = np.zeros((300, 7))
    assert first_nonfinite(values) is None
    assert first_nonfinite(np.zeros((0, 3))) is None
    values[np.arange(7), np.arange(7)] = np.nan
    assert first_nonfinite(values, skip_diagonal=True) is None
    values[200, 3] = -np.inf
    values[299, 6] = np.nan
    found = first_nonfinite(values, skip_diagonal=True)
    assert (found.position, found.value, found.total) == ((200, 3), -np.inf, 2)
    assert found.word == "infinity"
    assert first_nonfinite(values).total == 9
    assert first_nonfinite(np.array([1.0, np.nan])).position == (1,)
