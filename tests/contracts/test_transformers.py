"""What HermiteFeatures and WindowFeatures promise as transformers of scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import likewise as lw
from likewise.errors import LikewiseError
from likewise.transformers import HermiteFeatures, WindowFeatures

TRANSFORMERS = [
    HermiteFeatures(),
    HermiteFeatures(degree=0, widths=[0.5], clip=None),
    WindowFeatures(),
    WindowFeatures(width=7, wide=None),
]
NEIGHBOURS = "a window looks at the neighbours of a row"
# Checks that every row is transformed by itself, which windows are not made to do.
ROWS_ARE_INDEPENDENT = {
    "check_methods_subset_invariance": NEIGHBOURS,
    "check_methods_sample_order_invariance": NEIGHBOURS,
}


def table(seed: int = 0, n: int = 60) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 2))


@parametrize_with_checks([HermiteFeatures(), HermiteFeatures(degree=0, widths=[0.5], clip=None)])
def test_scikit_learn_checks_of_hermite_features(estimator, check):
    check(estimator)


@pytest.mark.parametrize("options", [{}, {"width": 7, "wide": None}])
def test_scikit_learn_checks_of_window_features(options):
    results = check_estimator(
        WindowFeatures(**options),
        expected_failed_checks=ROWS_ARE_INDEPENDENT,
        on_fail=None,
        on_skip=None,
    )
    failed = {item["check_name"] for item in results if item["status"] in ("failed", "xfail")}
    assert failed == set(ROWS_ARE_INDEPENDENT)
    assert sum(item["status"] == "passed" for item in results) > 40


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
class TestTransformer:
    def test_fit_transform_is_fit_and_transform(self, transformer):
        X = table()
        again = clone(transformer)
        assert again.get_params() == transformer.get_params()
        one, other = clone(transformer).fit_transform(X), again.fit(X).transform(X)
        np.testing.assert_array_equal(one, other)
        assert one.shape == (60, len(again.get_feature_names_out()))
        assert one.dtype == np.float64

    def test_the_data_and_the_fitted_state_are_left_alone(self, transformer):
        X = table()
        before = X.copy()
        X.setflags(write=False)
        fitted = clone(transformer).fit(X)
        state = repr(vars(fitted))
        fitted.transform(X + 1.0)
        assert repr(vars(fitted)) == state
        np.testing.assert_array_equal(X, before)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_frames(self, transformer, frame):
        X = table()
        named = frame({"left": X[:, 0], "right": X[:, 1]})
        found = clone(transformer).fit(named)
        assert found.feature_names_in_.tolist() == ["left", "right"]
        assert found.n_features_in_ == 2
        np.testing.assert_array_equal(found.transform(named), clone(transformer).fit_transform(X))
        names = found.get_feature_names_out()
        assert names[0].startswith("left ")
        assert names[-1].startswith("right ")
        assert len(set(names)) == len(names)

    def test_set_output(self, transformer):
        found = clone(transformer).set_output(transform="pandas").fit(table())
        assert found.transform(table()).columns.tolist() == found.get_feature_names_out().tolist()

    def test_in_a_pipeline(self, transformer):
        X = np.vstack([table(0, 100), 4.0 * table(1, 100)])
        pipeline = make_pipeline(clone(transformer), lw.ChangePointDetector(n_segments=2)).fit(X)
        assert abs(pipeline[-1].change_points_[0] - 100) <= 10

    def test_columns_do_not_see_each_other(self, transformer):
        X = table()
        both = clone(transformer).fit_transform(X)
        each = [clone(transformer).fit_transform(X[:, [k]]) for k in range(2)]
        np.testing.assert_allclose(both, np.hstack(each), rtol=0.0, atol=1e-12)

    def test_few_rows(self, transformer):
        for n in (1, 2, 3):
            assert np.isfinite(clone(transformer).fit_transform(table(n=n))).all()
        np.testing.assert_array_equal(
            clone(transformer).fit_transform([[5.0, -1.0]]),
            clone(transformer).fit_transform([[0.0, 0.0]]),
        )

    @pytest.mark.parametrize("size", [1e-290, 1e150, 1e300, 1.7e308])
    def test_numbers_of_any_size(self, transformer, size):
        X = np.clip(table() / 4.0, -1.0, 1.0)
        found = clone(transformer).fit(X * size)
        np.testing.assert_allclose(
            found.transform(X * size), clone(transformer).fit_transform(X), atol=1e-9
        )
        for other in (1e-300, 1.0, 1e300, 1.7e308):
            assert np.isfinite(found.transform(X * other)).all()

    def test_model_files(self, transformer, tmp_path):
        X = pd.DataFrame(table(), columns=["a", "b"])
        fitted = clone(transformer).fit(X)
        lw.save(fitted, tmp_path / "model.likewise")
        again = lw.load(tmp_path / "model.likewise")
        assert again.get_params() == fitted.get_params()
        np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
        assert again.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()
        lw.save(clone(fitted), tmp_path / "bare.likewise")
        assert not hasattr(lw.load(tmp_path / "bare.likewise"), "n_features_in_")

    def test_bad_tables_are_refused(self, transformer):
        X = table()
        X[4, 1] = np.nan
        with pytest.raises(LikewiseError, match=r"NaN at row 4, column 1 \(1 in total\)"):
            clone(transformer).fit(X)
        with pytest.raises(LikewiseError, match="NaN at row 4, column 'b'"):
            clone(transformer).fit(pd.DataFrame(X, columns=["a", "b"]))
        fitted = clone(transformer).fit(table())
        X[4, 1] = -np.inf
        with pytest.raises(LikewiseError, match="infinity at row 4, column 1"):
            fitted.transform(X)
        with pytest.raises(ValueError, match="3 features, but"):
            fitted.transform(np.ones((5, 3)))
        with pytest.raises(NotFittedError):
            clone(transformer).transform(table())
        with pytest.raises(NotFittedError):
            clone(transformer).get_feature_names_out()

    def test_memory_is_asked_for(self, transformer, monkeypatch):
        monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", "1KB")
        with pytest.raises(LikewiseError, match="memory budget"):
            clone(transformer).fit(table()).transform(table())


WRONG = [
    (HermiteFeatures(degree=-1), "degree must be an integer >= 0 and <= 100; got -1"),
    (HermiteFeatures(degree=101), "degree must be an integer"),
    (HermiteFeatures(degree=2.0), "degree must be an integer"),
    (HermiteFeatures(widths=[]), r"widths must be a list of different numbers > 0; got \[\]"),
    (HermiteFeatures(widths=2.0), "widths must be a list"),
    (HermiteFeatures(widths="12"), "widths must be a list"),
    (HermiteFeatures(widths=None), "widths must be a list"),
    (HermiteFeatures(widths=[1, 1.0]), "widths must be a list of different"),
    (HermiteFeatures(widths=[1.0, 0.0]), r"widths\[1\] must be a finite number > 0"),
    (HermiteFeatures(widths=[1.0, "a"]), r"widths\[1\] must be a finite number > 0"),
    (HermiteFeatures(clip=0.0), "clip must be a finite number > 0"),
    (HermiteFeatures(clip="3"), "clip must be a finite number > 0"),
    (WindowFeatures(width=2), "width must be an integer >= 3"),
    (WindowFeatures(width=9.0), "width must be an integer >= 3"),
    (WindowFeatures(wide=1.0), "wide must be a finite number > 1"),
    (WindowFeatures(wide=np.inf), "wide must be a finite number > 1"),
    (WindowFeatures(wide="no"), "wide must be a finite number > 1"),
]


@pytest.mark.parametrize(("transformer", "message"), WRONG)
def test_what_is_wrong_is_said(transformer, message):
    with pytest.raises(LikewiseError, match=message):
        transformer.fit(table())
