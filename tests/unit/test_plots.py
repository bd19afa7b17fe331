"""Displays: the expected artists at the expected places, without a screen."""

from __future__ import annotations

import builtins
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
from likewise.errors import InputError, MissingDependencyError
from likewise.plots import GalleryDisplay, PartitionDisplay, SolveDisplay
from likewise.plots.canvas import PALETTE, blank_figure, cluster_colours, readable
from likewise.plots.gallery import spread
from likewise.plots.projection import classical_scaling, principal_components, project


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


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch):
    import_module = builtins.__import__

    def refuse(name: str, *arguments: object, **options: object):
        if name.split(".")[0] == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
        return import_module(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingDependencyError, match=r"pip install 'likewise\[app\]'"):
        PartitionDisplay.from_partition(np.eye(3), [0, 0, 0], [0])
