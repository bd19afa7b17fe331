"""Displays: the expected artists at the expected places, without a screen."""

from __future__ import annotations

import builtins
import copy
import io
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError

import likewise as lw
from likewise.datasets import make_nuisance_sets
from likewise.errors import InputError, MissingDependencyError
from likewise.plots import (
    AgreementDisplay,
    BeforeAfterDisplay,
    ExplanationDisplay,
    GalleryDisplay,
    PartitionDisplay,
    SolveDisplay,
    TrainingDisplay,
    WeightsDisplay,
)
from likewise.plots.bars import gathered
from likewise.plots.before_after import matched
from likewise.plots.canvas import PALETTE, blank_figure, cluster_colours, readable
from likewise.plots.gallery import spread
from likewise.plots.projection import classical_scaling, principal_components, project
from likewise.plots.weights import shares_of


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def pixels(figure: Figure) -> np.ndarray:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=60)
    assert stream.getvalue().startswith(b"\x89PNG")
    stream.seek(0)
    return plt.imread(stream)


def blobs(seed: int, n: int = 60, p: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(3, p))[np.arange(n) % 3] * 20 + rng.normal(size=(n, p))


def fitted(X: np.ndarray, **arguments: object) -> lw.ExemplarClusterer:
    return lw.ExemplarClusterer(**arguments).fit(X)


class TestProjection:
    def test_two_columns_are_shown_as_they_are(self):
        X = np.array([[1.0, 2.0], [3.0, 4.0]])
        np.testing.assert_array_equal(project(X), X)
        np.testing.assert_array_equal(project(X[:, :1]), [[1, 0], [3, 0]])

    @pytest.mark.parametrize("shape", [(50, 5), (5, 50)])
    def test_principal_components_are_those_of_scikit_learn(self, shape, seed):
        from sklearn.decomposition import PCA

        X = np.random.default_rng(seed).normal(size=shape) * np.arange(1, shape[1] + 1)
        expected = PCA(2, svd_solver="full").fit_transform(X)
        found = principal_components(X)
        np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8 * np.ptp(X))

    def test_signs_do_not_depend_on_the_order_of_rows(self, seed):
        X = np.random.default_rng(seed).normal(size=(40, 4)) * [4, 3, 2, 1]
        np.testing.assert_allclose(principal_components(X[::-1]), principal_components(X)[::-1])

    @pytest.mark.parametrize("n", [3, 150, 250])
    def test_classical_scaling_recovers_the_plane(self, n, seed):
        X = np.random.default_rng(seed).normal(size=(n, 2)) * [3, 1]
        distances = cdist(X, X)
        found = classical_scaling(distances)
        np.testing.assert_allclose(cdist(found, found), distances, atol=1e-7 * distances.max())

    @pytest.mark.parametrize("n", [20, 250])
    def test_asymmetric_and_negative_costs_have_finite_places(self, n, seed):
        costs = np.random.default_rng(seed).normal(size=(n, n))
        positions = project(costs, precomputed=True)
        assert np.isfinite(positions).all()
        np.testing.assert_array_equal(positions, project(costs, precomputed=True))

    def test_input_is_left_alone(self):
        costs = np.array([[5.0, -1.0], [2.0, 7.0]])
        before = costs.copy()
        project(costs, precomputed=True)
        np.testing.assert_array_equal(costs, before)

    @pytest.mark.parametrize("precomputed", [False, True])
    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_few_and_equal_rows(self, n, precomputed):
        X = np.zeros((n, n)) if precomputed else np.zeros((n, 4))
        assert project(X, precomputed=precomputed).tolist() == [[0.0, 0.0]] * n

    @pytest.mark.parametrize(
        ("X", "projection", "precomputed", "message"),
        [
            (
                np.zeros((3, 3)),
                "umap",
                False,
                "projection must be 'auto', 'pca', 'mds' or an array",
            ),
            (np.zeros((3, 3)), "mds", False, "does not apply to rows; use 'pca' or 'auto'"),
            (np.zeros((3, 3)), "pca", True, "does not apply to distances; use 'mds' or 'auto'"),
            (np.zeros((3, 3)), np.zeros((2, 2)), False, r"shape \(3, 2\), one position per row"),
            (np.zeros((3, 2)), "auto", True, "distances must be square"),
            (np.zeros(3), "auto", False, r"got shape \(3,\)"),
            ([["a", "b"]], "auto", False, "it is not an array of numbers"),
        ],
    )
    def test_errors(self, X, projection, precomputed, message):
        with pytest.raises(InputError, match=message):
            project(X, projection, precomputed=precomputed)


class TestColours:
    def test_few_clusters_have_a_colour_each(self):
        assert list(cluster_colours(np.zeros((len(PALETTE), 2)))) == list(PALETTE)

    def test_nearest_neighbours_differ(self, seed):
        places = np.random.default_rng(seed).normal(size=(60, 2))
        colours = cluster_colours(places)
        away = cdist(places, places) + np.diag(np.full(60, np.inf))
        assert (colours[away.argmin(axis=1)] != colours).all()

    def test_many_clusters(self):
        assert set(cluster_colours(np.zeros((3000, 2)))) == set(PALETTE)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (1405331.4, "1,405,331"), (-12.5, "-12.5000"), (0.00123456, "0.00123456"),
        (1.5e15, "1.5e+15"), (math.inf, "inf"), (math.nan, "nan"),
    ],
)  # fmt: skip
def test_readable(value: float, text: str):
    assert readable(value) == text


class TestPartitionDisplay:
    def test_artists(self, seed):
        X = blobs(seed)
        model = fitted(X, opening_cost=50.0)
        display = PartitionDisplay.from_estimator(model, X)
        np.testing.assert_array_equal(display.rows_.get_offsets(), X)
        np.testing.assert_array_equal(display.exemplars_.get_offsets(), X[model.exemplars_])
        ends = [segment[1] for segment in display.lines_.get_segments()]
        np.testing.assert_array_equal(ends, X[model.exemplars_[model.labels_]])
        colours = [to_hex(c).upper() for c in display.exemplars_.get_facecolor()]
        rows = [to_hex(c).upper() for c in display.rows_.get_facecolor()]
        assert rows == [colours[label] for label in model.labels_]
        assert display.ax_.get_title(loc="left").startswith(f"{model.n_clusters_} clusters, energy")
        assert display.figure_ is display.ax_.figure

    def test_picture_has_content(self, seed):
        X = blobs(seed, p=5)
        display = PartitionDisplay.from_estimator(fitted(X), X)
        assert display.ax_.get_xlabel() == "first principal component"
        assert len(np.unique(pixels(display.figure_).reshape(-1, 4), axis=0)) > 50

    def test_given_axes_are_used(self):
        X = blobs(0)
        figure = blank_figure(6, 3)
        left, right = figure.subplots(1, 2)
        display = PartitionDisplay.from_estimator(fitted(X), X, ax=right, legend=False)
        assert display.ax_ is right
        assert display.figure_ is figure
        assert not left.collections
        assert right.get_legend() is None
        assert not plt.get_fignums()

    def test_many_rows_have_no_lines_and_are_rasterised(self, seed):
        X = np.random.default_rng(seed).normal(size=(5000, 2))
        display = PartitionDisplay.from_partition(X, np.arange(5000) % 4, [0, 1, 2, 3])
        assert display.lines_ is None
        assert display.rows_.get_rasterized()
        assert display.rows_.get_sizes()[0] < 10
        assert PartitionDisplay.from_partition(X[:50], np.zeros(50, int), [7]).lines_ is not None

    def test_precomputed_distances(self, seed):
        X = blobs(seed)
        model = fitted(cdist(X, X), features="precomputed", opening_cost=30.0)
        display = PartitionDisplay.from_estimator(model, cdist(X, X))
        found = np.asarray(display.rows_.get_offsets())
        np.testing.assert_allclose(cdist(found, found), cdist(X, X), atol=1e-6)
        assert "distances" in display.ax_.get_xlabel()

    def test_column_names_and_frames(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(blobs(0), columns=["height", "width"])
        display = PartitionDisplay.from_estimator(fitted(frame), frame)
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("height", "width")

    def test_positions_given(self, seed):
        X = blobs(seed, p=6)
        places = np.random.default_rng(seed).normal(size=(60, 2))
        display = PartitionDisplay.from_partition(
            X, np.zeros(60, int), [3], projection=places, title="mine"
        )
        np.testing.assert_array_equal(display.rows_.get_offsets(), places)
        assert display.ax_.get_title(loc="left") == "mine"

    def test_noise_is_grey(self):
        display = PartitionDisplay.from_partition(np.eye(3), [0, 0, -1], [0])
        assert to_hex(display.rows_.get_facecolor()[2]) == "#999999"
        assert len(display.lines_.get_segments()) == 2

    def test_drawn_again(self):
        display = PartitionDisplay.from_partition(np.eye(3), [0, 0, 0], [0])
        first = display.ax_
        assert display.plot() is display
        assert display.ax_ is not first

    @pytest.mark.parametrize(
        ("labels", "exemplars", "message"),
        [
            ([0, 0], [0], r"labels must have shape \(3,\)"),
            ([0, 0, 0], [3], "exemplars must be rows of X, 0 to 2"),
            ([0, 0, 0], [], "exemplars must be rows of X"),
            ([0, 0, 1], [0], "labels must be -1 to 0 for 1 exemplars; got 0 to 1"),
        ],
    )
    def test_errors(self, labels, exemplars, message):
        with pytest.raises(InputError, match=message):
            PartitionDisplay.from_partition(np.eye(3), labels, np.array(exemplars, dtype=int))

    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            PartitionDisplay.from_estimator(lw.ExemplarClusterer(), np.eye(3))


class TestSolveDisplay:
    def test_curves_are_the_history(self, seed):
        model = fitted(blobs(seed, n=200))
        display = SolveDisplay.from_estimator(model)
        np.testing.assert_array_equal(display.energy_line_.get_xdata(), model.history_["seconds"])
        drawn = np.asarray(display.energy_line_.get_ydata(), dtype=float)
        energy = np.asarray(model.history_["energy"], dtype=float)
        np.testing.assert_array_equal(drawn, np.where(np.isfinite(energy), energy, np.nan))
        assert display.gap_ in display.ax_.collections
        names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
        assert names == ["energy of the best partition", "lower bound on every partition", "gap"]

    def test_a_first_bound_far_below_does_not_flatten_the_picture(self):
        times = np.array([0.0, 1.0, 2.0])
        display = SolveDisplay(
            times, np.array([101.0, 100.0, 100.0]), np.array([0.0, 97, 99])
        ).plot()
        bottom, top = display.ax_.get_ylim()
        assert 90 < bottom < 97
        assert 101 < top < 102

    def test_a_solve_of_one_step(self):
        display = SolveDisplay(np.array([0.0]), np.array([0.0]), np.array([0.0])).plot()
        assert pixels(display.figure_).min() < 0.5

    def test_what_is_not_finite_is_left_out(self):
        display = SolveDisplay(
            np.array([0.0, 1.0, 2.0]), np.array([np.inf, 5.0, 4.0]), np.array([-np.inf, 3.0, 4.0])
        ).plot()
        assert np.isnan(display.energy_line_.get_ydata()[0])
        assert np.isnan(display.bound_line_.get_ydata()[0])
        assert pixels(display.figure_).min() < 0.5

    def test_given_axes_are_used(self):
        ax = blank_figure(4, 3).add_subplot()
        assert SolveDisplay.from_estimator(fitted(blobs(0)), ax=ax).ax_ is ax

    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            SolveDisplay.from_estimator(lw.ExemplarClusterer())


class TestGalleryDisplay:
    def test_every_exemplar_is_framed_on_the_map_and_in_the_strips(self, seed):
        rng = np.random.default_rng(seed)
        n, k = 120, 20
        labels = np.arange(n) % k
        display = GalleryDisplay.from_partition(
            rng.random((n, 4, 4)), labels, np.arange(k), positions=rng.normal(size=(n, 2)),
            distances=np.where(np.arange(n) < k, 0.0, 1.0), title="title", subtitle="more",
        )  # fmt: skip
        assert len(display.map_ax_.images) == k
        assert len(display.strip_axes_) == 2
        shown = sum(len(ax.images) for ax in display.strip_axes_)
        assert shown == k + n - k  # every cluster has five members, and all five are shown
        assert len(np.unique(pixels(display.figure_).reshape(-1, 4), axis=0)) > 100

    def test_clusters_of_one(self):
        display = GalleryDisplay.from_partition(
            np.zeros((2, 3, 3)), [0, 1], [0, 1], positions=np.zeros((2, 2)), distances=[0, 0]
        )
        assert len(display.strip_axes_[0].images) == 2

    def test_images_must_be_images(self):
        with pytest.raises(InputError, match=r"images must have shape \(n, height, width\)"):
            GalleryDisplay.from_partition(
                np.eye(3), [0, 0, 0], [0], positions=np.zeros((3, 2)), distances=[0, 0, 0]
            )

    def test_spread_leaves_no_overlap(self, seed):
        places = np.random.default_rng(seed).normal(size=(25, 2))
        moved = spread(places, 0.3)
        away = np.abs(moved[:, None] - moved[None]).max(axis=2) + np.eye(25)
        assert away.min() > 0.3 * 0.99

    def test_spread_moves_nothing_without_need(self):
        places = np.array([[0.0, 0.0], [5.0, 5.0]])
        np.testing.assert_array_equal(spread(places, 1.0), places)

    def test_spread_parts_equal_places(self):
        moved = spread(np.zeros((4, 2)), 1.0, steps=2000)
        away = np.abs(moved[:, None] - moved[None]).max(axis=2) + np.eye(4)
        assert away.min() > 0.99


@pytest.fixture(scope="module")
def learnt():
    made = make_nuisance_sets(4, 60, 4, n_informative=2, n_nuisance=3, random_state=0)
    shown, new = made.split(2)
    learner = lw.ExemplarLearner(strength=0.3, paths=None, tol=0.2)
    return learner.fit(shown.sets, shown.labels), shown, new


class TestWeightsDisplay:
    def test_bars_are_the_shares_in_the_training_sets(self, learnt):
        learner, shown, _ = learnt
        display = WeightsDisplay.from_estimator(learner)
        names = [text.get_text() for text in display.ax_.get_yticklabels()]
        widths = [bar.get_width() for bar in display.bars_]
        shares = shares_of(learner, shown.sets)
        order = np.argsort(-shares)
        assert names[:2] == [learner.feature_names_[f] for f in order[:2]]
        np.testing.assert_allclose(widths[:2], shares[order[:2]])
        assert sum(widths) == pytest.approx(1.0)
        assert display.ax_.get_title(loc="left").endswith(
            "of 5 features make up 99 % of the learnt distance"
        )

    def test_weights_as_they_are(self):
        display = WeightsDisplay(["a", "b", "c"], np.array([0.5, 0.0, 2.0])).plot()
        assert display.ax_.get_xlabel() == "weight"
        assert display.ax_.get_title(loc="left") == "2 of 3 features count"

    def test_shares_are_those_of_a_typical_distance(self, learnt):
        learner, shown, _ = learnt
        shares = shares_of(learner, shown.sets)
        assert shares.sum() == pytest.approx(1.0)
        means = np.mean([2 * X.var(axis=0, ddof=1) for X in shown.sets], axis=0)
        np.testing.assert_allclose(shares, learner.weights_ * means / (learner.weights_ @ means))
        table, groups = np.vstack(shown.sets), np.repeat([0, 1], 60)
        np.testing.assert_allclose(shares_of(learner, table, groups), shares)
        display = WeightsDisplay.from_estimator(learner, shown.sets)
        assert display.ax_.get_title(loc="left").endswith("make up 99 % of the learnt distance")

    def test_shares_of_comparisons_and_of_precomputed_features(self, learnt):
        _, shown, _ = learnt
        compare = [
            lw.Compare("near", "euclidean", [0, 1], local_scale=50),
            lw.Compare("far", "manhattan", [2, 3, 4]),
        ]
        learner = lw.ExemplarLearner(compare, strength=0.3, paths=None, tol=0.2)
        learner.fit(shown.sets, shown.labels)
        whole = shares_of(learner, shown.sets)
        assert whole.sum() == pytest.approx(1.0)
        # Fewer rows than neighbours that the local scale asks for.
        assert shares_of(learner, [X[:9] for X in shown.sets]).sum() == pytest.approx(1.0)
        stacks = [np.stack([cdist(X[:, c], X[:, c]) for c in ([0], [1])], axis=2)
                  for X in shown.sets]  # fmt: skip
        learner = lw.ExemplarLearner("precomputed", strength=0.3, paths=None, tol=0.2)
        learner.fit(stacks, shown.labels)
        means = np.mean([s.sum(axis=(0, 1)) / (60 * 59) for s in stacks], axis=0)
        expected = learner.weights_ * means
        np.testing.assert_allclose(shares_of(learner, stacks), expected / expected.sum())

    def test_the_rest_is_one_bar(self):
        display = WeightsDisplay(list("abcdef"), np.arange(6.0)).plot(most=3)
        names = [text.get_text() for text in display.ax_.get_yticklabels()]
        assert names == ["f", "e", "3 others together"]
        assert [bar.get_width() for bar in display.bars_] == [5.0, 4.0, 6.0]

    def test_bars_too_small_to_see_are_put_together(self):
        names, values = gathered(list("abcd"), [1.0, 1e-5, 2e-5, 0.5], 10)
        assert names == ["a", "d", "2 others together"]
        np.testing.assert_allclose(values, [1.0, 0.5, 3e-5])

    def test_negative_weights_and_long_names(self):
        display = WeightsDisplay(["a" * 50, "b"], np.array([1.0, -2.0])).plot()
        assert display.ax_.get_xlim()[0] < -2.0
        assert max(len(text.get_text()) for text in display.ax_.get_yticklabels()) == 28
        assert pixels(display.figure_).min() < 0.5

    def test_all_weights_zero(self):
        assert len(WeightsDisplay(["a", "b"], np.zeros(2)).plot().bars_) == 2

    def test_errors(self, learnt):
        with pytest.raises(InputError, match="most must be 2 or more bars; got 1"):
            WeightsDisplay(["a"], np.ones(1)).plot(most=1)
        with pytest.raises(InputError, match="X needs a set of two rows or more"):
            WeightsDisplay.from_estimator(learnt[0], np.zeros((1, 5)))
        with pytest.raises(NotFittedError):
            WeightsDisplay.from_estimator(lw.ExemplarLearner())


class TestTrainingDisplay:
    def test_curves_are_the_history(self, learnt):
        learner, _, _ = learnt
        display = TrainingDisplay.from_estimator(learner)
        np.testing.assert_array_equal(
            display.objective_line_.get_ydata(), learner.history_["objective"]
        )
        assert list(display.bound_line_.get_xdata()) == list(range(1, learner.n_iter_ + 1))
        assert display.ax_.get_title(loc="left").startswith(learner.status_)

    def test_without_a_bound(self):
        display = TrainingDisplay(np.array([3.0, 2.0]), np.array([-np.inf, -np.inf])).plot()
        assert np.isnan(display.bound_line_.get_ydata()).all()
        assert pixels(display.figure_).min() < 0.5

    def test_errors(self, learnt):
        learner = copy.copy(learnt[0])
        learner.history_ = {"objective": [], "lower_bound": []}
        with pytest.raises(InputError, match="history_ is empty"):
            TrainingDisplay.from_estimator(learner)
        with pytest.raises(NotFittedError):
            TrainingDisplay.from_estimator(lw.ExemplarLearner())


class TestExplanationDisplay:
    def test_every_bar_begins_where_the_one_before_ended(self, learnt):
        learner, _, new = learnt
        display = ExplanationDisplay.from_estimator(learner, new.sets[0], 3, 8)
        explanation = learner.explain(new.sets[0], 3, 8)
        starts = [bar.get_x() for bar in display.bars_]
        widths = [bar.get_width() for bar in display.bars_]
        np.testing.assert_allclose(starts[:-1], np.cumsum([0.0, *widths[:-2]]), atol=1e-12)
        assert starts[-1] == 0.0
        assert widths[-1] == pytest.approx(explanation.distance)

    def test_a_row_and_itself(self, learnt):
        learner, _, new = learnt
        assert ExplanationDisplay.from_estimator(learner, new.sets[0], 3, 3).bars_

    def test_errors(self):
        with pytest.raises(InputError, match="most of 2 or more; got 1 bars"):
            ExplanationDisplay({"a": 1.0}).plot(most=1)
        with pytest.raises(InputError, match="needs contributions"):
            ExplanationDisplay({}).plot()


AGREEMENTS = {
    "candidate": ["learnt", "plain distance", "failed"], "agreement": [0.6, 0.9, math.nan],
    "standard_error": [0.1, 0.0, math.nan], "chosen": [True, False, False],
}  # fmt: skip


class TestAgreementDisplay:
    def test_the_best_is_on_top(self):
        display = AgreementDisplay(AGREEMENTS).plot()
        labels = display.ax_.get_yticklabels()
        assert [text.get_text() for text in labels] == ["plain distance", "learnt", "failed"]
        assert [text.get_fontweight() for text in labels] == ["bold", "bold", "normal"]
        assert pixels(display.figure_).min() < 0.5

    def test_nothing_was_chosen(self, learnt):
        with pytest.raises(InputError, match="validation_ is empty"):
            AgreementDisplay.from_estimator(learnt[0])


class TestBeforeAfterDisplay:
    def test_same_places_in_both_panels(self, learnt):
        learner, _, new = learnt
        before = [np.zeros(60, dtype=int)] * 2
        display = BeforeAfterDisplay.from_estimator(learner, new.sets, new.labels, before=before)
        assert display.axes_.shape == (2, 2)
        for left, right in display.axes_:
            places = [
                np.vstack([part.get_offsets() for part in ax.collections]) for ax in (left, right)
            ]
            np.testing.assert_array_equal(*places)
            assert len(left.collections) == 4  # one per known cluster
        titles = [ax.get_title(loc="left") for ax in display.axes_[0]]
        assert titles[0].startswith("plain distance: 1 cluster of 4, pairwise F 0.")
        assert titles[1].startswith("learnt: ")
        assert len(np.unique(pixels(display.figure_).reshape(-1, 4), axis=0)) > 50

    def test_groups_clusterers_and_no_truth(self, learnt):
        learner, _, new = learnt
        table, groups = np.vstack(new.sets), np.repeat([0, 1], 60)
        display = BeforeAfterDisplay.from_estimator(
            learner, table, groups=groups, before=lw.ExemplarClusterer(), names=("a", "b")
        )
        assert list(display.partitions) == ["a", "b"]
        assert display.axes_[0, 0].get_title(loc="left").startswith("a: ")
        marked = BeforeAfterDisplay.from_estimator(
            learner, table, np.concatenate(new.labels), groups=groups
        )
        assert marked.axes_.shape == (2, 1)
        assert BeforeAfterDisplay.from_estimator(learner, new.sets[0], new.labels[0]).axes_.size

    def test_clusters_not_known_are_dots(self):
        display = BeforeAfterDisplay(
            [np.eye(3)[:, :2]], {"found": [np.array([0, 0, 1])]}, [np.array([5, 5, -1])],
            names=["new"],
        ).plot()  # fmt: skip
        assert len(display.axes_[0, 0].collections) == 2
        title = display.axes_[0, 0].get_title(loc="left")
        assert title == "new, found: 2 clusters of 1, pairwise F 1.00"

    def test_a_cluster_keeps_its_colour(self, seed):
        rng = np.random.default_rng(seed)
        truth = np.append(np.arange(5), rng.integers(0, 5, 30))
        renamed = rng.permutation(5)[truth]
        np.testing.assert_array_equal(matched(renamed, truth), truth)
        more = matched(rng.integers(0, 9, 35), truth)
        assert len(np.unique(more)) <= 9

    @pytest.mark.parametrize("labels", [[[0, 1]], [0, 1, 2], np.zeros((2, 2))])
    def test_labels_of_another_length(self, learnt, labels):
        with pytest.raises(InputError, match=r"y must hold one label per row of every set, \[60\]"):
            BeforeAfterDisplay.from_estimator(learnt[0], learnt[2].sets[0], labels)

    def test_not_fitted(self):
        with pytest.raises(NotFittedError):
            BeforeAfterDisplay.from_estimator(lw.ExemplarLearner(), np.eye(3))


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch):
    import_module = builtins.__import__

    def refuse(name: str, *arguments: object, **options: object):
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
        return import_module(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingDependencyError, match=r"pip install 'likewise\[app\]'"):
        PartitionDisplay.from_partition(np.eye(3), [0, 0, 0], [0])
