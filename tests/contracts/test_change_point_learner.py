"""What ChangePointLearner promises."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import likewise as lw
from likewise.datasets import make_segmented_series
from likewise.decoders.segments import decode_segments
from likewise.errors import LikewiseError, LikewiseWarning
from likewise.estimators.series_features import Look, Units, Viewed, looks_for
from likewise.estimators.series_input import _labelled, regions_of, shown_series
from likewise.estimators.series_labels import SegmentLabeller, learnt_cost
from likewise.estimators.series_learning import SeriesLesson, SeriesWishes
from likewise.estimators.series_penalties import (
    HIGHEST,
    LOWEST,
    PLATEAU,
    Curve,
    Task,
    best_interval,
    curve_of,
    fit_penalty,
    growth,
)
from likewise.estimators.series_selection import Pupils
from likewise.estimators.series_training import (
    FIRST_PENALTY,
    SPARSE,
    Candidate,
    SeriesSettings,
    Trained,
)
from likewise.metrics import projection_loss
from likewise.potentials import TraceScores
from naive.segments import scatter_of_rows, segmentations
from registry import SEGMENTING_ESTIMATORS

MADE = make_segmented_series(8, 60, 4, 2, n_changes=2, jump=2.0, nuisance=1.0, random_state=0)


@pytest.mark.filterwarnings("ignore::likewise.errors.CertificateWarning")
@parametrize_with_checks(list(SEGMENTING_ESTIMATORS.values()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def learner(**options) -> lw.ChangePointLearner:
    """One training."""
    return lw.ChangePointLearner(**{"strength": 0.1, **options})


def made(seed: int, n: int = 6, rows: int = 80):
    return make_segmented_series(
        n, rows, 5, 2, n_changes=2, jump=2.0, nuisance=1.0, random_state=seed
    )


def same_segments(one: list, other: list) -> None:
    for own, another in zip(one, other, strict=True):
        np.testing.assert_array_equal(own, another)


class TestPasses:
    """Decoder calls per sequence to a gap of 1 %."""

    @staticmethod
    def settings() -> SeriesSettings:
        return SeriesSettings(
            full=False, loss="projection", known=False, optimiser="auto", step=1e-3, max_iter=200,
            tol=0.01, n_jobs=None, seed=0,
        )  # fmt: skip

    @staticmethod
    def pupils(seed: int):
        sample = make_segmented_series(40, 200, 60, 10, jump=1.0, random_state=seed)
        shown = shown_series(BaseEstimator(), sample.series, sample.labels, None)
        settings = TestPasses.settings()
        wishes = SeriesWishes("auto", None, "covering", "labelled")
        names = [f"x{k}" for k in range(60)]
        lesson = SeriesLesson(shown, looks_for(None, shown), names, settings, wishes, [])
        return lesson.pupils(lesson.looks[0])[0]

    def test_at_most_12_and_fewer_with_what_is_known(self, seed: int):
        pupils = self.pupils(seed)
        training = pupils.training(pupils.shown_parts())
        one = training.one_weight()
        n = training.n_features
        cold = Trained(np.full(n, training.unit / n), FIRST_PENALTY, None)
        strongest, second = (Candidate("diagonal", "sparse", value) for value in SPARSE[:2])
        first, known = training.train(strongest, one)
        for found in (first.ended, training.train(strongest, cold)[0].ended):
            assert found.status == "converged"
            assert found.gap <= 0.01
            assert found.n_iter <= 12
        then, _ = training.train(second, one, known)
        assert then.ended.status == "converged"
        assert then.ended.n_iter < first.ended.n_iter


class TestInvariances:
    def test_an_offset_changes_no_segmentation(self, seed: int):
        sample = made(seed)
        plain = learner().fit(sample.series, sample.labels)
        shifted = [X + 1e9 for X in sample.series]
        same_segments(plain.cluster(sample.series), plain.cluster(shifted))
        away = learner().fit(shifted, sample.labels)
        # Both are within the gap of one minimum.
        assert away.objective_ == pytest.approx(plain.objective_, rel=0.02)
        for one, two in zip(plain.cluster(sample.series), away.cluster(shifted), strict=True):
            assert lw.metrics.covering(one, two) > 0.9

    def test_powers_of_two_change_no_bit(self, seed: int):
        sample = made(seed)
        factors = 2.0 ** np.array([-30, 30, 0, 3, -7])
        series = [X * factors for X in sample.series]
        plain = learner().fit(sample.series, sample.labels)
        scaled = learner().fit(series, sample.labels)
        np.testing.assert_array_equal(scaled.weights_ * factors**2, plain.weights_)
        assert scaled.penalty_ == plain.penalty_
        same_segments(plain.cluster(sample.series), scaled.cluster(series))
        same_segments(
            plain.cluster(sample.series, share_labels=True),
            scaled.cluster(series, share_labels=True),
        )

    def test_powers_of_ten(self, seed: int):
        sample = made(seed)
        factors = 10.0 ** np.array([-7, 7, 0, 3, -3])
        series = [X * factors for X in sample.series]
        plain = learner().fit(sample.series, sample.labels)
        scaled = learner().fit(series, sample.labels)
        # Both are within the gap of one minimum.
        assert scaled.objective_ == pytest.approx(plain.objective_, rel=0.02)
        own, other = scaled.weights_ * factors**2, plain.weights_
        np.testing.assert_allclose(own, other, atol=0.2 * other.max())
        for one, two in zip(plain.cluster(sample.series), scaled.cluster(series), strict=True):
            assert lw.metrics.covering(one, two) > 0.9
        # Under the same metric, the same segments.
        scaled.metric_ = plain.metric_ / np.outer(factors, factors)
        scaled.penalty_ = plain.penalty_
        same_segments(plain.cluster(sample.series), scaled.cluster(series))

    def test_order_and_names(self, seed: int):
        sample = made(seed)
        plain = learner().fit(sample.series, sample.labels)
        order = np.random.default_rng(seed).permutation(6)
        turned = learner().fit([sample.series[k] for k in order], [sample.labels[k] for k in order])
        same_segments(plain.cluster(sample.series), turned.cluster(sample.series))
        # Both are within the gap of one minimum.
        assert turned.objective_ == pytest.approx(plain.objective_, rel=0.02)
        for names in (np.array(["rest", "walk", "run"]), np.array([7, -5, 2])):
            named = learner().fit(sample.series, [names[own] for own in sample.labels])
            np.testing.assert_array_equal(named.weights_, plain.weights_)
            assert named.penalty_ == plain.penalty_
            assert named.label_cost_ == plain.label_cost_

    def test_a_column_twice(self, seed: int):
        sample = made(seed)
        series = [X[:, [0, 1, 2, 0]] for X in sample.series]
        found = learner().fit(series, sample.labels)
        assert found.weights_[0] > 0.0
        assert found.weights_[3] == pytest.approx(found.weights_[0], rel=1e-6)

    def test_a_list_is_rows_with_groups(self):
        groups = np.repeat(np.arange(8), 60)
        listed = learner().fit(MADE.series, MADE.labels)
        grouped = learner().fit(np.vstack(MADE.series), np.concatenate(MADE.labels), groups)
        np.testing.assert_array_equal(grouped.metric_, listed.metric_)
        np.testing.assert_array_equal(
            grouped.cluster(np.vstack(MADE.series), groups),
            np.concatenate(listed.cluster(MADE.series)),
        )


class TestWhatIsShown:
    def test_regions_of_labels_allow_what_agrees_with_them(self, seed: int):
        rng = np.random.default_rng(seed)
        for _ in range(40):
            n = int(rng.integers(2, 9))
            labels = np.cumsum(rng.random(n) < 0.3)
            labels = np.where(rng.random(n) < 0.6, labels, -1).astype(np.intp)
            windows = regions_of(labels).windows(n)
            rows = rng.normal(size=(n, 1))
            rows -= rows.mean()
            agree = {cuts for cuts in segmentations(n) if agrees(cuts, labels, n)}
            allowed = {cuts for cuts in segmentations(n) if within(cuts, windows, n)}
            assert allowed == agree
            found = decode_segments(TraceScores(rows, 0.3), windows=windows)
            costs = {cuts: scatter_of_rows(rows, cuts) + 0.3 * (len(cuts) + 1) for cuts in agree}
            own = tuple(found.partition.change_points.tolist())
            assert costs[own] == pytest.approx(min(costs.values()), abs=1e-9)

    @pytest.mark.parametrize("start", ["labelled", "pca"])
    def test_completions_keep_to_what_is_shown(self, start: str, monkeypatch):
        import likewise.estimators.series_selection as module

        seen = []
        original = module.Pupils.completed

        def completed(self, trained, penalty):
            parts = original(self, trained, penalty)
            sources = [part.source.rows.tobytes() for part in self.viewed]
            seen.extend(zip(sources, [labels for _, labels in parts], strict=True))
            return parts

        monkeypatch.setattr(module.Pupils, "completed", completed)
        hidden = [np.where(np.arange(60) % 7 < 4, own, -1) for own in MADE.labels[:6]]
        hidden += [np.full(60, -1)] * 2
        by_rows = {own.tobytes(): shown for own, shown in zip(MADE.series, hidden, strict=True)}
        learner(completion_start=start).fit(MADE.series, hidden)
        assert len(seen) >= 3 * len(hidden)
        for source, own in seen:
            shown = by_rows[source]
            places = np.flatnonzero(shown >= 0)
            same = own[places][:, None] == own[places]
            np.testing.assert_array_equal(same, shown[places][:, None] == shown[places])

    def test_what_is_hidden_does_not_count(self):
        hidden = [np.where(np.arange(60) % 3, own, -1) for own in MADE.labels]
        found = learner().fit(MADE.series, hidden)
        assert found.score(MADE.series, MADE.labels) > 0.9
        every_third = [np.where(np.arange(60) % 3, -1, own) for own in MADE.labels]
        alone = learner().fit(MADE.series, every_third)
        assert alone.score(MADE.series, MADE.labels) > 0.9

    def test_silent_sequences(self):
        labels = [*MADE.labels[:6], np.full(60, -1), np.full(60, -1)]
        found = learner().fit(MADE.series, labels)
        assert found.score(MADE.series, MADE.labels) > 0.9
        # Nothing was to be chosen.
        assert found.validation_ == {}

    def test_regions(self):
        regions = []
        for own in MADE.labels:
            cuts = np.flatnonzero(np.diff(own)) + 1
            regions.append(
                lw.RegionLabels(
                    [(1, cuts[0] - 2, 0), (cuts[0] - 2, cuts[0] + 3, 1),
                     (cuts[0] + 3, cuts[1] - 1, 0), (cuts[1] - 1, cuts[1] + 3, ">=1"),
                     (cuts[1] + 3, 60, 0)]
                )
            )  # fmt: skip
        found = learner().fit(MADE.series, regions)
        assert found.training_loss_ < 0.1
        assert found.score(MADE.series, MADE.labels) > 0.85
        assert found.score(MADE.series, regions) == pytest.approx(1.0 - found.training_loss_)


def agrees(cuts: tuple[int, ...], labels: np.ndarray, n: int) -> bool:
    own = np.searchsorted(cuts, np.arange(n), side="right")
    places = np.flatnonzero(labels >= 0)
    return all(
        (own[p] == own[q]) == (labels[p] == labels[q]) for p, q in itertools.pairwise(places)
    )


def within(cuts: tuple[int, ...], windows, n: int) -> bool:
    return all(
        windows.low[t] <= s <= windows.high[t] and (t == n or windows.allowed[t])
        for s, t in itertools.pairwise([0, *cuts, n])
    )


def fit(X, y, groups=None, **options) -> Callable[[], object]:
    return lambda: learner(**options).fit(X, y, groups)


def regions(*rows) -> list[lw.RegionLabels]:
    return [lw.RegionLabels(list(rows))] * 8


S, Y = MADE.series, MADE.labels
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "no labels": (fit(S, None), "requires y to be passed"),
    "labels of the wrong length": (fit(S, [*Y[:7], Y[7][:-1]]), "set 7 has 60 rows and 59 labels"),
    "too few arrays of labels": (fit(S, Y[:7]), "X has 8 sets, y has 7"),
    "too few regions": (fit(S, regions()[:7]), "X has 8 sequences, y has 7"),
    "NaN in a label": (
        fit(S, [*Y[:7], np.where(np.arange(60) == 4, np.nan, Y[7])]),
        r"y\[7\] contains NaN at row 4",
    ),
    "NaN in a row": (
        fit([*S[:7], np.where(S[7] == S[7][6, 1], np.nan, S[7])], Y), "NaN at row 6, column 1"
    ),
    "no row is shown": (fit(S, [np.full(60, -1)] * 8), r"fewer than two rows of every .* \(8 seq"),
    "one row is shown": (
        fit(S[:1], [np.where(np.arange(60) == 3, 0, -1)]), "fewer than two rows of every sequence"
    ),
    "no region": (fit(S, regions()), "neither a region nor a labelled row"),
    "regions that overlap": (fit(S, regions((5, 9, 0), (8, 12, 1))), r"y\[0\]: labels\[1\] .* ov"),
    "regions not sorted": (fit(S, regions((25, 35, 0), (8, 12, 1))), r"y\[0\]: .* sort them"),
    "regions outside": (fit(S, regions((50, 70, 1))), r"y\[0\]: labels\[0\] = \(50, 70, 1\) must"),
    "constant columns": (fit([np.full((60, 2), 0.1)] * 8, Y), "no column of X varies"),
    "a trace of weights": (fit(S, Y, regulariser="trace"), "trace' is of matrices"),
    "a number to learn with": (fit(S, Y, n_segments=3), "must be None or 'known'"),
    "features of another kind": (fit(S, Y, features=3), "a transformer with fit_transform"),
    "another word for features": (fit(S, Y, features="fourier"), "must be None, 'windows'"),
    "another loss": (fit(S, Y, loss="hinge"), "loss must be one of"),
    "no number for known": (
        lambda: learner(n_segments="known").fit(S, Y).cluster(S), "pass cluster"
    ),
    "too many segments": (lambda: learner().fit(S, Y).cluster(S, n_segments=61), "at most 60"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_message_of_its_own(case: str):
    call, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call()
    assert isinstance(caught.value, LikewiseError)


def random_task(rng: np.random.Generator, n: int = 30) -> Task:
    cuts = np.sort(rng.choice(np.arange(5, n - 4), 2, replace=False))
    labels = np.searchsorted(cuts, np.arange(n), side="right")
    rows = rng.normal(size=(n, 1)) + 6.0 * (labels % 2)[:, None]

    def judge(found: np.ndarray) -> float:
        return projection_loss(labels, np.searchsorted(found, np.arange(n), side="right"))

    def invented(found: np.ndarray) -> float:
        return judge(found) - judge(np.empty(0, dtype=np.intp))

    return Task(rows - rows.mean(), float(rng.uniform(0.7, 1.4)), n, judge, invented)


def loss_at(task: Task, penalty: float) -> float:
    found = decode_segments(TraceScores(task.rows, penalty * task.growth))
    return task.judge(found.partition.change_points)


def curve(edges: list, losses: list, invented: list | None = None) -> Curve:
    free = np.zeros(len(losses)) if invented is None else np.array(invented)
    return Curve(np.array(edges), np.array(losses), free, (False, False))


class TestPenalties:
    def test_curves_are_those_of_a_grid(self, seed: int):
        rng = np.random.default_rng(seed)
        for _ in range(3):
            task = random_task(rng)
            curve = curve_of(task, 0.05, 30.0)
            grid = np.geomspace(0.051, 29.0, 300)
            np.testing.assert_allclose(
                curve.losses[curve.places(grid)],
                [loss_at(task, value) for value in grid],
                atol=1e-9,
            )

    def test_the_fitted_penalty_is_best_on_a_grid(self, seed: int):
        rng = np.random.default_rng(seed)
        grid = np.geomspace(1e-2, 3000.0, 400)
        for around in (0.05, 10.0, 1000.0):
            tasks = [random_task(rng) for _ in range(4)]
            found = fit_penalty(tasks, around)
            totals = np.mean([[loss_at(task, value) for value in grid] for task in tasks], axis=0)
            assert found.loss == pytest.approx(totals.min(), abs=1e-9)
            at = [loss_at(task, found.penalty) for task in tasks]
            assert np.mean(at) == pytest.approx(found.loss, abs=1e-9)
            np.testing.assert_allclose(found.losses, at, atol=1e-9)
            # It is in the widest run of the grid.
            least = np.r_[False, totals <= totals.min() + 1e-9, False]
            edges = np.flatnonzero(least[1:] != least[:-1]).reshape(-1, 2)
            widest = int(np.max(edges[:, 1] - edges[:, 0]))
            inside = [b - a for a, b in edges if grid[a] <= found.penalty <= grid[b - 1]]
            assert not inside or inside[0] >= widest - 1
            if around != 10.0:
                # Outside of where it was looked for first.
                assert not LOWEST * around <= found.penalty <= HIGHEST * around

    def test_the_widest_interval(self):
        curves = [
            curve([1.0, 2.0, 4.0, 64.0], [0.0, 1.0, 0.0]),
            curve([1.0, 8.0, 32.0, 64.0], [0.0, 0.0, 2.0]),
        ]
        found = best_interval(curves)
        assert (found.low, found.high, found.loss) == (4.0, 32.0, 0.0)
        assert found.penalty == pytest.approx(np.sqrt(4.0 * 32.0))

    def test_losses_within_chance_are_one_interval(self):
        """The standard error at the least mean, 1, is 1; half of it is 0.5."""
        losses = [[0.0, 0.4, 2.0], [2.0, 2.4, 2.0]]
        found = best_interval([curve([1.0, 2.0, 8.0, 64.0], own) for own in losses])
        error = 1.0 / np.sqrt(2.0)
        assert PLATEAU * error < 0.4 < error
        assert (found.low, found.high, found.loss) == (1.0, 2.0, 1.0)
        losses = [[0.0, 0.3, 2.0], [2.0, 2.3, 2.0]]
        found = best_interval([curve([1.0, 2.0, 8.0, 64.0], own) for own in losses])
        assert (found.low, found.high, found.loss) == (1.0, 8.0, 1.0)

    def test_more_wrong_than_right_is_left_out(self):
        """However low the loss is."""
        edges = [1.0, 4.0, 64.0]
        losses, invented = [0.2, 0.5], [0.1, 0.0]
        found = best_interval([curve(edges, losses, invented)])
        assert (found.low, found.high, found.loss) == (4.0, 64.0, 0.5)
        assert best_interval([curve(edges, losses, [0.1, 0.1])]) is None
        found = best_interval([curve(edges, losses, invented)], sound=False)
        assert (found.low, found.high, found.loss) == (1.0, 4.0, 0.2)

    def test_what_was_not_looked_at_is_no_answer(self):
        """Where only some changes are asked for, low penalties lead to more of them than wanted."""
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(120, 1))

        def judge(found: np.ndarray) -> float:
            return 0.0 if len(found) else 1.0

        task = Task(rows - rows.mean(), 1.0, 10, judge, lambda found: 0.0)
        found = fit_penalty([task], 0.1)
        scores = TraceScores(task.rows, found.penalty)
        assert 2 <= decode_segments(scores).n_segments <= task.most

    def test_growth_with_the_length(self):
        assert growth(100, 100) == 1.0
        assert growth(10_000, 100) == pytest.approx(2.0)
        assert growth(1, 100) == growth(8, 100) > 0.0
        found = learner().fit(S, Y)
        with pytest.warns(LikewiseWarning, match="a sequence of 600 rows differs much"):
            found.cluster([np.tile(S[0], (10, 1))])
        with pytest.warns(LikewiseWarning, match="a sequence of 5 rows differs much"):
            found.cluster([S[0][:5]])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found.cluster([np.tile(S[0], (3, 1))])

    def test_penalties_that_depend_on_the_noise(self, seed: int):
        rng = np.random.default_rng(seed)
        sample = make_segmented_series(
            24, 100, 2, 2, n_changes=3, jump=3.0, n_misaligned=0, random_state=seed
        )
        series = [X * (1.0 if rng.random() < 0.5 else 5.0) for X in sample.series]
        shown, new = slice(0, 16), slice(16, 24)
        scores = {}
        for penalty in ("constant", "features"):
            found = learner(penalty=penalty).fit(series[shown], sample.labels[shown])
            scores[penalty] = found.score(series[new], sample.labels[new])
        assert scores["features"] > scores["constant"] + 0.02
        assert scores["features"] > 0.85


class TestDegenerate:
    def test_labels_that_have_nothing_to_do_with_the_data(self, seed: int):
        rng = np.random.default_rng(seed)
        noise = [rng.normal(size=(60, 4)) for _ in range(8)]
        with pytest.warns(LikewiseWarning, match="told no better than by one segment"):
            found = learner(criterion="projection").fit(noise, Y)
        assert found.status_ == "uninformative"
        assert [own.max() for own in found.cluster(noise)] == [0] * 8
        assert "uninformative" in found.summary()

    def test_one_sequence_fits_the_penalty_only(self):
        found = lw.ChangePointLearner().fit(S[0], Y[0])
        assert found.chosen_ == "penalty only"
        assert found.validation_ == {}
        assert found.training_loss_ < 0.2
        spreads = found.weights_[0] / found.weights_
        assert np.isfinite(spreads).all()

    def test_no_changes(self):
        found = learner().fit(S, [np.zeros(60, dtype=int)] * 8)
        assert [own.max() for own in found.cluster(S)] == [0] * 8
        assert found.score(S, [np.zeros(60, dtype=int)] * 8) == 1.0


class TestSharedLabels:
    def test_alike_segments_get_one_label(self, seed: int):
        rng = np.random.default_rng(seed)
        words = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])

        def sample():
            order = [rng.permutation(3) for _ in range(2)]
            spoken = np.repeat(np.concatenate(order), rng.integers(15, 25, size=6))
            return np.c_[words[spoken], np.zeros(len(spoken))] + rng.normal(
                size=(len(spoken), 3)
            ), spoken

        series, spoken = zip(*(sample() for _ in range(8)), strict=True)
        found = learner().fit(list(series[:4]), list(spoken[:4]))
        labels = found.cluster(list(series[4:]), share_labels=True)
        together = lw.metrics.rand_loss(np.concatenate(spoken[4:]), np.concatenate(labels))
        assert together < 0.05
        assert labels[0][0] == 0
        assert np.concatenate(labels).max() == 2
        # Without it, segments are counted.
        plain = found.cluster(list(series[4:]))
        assert all(np.all(np.diff(own) >= 0) for own in plain)

    def test_the_learnt_cost(self):
        means = np.array([[0.0], [0.1], [5.0], [5.2], [20.0]])
        classes, sizes = np.array([0, 0, 1, 1, 2]), np.array([9, 5, 7, 7, 3])
        cost = learnt_cost(means, classes, sizes)
        assert 0.2 < cost < 4.9
        assert learnt_cost(means[:1], classes[:1], sizes[:1]) == 0.0
        assert learnt_cost(means, np.zeros(5, dtype=int), sizes) > 14.0
        assert learnt_cost(means, np.arange(5), sizes) < 0.1
        labels = SegmentLabeller(np.eye(1), cost).shared(
            [means[:3], means[3:]], [np.arange(3), np.arange(2)]
        )
        assert [own.tolist() for own in labels] == [[0, 0, 1], [1, 2]]


class HalfTheRows(BaseEstimator):
    def fit_transform(self, X, y=None):
        return X[::2]


class TestEdges:
    def test_no_squares_at_all(self):
        found = learner(strength=0.0).fit(MADE.series, MADE.labels)
        assert found.score(MADE.series, MADE.labels) > 0.9

    def test_a_row_for_every_row(self):
        with pytest.raises(LikewiseError, match="one row for each of the 60 rows"):
            learner(features=HalfTheRows()).fit(MADE.series, MADE.labels)

    def test_regions_do_not_say_how_many_segments(self):
        with pytest.raises(LikewiseError, match="RegionLabels do not say"):
            learner(n_segments="known").fit(MADE.series, regions((10, 20, 1)))

    def test_segments_shorter_than_a_block(self):
        """One of three rows between two long ones, in blocks of eight; another series is hidden."""
        rng = np.random.default_rng(0)
        labels = np.repeat([0, 1, 2], [201, 3, 196])
        series = [rng.normal(size=(400, 2)) + 3.0 * (labels == 2)[:, None] for _ in range(3)]
        source = [_labelled(X, own, {}, own) for X, own in zip(
            series, [labels, labels, np.where(np.arange(400) < 300, labels, -1)], strict=True
        )]  # fmt: skip
        viewed = [Viewed.of(part, Look("columns", None, 8)) for part in source]
        assert [int(part.labels.max()) for part in viewed] == [1, 1, 1]
        pupils = Pupils.of(viewed, Units.of(viewed), TestPasses.settings(), "covering", None)
        equal = pupils.equal()
        trained = pupils.training(pupils.completed(equal, 10.0)).one_weight()
        assert trained.ended.status == "converged"
