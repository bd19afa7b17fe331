"""The features themselves: formulas, units, invariances, and plain loops beside them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import eval_hermite, gammaln

from likewise.transformers import HermiteFeatures, WindowFeatures
from likewise.transformers.hermite import hermite_functions
from likewise.transformers.windows import window_moments


def shifted_sequence(seed: int, n: int = 400) -> np.ndarray:
    """Noise whose mean, then standard deviation, changes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[n // 3 :, 0] += 3.0
    X[2 * n // 3 :, 1] *= 4.0
    return X


# ---- Hermite functions ---------------------------------------------------------------------------


def test_orthonormal():
    z = np.linspace(-30.0, 30.0, 60_001)
    functions = hermite_functions(z, 60)
    products = functions.T @ functions * (z[1] - z[0])
    np.testing.assert_allclose(products, np.eye(61), atol=1e-10)


def test_equal_to_scipy():
    z = np.linspace(-8.0, 8.0, 401)
    functions = hermite_functions(z, 30)
    for n in range(31):
        norm = np.exp(-0.5 * (n * np.log(2.0) + gammaln(n + 1.0) + 0.5 * np.log(np.pi)))
        wanted = norm * np.exp(-0.5 * z**2) * eval_hermite(n, z)
        np.testing.assert_allclose(functions[:, n], wanted, atol=1e-12)


def test_recurrence_and_bound():
    z = np.linspace(-60.0, 60.0, 20_001)
    functions = hermite_functions(z, 100)
    assert np.abs(functions).max() <= np.pi**-0.25 + 1e-12
    for n in range(1, 100):
        wanted = np.sqrt(2.0 / (n + 1)) * z * functions[:, n]
        wanted -= np.sqrt(n / (n + 1)) * functions[:, n - 1]
        np.testing.assert_allclose(functions[:, n + 1], wanted, atol=1e-12)


def test_zero_far_away():
    z = np.array([-1.7e308, -1e300, -1e6, -60.0, 60.0, 1e6, 1e300, 1.7e308, np.inf])
    assert not hermite_functions(z, 100).any()


def test_hermite_features_of_a_column():
    X = shifted_sequence(0)
    found = HermiteFeatures(degree=2, widths=[1.0, 2.5], clip=2.0).fit(X)
    steps = np.diff(X, axis=0)
    noise = 1.4826 * np.median(np.abs(steps - np.median(steps, axis=0)), axis=0) / np.sqrt(2.0)
    np.testing.assert_allclose(found.scales_, noise, rtol=1e-12)
    np.testing.assert_array_equal(found.medians_, np.median(X, axis=0))
    z = (X - np.median(X, axis=0)) / noise
    wanted = []
    for k in range(3):
        wanted += [hermite_functions(z[:, k] / width, 2) for width in (1.0, 2.5)]
        wanted += [np.clip(z[:, [k]], -2.0, 2.0)]
    np.testing.assert_allclose(found.transform(X), np.hstack(wanted), atol=1e-12)
    assert found.get_feature_names_out().tolist()[:8] == [
        "x0 hermite 0 width 1",
        "x0 hermite 1 width 1",
        "x0 hermite 2 width 1",
        "x0 hermite 0 width 2.5",
        "x0 hermite 1 width 2.5",
        "x0 hermite 2 width 2.5",
        "x0 clipped",
        "x1 hermite 0 width 1",
    ]


def test_hermite_features_without_clipping():
    names = HermiteFeatures(degree=0, clip=None).fit([[1.0], [2.0]]).get_feature_names_out()
    assert names.tolist() == ["x0 hermite 0 width 1", "x0 hermite 0 width 2"]


def test_rows_are_taken_by_themselves(seed: int):
    X = shifted_sequence(seed)
    found = HermiteFeatures().fit(X)
    order = np.random.default_rng(seed).permutation(len(X))[:50]
    np.testing.assert_array_equal(found.transform(X[order]), found.transform(X)[order])


FALLBACKS = [
    ([0.0, 0.0, 0.0, 0.0, 0.0, 7.0, 7.0], "steps"),
    ([0.0, 2.0, 4.0, 6.0, 8.0], "column"),
    ([3.0, 3.0, 3.0], "one"),
    ([3.0], "one"),
]


@pytest.mark.parametrize(("column", "kind"), FALLBACKS)
def test_where_the_mad_is_zero(column, kind):
    x = np.array(column)
    wanted = {
        "steps": lambda: np.diff(x).std() / np.sqrt(2.0),
        "column": lambda: x.std(),
        "one": lambda: 1.0,
    }[kind]()
    assert HermiteFeatures().fit(x[:, None]).scales_[0] == pytest.approx(wanted, rel=1e-12)


def test_hermite_features_of_a_constant_column():
    features = HermiteFeatures().fit_transform(np.full((20, 1), 0.1))
    assert np.ptp(features, axis=0).max() == 0.0
    np.testing.assert_array_equal(features[0, [1, 3, 6, 8, 10]], 0.0)


# ---- windows -------------------------------------------------------------------------------------


def naive_moments(values: np.ndarray, width: int, before: int, n: int):
    means, spreads = np.zeros((n, values.shape[1])), np.zeros((n, values.shape[1]))
    for t in range(n):
        window = values[max(t - before, 0) : max(t - before + width, 0)]
        if len(window):
            means[t], spreads[t] = window.mean(axis=0), window.std(axis=0)
    return means, spreads


def naive_features(X: np.ndarray, width: int, wide: int) -> np.ndarray:
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    steps = np.diff(X, axis=0) / np.diff(X, axis=0).std(axis=0)
    n, p = X.shape
    features = np.empty((n, p, 5))
    for t in range(n):
        for k in range(p):
            features[t, k, 0] = z[max(t - width // 2, 0) : t - width // 2 + width, k].mean()
            for place, rows in ((1, width), (3, wide)):
                first, last = max(t - rows // 2, 0), min(t - rows // 2 + rows, n)
                inside = steps[first : last - 1, k]
                spread = inside.std() if len(inside) else 0.0
                features[t, k, place] = np.log(max(z[first:last, k].std(), 0.02))
                features[t, k, place + 1] = np.log(max(spread, 0.02))
    return features.reshape(n, 5 * p)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("width", [1, 2, 3, 5, 8, 39, 40, 41, 79, 80, 81, 82, 1000])
def test_moments_of_every_window(n: int, width: int):
    rng = np.random.default_rng(1000 * n + width)
    for before in {0, 1, width // 2, width}:
        for m in (n, n - 1):
            values = rng.normal(size=(m, 2))
            found = window_moments(values, width, before, n)
            wanted = naive_moments(values, width, before, n)
            np.testing.assert_allclose(found, wanted, atol=1e-13)


@pytest.mark.parametrize(
    ("width", "wide"), [(3, 2.0), (10, 3.0), (11, 1.2), (150, 3.0), (900, 2.0)]
)
def test_window_features_and_a_plain_loop(width: int, wide: float, seed: int):
    X = shifted_sequence(seed)
    found = WindowFeatures(width=width, wide=wide).fit(X)
    wanted = naive_features(X, width, round(wide * width))
    np.testing.assert_allclose(found.transform(X), wanted, atol=1e-9)
    narrow = WindowFeatures(width=width, wide=None).fit_transform(X)
    kept = [5 * k + kind for k in range(3) for kind in range(3)]
    np.testing.assert_array_equal(narrow, found.transform(X)[:, kept])


@pytest.mark.parametrize(("n", "width"), [(1, 5), (250, 5), (500, 10), (9_999, 199), (20_000, 200)])
def test_the_width_that_is_chosen(n: int, width: int):
    found = WindowFeatures().fit(np.zeros((n, 1)))
    assert (found.width_, found.wide_width_) == (width, 3 * width)


def test_the_wider_window_is_wider():
    assert WindowFeatures(width=5, wide=1.01).fit(np.zeros((9, 1))).wide_width_ == 6


def test_names_of_window_features():
    assert WindowFeatures().fit(np.zeros((9, 1))).get_feature_names_out().tolist() == [
        "x0 mean",
        "x0 log sd",
        "x0 log sd of differences",
        "x0 wide log sd",
        "x0 wide log sd of differences",
    ]


def test_a_constant_column_gives_zeros():
    found = WindowFeatures().fit(np.full((300, 1), 0.1))
    assert not found.transform(np.full((300, 1), 0.1)).any()
    assert not found.transform(shifted_sequence(0)[:, :1]).any()


def test_equal_steps_have_no_roughness():
    X = 0.1 * np.arange(300.0)[:, None]
    features = WindowFeatures(width=20).fit_transform(X)
    assert not features[:, [2, 4]].any()
    assert features[:, 1].max() < 0.0


def test_constant_stretches_stop_at_the_floor():
    X = shifted_sequence(0)
    X[100:200] = 0.1
    features = WindowFeatures(width=10).fit_transform(X)
    floor = np.log(0.02)
    assert features.min() > floor - 1.0
    np.testing.assert_allclose(features[110:190, [1, 2, 6, 7]], floor, rtol=1e-12)


def test_far_outliers_leave_other_windows_alone():
    X = shifted_sequence(0)
    found = WindowFeatures(width=10, wide=None).fit(X)
    spoilt = X.copy()
    spoilt[200] += 1e12
    clean = np.r_[0:190, 211:400]
    np.testing.assert_allclose(found.transform(spoilt)[clean], found.transform(X)[clean], atol=1e-9)


# ---- both ----------------------------------------------------------------------------------------

BOTH = [HermiteFeatures(), WindowFeatures(width=12)]


@pytest.mark.parametrize("transformer", BOTH, ids=repr)
@pytest.mark.parametrize("factor", [1e-9, 0.37, 2.0, 1e12])
@pytest.mark.parametrize("offset", [0.0, -3.0, 1e3])
def test_units_do_not_matter(transformer, factor: float, offset: float, seed: int):
    X = shifted_sequence(seed)
    moved = factor * (X + offset)
    one, other = transformer.fit_transform(X), transformer.fit_transform(moved)
    np.testing.assert_allclose(other, one, atol=1e-9)


@pytest.mark.parametrize("transformer", BOTH, ids=repr)
def test_large_offsets(transformer, seed: int):
    X = shifted_sequence(seed)
    one, other = transformer.fit_transform(X), transformer.fit_transform(X + 1e9)
    np.testing.assert_allclose(other, one, atol=2e-6)
