"""What ExemplarLearner promises: units, forms of input, what is recovered, and what ends early."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import likewise as lw
from likewise.datasets import PartitionedSets, make_partitioned_sets
from likewise.decoders.exemplar import decode
from likewise.errors import CertificateWarning, LikewiseWarning
from likewise.learners.regularisers import SumTo
from likewise.potentials import AssignmentCosts
from registry import LEARNING_ESTIMATORS

COLUMNS = 10


@parametrize_with_checks(list(LEARNING_ESTIMATORS.values()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def made(seed: int, n_sets: int = 4, n_rows: int | tuple[int, int] = 30) -> PartitionedSets:
    """Sets of which half of the columns are noise."""
    return make_partitioned_sets(
        n_sets, n_rows, COLUMNS, 3, noisy=0.4, noise=5.0, spread=0.35, random_state=seed
    )


def learner(**options) -> lw.ExemplarLearner:
    """One training, nothing to choose."""
    return lw.ExemplarLearner(**{"strength": 0.1, "paths": None, **options})


def same(one: lw.ExemplarLearner, other: lw.ExemplarLearner) -> None:
    np.testing.assert_array_equal(one.weights_, other.weights_)
    assert one.opening_cost_ == other.opening_cost_
    assert one.history_["objective"] == other.history_["objective"]
    assert one.history_["lower_bound"] == other.history_["lower_bound"]


class TestUnits:
    """Multiplying a feature changes nothing but its weight."""

    def test_powers_of_two_change_no_bit(self, seed: int):
        sets = made(seed)
        factors = 2.0 ** np.array([-10, 10, 0, 3, -7, 12, 1, 1, 10, -10])
        plain = learner().fit(sets.sets, sets.labels)
        scaled = learner().fit([X * factors for X in sets.sets], sets.labels)
        np.testing.assert_array_equal(scaled.weights_ * factors**2, plain.weights_)
        assert scaled.opening_cost_ == plain.opening_cost_
        assert scaled.history_["objective"] == plain.history_["objective"]

    @pytest.mark.parametrize("features", ["columns", "comparisons"])
    def test_any_factor(self, features: str, seed: int):
        sets, new = made(seed, 8).split(4)
        if features == "comparisons":
            features = [
                lw.Compare("first", "euclidean", columns=[0]),
                lw.Compare("second", "manhattan", columns=[1]),
                lw.Compare("last", "sqeuclidean", columns=[COLUMNS - 1]),
            ]
        factors = np.array([1e-3, 1e3, 1.0, 7.0, 1e3, 1e-3, 1e3, 3.0, 1e3, 1e-3])
        plain = learner(features=features).fit(sets.sets, sets.labels)
        scaled = learner(features=features).fit([X * factors for X in sets.sets], sets.labels)
        for X in new.sets:
            np.testing.assert_allclose(
                scaled.distances(X * factors), plain.distances(X), rtol=1e-9, atol=1e-12
            )
        assert scaled.opening_cost_ == pytest.approx(plain.opening_cost_, rel=1e-9)

    def test_selection_does_not_depend_on_them(self, seed: int):
        sets = made(seed)
        factors = 2.0 ** np.array([-10, 10, 0, 3, -7, 12, 1, 1, 10, -10])
        options = {"max_iter": 30, "random_state": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CertificateWarning)
            plain = lw.ExemplarLearner(**options).fit(sets.sets, sets.labels)
            scaled = lw.ExemplarLearner(**options).fit(
                [X * factors for X in sets.sets], sets.labels
            )
        assert scaled.chosen_ == plain.chosen_
        np.testing.assert_array_equal(scaled.weights_ * factors**2, plain.weights_)


class TestForms:
    """Lists, groups, frames, hidden labels."""

    def test_a_list_is_rows_with_groups(self, seed: int):
        sets = made(seed, 3, (20, 30))
        groups = np.repeat(["c", "a", "b"], [len(X) for X in sets.sets])
        X, y = np.vstack(sets.sets), np.concatenate(sets.labels)
        listed = learner().fit(sets.sets, sets.labels)
        grouped = learner().fit(X, y, groups=groups)
        order = [1, 2, 0]
        in_order = learner().fit([sets.sets[k] for k in order], [sets.labels[k] for k in order])
        same(grouped, in_order)
        shuffled = np.random.default_rng(seed).permutation(len(X))
        found = listed.cluster(X[shuffled], groups=groups[shuffled])
        assert found.shape == (len(X),)
        for name, own in zip("cab", listed.cluster(sets.sets), strict=True):
            rows = np.flatnonzero(groups[shuffled] == name)
            back = np.empty(len(own), dtype=int)
            back[shuffled[rows] - np.flatnonzero(groups == name)[0]] = found[rows]
            assert lw.metrics.rand_loss(own, back) == 0.0
        assert listed.score(X, y, groups) == pytest.approx(listed.score(sets.sets, sets.labels))

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_frames(self, frame):
        sets = made(0)
        names = [f"column {i}" for i in range(COLUMNS)]
        frames = [frame(dict(zip(names, X.T, strict=True))) for X in sets.sets]
        found = learner().fit(frames, sets.labels)
        assert found.feature_names_ == names
        same(found, learner().fit(sets.sets, sets.labels))
        with pytest.raises(ValueError, match="feature names"):
            found.cluster(frame(dict(zip(names[::-1], sets.sets[0].T, strict=True))))

    def test_labels_are_compared_inside_a_set_only(self):
        sets = made(1)
        renamed = [np.array(["x", "y", "z"])[(y + k) % 3] for k, y in enumerate(sets.labels)]
        same(learner().fit(sets.sets, renamed), learner().fit(sets.sets, sets.labels))

    def test_rows_that_are_not_shown_are_left_out(self, seed: int):
        sets = made(seed)
        rng = np.random.default_rng(seed)
        hidden = [rng.random(len(y)) < 0.3 for y in sets.labels]
        shown = [np.where(h, -1, y) for h, y in zip(hidden, sets.labels, strict=True)]
        rest = [X[~h] for h, X in zip(hidden, sets.sets, strict=True)]
        fewer = [y[~h] for h, y in zip(hidden, sets.labels, strict=True)]
        found = learner().fit(sets.sets, shown)
        other = learner().fit(rest, fewer)
        np.testing.assert_allclose(found.weights_, other.weights_, rtol=1e-6)
        assert found.score(sets.sets, shown) <= 1.0

    def test_precomputed_features_are_the_same_as_columns(self):
        sets = made(2)
        stacks = [(X[:, None] - X[None]) ** 2 for X in sets.sets]
        by_columns = learner().fit(sets.sets, sets.labels)
        given = learner(features="precomputed").fit(stacks, sets.labels)
        # Both are within the gap of the minimum, along paths of their own.
        assert given.objective_ == pytest.approx(by_columns.objective_, rel=2 * given.tol)
        for one, other in zip(given.cluster(stacks), by_columns.cluster(sets.sets), strict=True):
            assert lw.metrics.rand_loss(one, other) == 0.0

    def test_one_set_is_answered_like_one_set(self):
        sets = made(3, 1, 40)
        found = learner().fit(sets.sets[0], sets.labels[0])
        assert found.cluster(sets.sets[0]).shape == (40,)
        assert [labels.shape for labels in found.cluster(sets.sets)] == [(40,)]


class TestWhatIsRecovered:
    """Asymmetric, non-metric and callable features: the weights are those that were used."""

    @staticmethod
    def one_way(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Served from above costs three times as much as from below: not symmetric."""
        up = B[None, :, 0] - A[:, None, 0]
        return np.where(up > 0.0, 3.0 * up, -up)

    @staticmethod
    def capped(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """No triangle inequality, and no derivative where the cap begins."""
        return np.minimum((A[:, None, 1] - B[None, :, 1]) ** 2, 4.0)

    @staticmethod
    def nonsense(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.abs(np.sin(50.0 * A[:, None, 2] + 31.0 * B[None, :, 3]))

    @staticmethod
    def beside(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.abs(A[:, None, 2] - B[None, :, 2])

    def partitioned(self, seed: int, weights: tuple[float, float], cost: float):
        """Rows without clusters: where the borders run depends on the weights alone."""
        rng = np.random.default_rng(seed)
        sets, labels = [], []
        for _ in range(8):
            X = np.c_[rng.uniform(0.0, 4.0, (60, 2)), rng.normal(0.0, 3.0, (60, 2))]
            d = weights[0] * self.one_way(X, X) + weights[1] * self.capped(X, X)
            found = decode(AssignmentCosts(d, np.full(60, cost)), solver="exact")
            sets.append(X)
            labels.append(found.partition.labels)
        return sets, labels

    @pytest.mark.parametrize(
        ("weights", "cost"), [((2.0, 1.0), 18.0), ((1.0, 2.0), 14.0), ((1.0, 1.0), 12.0)]
    )
    @pytest.mark.parametrize("draw", [0, 1])
    def test_the_weights_that_made_the_partitions(self, weights, cost, draw: int):
        sets, labels = self.partitioned(draw, weights, cost)
        features = [
            lw.Compare("one way", self.one_way),
            lw.Compare("capped", self.capped),
            lw.Compare("nonsense", self.nonsense),
            lw.Compare("beside", self.beside),
        ]
        found = learner(features=features, strength=1e-3, local_scale=None).fit(sets, labels)
        assert found.weights_[1] / found.weights_[0] == pytest.approx(
            weights[1] / weights[0], rel=0.2
        )
        assert np.all(found.weights_[2:] <= 0.05 * found.weights_[:2].max())
        d = found.distances(sets[0])
        assert not np.allclose(d, d.T)


class TestOpeningFeatures:
    """Rows that represent well, f_qq of the paper."""

    @staticmethod
    def sets(seed: int, n: int = 30):
        """Partitions in which rows of a low mark are cheap exemplars, and others are dear."""
        rng = np.random.default_rng(seed)
        sets, labels, marks = [], [], []
        for _ in range(8):
            X, mark = rng.uniform(0.0, 3.0, (n, 2)), rng.uniform(0.0, 1.0, n)
            d = ((X[:, None] - X[None]) ** 2).sum(axis=2)
            found = decode(AssignmentCosts(d, 1.0 + 6.0 * mark), solver="exact")
            sets.append(X)
            labels.append(found.partition.labels)
            marks.append(mark[:, None])
        return sets, labels, marks

    def test_their_weight_has_the_sign_that_it_had(self, seed: int):
        sets, labels, marks = self.sets(seed)
        found = learner(opening_features=marks, strength=1e-3).fit(sets, labels)
        assert found.opening_weights_[0] > 0.0
        assert 0.0 <= found.score(sets, labels, opening_features=marks) <= 1.0

    def test_columns_of_the_rows(self):
        sets, labels, marks = self.sets(3)
        both = [np.hstack([X, mark]) for X, mark in zip(sets, marks, strict=True)]
        features = [lw.Compare("place", "sqeuclidean", columns=[0, 1])]
        options = {"features": features, "local_scale": None, "strength": 1e-3}
        beside = learner(**options, opening_features=marks).fit(both, labels)
        within = learner(**options, opening_features=[2]).fit(both, labels)
        same(within, beside)
        assert within.opening_weights_[0] == beside.opening_weights_[0]


class TestNeverWorse:
    """Few examples leave what one would do without learning."""

    def test_the_comparison_is_reported(self, seed: int):
        sets = made(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CertificateWarning)
            found = lw.ExemplarLearner(max_iter=40).fit(sets.sets, sets.labels)
        table = found.validation_
        assert "plain distance" in table["candidate"]
        assert sum(table["chosen"]) == 1
        chosen = table["chosen"].index(True)
        assert table["agreement"][chosen] >= max(table["agreement"]) - 0.0101
        assert "plain distance" in found.summary()

    def test_a_few_rows_of_round_clusters(self, seed: int):
        """Where the plain distance is right, it is not lost to three labelled sets of 12 rows."""
        sets = make_partitioned_sets(11, 12, 4, 3, noisy=0.0, spread=0.4, random_state=seed)
        shown, new = sets.split(3)
        found = lw.ExemplarLearner().fit(shown.sets, shown.labels)
        # The mean distance within clusters, which is known here, gives the cost of the plain one.
        within = 2 * 4 * 0.4**2
        plain = lw.ExemplarClusterer(opening_cost=2.0 * within * 4)
        labels = plain.cluster(new.sets)
        scores = [lw.metrics.pairwise_f1(y, o) for y, o in zip(new.labels, labels, strict=True)]
        assert found.score(new.sets, new.labels) >= np.mean(scores) - 0.1


class TestParallel:
    def test_workers_change_no_bit(self, seed: int):
        sets = made(seed, 5, (20, 30))
        serial = learner(n_jobs=1).fit(sets.sets, sets.labels)
        same(learner(n_jobs=2).fit(sets.sets, sets.labels), serial)

    @pytest.mark.parametrize("optimiser", ["subgradient", "stochastic"])
    def test_nor_with_the_method_of_the_paper(self, optimiser: str):
        sets = made(0)
        options = {"optimiser": optimiser, "max_iter": 15, "step": 0.01, "random_state": 3}
        with pytest.warns(CertificateWarning):
            serial = learner(n_jobs=1, **options).fit(sets.sets, sets.labels)
        with pytest.warns(CertificateWarning):
            same(learner(n_jobs=2, **options).fit(sets.sets, sets.labels), serial)


class TestSearch:
    def test_lists_of_sets(self):
        sets = made(0, 4)
        search = GridSearchCV(learner(), {"regulariser": ["auto", "l1"]}, cv=2)
        search.fit(sets.sets, sets.labels)
        assert 0.0 < search.best_score_ <= 1.0
        assert len(search.best_estimator_.cluster(sets.sets)) == 4

    def test_rows_and_groups_by_routing(self):
        sets = made(0, 4)
        groups = np.repeat(np.arange(4), 30)
        seen = []

        class Watched(lw.ExemplarLearner):
            def fit(self, X, y=None, groups=None):
                seen.append(len(np.unique(groups)))
                return super().fit(X, y, groups)

        with config_context(enable_metadata_routing=True):
            routed = Watched(strength=0.1, paths=None)
            routed = routed.set_fit_request(groups=True).set_score_request(groups=True)
            search = GridSearchCV(routed, {"regulariser": ["auto", "l1"]}, cv=GroupKFold(2))
            search.fit(np.vstack(sets.sets), np.concatenate(sets.labels), groups=groups)
        # Two sets for every fold, never one of all rows; four for the last fit.
        assert seen == [2, 2, 2, 2, 4]
        listed = GridSearchCV(learner(), {"regulariser": ["auto"]}, cv=GroupKFold(2))
        assert search.best_score_ > 0.0
        with pytest.raises(ValueError, match="groups"):
            listed.fit(np.vstack(sets.sets), np.concatenate(sets.labels))

    def test_nearest_neighbours_with_the_learnt_distance(self):
        shown, new = made(4, 5).split(4)
        found = learner().fit(shown.sets, shown.labels)
        X, y = new.sets[0], new.labels[0]
        nearest = KNeighborsClassifier(1, metric="precomputed")
        nearest.fit(found.distances(X[::2]), y[::2])
        assert nearest.score(found.distances(X[1::2], X[::2]), y[1::2]) > 0.8


class TestWhatItSays:
    def test_explanations_add_up_to_distances(self, seed: int):
        sets = made(seed)
        found = learner().fit(sets.sets, sets.labels)
        X = sets.sets[0]
        why = found.explain(X, 2, 7)
        assert sum(why.contributions.values()) == pytest.approx(why.distance, rel=1e-12)
        assert why.distance == pytest.approx(found.distances(X)[2, 7], rel=1e-9)
        sizes = np.abs(list(why.contributions.values()))
        assert np.all(np.diff(sizes) <= 0.0)
        assert found.explain(X, 3, 3).distance == 0.0

    def test_the_clusterer_groups_like_the_learner(self, seed: int):
        shown, new = made(seed, 6).split(4)
        found = learner().fit(shown.sets, shown.labels)
        fitted = clone(found.clusterer_).fit(new.sets[0])
        labels = found.cluster(new.sets[0])
        if fitted.n_clusters_ == 3:
            assert lw.metrics.rand_loss(fitted.labels_, labels) == 0.0
        assert fitted.opening_cost == found.opening_cost_

    def test_a_saved_learner_is_the_same(self, tmp_path):
        sets = made(5)
        found = learner().fit(sets.sets, sets.labels)
        lw.save(found, tmp_path / "model.likewise")
        again = lw.load(tmp_path / "model.likewise")
        same(again, found)
        for one, other in zip(again.cluster(sets.sets), found.cluster(sets.sets), strict=True):
            np.testing.assert_array_equal(one, other)

    def test_callbacks_are_told_of_every_pass(self):
        sets = made(0)
        told = []
        found = learner(callbacks=[told.append]).fit(sets.sets, sets.labels)
        assert [record.iteration for record in told] == list(range(1, found.n_iter_ + 1))
        assert [record.objective for record in told] == found.history_["objective"]
        assert all(record.seconds_left >= 0.0 for record in told)
        assert "gap" in str(told[0])
        assert len({len(row) for row in found.history_.values()}) == 1
        assert found.status_ == "converged"
        assert found.gap_ <= found.tol


class TestSizes:
    def test_a_set_that_differs_much_in_size_gives_a_warning(self):
        sets = made(0)
        found = learner().fit(sets.sets, sets.labels)
        larger = made(1, 1, 300)
        with pytest.warns(LikewiseWarning, match="300 rows differs much from the training sets"):
            labels = found.cluster(larger.sets[0])
        assert lw.metrics.pairwise_f1(larger.labels[0], labels) > 0.9

    def test_none_where_training_sets_had_several_sizes(self):
        sets = made(0, 4, (20, 60))
        found = learner().fit(sets.sets, sets.labels)
        larger = made(1, 1, 400)
        labels = found.cluster(larger.sets[0])
        assert lw.metrics.pairwise_f1(larger.labels[0], labels) > 0.9


class Slip:
    """A regulariser whose gradient is not a number from the third time on."""

    def __init__(self, at: int = 3) -> None:
        self.left = at

    def value(self, weights: np.ndarray) -> float:
        return float(np.abs(weights).sum())

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        self.left -= 1
        return np.full(len(weights), np.nan if self.left < 0 else 1.0)


def stop_at(count: int) -> Callable[[object], None]:
    """Ctrl-C in the middle of the training."""

    def told(progress: object) -> None:
        nonlocal count
        count -= 1
        if count < 0:
            raise KeyboardInterrupt

    return told


class TestWhatEndsEarly:
    @pytest.mark.parametrize("optimiser", ["auto", "subgradient"])
    def test_a_gradient_that_is_not_a_number(self, optimiser: str):
        sets = made(0)
        with pytest.warns(CertificateWarning, match="nonfinite"):
            found = learner(
                regulariser=Slip(), optimiser=optimiser, step=0.01, tol=0.0, max_iter=30
            ).fit(sets.sets, sets.labels)
        assert found.status_ == "nonfinite"
        assert np.isfinite(found.weights_).all()
        assert 1 <= found.n_iter_ < 30
        assert np.isfinite(found.opening_cost_)
        assert len(found.cluster(sets.sets)) == 4

    def test_ctrl_c_keeps_the_best_so_far(self, seed: int):
        sets = made(seed)
        with pytest.warns(CertificateWarning, match="interrupted"):
            found = learner(callbacks=stop_at(3), tol=0.0).fit(sets.sets, sets.labels)
        assert found.status_ == "interrupted"
        assert found.n_iter_ == 4
        assert found.objective_ == min(found.history_["objective"])
        assert found.score(sets.sets, sets.labels) > 0.5

    def test_ctrl_c_while_choosing(self):
        sets = made(0)
        with pytest.warns(CertificateWarning, match="interrupted"):
            found = lw.ExemplarLearner(callbacks=stop_at(1)).fit(sets.sets, sets.labels)
        assert found.status_ == "interrupted"
        assert found.n_iter_ == 0
        assert len(found.cluster(sets.sets)) == 4

    def test_too_few_passes(self):
        sets = made(0)
        with pytest.warns(CertificateWarning, match="max_iter"):
            found = learner(max_iter=2).fit(sets.sets, sets.labels)
        assert found.status_ == "max_iter"
        assert found.gap_ > found.tol


class TestCollapse:
    def test_it_is_said(self):
        """Labels that have nothing to do with the rows, and a strong pull to zero."""
        rng = np.random.default_rng(0)
        sets = [rng.normal(size=(20, 3)) for _ in range(3)]
        labels = [rng.integers(0, 4, 20) for _ in range(3)]
        with pytest.warns(LikewiseWarning, match="collapsed"):
            found = learner(regulariser="l1", strength=5.0).fit(sets, labels)
        assert found.status_ == "collapsed"
        assert "collapsed" in found.summary()
        assert np.all(np.isfinite(found.weights_))

    def test_a_fixed_sum_prevents_it(self):
        rng = np.random.default_rng(0)
        sets = [rng.normal(size=(20, 3)) for _ in range(3)]
        labels = [rng.integers(0, 4, 20) for _ in range(3)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CertificateWarning)
            found = learner(regulariser="l1", strength=5.0, constraint=SumTo(4.0), max_iter=60).fit(
                sets, labels
            )
        assert found.status_ != "collapsed"
