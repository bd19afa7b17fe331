"""What PenaltyRegressor promises."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import likewise as lw
from likewise.errors import LikewiseError

INF = np.inf
WEIGHTS = np.array([2.0, -1.0, 0.0, 0.0, 0.0, 0.0])


@parametrize_with_checks(
    [
        lw.PenaltyRegressor(),
        lw.PenaltyRegressor(regulariser="l2"),
        lw.PenaltyRegressor(strength=0.01, margin=0.0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def series(seed: int, n: int = 200, width: float = 1.5):
    """Features and limits around a linear law; a third of the limits is infinite."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(WEIGHTS)))
    truth = X @ WEIGHTS + 3.0
    low = truth - rng.uniform(0.0, width, size=n)
    high = truth + rng.uniform(0.0, width, size=n)
    low[rng.random(n) < 1.0 / 3.0] = -INF
    high[rng.random(n) < 1.0 / 3.0] = INF
    return X, np.column_stack([low, high]), truth


@pytest.mark.parametrize("regulariser", ["l1", "l2"])
def test_a_linear_law_is_recovered(seed: int, regulariser: str):
    X, y, _ = series(seed)
    found = lw.PenaltyRegressor(regulariser=regulariser, margin=0.5).fit(X, y)
    np.testing.assert_allclose(found.coef_, WEIGHTS, atol=0.25)
    assert found.intercept_ == pytest.approx(3.0, abs=0.25)
    new, _, wanted = series(seed + 1000)
    assert np.sqrt(np.mean((found.predict(new) - wanted) ** 2)) < 0.4
    assert found.score(X, y) > 0.85


def test_auto_is_no_worse_than_none(seed: int):
    """With as many features as series, of which two matter."""
    rng = np.random.default_rng(seed)
    noise, new_noise = rng.normal(size=(60, 60)), rng.normal(size=(500, 60))
    X, y, _ = series(seed, n=60)
    new, wanted, _ = series(seed + 1000, n=500)
    X, new = np.hstack([X, noise]), np.hstack([new, new_noise])
    auto = lw.PenaltyRegressor().fit(X, y)
    none = lw.PenaltyRegressor(strength=0.0).fit(X, y)
    assert auto.strength_ > 0.0
    assert auto.score(new, wanted) >= none.score(new, wanted)
    assert (auto.coef_ == 0.0).any()
    again = lw.PenaltyRegressor(strength=auto.strength_).fit(X, y)
    np.testing.assert_array_equal(again.coef_, auto.coef_)


def test_the_order_of_rows_does_not_matter(seed: int):
    X, y, _ = series(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    one = lw.PenaltyRegressor().fit(X, y)
    other = lw.PenaltyRegressor().fit(X[order], y[order])
    assert other.strength_ == pytest.approx(one.strength_, rel=1e-9)
    np.testing.assert_allclose(other.coef_, one.coef_, atol=1e-7)


def test_units_of_features_change_nothing(seed: int):
    X, y, _ = series(seed)
    units, offsets = np.array([1e6, 1e-6, 3.0, 1.0, 1e150, 1.0]), np.array([0, 0, 50, 1e3, 0, -7])
    one = lw.PenaltyRegressor().fit(X, y)
    other = lw.PenaltyRegressor().fit(X * units + offsets, y)
    np.testing.assert_allclose(other.coef_ * units, one.coef_, atol=1e-7)
    np.testing.assert_allclose(other.predict(X * units + offsets), one.predict(X), atol=1e-6)


def test_constant_features_have_no_coefficient():
    X, y, _ = series(0)
    wide = np.column_stack([np.full(len(X), 0.1), X, np.zeros(len(X))])
    one = lw.PenaltyRegressor(strength=0.01).fit(X, y)
    other = lw.PenaltyRegressor(strength=0.01).fit(wide, y)
    assert other.coef_[0] == other.coef_[-1] == 0.0
    np.testing.assert_allclose(other.coef_[1:-1], one.coef_, atol=1e-8)
    only = lw.PenaltyRegressor().fit(wide[:, :1], y)
    assert only.coef_ == [0.0]


def test_series_that_say_nothing_are_left_out():
    X, y, _ = series(0)
    one = lw.PenaltyRegressor().fit(X, y)
    free = np.tile([-INF, INF], (30, 1))
    other = lw.PenaltyRegressor().fit(np.vstack([X, 100.0 * X[:30]]), np.vstack([y, free]))
    kept = np.isfinite(y).any(axis=1)
    clean = lw.PenaltyRegressor().fit(X[kept], y[kept])
    np.testing.assert_array_equal(one.coef_, clean.coef_)
    np.testing.assert_array_equal(other.coef_, clean.coef_)


def test_limits_on_one_side():
    X, y, _ = series(0)
    lower = np.column_stack([np.where(np.isfinite(y[:, 0]), y[:, 0], -5.0), np.full(len(X), INF)])
    upper = np.column_stack([np.full(len(X), -INF), np.where(np.isfinite(y[:, 1]), y[:, 1], 9.0)])
    for limits in (lower, upper):
        found = lw.PenaltyRegressor().fit(X, limits)
        assert found.score(X, limits) == 1.0
        np.testing.assert_array_equal(found.coef_, 0.0)


def test_few_series():
    for n in (1, 2, 3):
        found = lw.PenaltyRegressor().fit(np.eye(3)[:n], np.tile([1.0, 2.0], (n, 1)))
        np.testing.assert_allclose(found.predict(np.eye(3)), 1.5, atol=1e-9)


def test_one_number_per_series():
    X, _, truth = series(0)
    points = lw.PenaltyRegressor().fit(X, truth)
    limits = lw.PenaltyRegressor().fit(X, np.column_stack([truth, truth]))
    np.testing.assert_array_equal(points.coef_, limits.coef_)
    assert points.score(X, truth) > 0.99
    assert 0.0 <= limits.score(X, np.column_stack([truth - 0.2, truth + 0.2])) <= 1.0


def test_weights_of_the_score():
    X, y = np.array([[0.0], [1.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    found = lw.PenaltyRegressor().fit(X, y)
    wanted = [[0.0, 1.0], [5.0, 6.0]]
    assert found.score(X, wanted) == 0.5
    assert found.score(X, wanted, sample_weight=[3.0, 1.0]) == 0.75


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame):
    X, y, _ = series(0)
    names = list("abcdef")
    table = frame({name: X[:, k] for k, name in enumerate(names)})
    limits = frame({"low": y[:, 0], "high": y[:, 1]})
    found = lw.PenaltyRegressor().fit(table, limits)
    assert list(found.feature_names_in_) == names
    plain = lw.PenaltyRegressor().fit(X, y)
    np.testing.assert_array_equal(found.coef_, plain.coef_)
    assert found.score(table, limits) == plain.score(X, y)


@pytest.mark.parametrize("options", [{}, {"regulariser": "l2", "strength": 1, "margin": 2}])
def test_model_files(tmp_path, options):
    X, y, _ = series(0)
    fitted = lw.PenaltyRegressor(**options).fit(pd.DataFrame(X, columns=list("abcdef")), y)
    lw.save(fitted, tmp_path / "model.likewise")
    again = lw.load(tmp_path / "model.likewise")
    assert again.get_params() == fitted.get_params()
    np.testing.assert_array_equal(again.coef_, fitted.coef_)
    table = pd.DataFrame(X, columns=list("abcdef"))
    np.testing.assert_array_equal(again.predict(table), fitted.predict(table))
    lw.save(clone(fitted), tmp_path / "bare.likewise")
    assert not hasattr(lw.load(tmp_path / "bare.likewise"), "coef_")


ROWS = np.arange(6.0).reshape(3, 2)
GOOD = [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
WRONG = [
    ({}, [[0.0, 1.0], [2.0, 1.0], [0.0, 1.0]], r"low > high at row 1: \[2., 1.\] \(1 such"),
    ({}, [[-INF, INF]] * 3, "every penalty suits every series"),
    ({}, [[0.0, 1.0], [0.0, 1.0], [np.nan, 1.0]], "contains NaN at row 2"),
    ({}, [[0.0, 1.0], [INF, INF], [0.0, 1.0]], "contains infinity at row 1.*may be -inf"),
    ({}, [[-INF, -INF], [0.0, 1.0], [0.0, 1.0]], "contains infinity at row 0"),
    ({}, [0.0, -INF, 1.0], "contains infinity at row 1"),
    ({}, [[0.0, 1e200], [0.0, 1.0], [0.0, 1.0]], "a limit beyond 1e.100 at row 0"),
    ({}, [[-1e200, INF], [0.0, 1.0], [0.0, 1.0]], "a limit beyond 1e.100 at row 0"),
    ({}, GOOD[:2], r"shape \(2, 2\): inconsistent .* 3 in X and 2 in y"),
    ({}, [[0.0, 1.0, 2.0]] * 3, r"y must have shape \(3, 2\).*got shape \(3, 3\)"),
    ({}, [[0.0], [0.0, 1.0], [1.0]], "rows of different lengths"),
    ({}, 3.0, r"got shape \(\)"),
    ({}, None, "requires y to be passed"),
    ({}, [["a", "b"]] * 3, "all of them numbers"),
    ({}, np.array([["a", 1]] * 3, dtype=object), "all of them numbers"),
    ({"regulariser": "trace"}, GOOD, "regulariser must be one of 'l1', 'l2'; got 'trace'"),
    ({"strength": "low"}, GOOD, "strength must be 'auto' or a number; got 'low'"),
    ({"strength": -1.0}, GOOD, "strength must be a finite number >= 0"),
    ({"margin": -1.0}, GOOD, "margin must be a finite number >= 0"),
    ({"margin": None}, GOOD, "margin must be a finite number"),
]


@pytest.mark.parametrize(("options", "y", "message"), WRONG)
def test_what_is_wrong_is_said(options, y, message):
    with pytest.raises(LikewiseError, match=message):
        lw.PenaltyRegressor(**options).fit(ROWS, y)


def test_a_bad_table_is_refused():
    with pytest.raises(LikewiseError, match="NaN at row 1, column 0"):
        lw.PenaltyRegressor().fit([[0.0], [np.nan]], [1.0, 2.0])
