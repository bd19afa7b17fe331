"""Fitted penalties, scores of several annotators, and the cells of real families."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import family_folders
from likewise.errors import InputError
from likewise.estimators.change_points import ChangePointDetector
from likewise.experiments import family_cells, segmentation_families
from likewise.experiments.annotators import annotated_covering, annotated_f1, segments_of
from likewise.experiments.base import Cell, Plan, Result
from likewise.experiments.family_cells import clipped, matched, score, with_logarithms
from likewise.experiments.fitted_penalties import (
    Blocks,
    FittedPenalty,
    best_penalty,
    default_change_points,
    paths_of,
    scales_within,
)


class TestFittedPenalties:
    def test_blocks(self):
        blocks = Blocks.of(np.arange(7.0)[:, None], 3)
        assert blocks.ends.tolist() == [0, 3, 7]
        assert blocks.rows.ravel().tolist() == [1.0, 4.5]
        assert blocks.blocks_of(np.array([4])).tolist() == [0, 1]
        assert Blocks.of(np.ones((2, 1)), 5).ends.tolist() == [0, 2]

    def test_scales_within_segments(self, seed: int):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(4000, 3)) * [1.0, 5.0, 0.0]
        rows[2000:] += 100.0
        scales = scales_within([rows], [segments_of([2000], 4000)])
        np.testing.assert_allclose(scales[:2], [1.0, 5.0], rtol=0.1)
        assert scales[2] == np.inf

    def test_the_penalty_is_best_on_a_fine_grid(self, seed: int):
        rng = np.random.default_rng(seed)
        cuts = [np.array([20, 50]), np.array([35])]
        series = [family_folders.steps(rng, own.tolist(), 80) for own in cuts]

        def value(penalty: float) -> float:
            detector = ChangePointDetector(penalty=penalty)
            found = [detector.fit(rows).change_points_ for rows in series]
            return float(np.mean([score(a, b, 80) for a, b in zip(cuts, found, strict=True)]))

        paths = paths_of(series, [3, 2])
        penalty = best_penalty(paths, lambda place, found: score(cuts[place], found, 80))
        low, high = paths[0].penalties[[0, -1]]
        best = max(value(one) for one in np.geomspace(low, high, 300))
        assert value(penalty) >= best - 1e-12

    def test_paths_reach_from_the_whole_to_too_many_segments(self, seed: int):
        rng = np.random.default_rng(seed)
        series = [family_folders.steps(rng, [20], 60), family_folders.steps(rng, [30, 40], 90)]
        paths = paths_of(series, [2, 3])
        assert [path.n_segments[-1] for path in paths] == [1, 1]
        assert (
            max(path.n_segments[0] / (3 * n + 10) for path, n in zip(paths, (2, 3), strict=True))
            >= 1.0
        )
        assert len({(path.penalties[0], path.penalties[-1]) for path in paths}) == 1

    def test_paths_of_constant_sequences(self):
        (path,) = paths_of([np.ones((5, 1))], [1])
        assert path.n_segments.tolist() == [1]

    def test_changes_of_strength_are_found(self, seed: int):
        rng = np.random.default_rng(seed)
        series = []
        for _ in range(3):
            rows = rng.normal(size=(600, 2))
            rows[300:] *= 5.0
            series.append(rows)
        method = FittedPenalty(score).fit(series[:2], [np.array([300])] * 2)
        found = method.change_points(series[2])
        assert len(found) == 1
        assert abs(found[0] - 300) <= method.window_

    def test_defaults_find_clear_changes_of_the_mean(self, seed: int):
        rows = np.random.default_rng(seed).normal(size=(300, 2))
        rows[100:] += 10.0
        # Noise of a few differences may be too low by chance, and more is found then.
        assert 100 in default_change_points(rows, 350, "differences")
        assert default_change_points(rows, 350, "total").tolist() == [100]


class TestAnnotators:
    def test_agreement_with_itself(self):
        assert annotated_f1([[3, 9], [3, 9]], [3, 9]) == 1.0
        assert annotated_covering([[3, 9]], [3, 9], 12) == 1.0

    def test_by_hand(self):
        # Everybody: 0, 10, 30. Found: 0, 12, 50: two of three right; recall 2/2 and 2/3.
        precision, recall = 2 / 3, (1.0 + 2 / 3) / 2
        expected = 2 * precision * recall / (precision + recall)
        assert annotated_f1([[10], [10, 30]], [12, 50]) == pytest.approx(expected)
        # One found change serves one true change.
        assert annotated_f1([[10, 12]], [11]) == pytest.approx(2 * 1.0 * (2 / 3) / (5 / 3))

    def test_the_empty_segmentation(self):
        # Precision 1; recall of row 0 alone.
        recall = (1 / 2 + 1.0) / 2
        assert annotated_f1([[10], []], []) == pytest.approx(2 * recall / (1 + recall))
        assert annotated_covering([[10], []], [], 20) == 0.75


class TestCells:
    @pytest.fixture
    def data(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        family_folders.install(monkeypatch)
        return family_folders.write_all(tmp_path / "data")

    def test_people_are_left_out_with_all_their_sequences(self, data: Path):
        cells = segmentation_families.cells(Plan(data=data))
        watch = [cell for cell in cells if cell.settings["family"] == "watch-physio"]
        assert {cell.settings["left_out"] for cell in watch} == {"s1", "s2", "s3"}
        (first,) = [
            cell
            for cell in watch
            if cell.settings["left_out"] == "s1" and cell.settings["method"] == "fitted penalty"
        ]
        rows, _ = segmentation_families.compute(first)
        assert [row["sequence"] for row in rows] == ["s1_side0", "s1_side1"]
        assert all(row["covering"] > 0.8 and row["true"] == 3 for row in rows)

    def test_what_is_left_out_is_not_looked_at(self, data: Path):
        settings = {"family": "hasc", "method": "fitted penalty", "left_out": "s1_side0"}
        cell = Cell("movement", settings, str(data))
        known = family_cells.load_sequences(data / "hasc")
        shown = [name != "s1_side0" for name in known.ids]
        segment = family_cells._segmenter("fitted penalty", known, shown)
        known.series[0][:] = 0.0
        known.change_points[0][:] = [1, 2]
        other = family_cells._segmenter("fitted penalty", known, shown)
        rows = family_cells.load_sequences(data / "hasc").series[0]
        np.testing.assert_array_equal(segment(rows), other(rows))
        (row,), _ = segmentation_families.compute(cell)
        assert row["found"] == len(segment(rows)) + 1

    def test_copy_numbers(self, data: Path):
        for method in ("fitted penalty", "learner"):
            settings = {"family": "coriell-acgh", "method": method, "left_out": "line1"}
            (row,), _ = segmentation_families.compute(Cell("copy number", settings, str(data)))
            assert row == {"true": 1, "hits": 1, "false": 0}

    def test_an_unknown_method(self, data: Path):
        settings = {"family": "hasc", "method": "magic", "left_out": "s1_side0"}
        with pytest.raises(InputError, match="no method 'magic'"):
            segmentation_families.compute(Cell("movement", settings, str(data)))

    def test_a_cell_without_data(self):
        with pytest.raises(InputError, match="where its data is"):
            segmentation_families.compute(Cell("regions", {"family": "x"}))
        with pytest.raises(InputError, match="--data DIR"):
            segmentation_families.cells(Plan())

    def test_predicted_penalties_beat_a_constant(self, data: Path):
        settings = {"family": "neuroblastoma-penalty", "labels": "detailed"}
        settings |= {"split": "fold_profileID", "fold": 1}
        (row,), _ = segmentation_families.compute(Cell("penalty regression", settings, str(data)))
        assert row["errors"] < row["errors_of_a_constant"]
        assert row["errors"] <= 3
        assert row["labels_held_out"] == 20

    def test_the_report_says_what_holds(self):
        def line(method: str, family: str, covering: float) -> Result:
            settings = {"family": family, "method": method}
            row = {"sequence": "a", "covering": covering, "f1": 0.5, "found": 3, "true": 3}
            return Result(Cell("movement", settings), [row])

        def holds(*ours: float) -> list[bool | None]:
            results = []
            for place, value in enumerate(ours):
                results.append(line("learner", f"family{place}", value))
                results += [
                    line(method, f"family{place}", 0.8)
                    for method in segmentation_families.METHODS[1:]
                ]
            return [claim.holds for claim in segmentation_families.report(results).claims]

        assert holds(0.8, 0.8) == [True, True]
        assert holds(0.7, 0.8) == [False, False]
        assert holds(0.74, 0.9) == [True, False]
        assert holds(0.76, 0.9) == [True, True]


def test_clipping_keeps_steps_and_draws_outliers_in():
    rows = np.random.default_rng(0).normal(size=(100, 1))
    rows[50:] += 20.0
    rows[20] = 500.0
    found = clipped(rows)
    assert found[20, 0] < 10.0
    assert found[50, 0] > 10.0 > found[49, 0]


def test_matches_within_a_margin():
    truth, found = np.array([5, 20]), np.array([3, 18, 40])
    assert matched(truth, found, 2) == 2
    assert matched(truth, found, 1) == 0
    assert matched(truth, np.empty(0, dtype=np.intp), 2) == 0
    assert matched(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), 2) == 0


def test_logarithms_are_chosen_by_what_is_shown():
    features = np.array([[1.0, 1.0], [np.e, 0.0], [-5.0, 9.0]])
    found = with_logarithms(["a", "b"], features, np.array([True, True, False]))
    # The held-out row is no reason to leave out the first column, and counts as the lowest shown.
    np.testing.assert_allclose(found, np.column_stack([features, [0.0, 1.0, 0.0]]))
    given = with_logarithms(["a", "log.b"], features, np.array([True, True, True]))
    assert given is features
