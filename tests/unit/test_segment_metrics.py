"""Metrics that learning of segmentations is compared with: what each is to find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import likewise as lw
from likewise.datasets import SegmentedSeries, make_segmented_series
from likewise.experiments.baselines import (
    EuclideanMetric,
    KnownSubspace,
    PairMetric,
    PrincipalMetric,
    RelevantMetric,
)
from likewise.experiments.baselines import segment_metrics as metrics
from likewise.experiments.segment_methods import relevant_share
from likewise.metrics import projection_loss


@pytest.fixture
def made(seed: int) -> SegmentedSeries:
    """Three columns that matter, three that jump on their own, three of noise."""
    return make_segmented_series(
        6, 200, 9, 3, 2, jump=4.0, nuisance=1.0, n_misaligned=3, random_state=seed
    )


def covariance(parts: list[np.ndarray]) -> np.ndarray:
    """Around the mean of every part."""
    centred = np.vstack([part - part.mean(axis=0) for part in parts])
    return centred.T @ centred / len(centred)


def segments(made: SegmentedSeries) -> list[np.ndarray]:
    return [X[y == k] for X, y in zip(made.series, made.labels, strict=True) for k in np.unique(y)]


@pytest.mark.parametrize(
    "metric",
    [
        PrincipalMetric(3), RelevantMetric(3), RelevantMetric(), PairMetric(400),
        KnownSubspace(np.arange(9) < 3),
    ],
    ids=lambda metric: type(metric).__name__,
)  # fmt: skip
def test_large_jumps_are_found(made: SegmentedSeries, metric: Any):
    metric.fit(made.series, made.labels)
    detector = lw.ChangePointDetector(metric.metric_, n_segments=3)
    for X, y in zip(made.series, made.labels, strict=True):
        assert projection_loss(y, detector.fit_predict(X)) < 0.3


def test_euclidean_is_the_identity(made: SegmentedSeries):
    assert EuclideanMetric().fit(made.series, made.labels).metric_ is None


def test_principal_directions_are_those_of_largest_variance(seed: int):
    rng = np.random.default_rng(seed)
    deviations = np.array([1.0, 5.0, 2.0, 4.0])
    rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    # Offsets of whole series are nothing that segments could differ in.
    series = [rng.normal(size=(500, 4)) * deviations @ rotation + 100 * k for k in range(3)]
    metric = PrincipalMetric(2).fit(series, []).metric_
    np.testing.assert_allclose(metric @ metric, metric, atol=1e-12)
    energy = np.diag(rotation @ metric @ rotation.T)
    assert energy[[1, 3]].min() > 0.95
    np.testing.assert_allclose(metrics.total_covariance(series), covariance(series))


def test_all_relevant_components_invert_the_covariance_within(made: SegmentedSeries):
    within = covariance(segments(made))
    ridged = within + 1e-3 * np.trace(within) / 9 * np.eye(9)
    metric = RelevantMetric().fit(made.series, made.labels).metric_
    np.testing.assert_allclose(metric, np.linalg.inv(ridged), rtol=1e-8, atol=1e-10)


def test_few_relevant_components_are_those_that_differ_across_segments(seed: int):
    rng = np.random.default_rng(seed)
    made = make_segmented_series(
        20, 300, 8, 2, 3, jump=1.5, n_misaligned=0, rotated=True, random_state=seed
    )
    # One direction of large noise, which PCA takes for what matters.
    loud = made.rotation[-1]
    series = [X + 5 * rng.normal(size=(300, 1)) * loud for X in made.series]
    made = SegmentedSeries(series, made.labels, made.relevant, made.rotation)
    metric = RelevantMetric(2).fit(made.series, made.labels).metric_
    assert np.linalg.matrix_rank(metric) == 2
    # Under the metric, noise is as strong as there are components.
    assert np.trace(metric @ covariance(segments(made))) == pytest.approx(2.0, rel=0.05)
    assert relevant_share(PrincipalMetric(1).fit(series, []).metric_, made) < 0.1
    directions = np.linalg.eigh(metric)[1][:, -2:]
    means = [
        np.diff([X[y == k].mean(axis=0) for k in range(4)], axis=0)
        for X, y in zip(made.series, made.labels, strict=True)
    ]
    jumps = np.vstack(means) @ np.linalg.inv(covariance(segments(made)))
    inside = np.linalg.norm(jumps @ directions, axis=1) / np.linalg.norm(jumps, axis=1)
    assert np.median(inside) > 0.9


def test_pairs_are_within_and_across_segments_of_one_series(made: SegmentedSeries):
    # Rows that name their series and segment: differences tell what was paired.
    series = [np.column_stack([np.full(len(y), 1000.0 * k), y]) for k, y in enumerate(made.labels)]
    near, far = PairMetric(50).pairs(series, made.labels)
    assert near.shape == far.shape == (50, 2)
    assert not near.any()
    assert not far[:, 0].any()
    assert (far[:, 1] > 0).all()


def test_pair_weights_are_the_minimum(made: SegmentedSeries, seed: int):
    metric = PairMetric(300, random_state=seed).fit(made.series, made.labels)
    near, far = metric.pairs(made.series, made.labels)

    def objective(weights: np.ndarray) -> float:
        return (near @ weights).mean() - np.log(np.sqrt(far @ weights).mean())

    best, weights = objective(metric.metric_), metric.metric_
    assert (weights >= 0).all()
    rng = np.random.default_rng(seed)
    for _ in range(200):
        other = weights * rng.uniform(0.8, 1.2, 9) + 0.01 * weights.max() * rng.random(9)
        assert objective(other) > best - 1e-6
    assert relevant_share(weights, made) > 0.95


def test_pairs_without_any_across_count_columns_by_their_scatter(seed: int):
    rng = np.random.default_rng(seed)
    series = [rng.normal(size=(100, 3)) * [1.0, 2.0, 4.0] for _ in range(3)]
    weights = PairMetric(1500).fit(series, [np.zeros(100, dtype=int)] * 3).metric_
    np.testing.assert_allclose(weights * [1, 4, 16] / weights[0], 1.0, rtol=0.4)


def test_rows_that_are_not_shown_do_not_count_within(made: SegmentedSeries):
    given = [y.copy() for y in made.labels]
    given[0][:] = -1
    for y in given[1:]:
        y[:50] = -1
    series, labels = metrics.shown(made.series, given)
    assert [len(X) for X in series] == [len(y) for y in labels] == [150] * 5
    same = PairMetric(100).fit(series, labels).metric_
    np.testing.assert_array_equal(PairMetric(100).fit(made.series, given).metric_, same)
    assert RelevantMetric(2).fit(made.series, given).metric_.shape == (9, 9)


def test_a_known_subspace_is_found_in_rotated_columns(seed: int):
    made = make_segmented_series(1, 40, 6, 2, rotated=True, random_state=seed)
    plain = make_segmented_series(1, 40, 6, 2, random_state=seed)
    metric = KnownSubspace(made.relevant, made.rotation).fit([], []).metric_
    X, Z = made.series[0], plain.series[0]
    np.testing.assert_allclose(X @ metric @ X.T, Z[:, :2] @ Z[:, :2].T, atol=1e-8)
    assert relevant_share(metric, made) == pytest.approx(1.0)
