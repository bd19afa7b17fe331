"""What ChangePointDetector promises."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import likewise as lw
from likewise.errors import LikewiseError

X = np.r_[np.zeros((20, 2)), np.full((15, 2), 3.0), np.full((25, 2), [3.0, -2.0])]
X = X + np.random.default_rng(0).normal(scale=0.3, size=X.shape)
CUTS = [20, 35]


@parametrize_with_checks(
    [
        lw.ChangePointDetector(),
        lw.ChangePointDetector(penalty=0.0, min_size=1),
        lw.ChangePointDetector(kernel="rbf"),
        lw.ChangePointDetector(n_segments=1),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def detector(**options) -> lw.ChangePointDetector:
    return lw.ChangePointDetector(**{"penalty": 3.0, **options})


def test_what_is_found():
    found = detector().fit(X)
    np.testing.assert_array_equal(found.change_points_, CUTS)
    np.testing.assert_array_equal(found.labels_, np.repeat([0, 1, 2], [20, 15, 25]))
    scatter = sum(((part - part.mean(axis=0)) ** 2).sum() for part in np.split(X, CUTS))
    assert found.cost_ == pytest.approx(scatter + 9.0, rel=1e-12)
    known = detector(n_segments=3).fit(X)
    assert known.cost_ == pytest.approx(scatter, rel=1e-12)
    np.testing.assert_array_equal(known.fit_predict(X), found.labels_)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_an_offset_changes_no_segmentation(offset: float):
    np.testing.assert_array_equal(detector().fit(X + offset).change_points_, CUTS)


def test_metrics():
    one = detector(metric=[4.0, 0.0]).fit(X)
    np.testing.assert_array_equal(one.change_points_, [20])
    scaled = detector().fit(X[:, :1] * 2.0)
    assert one.cost_ == pytest.approx(scaled.cost_, rel=1e-12)
    rng = np.random.default_rng(1)
    turned = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    matrix = turned @ np.diag([4.0, 0.0]) @ turned.T
    same = detector(metric=matrix).fit(X @ turned.T)
    np.testing.assert_array_equal(same.change_points_, one.change_points_)
    assert same.cost_ == pytest.approx(one.cost_, rel=1e-9)
    nothing = detector(metric=[0.0, 0.0]).fit(X)
    assert len(nothing.change_points_) == 0


def test_kernels():
    plain = detector().fit(X)
    for kernel, rows in (("linear", X), (lambda A, B: A @ B.T, X), ("precomputed", X @ X.T)):
        found = detector(kernel=kernel).fit(rows)
        np.testing.assert_array_equal(found.change_points_, plain.change_points_)
        assert found.cost_ == pytest.approx(plain.cost_, rel=1e-9)
    # A change of spread, which means do not have.
    rng = np.random.default_rng(0)
    spread = np.r_[rng.normal(scale=0.2, size=40), rng.normal(scale=3.0, size=40)][:, None]
    assert 35 <= detector(kernel="rbf", n_segments=2).fit(spread).change_points_[0] <= 45


def test_regions_are_kept():
    labels = lw.RegionLabels([(5, 9, 1), (15, 30, 0)])
    found = detector().fit(X, labels=labels)
    assert labels.errors(found.change_points_) == 0
    assert found.cost_ > detector().fit(X).cost_
    frame = pd.DataFrame({"start": [5, 15], "end": [9, 30], "changes": [1, 0]})
    again = detector().fit(X, labels=lw.RegionLabels(frame))
    np.testing.assert_array_equal(again.change_points_, found.change_points_)


def test_several_sequences():
    fitted = detector().fit(X)
    before = dict(vars(fitted))
    one, other = fitted.cluster([X, X[:25]])
    np.testing.assert_array_equal(one, fitted.labels_)
    np.testing.assert_array_equal(other, np.repeat([0, 1], [20, 5]))
    groups = np.repeat(["b", "a"], [60, 25])
    together = fitted.cluster(np.vstack([X, X[:25]]), groups=groups)
    np.testing.assert_array_equal(together, np.concatenate([one, other]))
    assert {name: id(value) for name, value in vars(fitted).items()} == {
        name: id(value) for name, value in before.items()
    }


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame):
    table = frame({"a": X[:, 0], "b": X[:, 1]})
    found = detector().fit(table)
    assert list(found.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(found.change_points_, CUTS)


def test_a_path():
    path = lw.ChangePointDetector().path(X, 0.5, 50.0)
    assert len(path) == len(path.scatter) == len(path.penalties) - 1
    assert np.all(np.diff(path.penalties) >= 0.0)
    assert path.penalties[0] == 0.5
    assert path.penalties[-1] == 50.0
    for k in range(len(path)):
        middle = 0.5 * (path.penalties[k] + path.penalties[k + 1])
        found = lw.ChangePointDetector(penalty=middle).fit(X)
        np.testing.assert_array_equal(found.change_points_, path.change_points[k])
        assert path.n_segments[k] == len(found.change_points_) + 1


def test_a_saved_detector_is_the_same(tmp_path):
    found = detector(metric=[1.0, 2.0]).fit(X)
    lw.save(found, tmp_path / "model.likewise")
    again = lw.load(tmp_path / "model.likewise")
    np.testing.assert_array_equal(again.labels_, found.labels_)
    np.testing.assert_array_equal(again.cluster(X), found.labels_)
    assert clone(again).fit(X).cost_ == found.cost_


def refused(**options) -> Callable[[], object]:
    data = options.pop("X", X)
    labels = options.pop("labels", None)
    return lambda: detector(**options).fit(data, labels=labels)


def regions(*rows) -> Callable[[], object]:
    return refused(labels=lw.RegionLabels(list(rows)))


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "NaN": (refused(X=np.where(X[7, 1] == X, np.nan, X)), "NaN at row 7, column 1"),
    "a metric of another size": (refused(metric=[1.0, 2.0, 3.0]), r"got shape \(3,\)"),
    "a negative weight": (refused(metric=[1.0, -2.0]), r"metric\[1\] = -2 is negative"),
    "not symmetric": (refused(metric=[[1.0, 2.0], [0.0, 1.0]]), r"not symmetric: metric\[0, 1\]"),
    "not positive": (refused(metric=[[1.0, 2.0], [2.0, 1.0]]), "smallest eigenvalue is -1"),
    "a negative penalty": (refused(penalty=-1.0), "penalty must be a finite number >= 0"),
    "segments longer than all": (refused(min_size=61), "min_size=61 for a sequence of 60 rows"),
    "too many segments": (refused(n_segments=7, min_size=9), "at most 6 .* of 9 rows and more"),
    "no segments": (refused(n_segments=0), "n_segments must be an integer >= 1"),
    "two ways to compare": (refused(metric=[1.0, 1.0], kernel="rbf"), "leave out one of them"),
    "no such kernel": (refused(kernel="none"), "the name of a kernel of scikit-learn"),
    "a kernel that is not square": (refused(kernel=lambda A, B: A), r"= \(60, 60\); got"),
    "asymmetric scores": (
        refused(kernel="precomputed", X=np.triu(np.ones((5, 5)))), r"must be symmetric: \[0, 1\]"
    ),
    "values beyond the largest number": (refused(X=X * 1e200), "Divide the columns by a power"),
    "labels of another kind": (refused(labels=[(1, 2, 0)]), r"must be lw\.RegionLabels"),
    "regions that overlap": (regions((5, 9, 0), (8, 12, 1)), r"labels\[1\] .* overlaps with"),
    "regions that are not sorted": (regions((15, 19, 0), (8, 12, 1)), "sort them"),
    "regions outside": (regions((50, 70, 1)), r"labels\[0\] .* must be within 1 and 60"),
    "another number of changes": (regions((5, 9, 2)), "changes 0, 1 or '>=1'"),
    "an empty region": (regions((5, 5, 1)), "start < end"),
    "labels that no segmentation keeps": (
        refused(labels=lw.RegionLabels([(10, 12, 1), (13, 15, 1)]), min_size=8),
        r"labels\[0\] = .* labels\[1\] = .* cannot be kept together",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_message_of_its_own(case: str):
    call, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call()
    assert isinstance(caught.value, LikewiseError)
