"""Bad input: each kind refused with a message of its own that says where, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import likewise as lw
from likewise.errors import InputError, InputTypeError, LikewiseError

GOOD = np.arange(12.0).reshape(6, 2)
SQUARE = np.abs(np.subtract.outer(GOOD[:, 0], GOOD[:, 0]))


def changed(array: np.ndarray, place: tuple, value: float) -> np.ndarray:
    other = array.copy()
    other[place] = value
    return other


def pairs(entries: dict[tuple[int, int], float], n: int = 3) -> sparse.coo_array:
    rows, columns = zip(*entries, strict=True)
    return sparse.coo_array((list(entries.values()), (rows, columns)), shape=(n, n))


def frame(library) -> Any:
    return library({"height": [1.0, 2.0, np.nan], "width": [0.0, 1.0, 2.0]})


def fit(X: Any, sample_weight: Any = None, **options: Any) -> Callable[[], object]:
    return lambda: lw.ExemplarClusterer(**options).fit(X, sample_weight=sample_weight)


def given(X: Any, sample_weight: Any = None, **options: Any) -> Callable[[], object]:
    return fit(X, sample_weight, features="precomputed", **options)


def named(*columns: Any) -> list[lw.Compare]:
    return [lw.Compare("own", "euclidean", columns=list(columns))]


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    # Numbers that are none.
    "NaN in rows": (fit(changed(GOOD, (4, 1), np.nan)), r"NaN at row 4, column 1 \(1 in total\)"),
    "infinity in rows": (
        fit(changed(changed(GOOD, (2, 0), np.inf), (5, 1), -np.inf)),
        r"infinity at row 2, column 0 \(2 in total\); drop or impute",
    ),
    "NaN in a pandas frame": (fit(frame(pd.DataFrame)), r"NaN at row 2, column 'height'"),
    "NaN in a polars frame": (fit(frame(pl.DataFrame)), r"NaN at row 2, column 'height'"),
    "NaN in precomputed": (
        given(changed(SQUARE, (1, 3), np.nan)),
        r"NaN at \[1, 3\] \(1 in total\); .*SciPy sparse array",
    ),
    "infinity in precomputed": (given(changed(SQUARE, (0, 5), np.inf)), r"infinity at \[0, 5\]"),
    "NaN in a stack": (
        given(changed(np.stack([SQUARE, SQUARE], axis=2), (2, 1, 1), np.nan)),
        r"NaN at \[2, 1, 1\]",
    ),
    "NaN in sparse": (
        given(pairs({(0, 1): 1.0, (1, 2): np.nan, (2, 0): 1.0})),
        r"NaN at \[1, 2\] .*Leave out",
    ),
    "text": (fit([["1", "a"], ["2", "3"]]), r"'a' at row 0, column 1, where a number is needed"),
    "complex numbers": (fit(GOOD.astype(complex)), r"Complex data not supported"),
    # Shapes.
    "one dimension": (fit(GOOD[:, 0]), r"Expected 2D array"),
    "three dimensions": (fit(GOOD[None]), r"array with dim 3"),
    "no rows": (fit(np.empty((0, 2))), r"0 sample\(s\)"),
    "no columns": (fit(np.empty((5, 0))), r"0 feature\(s\)"),
    "one row": (fit(GOOD[:1]), r"1 sample.* minimum of 2 is required"),
    "sparse rows": (fit(sparse.csr_array(GOOD)), r"Sparse data was passed"),
    "not square": (given(SQUARE[:4]), r"square matrix .* got shape \(4, 6\).*another features="),
    "a stack that is not square": (given(np.zeros((4, 6, 2))), r"square .* got shape \(4, 6, 2\)"),
    "four dimensions": (given(np.zeros((2, 2, 2, 2))), r"square .* got shape \(2, 2, 2, 2\)"),
    "no items": (given(np.empty((0, 0))), r"0 sample\(s\)"),
    "one item": (given(np.zeros((1, 1))), r"n_samples=1 .* minimum of 2 is required"),
    "one sparse item": (
        given(sparse.csr_array(([1.0], ([0], [0])), shape=(1, 1))), r"n_samples=1",
    ),
    "sparse and not square": (
        given(sparse.csr_array(np.ones((2, 3)))), r"square .* got shape \(2, 3\)",
    ),
    # Sparse pairs.
    "a row without any candidate": (
        given(pairs({(0, 1): 1.0, (2, 0): 1.0})), r"1 have none \(rows 1\).*diagonal entry",
    ),
    "no pairs at all": (given(sparse.csr_array((3, 3))), r"3 have none \(rows 0, 1, 2\)"),
    "a pair stored twice": (
        given(sparse.coo_array(([1.0, 2.0, 1.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))),
        r"\[0, 1\] is stored more than once.*sum_duplicates",
    ),
    "candidates of weight zero": (
        given(pairs({(0, 1): 1.0, (1, 2): 1.0, (2, 1): 1.0}), [1, 0, 1]),
        r"all candidates of row 0 .* sample_weight 0",
    ),
    # Sample weights.
    "a negative weight": (
        fit(GOOD, [1, 1, -2, 1, 1, 1]), r"sample_weight must be .*sample_weight\[2\] is -2",
    ),
    "a weight that is NaN": (fit(GOOD, [1, 1, 1, np.nan, 1, 1]), r"sample_weight\[3\] is nan"),
    "too few weights": (fit(GOOD, [1, 1]), r"6 finite numbers .* got shape \(2,\)"),
    "weights that are all zero": (fit(GOOD, np.zeros(6)), r"got only zeros"),
    "weights that are text": (fit(GOOD, list("abcdef")), r"sample_weight must be"),
    # Opening costs.
    "too many opening costs": (
        fit(GOOD, opening_cost=np.ones(7)), r"opening_cost must be .* 6 of them.* got shape \(7,\)",
    ),
    "an opening cost that is NaN": (fit(GOOD, opening_cost=np.nan), r"opening_cost .* got nan"),
    "an infinite opening cost": (fit(GOOD, opening_cost=np.inf), r"finite cost keeps a row closed"),
    "an infinite one among them": (
        given(SQUARE, opening_cost=[1, 1, np.inf, 1, 1, 1]), r"opening_cost\[2\] is inf",
    ),
    "an unknown word": (fit(GOOD, opening_cost="mean"), r"opening_cost must be 'median'.* 'mean'"),
    # Features.
    "an unknown column": (
        fit(pd.DataFrame(GOOD, columns=["a", "b"]), features=named("a", "c")),
        r"Compare 'own': unknown columns 'c'; X has columns 'a', 'b'",
    ),
    "a column name without names": (fit(GOOD, features=named("a")), r"X has no column names"),
    "a column too far": (fit(GOOD, features=named(2)), r"positions from 0 to 1.* \[2\]"),
    "an unknown distance": (fit(GOOD, features="l2"), r"no distance named 'l2'; there are"),
    "no features": (fit(GOOD, features=[]), r"features must be"),
    "a number as features": (fit(GOOD, features=3), r"features must be"),
    "two features of one name": (
        fit(GOOD, features=named(0) + named(1)), r"'own'.* more than once",
    ),
    "a callable of the wrong shape": (
        fit(GOOD, features=lambda A, B: np.zeros(len(A))), r"shape .* = \(6, 6\); got \(6,\)",
    ),
    "a callable that returns NaN": (
        fit(GOOD, features=lambda A, B: np.full((len(A), len(B)), np.nan)),
        r"finite numbers; got nan for row 0 of A and row 0",
    ),
    "too few feature weights": (
        fit(GOOD, features="columns", weights=[1.0]),
        r"weights must be .* 2 \('x0', 'x1'\).* got shape \(1,\)",
    ),
    "a feature weight that is NaN": (
        fit(GOOD, features="columns", weights=[1.0, np.nan]), r"weights\[1\] \('x1'\) is nan",
    ),
    "too many weights for a stack": (
        given(np.stack([SQUARE, SQUARE], axis=2), weights=[1, 2, 3]),
        r"weights must be .* 2 \('feature 0', 'feature 1'\).* got shape \(3,\)",
    ),
    "weights for one given feature": (given(SQUARE, weights=[1, 2]), r"weights must be .* 1 "),
    "negative values for chi2": (
        fit(-GOOD, features="chi2"), r"'chi2' needs values >= 0, but X has -1 at row 0, column 1",
    ),
    # Options.
    "candidates with precomputed": (
        given(SQUARE, candidates=3), r"candidates=3 .* SciPy sparse array of the pairs",
    ),
    "no candidates": (fit(GOOD, candidates=0), r"candidates must be an integer >= 1; got 0"),
    "half a candidate": (fit(GOOD, candidates=2.5), r"candidates must be an integer .* got 2\.5"),
    "an unknown solver": (fit(GOOD, solver="best"), r"solver must be one of 'auto', .*got 'best'"),
    "a solver that is no word": (fit(GOOD, solver=None), r"solver must be one of .* got None"),
    "a negative gap": (fit(GOOD, gap=-0.1), r"gap must be a finite number >= 0.* got -0\.1"),
    "a gap that is NaN": (fit(GOOD, gap=np.nan), r"gap must be .* got nan"),
    "a gap that is text": (fit(GOOD, gap="1%"), r"gap must be .* got '1%'"),
    "a negative time limit": (fit(GOOD, time_limit=-1), r"time_limit must be .* got -1"),
    "an infinite time limit": (fit(GOOD, time_limit=np.inf), r"time_limit must be .* got inf"),
    "callbacks that cannot be called": (fit(GOOD, callbacks=[print, 3]), r"callbacks must be None"),
    "a callback that is a number": (fit(GOOD, callbacks=3), r"callbacks must be None"),
    "a negative seed": (fit(GOOD, random_state=-1), r"random_state must be None, .* got -1"),
    "a seed that is text": (fit(GOOD, random_state="x"), r"random_state must be .* got 'x'"),
    # Many sets.
    "groups with a list": (
        lambda: lw.ExemplarClusterer().cluster([GOOD, GOOD], groups=[0, 1]), r"groups .* a list",
    ),
    "too few groups": (
        lambda: lw.ExemplarClusterer().cluster(GOOD, groups=[0, 1]), r"groups must be 6 labels",
    ),
    "a set that is flat": (
        lambda: lw.ExemplarClusterer().cluster([GOOD, GOOD[0]]), r"X\[1\] is not one",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_message_of_its_own(case: str):
    call, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call()
    assert str(caught.value)


OURS = [case for case in REFUSED if case not in (
    # What scikit-learn's gate refuses first, in the words that its checks look for.
    "complex numbers", "one dimension", "three dimensions", "no rows", "no columns",
    "one row", "sparse rows", "no items",
)]  # fmt: skip


@pytest.mark.parametrize("case", OURS)
def test_refusals_are_of_the_one_tree(case: str):
    with pytest.raises(LikewiseError) as caught:
        REFUSED[case][0]()
    assert isinstance(caught.value, (InputError, InputTypeError))


def test_wrong_types_are_type_errors():
    for call in (fit(GOOD, solver=3), fit(GOOD, gap=None), fit(GOOD, candidates=True)):
        with pytest.raises(TypeError):
            call()


def test_a_refused_fit_leaves_no_result():
    clusterer = lw.ExemplarClusterer(opening_cost=np.ones(7))
    with pytest.raises(InputError):
        clusterer.fit(GOOD)
    assert not hasattr(clusterer, "labels_")


class TestNewRows:
    def test_nan(self):
        found = lw.ExemplarClusterer().fit(GOOD)
        for method in (found.predict, found.transform):
            with pytest.raises(InputError, match="NaN at row 1, column 0"):
                method(changed(GOOD[:2], (1, 0), np.nan))

    def test_names_in_another_order(self):
        found = lw.ExemplarClusterer().fit(pd.DataFrame(GOOD, columns=["a", "b"]))
        with pytest.raises(ValueError, match="feature names"):
            found.predict(pd.DataFrame(GOOD, columns=["b", "a"]))

    def test_precomputed_rows_count_every_entry(self):
        found = lw.ExemplarClusterer(features="precomputed").fit(SQUARE)
        with pytest.raises(InputError, match=r"NaN at \[0, 0\]"):
            found.predict(changed(SQUARE, (0, 0), np.nan))

    def test_a_sparse_row_without_candidates(self):
        found = lw.ExemplarClusterer(features="precomputed").fit(SQUARE)
        with pytest.raises(InputError, match=r"1 have none \(rows 1\)"):
            found.predict(sparse.csr_array(([1.0], ([0], [0])), shape=(2, 6)))

    def test_features_that_are_too_large(self):
        stack = np.full((6, 6, 2), 1e300)
        found = lw.ExemplarClusterer(features="precomputed").fit(stack)
        with pytest.raises(InputError, match="weighted sum of the features"):
            found.predict(np.full((3, 6, 2), 1.5e308))
        with pytest.raises(InputError, match="weighted sum of the features"):
            lw.ExemplarClusterer(features="precomputed", weights=[1e308]).fit(SQUARE)
