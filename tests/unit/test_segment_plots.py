"""Pictures of segments and of penalty paths: what is drawn where, without a screen."""

from __future__ import annotations

import functools
import io
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import likewise as lw
from likewise.datasets import make_segmented_series
from likewise.errors import InputError
from likewise.metrics import covering
from likewise.plots import PenaltyPathDisplay, SegmentsDisplay, TrainingDisplay, WeightsDisplay
from likewise.plots.penalties import _errors
from likewise.plots.segments import FOUND, MANY_CUTS, MOST_PANELS, draw_several, envelope

CUTS = [30, 50, 90]


def steps(seed: int, p: int = 2, n: int = 120) -> np.ndarray:
    labels = np.searchsorted(CUTS, np.arange(n), side="right")
    return 12.0 * (labels % 2)[:, None] + np.random.default_rng(seed).normal(size=(n, p))


def drawn(figure: Figure) -> None:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=60)
    assert stream.getvalue().startswith(b"\x89PNG")


def lines_at(ax, label: str) -> list[float]:
    """Where the change points of a kind are drawn."""
    (lines,) = [
        own
        for own in ax.collections
        if isinstance(own, LineCollection) and own.get_label() == label
    ]
    return [segment[0, 0] for segment in lines.get_segments()]


class TestSegments:
    def test_from_estimator(self, seed: int):
        frame = pl.DataFrame(steps(seed), schema=["speed", "cost in $"], orient="row")
        detector = lw.ChangePointDetector(penalty=40.0).fit(frame)
        display = SegmentsDisplay.from_estimator(detector, frame, [30, 52, 90], title="run 1")
        drawn(display.figure_)
        assert len(display.axes_) == 2
        for ax in display.axes_:
            assert lines_at(ax, "found") == [29.5, 49.5, 89.5]
            assert lines_at(ax, "true") == [29.5, 51.5, 89.5]
            np.testing.assert_array_equal(ax.lines[0].get_xdata(), np.arange(120))
        assert display.axes_[0].get_ylabel() == "speed"
        assert display.axes_[1].get_ylabel() == r"cost in \$"
        title = display.axes_[0].get_title(loc="left")
        assert title.startswith("run 1: 4 segments, true: 4; covering 0.9")
        names = [text.get_text() for text in display.axes_[0].get_legend().get_texts()]
        assert names == ["found", "true"]

    def test_bands_alternate_and_cover_all_rows(self):
        ax = SegmentsDisplay(steps(0), CUTS).plot().axes_[0]
        bands = [own for own in ax.collections if not isinstance(own, LineCollection)]
        spans = [
            [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in own.get_paths()]
            for own in bands
        ]
        assert spans == [[(-0.5, 29.5), (49.5, 89.5)], [(29.5, 49.5), (89.5, 119.5)]]
        assert not np.array_equal(bands[0].get_facecolor(), bands[1].get_facecolor())
        assert ax.get_legend() is None

    def test_columns_beyond_eight_are_named(self):
        names = [f"x{k}" for k in range(MOST_PANELS + 9)]
        display = SegmentsDisplay(steps(0, len(names)), CUTS, names=names).plot()
        drawn(display.figure_)
        assert len(display.axes_) == MOST_PANELS
        assert display.left_out_ == names[MOST_PANELS:]
        note = display.figure_.get_supxlabel()
        assert note == "Not shown: x8, x9, x10, x11, x12, x13 and 3 more."

    def test_one_column_and_no_changes(self):
        display = SegmentsDisplay(steps(0)[:, 0], []).plot()
        drawn(display.figure_)
        assert display.axes_[0].get_title(loc="left") == "1 segment"
        assert lines_at(display.axes_[0], "found") == []

    def test_a_series_of_one_row(self):
        drawn(SegmentsDisplay([[1.0]], []).plot().figure_)

    def test_many_changes_are_bands_only(self):
        n = 2 * MANY_CUTS
        display = SegmentsDisplay(np.zeros((n, 1)), np.arange(1, n)).plot()
        drawn(display.figure_)
        assert not [own for own in display.axes_[0].collections if own.get_label() == "found"]

    def test_on_a_given_figure_and_several(self):
        figure = Figure()
        assert SegmentsDisplay(steps(0), CUTS).plot(figure).figure_ is figure
        displays = [SegmentsDisplay(steps(k, k + 1), CUTS) for k in range(3)]
        together = draw_several(displays)
        drawn(together)
        assert [display.figure_ for display in displays] == [together] * 3

    @pytest.mark.parametrize(
        ("series", "cuts", "expected"),
        [
            (np.zeros((4, 1)), [0], "from 1 to 3"),
            (np.zeros((4, 1)), [4], "from 1 to 3"),
            (np.zeros((4, 1)), [2, 2], "increasing"),
            (np.zeros((4, 1)), [1.5], "row numbers"),
            (np.zeros((0, 1)), [], "not empty"),
            (np.array([[0.0], [np.nan]]), [], "nan at row 1, column 0"),
        ],
    )
    def test_errors(self, series, cuts, expected: str):
        with pytest.raises(InputError, match=expected):
            SegmentsDisplay(series, cuts).plot()

    def test_names_rows_and_fit_are_checked(self):
        with pytest.raises(InputError, match="names must name 2 columns"):
            SegmentsDisplay(steps(0), CUTS, names=["a"]).plot()
        with pytest.raises(NotFittedError):
            SegmentsDisplay.from_estimator(lw.ChangePointDetector(), steps(0))
        detector = lw.ChangePointDetector().fit(steps(0))
        with pytest.raises(InputError, match="119 rows"):
            SegmentsDisplay.from_estimator(detector, steps(0)[1:])


class TestEnvelope:
    def test_spikes_stay(self, seed: int):
        rng = np.random.default_rng(seed)
        values = rng.normal(size=50_000)
        spikes = rng.choice(50_000, size=20, replace=False)
        values[spikes] = rng.choice([-40.0, 40.0], size=20) + rng.normal(size=20)
        rows, kept = envelope(values)
        assert len(rows) <= 3000
        assert (np.diff(rows) > 0).all()
        np.testing.assert_array_equal(kept, values[rows])
        assert (kept.min(), kept.max()) == (values.min(), values.max())
        # Of two spikes of one sign in one column of pixels, the lower one may be hidden.
        columns = {(row * 1500 // 50_000, bool(values[row] > 0)) for row in spikes}
        assert np.count_nonzero(np.abs(kept) > 20) >= len(columns)

    @pytest.mark.parametrize("n", [1, 2, 19, 20, 21, 999])
    def test_extremes_of_every_column_of_pixels(self, n: int, seed: int):
        values = np.random.default_rng(seed).normal(size=n)
        rows, kept = envelope(values, pixels=10)
        if n <= 20:
            np.testing.assert_array_equal(rows, np.arange(n))
            return
        edges = np.linspace(0, n, 11).astype(int)
        for start, end in pairwise(edges):
            own = kept[(rows >= start) & (rows < end)]
            assert own.min() == values[start:end].min()
            assert own.max() == values[start:end].max()

    def test_a_display_uses_it(self):
        ax = SegmentsDisplay(np.sin(np.arange(100_000.0)), []).plot().axes_[0]
        assert len(ax.lines[0].get_xdata()) <= 3000
        assert FOUND.startswith("#")


class TestPenaltyPath:
    def test_segments_against_penalty(self, seed: int):
        path = lw.ChangePointDetector().path(steps(seed), 1.0, 1e5)
        display = PenaltyPathDisplay.from_path(path)
        drawn(display.figure_)
        (ax,) = display.axes_
        assert ax.get_xscale() == "log"
        (stairs,) = ax.patches
        values, edges, _ = stairs.get_data()
        np.testing.assert_array_equal(values, path.n_segments)
        np.testing.assert_array_equal(edges, path.penalties)
        assert display.best_ == []

    def test_errors_of_change_points(self, seed: int):
        path = lw.ChangePointDetector().path(steps(seed), 1.0, 1e5)
        display = PenaltyPathDisplay.from_path(path, CUTS, margin=0)
        drawn(display.figure_)
        place = path.n_segments.tolist().index(4)
        assert display.errors[place] == 0
        assert display.best_ == [(path.penalties[place], path.penalties[place + 1])]
        title = display.axes_[0].get_title(loc="left")
        assert title.startswith("fewest errors (0): penalty ")
        assert title.endswith(", 4 segments")
        (stairs,) = [own for own in display.axes_[1].patches if hasattr(own, "get_data")]
        np.testing.assert_array_equal(stairs.get_data().values, display.errors)

    def test_errors_of_regions(self):
        labels = lw.RegionLabels([(25, 35, 1), (60, 80, 0), (85, 95, ">=1")])
        path = lw.ChangePointDetector().path(steps(0), 1.0, 1e5)
        display = PenaltyPathDisplay.from_path(path, labels)
        drawn(display.figure_)
        assert display.errors == [labels.errors(cuts) for cuts in path.change_points]
        assert display.axes_[1].get_ylabel() == "wrong regions of 3"

    def test_one_error_counts_once(self):
        assert _errors([10, 20], [10, 20], 0) == 0
        assert _errors([10, 20], [11, 40], 1) == 2
        assert _errors([10, 12], [11], 1) == 1
        assert _errors([], [3, 4], 5) == 2

    @pytest.mark.parametrize("span", [(0.0, 10.0), (5.0, 5.0), (0.0, 1e9)])
    def test_ends_of_the_range(self, span):
        path = lw.ChangePointDetector().path(steps(0), *span)
        display = PenaltyPathDisplay.from_path(path, CUTS)
        drawn(display.figure_)
        low, high = display.axes_[0].get_xlim()
        assert 0 < low < high

    def test_neighbouring_ranges_are_one(self):
        display = PenaltyPathDisplay([1, 2, 4, 8, 16], [5, 4, 3, 1], [1, 1, 2, 1]).plot()
        assert display.best_ == [(1.0, 4.0), (8.0, 16.0)]
        assert "1 to 5 segments" in display.axes_[0].get_title(loc="left")

    def test_errors(self):
        with pytest.raises(InputError, match="penalty 0 only"):
            PenaltyPathDisplay([0.0, 0.0], [3]).plot()
        path = lw.ChangePointDetector().path(steps(0), 1.0, 10.0)
        with pytest.raises(InputError, match="margin"):
            PenaltyPathDisplay.from_path(path, CUTS, margin=-1)


class TestLearners:
    """Pictures of learners of changes."""

    MADE = make_segmented_series(4, 80, 3, 2, jump=3.0, random_state=0)

    @classmethod
    @functools.cache
    def learner(cls, **params) -> lw.ChangePointLearner:
        learner = lw.ChangePointLearner(**{"strength": 0.05, **params})
        return learner.fit(cls.MADE.series, cls.MADE.labels)

    @pytest.mark.parametrize("criterion", ["covering", "projection"])
    def test_loss_by_penalty(self, criterion: str):
        learner, made = self.learner(criterion=criterion), self.MADE
        display = PenaltyPathDisplay.from_learner(learner, made.series, made.labels)
        drawn(display.figure_)
        assert len(display.axes_) == 2
        assert display.axes_[1].get_ylabel() == f"mean loss\n({criterion})"
        assert display.penalties[0] < learner.penalty_ < display.penalties[-1]
        # The mean loss, and number of segments, of what is found with some of the penalties.
        middles = np.sqrt(display.penalties[:-1] * display.penalties[1:])
        for place in range(0, len(middles), max(1, len(middles) // 8)):
            detector = clone(learner.detector_).set_params(penalty=middles[place])
            found = detector.cluster(made.series)
            counts = [own.max() + 1 for own in found]
            assert display.n_segments[place] == np.mean(counts)
            if criterion == "covering":
                losses = [
                    1.0 - covering(known, own)
                    for known, own in zip(made.labels, found, strict=True)
                ]
                assert display.errors[place] == pytest.approx(np.mean(losses))
        assert any(low <= learner.penalty_ <= high for low, high in display.best_)
        title = display.axes_[0].get_title(loc="left")
        assert title.startswith(
            f"chosen penalty {learner.penalty_:.3g}: {learner.training_loss_:.3f}"
        )
        assert display.errors.min() == pytest.approx(learner.training_loss_)

    def test_wrong_regions_by_penalty(self):
        made, learner = self.MADE, self.learner()
        regions = [
            lw.RegionLabels(
                [(int(cut) - 1, int(cut) + 4, 1) for cut in np.flatnonzero(np.diff(own))]
            )
            for own in made.labels
        ]
        display = PenaltyPathDisplay.from_learner(learner, made.series, regions)
        assert display.axes_[1].get_ylabel() == "mean share of wrong regions"
        assert display.errors.max() <= 1.0

    def test_blocks_and_one_table(self):
        made, learner = self.MADE, self.learner(features="windows")
        groups = np.repeat(np.arange(4), 80)
        display = PenaltyPathDisplay.from_learner(
            learner, np.vstack(made.series), np.concatenate(made.labels), groups, reach=5.0
        )
        assert display.penalties[-1] == pytest.approx(5.0 * learner.penalty_)
        assert display.errors.min() == pytest.approx(learner.training_loss_)

    def test_errors(self):
        made, learner = self.MADE, self.learner()
        with pytest.raises(NotFittedError):
            PenaltyPathDisplay.from_learner(lw.ChangePointLearner(), made.series, made.labels)
        with pytest.raises(InputError, match="reach must be a number above 1"):
            PenaltyPathDisplay.from_learner(learner, made.series, made.labels, reach=1.0)
        known = self.learner(n_segments="known")
        with pytest.raises(InputError, match="there is no penalty"):
            PenaltyPathDisplay.from_learner(known, made.series, made.labels)
        with pytest.raises(InputError, match="neither a region nor a labelled row"):
            PenaltyPathDisplay.from_learner(learner, made.series[:1], [lw.RegionLabels([])])

    def test_weights(self):
        learner = self.learner()
        plain = WeightsDisplay.from_estimator(learner)
        assert plain.ax_.get_xlabel() == "weight"
        np.testing.assert_array_equal(plain.values, learner.weights_)
        display = WeightsDisplay.from_estimator(learner, self.MADE.series)
        drawn(display.figure_)
        spread = np.mean([own.var(axis=0) for own in self.MADE.series], axis=0)
        shares = learner.weights_ * spread / (learner.weights_ @ spread)
        np.testing.assert_allclose(display.values, shares)
        assert display.ax_.get_xlabel() == "share of a typical learnt distance"

    def test_training(self):
        display = TrainingDisplay.from_estimator(self.learner())
        drawn(display.figure_)
        assert display.ax_.get_xlabel() == "pass over the training sequences"
        assert display.bound_line_.get_label() == "lower bound"

    def test_segments(self):
        learner, rows = self.learner(), self.MADE.series[0]
        true = np.flatnonzero(np.diff(self.MADE.labels[0])) + 1
        display = SegmentsDisplay.from_estimator(learner, rows, true)
        drawn(display.figure_)
        found = np.flatnonzero(np.diff(learner.cluster([rows])[0])) + 1
        assert lines_at(display.axes_[2], "found") == (found - 0.5).tolist()
        assert lines_at(display.axes_[2], "true") == (true - 0.5).tolist()
        frame = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")
        named = lw.ChangePointLearner(strength=0.05).fit([frame], [self.MADE.labels[0]])
        assert SegmentsDisplay.from_estimator(named, frame).axes_[0].get_ylabel() == "a"
