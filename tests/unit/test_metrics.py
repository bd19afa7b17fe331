from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import pair_confusion_matrix, rand_score
from sklearn.metrics.cluster import contingency_matrix

from likewise import metrics
from likewise.errors import InputError, InputTypeError, LikewiseError
from naive import metrics as naive

Metric = Callable[..., float]

MARGIN = 2
NAMES = sorted(metrics.__all__)
SEQUENTIAL = {"change_point_f1", "hausdorff"}
SYMMETRIC = set(NAMES) - {"covering", "class_majority_accuracy"}
BEST_IS_ZERO = {"projection_loss", "rand_loss", "hausdorff"}
BEST_ONLY_FOR_EQUAL = {"projection_loss", "rand_loss", "covering", "clustering_accuracy"}
# One ratio per overlap, each with two divisions and a product.
ROUNDING = 1e-12


def metric(name: str, module: object = metrics) -> Metric:
    function: Metric = getattr(module, name)
    if name != "change_point_f1":
        return function
    return lambda truth, found: function(truth, found, MARGIN)


def same_partition(truth: list[int], found: list[int]) -> bool:
    return np.array_equal(naive.together(truth), naive.together(found))


@st.composite
def label_pairs(draw: st.DrawFn, longest: int = 12, most: int = 5) -> tuple[list[int], list[int]]:
    n = draw(st.integers(1, longest))
    labels = st.lists(st.integers(-1, most - 2), min_size=n, max_size=n)
    return draw(labels), draw(labels)


every_metric = pytest.mark.parametrize("name", NAMES)


# --- naive twins and outside oracles


@every_metric
@given(pair=label_pairs())
def test_agrees_with_the_definition(name: str, pair: tuple[list[int], list[int]]):
    value = metric(name)(*pair)
    assert type(value) is float
    assert value == pytest.approx(metric(name, naive)(*pair), abs=ROUNDING)


@given(pair=label_pairs(longest=9, most=9), margin=st.integers(0, 9))
def test_change_points_are_matched_as_often_as_possible(
    pair: tuple[list[int], list[int]], margin: int
):
    expected = naive.change_point_f1(*pair, margin)
    assert metrics.change_point_f1(*pair, margin) == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize("n_clusters", [1, 3, 40, 300])
def test_agrees_with_scikit_learn(n_clusters: int, seed: int):
    rng = np.random.default_rng(seed)
    truth, found = rng.integers(0, n_clusters, (2, 500))
    assert metrics.rand_loss(truth, found) == pytest.approx(1 - rand_score(truth, found), abs=1e-15)
    (_, false_pairs), (missed, hits) = pair_confusion_matrix(truth, found)
    f1 = 2 * hits / (2 * hits + false_pairs + missed)
    assert metrics.pairwise_f1(truth, found) == pytest.approx(f1, abs=1e-15)
    table = contingency_matrix(truth, found)
    assert metrics.class_majority_accuracy(truth, found) == table.max(axis=1).sum() / 500


@pytest.mark.parametrize("noise", [0.05, 0.5, 1.0])
@pytest.mark.parametrize(("n_true", "n_found"), [(5, 5), (30, 60), (60, 30), (250, 250)])
def test_accuracy_is_the_best_assignment(noise: float, n_true: int, n_found: int, seed: int):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_true, 600)
    found = np.where(rng.random(600) < noise, rng.integers(0, n_found, 600), truth)
    table = contingency_matrix(truth, found)
    best = table[linear_sum_assignment(table, maximize=True)].sum()
    assert metrics.clustering_accuracy(truth, found) == best / 600


def test_accuracy_where_no_pair_of_clusters_is_certain():
    # Every cell ties with the others of its row and column, so nothing is settled beforehand.
    truth, found = np.array(list(product(range(4), range(6)))).T
    assert metrics.clustering_accuracy(truth, found) == 4 / 24
    assert metrics.clustering_accuracy(found, truth) == 4 / 24


# --- properties


@every_metric
@given(pair=label_pairs())
def test_best_for_the_same_partition(name: str, pair: tuple[list[int], list[int]]):
    truth, found = pair
    best = 0.0 if name in BEST_IS_ZERO else 1.0
    assert metric(name)(truth, truth) == best
    if name in BEST_ONLY_FOR_EQUAL:
        assert (metric(name)(truth, found) == best) == same_partition(truth, found)


@every_metric
@given(pair=label_pairs())
def test_range(name: str, pair: tuple[list[int], list[int]]):
    truth, found = pair
    n_true, n_found = len(set(truth)), len(set(found))
    ranges = {
        "projection_loss": (abs(n_true - n_found), n_true + n_found - 2),
        "hausdorff": (0, len(truth)),
    }
    low, high = ranges.get(name, (0, 1))
    assert low - ROUNDING <= metric(name)(truth, found) <= high + ROUNDING


@pytest.mark.parametrize("name", sorted(SYMMETRIC))
@given(pair=label_pairs())
def test_symmetric(name: str, pair: tuple[list[int], list[int]]):
    truth, found = pair
    assert metric(name)(truth, found) == metric(name)(found, truth)


@every_metric
def test_names_do_not_matter(name: str, seed: int):
    rng = np.random.default_rng(seed)
    truth, found = rng.integers(0, 12, (2, 200))
    names, others = rng.permutation(12), np.array([f"cluster {i}" for i in rng.permutation(12)])
    # To the last bit: sums of ratios are exact.
    assert metric(name)(names[truth], others[found]) == metric(name)(truth, found)


@pytest.mark.parametrize("name", sorted(set(NAMES) - SEQUENTIAL))
def test_order_of_rows_does_not_matter(name: str, seed: int):
    rng = np.random.default_rng(seed)
    truth, found = rng.integers(0, 12, (2, 200))
    order = rng.permutation(200)
    assert metric(name)(truth[order], found[order]) == metric(name)(truth, found)


@pytest.mark.parametrize("name", sorted(SEQUENTIAL))
def test_time_may_run_backwards(name: str, seed: int):
    rng = np.random.default_rng(seed)
    truth, found = (rng.random((2, 80)) < 0.2).cumsum(axis=1)
    assert metric(name)(truth[::-1], found[::-1]) == metric(name)(truth, found)


@given(pair=label_pairs(longest=30))
def test_a_wider_margin_matches_more(pair: tuple[list[int], list[int]]):
    scores = [metrics.change_point_f1(*pair, margin) for margin in range(31)]
    assert scores == sorted(scores)
    assert metrics.change_point_f1(*pair, margin=math.inf) == scores[-1]


@every_metric
def test_arguments_are_not_changed(name: str):
    truth, found = np.array([2, 2, 0, 1]), np.array([0, 1, 1, 1])
    truth.setflags(write=False)
    found.setflags(write=False)
    metric(name)(truth, found)


# --- values worked out by hand

ALONE, ONE = [0, 1, 2, 3], [0, 0, 0, 0]
HALVES, PARITY, UNEVEN = [0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]
VALUES = [
    # K + L - 2 and |K - L|, the two bounds
    ("projection_loss", HALVES, PARITY, 2.0),
    ("projection_loss", ALONE, ONE, 3.0),
    ("projection_loss", HALVES, UNEVEN, 2 + 2 - 2 * (4 / 6 + 1 / 6 + 1 / 2)),
    ("rand_loss", ALONE, ONE, 1.0),
    ("rand_loss", HALVES, UNEVEN, 3 / 6),
    ("rand_loss", [5], [7], 0.0),
    ("pairwise_f1", ALONE, ALONE, 1.0),
    ("pairwise_f1", [5], [7], 1.0),
    ("pairwise_f1", ALONE, HALVES, 0.0),
    ("pairwise_f1", HALVES, ALONE, 0.0),
    ("pairwise_f1", HALVES, UNEVEN, 2 * 1 / (2 + 3)),
    ("covering", ONE, ALONE, 1 / 4),
    ("covering", ALONE, ONE, 1 / 4),
    ("covering", HALVES, UNEVEN, (2 * 2 / 3 + 2 * 1 / 2) / 4),
    ("covering", UNEVEN, HALVES, (3 * 2 / 3 + 1 * 1 / 2) / 4),
    ("hausdorff", ONE, ONE, 0.0),
    ("hausdorff", ONE, HALVES, 4.0),
    ("hausdorff", HALVES, ONE, 4.0),
    ("hausdorff", [0, 0, 0, 0, 0, 1], [0, 1, 1, 1, 1, 2], 4.0),
    ("hausdorff", [5], [7], 0.0),
    ("clustering_accuracy", HALVES, UNEVEN, 3 / 4),
    ("clustering_accuracy", ONE, ALONE, 1 / 4),
    ("clustering_accuracy", ALONE, ONE, 1 / 4),
    # The greedy choice (3 + 0) is not the best one (2 + 2).
    ("clustering_accuracy", [0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0, 0], 4 / 7),
    ("class_majority_accuracy", HALVES, ONE, 1.0),
    ("class_majority_accuracy", ONE, HALVES, 1 / 2),
    # Two classes may share their largest cluster.
    ("class_majority_accuracy", [0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 0, 2], 4 / 6),
]


@pytest.mark.parametrize(("name", "truth", "found", "expected"), VALUES)
def test_values(name: str, truth: list[int], found: list[int], expected: float):
    assert metric(name)(truth, found) == pytest.approx(expected, abs=ROUNDING)
    assert metric(name, naive)(truth, found) == pytest.approx(expected, abs=ROUNDING)


def steps(n: int, changes: list[int]) -> np.ndarray:
    return np.searchsorted(changes, np.arange(n), side="right")


CHANGES = [
    ([], [], 0, 1.0),
    ([5], [], 9, 0.0),
    ([], [5], 9, 0.0),
    ([5], [5], 0, 1.0),
    ([5], [6], 0, 0.0),
    ([5], [8], 3, 1.0),  # the margin itself counts
    ([5], [9], 3, 0.0),
    ([5], [7], 1.5, 0.0),
    ([5], [4, 6], 3, 2 / 3),  # one match each
    ([4, 6], [5], 3, 2 / 3),
    # Matching the nearest first (5 with 6) would leave 8 alone.
    ([5, 8], [3, 6], 3, 1.0),
    ([1], [1], 0, 1.0),
    ([11], [11], 0, 1.0),
]


@pytest.mark.parametrize(("true", "found", "margin", "expected"), CHANGES)
def test_change_point_f1(true: list[int], found: list[int], margin: float, expected: float):
    assert metrics.change_point_f1(steps(12, true), steps(12, found), margin) == expected


def test_the_first_row_is_not_a_change_and_a_label_may_come_back():
    assert metrics.change_point_f1([3, 3, 3, 3], [9, 9, 9, 9], margin=0) == 1.0
    assert metrics.change_point_f1([0, 1, 0, 0], [0, 1, 2, 2], margin=0) == 1.0


def test_minus_one_is_a_label_like_any_other():
    assert metrics.rand_loss([-1, -1, 0, 0], [7, 7, -1, -1]) == 0.0
    assert metrics.clustering_accuracy([-1, -1, 0, 0], [-1, -1, -1, 0]) == 3 / 4


# --- large inputs


def test_pairs_of_a_million_rows_do_not_overflow():
    n = 1_000_000
    everything, halves = np.zeros(n, dtype=np.int32), np.arange(n, dtype=np.int32) % 2
    pairs, half_pairs = n * (n - 1) // 2, n // 2 * (n // 2 - 1)
    assert metrics.rand_loss(everything, halves) == 1 - half_pairs / pairs
    assert metrics.pairwise_f1(everything, halves) == 2 * half_pairs / (pairs + half_pairs)
    assert metrics.projection_loss(everything, halves) == 1.0
    assert metrics.covering(everything, halves) == 0.5


@every_metric
def test_many_clusters_need_no_dense_table(name: str):
    # A dense table of 200,000 x 100,000 counts would take 160 GB.
    n = 200_000
    truth, found = np.arange(n), np.arange(n) // 2
    expected = {
        "projection_loss": n / 2,
        "rand_loss": 1 / (n - 1),
        "pairwise_f1": 0.0,
        "covering": 0.5,
        "change_point_f1": 2 * (n / 2 - 1) / (n - 1 + n / 2 - 1),
        "hausdorff": 1.0,
        "clustering_accuracy": 0.5,
        "class_majority_accuracy": 1.0,
    }
    exact = {"margin": 0} if name == "change_point_f1" else {}
    value = getattr(metrics, name)(truth, found, **exact)
    assert value == pytest.approx(expected[name], rel=ROUNDING)


# --- kinds of labels

LABELS = ["b", "a", "b", "c"]
KINDS = [
    LABELS,
    tuple(LABELS),
    np.array(LABELS),
    np.array(LABELS, dtype=object),
    np.array(LABELS, dtype="S"),
    pd.Series(LABELS),
    pd.Series(LABELS, index=[9, 7, 7, 1], dtype="category"),
    pl.Series(LABELS),
    pl.Series(LABELS, dtype=pl.Categorical),
    [1, 0, 1, 2],
    [1.0, 0.0, 1.0, 2.0],
    [1, "1", 1, "a"],
    ["1", 1, "1", 2],
    [np.int8(1), np.uint64(0), 1.0, 2],
    [2**80, 0, 2**80, -(2**80)],
    np.array([1, 0, 1, 2], dtype=np.uint8),
    np.array([2**64 - 1, 0, 2**64 - 1, 2**64 - 2], dtype=np.uint64),
    np.array([1, 0, 1, 2], dtype=np.float32),
    np.array([1, 9, 0, 9, 1, 9, 2, 9])[::2],
    np.ma.array([1, 0, 1, 2]),
    pd.array([1, 0, 1, 2], dtype="Int64"),
    pl.Series([1, 0, 1, 2]),
]
if hasattr(np.dtypes, "StringDType"):  # NumPy 2
    KINDS.append(np.array(LABELS, dtype=np.dtypes.StringDType()))


@pytest.mark.parametrize("labels", KINDS, ids=lambda labels: type(labels).__name__)
@every_metric
def test_kinds_of_labels(name: str, labels: object):
    for truth, found in [(labels, [4, 4, 4, 5]), ([4, 4, 4, 5], labels)]:
        plain = [[1, 0, 1, 2] if side is labels else side for side in (truth, found)]
        assert metric(name)(truth, found) == metric(name)(*plain)


def test_flags_and_ranges():
    assert metrics.rand_loss([True, False, True], np.array([False, True, False])) == 0.0
    assert metrics.rand_loss(range(3), [np.True_, np.False_, 7]) == 0.0


# --- bad input

GOOD = [0, 1, 1]
BAD = [
    ([], "truth is empty"),
    (np.zeros((3, 1), dtype=int), r"truth must be one-dimensional, got shape \(3, 1\)"),
    (np.array(3), r"truth must be one-dimensional, got shape \(\)"),
    ("abc", r"truth must be one-dimensional, got shape \(\)"),
    ([[0], [1], [1]], r"truth has the label \[0\] at row 0 \(3 such in total\)"),
    ([[0, 1], [1]], r"truth has the label \[0, 1\] at row 0"),
    ([0, 1, math.nan], r"truth has the label nan at row 2 \(1 such in total\).*drop such rows"),
    (np.array([0, np.nan, np.nan]), r"truth has the label nan at row 1 \(2 such in total\)"),
    (np.array([0, np.inf, 1]), "truth has the label inf at row 1"),
    ([0, -math.inf, 1], "truth has the label -inf at row 1"),
    (np.array([0.0, 1.0, 0.5]), "truth has the label 0.5 at row 2"),
    ([0, 0.5, 1], "truth has the label 0.5 at row 1"),
    (["a", None, "b"], "truth has the label None at row 1"),
    (pd.Series(["a", None, "b"]), r"truth has the label (nan|None) at row 1"),
    (pd.array([0, None, 1], dtype="Int64"), r"truth has the label (nan|<NA>) at row 1"),
    (pl.Series(["a", None, "b"]), "truth has the label None at row 1"),
    (np.ma.array([0, 1, 1], mask=[0, 1, 0]), "truth has the label nan at row 1"),
    ([0, object, 1], "truth has the label <class 'object'> at row 1"),
]


@pytest.mark.parametrize(("labels", "message"), BAD)
@every_metric
def test_bad_labels_are_refused(name: str, labels: object, message: str):
    with pytest.raises(InputError, match=message):
        metric(name)(labels, GOOD)
    with pytest.raises(InputError, match=message.replace("truth", "found")):
        metric(name)(GOOD, labels)


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]", "c16", "V4"])
@every_metric
def test_bad_types_are_refused(name: str, dtype: str):
    with pytest.raises(InputTypeError, match=r"truth has dtype .*convert it to whole numbers"):
        metric(name)(np.zeros(3, dtype=dtype), GOOD)


@every_metric
def test_different_lengths_are_refused(name: str):
    with pytest.raises(InputError, match="must label the same rows, got 3 and 4 labels"):
        metric(name)([0, 1, 1], [0, 1, 1, 2])


@pytest.mark.parametrize("margin", [-1, -0.5, math.nan])
def test_bad_margins_are_refused(margin: float):
    with pytest.raises(InputError, match=r"margin must be 0 rows or more, got"):
        metrics.change_point_f1(GOOD, GOOD, margin)


@pytest.mark.parametrize("margin", ["3", None, True, np.True_, 1j, [3]])
def test_margins_of_a_wrong_type_are_refused(margin: object):
    with pytest.raises(InputTypeError, match="margin must be a number of rows, got"):
        metrics.change_point_f1(GOOD, GOOD, margin)


def test_errors_belong_to_the_tree():
    with pytest.raises(LikewiseError):
        metrics.rand_loss([0], [0, 1])
