"""The experiment on synthetic series: its methods, its partial labels, its claims."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import learner_stand_in
import likewise as lw
from likewise.datasets import SegmentedSeries, make_copy_number_profiles, make_segmented_series
from likewise.errors import InputError
from likewise.experiments import lajugie_report, lajugie_synthetic
from likewise.experiments.base import Cell, Plan, Result
from likewise.experiments.segment_methods import (
    HERMITE,
    LEARNER,
    OPTIONS,
    VALIDATED,
    SegmentTrial,
    chosen_penalty,
    loss_of,
    losses,
    measure,
    relevant_share,
    segmented,
)


@pytest.fixture
def made(seed: int) -> SegmentedSeries:
    return make_segmented_series(10, 80, 12, 4, 2, jump=2.0, n_misaligned=3, random_state=seed)


def trial_of(method: str, made: SegmentedSeries) -> SegmentTrial:
    train, others = made.split(4)
    return SegmentTrial(method, train, *others.split(3), seed=0)


ALL_METHODS = sorted(
    {
        *lajugie_synthetic.METHODS,
        *lajugie_synthetic.ROTATED_METHODS,
        *lajugie_synthetic.PARTIAL_METHODS,
        *lajugie_synthetic.UNLABELLED_METHODS,
        *lajugie_synthetic.ONE_COLUMN_METHODS,
    }
)


@pytest.mark.parametrize("method", ALL_METHODS)
def test_every_method_is_measured(
    made: SegmentedSeries, method: str, monkeypatch: pytest.MonkeyPatch
):
    learner_stand_in.install(monkeypatch)
    row, each = measure(trial_of(method, made))
    assert len(each) == 3
    assert row["loss"] == pytest.approx(np.mean(each))
    assert 0 <= row["relevant_share"] <= 1
    if "known number" in method:
        assert row["segments_found"] == 3
    json.dumps([row, each], allow_nan=False)


def test_every_name_of_the_learner_is_used():
    assert set(OPTIONS) <= set(ALL_METHODS)


def test_an_unknown_method(made: SegmentedSeries):
    with pytest.raises(InputError, match="no method 'magic'"):
        segmented(trial_of("magic", made))


class TestPenalty:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_none_of_a_fine_grid_is_better(self, made: SegmentedSeries, weighted: bool, seed: int):
        metric = np.random.default_rng(seed).random(12) if weighted else None
        cost = loss_of(made.labels)
        penalty = chosen_penalty(metric, made.series, cost)

        def mean_loss(value: float) -> float:
            detector = lw.ChangePointDetector(metric, value)
            return float(np.mean(losses(made.labels, detector.cluster(made.series))))

        noise = 12 if metric is None else metric.sum()
        grid = np.geomspace(1.5 * noise, 1e3 * noise, 100)
        assert mean_loss(penalty) <= min(map(mean_loss, grid)) + 1e-9

    def test_a_full_metric_is_as_its_columns(self, made: SegmentedSeries):
        weights = np.arange(12.0)
        cost = loss_of(made.labels)
        full = chosen_penalty(np.diag(weights), made.series, cost)
        assert full == pytest.approx(chosen_penalty(weights, made.series, cost))

    def test_steps_without_noise(self):
        X, y = np.repeat([[0.0], [1.0]], 10, axis=0), np.repeat([0, 1], 10)
        penalty = chosen_penalty(None, [X], loss_of([y]))
        np.testing.assert_array_equal(lw.ChangePointDetector(None, penalty).fit_predict(X), y)

    def test_nothing_to_find(self):
        series = [np.zeros((20, 2)), np.ones((20, 2))]
        cost = loss_of([np.zeros(20, dtype=int)] * 2)
        assert chosen_penalty(None, series, cost) > 0

    def test_by_regions(self, seed: int):
        made = make_copy_number_profiles(12, outliers=0.0, random_state=seed)
        trial = trial_of("Euclidean" + VALIDATED, made)
        trial = replace(trial, validation=trial.train, test=trial.train)
        done = segmented(trial)
        errors = [
            regions.errors(cuts)
            for regions, cuts in zip(trial.test.regions, done.change_points(), strict=True)
        ]
        nothing = sum(regions.errors([]) for regions in trial.test.regions)
        assert sum(errors) <= nothing


def test_shares_do_not_depend_on_the_way_a_metric_is_given(made: SegmentedSeries):
    weights = np.arange(12.0)
    assert relevant_share(weights, made) == pytest.approx((0 + 1 + 2 + 3) / 66)
    assert relevant_share(np.diag(weights), made) == pytest.approx(6 / 66)
    assert relevant_share(None, made) == pytest.approx(4 / 12)
    assert relevant_share(np.zeros(12), made) == 0.0


class TestPartOfLabels:
    def test_series(self, made: SegmentedSeries):
        given = lajugie_synthetic.part_of_labels(made.labels, "series", 0.3, 0)
        for place, (part, y) in enumerate(zip(given, made.labels, strict=True)):
            assert np.array_equal(part, y) if place < 3 else (part == -1).all()

    def test_window(self, made: SegmentedSeries, seed: int):
        given = lajugie_synthetic.part_of_labels(made.labels, "window", 0.2, seed)
        starts = []
        for part, y in zip(given, made.labels, strict=True):
            rows = np.flatnonzero(part >= 0)
            assert len(rows) == 16
            assert rows[-1] - rows[0] == 15
            np.testing.assert_array_equal(part[rows], y[rows])
            starts.append(rows[0])
        assert len(set(starts)) > 2
        again = lajugie_synthetic.part_of_labels(made.labels, "window", 0.2, seed)
        np.testing.assert_array_equal(given, again)

    def test_all(self, made: SegmentedSeries):
        given = lajugie_synthetic.part_of_labels(made.labels, "all", 1.0, 0)
        np.testing.assert_array_equal(given, made.labels)


def test_intervals_hold_nine_tenths_of_means():
    numbers = np.random.default_rng(0).normal(size=400)
    mean, low, high = lajugie_synthetic.mean_and_quantiles(numbers.tolist())
    assert mean == pytest.approx(numbers.mean())
    # 1.645 standard errors to either side.
    assert high - low == pytest.approx(2 * 1.645 * numbers.std() / 20, rel=0.1)


def as_measured(cell: Cell, learnt: float, others: float) -> Result:
    """A result as it were if the learner had one loss and all others another."""
    method = cell.settings["method"]
    loss = learnt if method.startswith(LEARNER) else others
    if method in ("learner, diagonal", "learner, PCA start"):
        loss = others
    if cell.kind in ("distribution", "regions") and method != HERMITE:
        loss = others
    if method.startswith("PCA"):
        loss = 0.9 * others
    row: dict[str, Any] = {"loss": loss, "relevant_share": 1 - loss / 10, "region_error": loss / 2}
    row |= {"one_segment": 2.8, "segments_found": 4.0, "fit_seconds": 1.0, "cluster_seconds": 0.1}
    return Result(cell, [row], {"losses": [loss, loss]})


@pytest.mark.parametrize(("learnt", "others"), [(0.1, 2.8), (2.7, 0.2)])
def test_claims(learnt: float, others: float):
    cells = lajugie_synthetic.cells(Plan(seeds=2))
    found = lajugie_report.report([as_measured(cell, learnt, others) for cell in cells])
    verdicts = [claim.holds for claim in found.claims if claim.holds is not None]
    assert len(verdicts) == 20
    assert verdicts == [learnt < others] * len(verdicts)
    # Of all settings, readings, and tasks.
    assert len(found.tables) == 5 + 1 + 2 + 1 + 1
    assert not any(text == "-" for table in found.tables for row in table.rows for text in row)
