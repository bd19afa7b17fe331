"""Every registered estimator passes scikit-learn's checks, with no expected failures.

Then what ExemplarClusterer promises: invariances, and predict, transform and cluster in every form.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import likewise as lw
from likewise.errors import InputError
from naive import exemplar as naive
from registry import ESTIMATORS, some_pairs, squared_distances

RELATIVE = 1e-9


@parametrize_with_checks(list(ESTIMATORS.values()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def exact(**options) -> lw.ExemplarClusterer:
    return lw.ExemplarClusterer(**{"solver": "exact", "gap": 0.0, **options})


def rows(rng: np.random.Generator, n: int = 30, p: int = 2) -> np.ndarray:
    return rng.normal(size=(n, p))


def asymmetric(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """What is above is served at no cost, what is below pays the height."""
    return np.maximum(B[None, :, 0] - A[:, None, 0], 0.0) + np.abs(A[:, None, 1] - B[None, :, 1])


def served_by(found: lw.ExemplarClusterer) -> np.ndarray:
    return found.exemplars_[found.labels_]


def same(one: lw.ExemplarClusterer, other: lw.ExemplarClusterer) -> None:
    """The same partition; equally large clusters may be numbered by the bits of the costs."""
    assert one.energy_ == pytest.approx(other.energy_, rel=RELATIVE)
    assert one.opening_cost_ == pytest.approx(other.opening_cost_, rel=RELATIVE)
    np.testing.assert_array_equal(served_by(one), served_by(other))


class TestFittedState:
    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_attributes_agree_with_each_other(self, name: str, seed: int):
        X = rows(np.random.default_rng(seed), 60)
        found = clone(ESTIMATORS[name]).fit(X)
        k = found.n_clusters_
        assert found.labels_.shape == (60,)
        assert sorted(set(found.labels_)) == list(range(k))
        np.testing.assert_array_equal(found.labels_[found.exemplars_], np.arange(k))
        np.testing.assert_array_equal(found.exemplar_rows_, X[found.exemplars_])
        assert np.all(np.diff(np.bincount(found.labels_)) <= 0)
        assert found.lower_bound_ <= found.energy_
        assert found.gap_ == (found.energy_ - found.lower_bound_) / found.energy_
        assert found.status_ in ("converged", "gap")
        assert found.n_iter_ >= 1
        assert len({len(column) for column in found.history_.values()}) == 1
        assert found.n_features_in_ == 2
        d = found.transform(X)
        assert d.shape == (60, k)
        clients = np.setdiff1d(np.arange(60), found.exemplars_)
        energy = d[clients, found.labels_[clients]].sum() + k * found.opening_cost_
        assert found.energy_ == pytest.approx(energy, rel=RELATIVE)

    def test_the_energy_is_the_least_there_is(self, seed: int):
        rng = np.random.default_rng(seed)
        for index in range(30):
            n = int(rng.integers(2, 9))
            X, weight = rng.integers(0, 3, size=(n, 2)), rng.integers(1, 4, size=n)
            opening = [1.0, 0.0, -0.5, "median", rng.normal(size=n)][index % 5]
            found = exact(opening_cost=opening).fit(X, sample_weight=weight)
            d = weight[:, None] * squared_distances(X.astype(float))
            costs = np.broadcast_to(found.opening_cost_, n)
            assert found.energy_ == pytest.approx(naive.least_energy(d, costs), abs=1e-9)
            served_by = found.exemplars_[found.labels_].tolist()
            recomputed = naive.energy_of_service(d, costs, served_by)
            assert found.energy_ == pytest.approx(recomputed, abs=1e-9)
            assert found.status_ == "converged"

    def test_names_of_columns(self):
        X = rows(np.random.default_rng(0))
        found = lw.ExemplarClusterer().fit(pd.DataFrame(X, columns=["a", "b"]))
        assert found.feature_names_in_.tolist() == ["a", "b"]
        assert not hasattr(lw.ExemplarClusterer().fit(X), "feature_names_in_")

    def test_precomputed_has_no_rows(self):
        d = squared_distances(rows(np.random.default_rng(0)))
        found = lw.ExemplarClusterer(features="precomputed").fit(d)
        assert not hasattr(found, "exemplar_rows_")
        assert found.n_features_in_ == 30

    def test_the_opening_cost_that_was_given(self):
        X = rows(np.random.default_rng(0))
        assert lw.ExemplarClusterer(opening_cost=2).fit(X).opening_cost_ == 2.0
        own = np.linspace(1.0, 2.0, 30)
        np.testing.assert_array_equal(
            lw.ExemplarClusterer(opening_cost=own).fit(X).opening_cost_, own
        )
        d = squared_distances(X)
        found = lw.ExemplarClusterer().fit(X)
        expected = np.median(d[~np.eye(30, dtype=bool)])
        assert found.opening_cost_ == pytest.approx(expected, rel=1e-12)

    def test_more_expensive_means_fewer(self):
        X = rows(np.random.default_rng(0), 50)
        counts = [exact(opening_cost=c).fit(X).n_clusters_ for c in (0.01, 0.1, 1.0, 10.0, 1000.0)]
        assert counts == sorted(counts, reverse=True)
        assert counts[-1] == 1


class TestInvariances:
    """What must not change the partition, exactly."""

    @pytest.mark.parametrize("opening", ["median", 1.0, -0.5])
    @pytest.mark.parametrize("kind", ["rows", "callable", "precomputed", "sparse", "candidates"])
    def test_permuting_permutes(self, kind: str, opening, seed: int):
        rng = np.random.default_rng(seed)
        X, order = rows(rng, 40), np.random.default_rng(seed + 1).permutation(40)
        moved = X[order]
        options = {"opening_cost": opening, "random_state": 3}
        if kind == "precomputed":
            options["features"] = "precomputed"
            X = rng.random((40, 40))
            moved = X[np.ix_(order, order)]
        elif kind == "sparse":
            options["features"] = "precomputed"
            X = some_pairs(rng, rng.random((40, 40)), 0.3)
            moved = sparse.csr_array(X[order][:, order])
        elif kind == "callable":
            options["features"] = asymmetric
        elif kind == "candidates":
            options["candidates"] = 6
        one = lw.ExemplarClusterer(**options).fit(X)
        other = lw.ExemplarClusterer(**options).fit(moved)
        np.testing.assert_array_equal(other.labels_, one.labels_[order])
        np.testing.assert_array_equal(order[other.exemplars_], one.exemplars_)
        assert (one.energy_, one.lower_bound_) == (other.energy_, other.lower_bound_)

    def test_permuting_columns(self):
        X = np.random.default_rng(0).integers(0, 9, size=(40, 3)).astype(float)
        one, other = lw.ExemplarClusterer().fit(X), lw.ExemplarClusterer().fit(X[:, [2, 0, 1]])
        assert one.energy_ == other.energy_

    @pytest.mark.parametrize("kind", ["dense", "sparse"])
    def test_shifting_rows_shifts_the_energy(self, kind: str, seed: int):
        """Row p and the opening cost of p plus a_p: every partition pays sum a_p more."""
        rng = np.random.default_rng(seed)
        for _ in range(10):
            n = 25
            d, opening, shift = rng.random((n, n)), 2.0 * rng.random(n), 3.0 * rng.normal(size=n)
            moved = d + shift[:, None]
            if kind == "sparse":
                keep = rng.random((n, n)) < 0.3
                keep[np.arange(n), (np.arange(n) + 1) % n] = True
                p, q = np.nonzero(keep)
                d, moved = (sparse.csr_array((m[keep], (p, q)), shape=(n, n)) for m in (d, moved))
            one = exact(features="precomputed", opening_cost=opening).fit(d)
            other = exact(features="precomputed", opening_cost=opening + shift).fit(moved)
            assert other.energy_ == pytest.approx(one.energy_ + shift.sum(), rel=RELATIVE, abs=1e-9)
            np.testing.assert_array_equal(served_by(one), served_by(other))

    @pytest.mark.parametrize("factor", [1e-6, 0.3, 1e6])
    def test_scaling_scales_the_energy(self, factor: float, seed: int):
        d = np.random.default_rng(seed).normal(size=(25, 25))
        for opening in (0.7, np.linspace(0.1, 2.0, 25), "median"):
            scaled = opening if isinstance(opening, str) else factor * opening
            one = exact(features="precomputed", opening_cost=opening).fit(d)
            other = exact(features="precomputed", opening_cost=scaled).fit(factor * d)
            assert other.energy_ == pytest.approx(factor * one.energy_, rel=RELATIVE)
            np.testing.assert_array_equal(served_by(one), served_by(other))

    @pytest.mark.parametrize("opening", ["median", 1.0])
    @pytest.mark.parametrize(
        "features", ["sqeuclidean", "columns", [lw.Compare("far", "manhattan", columns=[0])]]
    )
    @pytest.mark.parametrize("candidates", [None, 8])
    def test_duplicates_equal_weights(self, features, opening, candidates, seed: int):
        rng = np.random.default_rng(seed)
        X, times = rows(rng, 25), rng.integers(1, 5, size=25)
        repeated = np.repeat(np.arange(25), times)
        options = {"features": features, "opening_cost": opening, "candidates": candidates}
        one = lw.ExemplarClusterer(**options).fit(X, sample_weight=times)
        other = lw.ExemplarClusterer(**options).fit(X[repeated])
        assert one.energy_ == pytest.approx(other.energy_, rel=RELATIVE)
        assert one.opening_cost_ == pytest.approx(other.opening_cost_, rel=RELATIVE)
        np.testing.assert_array_equal(one.labels_[repeated], other.labels_)
        np.testing.assert_array_equal(one.exemplar_rows_, other.exemplar_rows_)

    def test_duplicates_equal_weights_precomputed(self, seed: int):
        rng = np.random.default_rng(seed)
        d, times = rng.random((12, 12)) + 0.1, rng.integers(1, 4, size=12)
        repeated = np.repeat(np.arange(12), times)
        many = d[np.ix_(repeated, repeated)]
        many[repeated[:, None] == repeated] = 0.0
        one = exact(features="precomputed").fit(d, sample_weight=times)
        other = exact(features="precomputed").fit(many)
        assert one.opening_cost_ == other.opening_cost_
        assert one.energy_ == pytest.approx(other.energy_, rel=RELATIVE)

    @pytest.mark.parametrize("kind", ["rows", "precomputed", "sparse", "candidates", "callable"])
    def test_weight_zero_is_absent(self, kind: str, seed: int):
        rng = np.random.default_rng(seed)
        X, weight = rows(rng, 30), rng.integers(0, 3, size=30)
        kept = np.flatnonzero(weight)
        options, part = {}, X[kept]
        if kind in ("precomputed", "sparse"):
            options["features"] = "precomputed"
            X = squared_distances(X) + rng.random((30, 30))
            if kind == "sparse":
                keep = (rng.random((30, 30)) < 0.4) | (np.arange(30) == kept[0])
                keep[kept[0], kept[1]] = True
                X = sparse.csr_array(np.where(keep, X, 0.0))
            part = X[kept][:, kept]
        elif kind == "candidates":
            options["candidates"] = 5
        elif kind == "callable":
            options["features"] = asymmetric
        one = lw.ExemplarClusterer(**options).fit(X, sample_weight=weight)
        other = lw.ExemplarClusterer(**options).fit(part, sample_weight=weight[kept])
        assert (one.energy_, one.lower_bound_) == (other.energy_, other.lower_bound_)
        np.testing.assert_array_equal(one.labels_[kept], other.labels_)
        np.testing.assert_array_equal(one.exemplars_, kept[other.exemplars_])
        absent = np.setdiff1d(np.arange(30), kept)
        np.testing.assert_array_equal(one.labels_[absent], one.predict(X)[absent])

    def test_all_weights_alike_scale(self):
        X = rows(np.random.default_rng(0))
        one = exact(opening_cost=1.0).fit(X)
        other = exact(opening_cost=3.0).fit(X, sample_weight=3.0)
        assert other.energy_ == pytest.approx(3.0 * one.energy_, rel=RELATIVE)
        np.testing.assert_array_equal(one.labels_, other.labels_)


class TestInput:
    """The same numbers in any form give the same result."""

    X = np.random.default_rng(0).integers(0, 40, size=(30, 3)).astype(float)

    @pytest.mark.parametrize(
        "form",
        [
            np.asfortranarray,
            np.float32,
            np.int64,
            lambda X: X.astype(np.uint8),
            lambda X: X.tolist(),
            lambda X: pd.DataFrame(X),
            lambda X: pd.DataFrame(X, columns=list("abc")).astype({"a": int}),
            lambda X: pl.DataFrame(X, schema=list("abc"), orient="row"),
            lambda X: np.repeat(X, 2, axis=0)[::2],
        ],
        ids=["F", "float32", "int", "uint8", "list", "pandas", "mixed", "polars", "strided"],
    )
    def test_rows(self, form):
        same(lw.ExemplarClusterer().fit(self.X), lw.ExemplarClusterer().fit(form(self.X)))

    def test_read_only(self):
        X, weight, opening = self.X.copy(), np.ones(30), np.full(30, 100.0)
        d = squared_distances(X)
        for array in (X, weight, opening, d):
            array.setflags(write=False)
        lw.ExemplarClusterer(opening_cost=opening).fit(X, sample_weight=weight).predict(X)
        lw.ExemplarClusterer(opening_cost=opening, candidates=4).fit(X, sample_weight=weight)
        clusterer = lw.ExemplarClusterer(features="precomputed", opening_cost=opening)
        clusterer.fit(d, sample_weight=weight).predict(d)
        np.testing.assert_array_equal(X, self.X)

    def test_arguments_are_left_alone(self):
        d = squared_distances(self.X) - 50.0
        pairs = some_pairs(np.random.default_rng(0), d)
        dense, data = d.copy(), pairs.data.copy()
        for costs in (d, pairs):
            lw.ExemplarClusterer(features="precomputed").fit(costs, sample_weight=np.arange(30) + 1)
        np.testing.assert_array_equal(d, dense)
        np.testing.assert_array_equal(pairs.data, data)

    @pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
    def test_columns_by_name(self, library):
        frame = library({name: self.X[:, i] for i, name in enumerate("abc")})
        by_name = [lw.Compare("one", "manhattan", columns=["c"]), lw.Compare("all", "euclidean")]
        by_place = [lw.Compare("one", "manhattan", columns=[2]), lw.Compare("all", "euclidean")]
        one = lw.ExemplarClusterer(by_name, weights=[2.0, 1.0]).fit(frame)
        other = lw.ExemplarClusterer(by_place, weights=[2.0, 1.0]).fit(self.X)
        same(one, other)
        np.testing.assert_array_equal(one.predict(frame), other.predict(self.X))

    @pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
    @pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix], ids=["array", "matrix"])
    def test_sparse(self, form: str, make):
        d = np.random.default_rng(1).random((12, 12)) + 0.1
        d[np.random.default_rng(2).random((12, 12)) < 0.5] = 0.0
        d[np.arange(12), (np.arange(12) + 1) % 12] = 0.5
        np.fill_diagonal(d, 0.0)
        one = exact(features="precomputed").fit(sparse.csr_array(d))
        other = exact(features="precomputed").fit(make(d).asformat(form))
        same(one, other)
        allowed = np.where(d > 0, d, np.inf)
        least = naive.least_energy(allowed, np.full(12, one.opening_cost_))
        assert one.energy_ == pytest.approx(least, rel=RELATIVE)

    @pytest.mark.parametrize("weights", [None, [1.0, 0.0, 2.0], [-1.0, 0.5, 0.0]])
    def test_stacks_of_features(self, weights):
        stack = np.random.default_rng(3).random((20, 20, 3))
        combined = stack @ (np.ones(3) if weights is None else np.array(weights))
        one = exact(features="precomputed", weights=weights).fit(stack)
        other = exact(features="precomputed").fit(combined)
        same(one, other)
        new = np.random.default_rng(4).random((5, 20, 3))
        flat = new @ (np.ones(3) if weights is None else np.array(weights))
        np.testing.assert_array_equal(
            one.exemplars_[one.predict(new)], other.exemplars_[other.predict(flat)]
        )
        np.testing.assert_allclose(
            one.transform(new)[:, np.argsort(one.exemplars_)],
            other.transform(flat)[:, np.argsort(other.exemplars_)],
            rtol=1e-12,
        )

    def test_new_rows_of_features_count_every_entry(self):
        """As many new items as exemplars make a square, whose diagonal is none."""
        found = exact(features="precomputed").fit(np.random.default_rng(3).random((20, 20, 3)))
        new = np.random.default_rng(4).random((found.n_clusters_, 20, 3))
        expected = new[:, found.exemplars_].sum(axis=2)
        np.testing.assert_allclose(found.transform(new), expected, rtol=1e-12)
        np.testing.assert_array_equal(found.predict(new), expected.argmin(axis=1))

    def test_stacks_ignore_their_diagonal(self):
        stack = np.random.default_rng(3).random((20, 20, 3))
        marked = stack.copy()
        marked[np.arange(20), np.arange(20)] = np.nan
        same(
            exact(features="precomputed").fit(stack),
            exact(features="precomputed").fit(marked),
        )

    def test_one_weight_for_one_feature(self):
        d = np.random.default_rng(5).random((15, 15))
        tripled = exact(features="precomputed", weights=[3.0])
        same(tripled.fit(d), exact(features="precomputed").fit(3.0 * d))
        pairs = some_pairs(np.random.default_rng(6), d)
        same(tripled.fit(pairs), exact(features="precomputed").fit(3.0 * pairs))

    def test_an_asymmetric_callable(self):
        X = np.random.default_rng(7).normal(size=(9, 2))
        found = exact(features=asymmetric, opening_cost=0.7).fit(X)
        d = asymmetric(X, X)
        assert not np.allclose(d, d.T)
        assert found.energy_ == pytest.approx(naive.least_energy(d, np.full(9, 0.7)), rel=RELATIVE)
        same(found, exact(features="precomputed", opening_cost=0.7).fit(d))
        np.testing.assert_allclose(found.transform(X), d[:, found.exemplars_], rtol=1e-12)

    def test_features_and_precomputed_agree(self):
        one = exact().fit(self.X)
        same(one, exact(features="precomputed").fit(squared_distances(self.X)))

    def test_local_scales(self):
        near = lw.Compare("near", "euclidean", local_scale=3)
        found = lw.ExemplarClusterer([near]).fit(self.X)
        np.testing.assert_array_equal(found.predict(self.X), found.transform(self.X).argmin(axis=1))
        apart = lw.ExemplarClusterer([near], candidates=29).fit(self.X)
        assert apart.energy_ == pytest.approx(found.energy_, rel=1e-6)


class TestPredict:
    def test_training_rows_keep_their_labels(self, seed: int):
        X = rows(np.random.default_rng(seed), 80)
        for estimator in (lw.ExemplarClusterer(), lw.ExemplarClusterer(candidates=10, gap=1e-2)):
            found = estimator.fit(X)
            # A graph need not hold the nearest exemplar of a row: then the nearest one costs less.
            d = found.transform(X)
            own = d[np.arange(80), found.labels_]
            nearest = d[np.arange(80), found.predict(X)]
            assert np.all(nearest <= own)
            if found.candidates is None:
                np.testing.assert_array_equal(found.predict(X), found.labels_)

    def test_training_rows_precomputed(self):
        d = squared_distances(rows(np.random.default_rng(0), 40))
        found = lw.ExemplarClusterer(features="precomputed").fit(d)
        np.testing.assert_array_equal(found.predict(d), found.labels_)
        pairs = sparse.csr_array(np.where(d < np.median(d), d, 0.0))
        found = lw.ExemplarClusterer(features="precomputed").fit(pairs)
        clients = np.setdiff1d(np.arange(40), found.exemplars_)
        np.testing.assert_array_equal(found.predict(pairs)[clients], found.labels_[clients])

    def test_new_rows_of_distances(self):
        d = np.random.default_rng(0).random((10, 10))
        found = exact(features="precomputed").fit(d)
        new = np.random.default_rng(1).random((4, 10))
        np.testing.assert_array_equal(found.predict(new), new[:, found.exemplars_].argmin(axis=1))
        np.testing.assert_array_equal(found.transform(new), new[:, found.exemplars_])

    def test_new_sparse_rows(self):
        d = np.random.default_rng(0).random((10, 10)) + 0.1
        found = exact(features="precomputed").fit(sparse.csr_array(d))
        first = found.exemplars_[0]
        other = np.setdiff1d(np.arange(10), found.exemplars_)[0]
        new = sparse.csr_array(([2.0, 3.0], ([0, 1], [first, other])), shape=(2, 10))
        assert found.predict(new).tolist() == [0, -1]
        distances = found.transform(new)
        assert distances[0, 0] == 2.0
        assert np.isinf(distances).sum() == 2 * found.n_clusters_ - 1

    @pytest.mark.parametrize("method", ["predict", "transform"])
    def test_before_fit(self, method: str):
        with pytest.raises(NotFittedError):
            getattr(lw.ExemplarClusterer(), method)([[0.0]])

    def test_rows_of_another_width(self):
        found = lw.ExemplarClusterer().fit(rows(np.random.default_rng(0)))
        with pytest.raises(ValueError, match="expecting 2 features"):
            found.predict(np.zeros((3, 5)))
        found = lw.ExemplarClusterer(features="precomputed").fit(np.ones((4, 4)))
        with pytest.raises(ValueError, match="expecting 4 features"):
            found.predict(np.ones((2, 3)))

    def test_transform_is_in_the_order_of_exemplars(self):
        X = rows(np.random.default_rng(0))
        found = lw.ExemplarClusterer("euclidean").fit(X)
        expected = np.linalg.norm(X[:, None] - X[found.exemplars_], axis=2)
        np.testing.assert_allclose(found.transform(X), expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(
            found.transform(X)[found.exemplars_].argmin(axis=1), range(len(expected[0]))
        )

    def test_names_of_what_comes_out(self):
        X = pd.DataFrame(rows(np.random.default_rng(0)), columns=["a", "b"])
        found = lw.ExemplarClusterer().set_output(transform="pandas").fit(X)
        names = [f"exemplarclusterer{c}" for c in range(found.n_clusters_)]
        assert found.get_feature_names_out().tolist() == names
        frame = found.transform(X)
        assert frame.columns.tolist() == names
        assert isinstance(frame, pd.DataFrame)
        found.set_output(transform="polars")
        assert found.transform(X).columns == names

    def test_clone_and_parameters(self):
        estimator = lw.ExemplarClusterer("manhattan", candidates=4, solver="fast")
        twin = clone(estimator)
        assert twin.get_params() == estimator.get_params()
        assert not hasattr(twin.fit(rows(np.random.default_rng(0))), "unknown")
        assert repr(twin) == "ExemplarClusterer(candidates=4, features='manhattan', solver='fast')"

    def test_fit_predict(self):
        X = rows(np.random.default_rng(0))
        np.testing.assert_array_equal(
            lw.ExemplarClusterer().fit_predict(X), lw.ExemplarClusterer().fit(X).labels_
        )

    def test_fit_again_forgets(self):
        estimator = lw.ExemplarClusterer()
        estimator.fit(rows(np.random.default_rng(0), 40, 3))
        estimator.fit(rows(np.random.default_rng(1), 20, 2))
        assert estimator.n_features_in_ == 2
        assert len(estimator.labels_) == 20


class TestCluster:
    """Many sets at once, each as if it were alone."""

    @staticmethod
    def sets(seed: int = 0) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        return [rng.normal(size=(n, 2)) for n in (12, 1, 30, 2)]

    def test_a_list(self):
        sets = self.sets()
        found = lw.ExemplarClusterer().cluster(sets)
        assert isinstance(found, list)
        assert found[1].tolist() == [0]
        for labels, X in zip(found, sets, strict=True):
            if len(X) > 1:
                np.testing.assert_array_equal(labels, lw.ExemplarClusterer().fit_predict(X))

    def test_groups(self):
        sets = self.sets()
        groups = np.repeat(["d", "a", "c", "b"], [len(X) for X in sets])
        order = np.random.default_rng(1).permutation(len(groups))
        found = lw.ExemplarClusterer().cluster(np.vstack(sets)[order], groups[order])
        expected = np.concatenate(lw.ExemplarClusterer().cluster(sets))
        np.testing.assert_array_equal(found, expected[order])

    def test_one_set(self):
        X = self.sets()[2]
        found = lw.ExemplarClusterer().cluster(X)
        np.testing.assert_array_equal(found, lw.ExemplarClusterer().fit_predict(X))

    @pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
    def test_frames(self, library):
        sets = self.sets()
        frames = [library({"a": X[:, 0], "b": X[:, 1]}) for X in sets]
        by_name = lw.ExemplarClusterer([lw.Compare("b", "manhattan", columns=["b"])])
        by_place = lw.ExemplarClusterer([lw.Compare("b", "manhattan", columns=[1])])
        for one, other in zip(by_name.cluster(frames), by_place.cluster(sets), strict=True):
            np.testing.assert_array_equal(one, other)

    def test_precomputed(self):
        sets = self.sets()
        matrices = [squared_distances(X) for X in sets]
        clusterer = lw.ExemplarClusterer(features="precomputed")
        found = clusterer.cluster(matrices)
        for one, other in zip(found, lw.ExemplarClusterer().cluster(sets), strict=True):
            assert lw.metrics.rand_loss(one, other) == 0.0
        stacks = [np.stack([d, d], axis=2) for d in matrices]
        halved = lw.ExemplarClusterer(features="precomputed", weights=[0.5, 0.5])
        for one, other in zip(halved.cluster(stacks), found, strict=True):
            np.testing.assert_array_equal(one, other)

    @pytest.mark.parametrize("make", [np.array, sparse.csr_array])
    def test_precomputed_with_groups(self, make):
        d = np.random.default_rng(2).random((20, 20)) + 0.1
        groups = np.arange(20) % 2
        clusterer = lw.ExemplarClusterer(features="precomputed", opening_cost=1.0)
        found = clusterer.cluster(make(d), groups)
        for group in (0, 1):
            own = groups == group
            expected = clusterer.fit_predict(d[np.ix_(own, own)])
            np.testing.assert_array_equal(found[own], expected)

    def test_sparse_sets(self):
        pairs = [
            some_pairs(np.random.default_rng(s), np.random.default_rng(s).random((9, 9)))
            for s in (0, 1)
        ]
        clusterer = lw.ExemplarClusterer(features="precomputed")
        for labels, X in zip(clusterer.cluster(pairs), pairs, strict=True):
            np.testing.assert_array_equal(labels, clusterer.fit_predict(X))

    def test_an_opening_cost_per_row_follows_its_row(self):
        sets = [X for X in self.sets() if len(X) > 2]
        groups = np.repeat([0, 1], [len(X) for X in sets])
        opening = np.random.default_rng(3).random(len(groups)) + 0.2
        order = np.random.default_rng(4).permutation(len(groups))
        clusterer = lw.ExemplarClusterer(opening_cost=opening[order])
        found = clusterer.cluster(np.vstack(sets)[order], groups[order])
        for group, X in enumerate(sets):
            own = lw.ExemplarClusterer(opening_cost=opening[groups == group]).fit_predict(X)
            np.testing.assert_array_equal(found[np.argsort(order)][groups == group], own)

    def test_the_fitted_state_stays(self):
        X = self.sets()[2]
        found = lw.ExemplarClusterer().fit(X)
        before = dict(vars(found))
        found.cluster([np.zeros((3, 5)), np.eye(4)])
        assert vars(found).keys() == before.keys()
        assert all(vars(found)[name] is value for name, value in before.items())
        unfitted = lw.ExemplarClusterer()
        unfitted.cluster(X)
        assert vars(unfitted) == vars(lw.ExemplarClusterer())

    def test_candidates(self):
        sets = [make_blobs(120, random_state=s)[0] for s in (0, 1)]
        clusterer = lw.ExemplarClusterer(candidates=5)
        for labels, X in zip(clusterer.cluster(sets), sets, strict=True):
            np.testing.assert_array_equal(labels, clusterer.fit_predict(X))

    def test_a_bad_set_is_refused(self):
        with pytest.raises(InputError, match="contains NaN at row 0, column 1"):
            lw.ExemplarClusterer().cluster([np.zeros((3, 2)), np.array([[0.0, np.nan]])])


class TestExtremes:
    @pytest.mark.parametrize("options", [{}, {"candidates": 3}, {"features": "columns"}])
    @pytest.mark.parametrize("value", [0.0, 7.0, 1e150, -1e-150])
    def test_constant_rows(self, options: dict, value: float):
        found = lw.ExemplarClusterer(**options).fit(np.full((20, 2), value))
        assert found.n_clusters_ == 1
        assert (found.energy_, found.lower_bound_, found.opening_cost_) == (0.0, 0.0, 0.0)
        assert found.status_ == "converged"

    @pytest.mark.parametrize("solver", ["fast", "auto", "exact"])
    @pytest.mark.parametrize("value", [0.0, 3.0, -3.0])
    def test_constant_costs(self, solver: str, value: float):
        d = np.full((8, 8), value)
        pairs = sparse.csr_array((np.full(8, value), (np.arange(8), np.roll(np.arange(8), 1))))
        clusterer = lw.ExemplarClusterer(features="precomputed", solver=solver)
        found = clusterer.fit(d)
        assert found.n_clusters_ == 1
        assert found.energy_ == 8 * value
        assert clusterer.fit(pairs).status_ == "converged"

    @pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150, 1e290])
    @pytest.mark.parametrize("solver", ["auto", "exact"])
    def test_tiny_and_huge_costs(self, scale: float, solver: str):
        d = np.random.default_rng(0).random((15, 15))
        one = lw.ExemplarClusterer("precomputed", solver=solver).fit(d)
        other = lw.ExemplarClusterer("precomputed", solver=solver).fit(scale * d)
        assert other.energy_ == pytest.approx(scale * one.energy_, rel=1e-6)
        assert other.lower_bound_ <= other.energy_
        assert other.status_ == "converged"

    @pytest.mark.parametrize("scale", [1e-70, 1e70])
    def test_tiny_and_huge_rows(self, scale: float):
        X = rows(np.random.default_rng(0))
        one, other = lw.ExemplarClusterer().fit(X), lw.ExemplarClusterer().fit(scale * X)
        np.testing.assert_array_equal(one.labels_, other.labels_)

    def test_rows_too_large_to_compare(self):
        X = np.array([[0.0], [1.0], [1e160]])
        with pytest.raises(InputError, match=r"too large\. Scale the columns"):
            lw.ExemplarClusterer().fit(X)
        with pytest.raises(InputError, match=r"too large\. Scale the columns"):
            lw.ExemplarClusterer(candidates=1).fit(X)

    def test_an_opening_cost_that_keeps_rows_closed(self):
        X = rows(np.random.default_rng(0), 20)
        opening = np.full(20, 1e12)
        opening[[3, 8]] = 1.0
        found = exact(opening_cost=opening).fit(X)
        assert set(found.exemplars_) <= {3, 8}
        allowed = squared_distances(X)[:, [3, 8]]
        one = min(allowed.sum(axis=0)) + 1.0
        both = allowed.min(axis=1).sum() + 2.0
        assert found.energy_ == pytest.approx(min(one, both), rel=RELATIVE)

    def test_two_rows(self):
        found = lw.ExemplarClusterer(opening_cost=1.0).fit([[0.0], [0.5]])
        assert (found.n_clusters_, found.energy_) == (1, 1.25)
        found = lw.ExemplarClusterer(opening_cost=-1.0).fit([[0.0], [0.0]])
        assert (found.n_clusters_, found.energy_) == (2, -2.0)

    def test_only_one_row_of_weight(self):
        found = lw.ExemplarClusterer().fit([[0.0], [1.0], [5.0]], sample_weight=[0, 2, 0])
        assert found.labels_.tolist() == [0, 0, 0]
        assert found.exemplars_.tolist() == [1]
        assert found.energy_ == found.opening_cost_ == 0.0

    @given(
        X=st.lists(
            st.lists(st.sampled_from([-1e3, -0.5, 0.0, 1e-9, 0.5, 2.0]), min_size=2, max_size=2),
            min_size=2, max_size=7,
        ),
        opening=st.sampled_from(["median", -1.0, 0.0, 1e-9, 0.3, 5.0]),
    )  # fmt: skip
    def test_any_rows(self, X: list, opening):
        found = exact(opening_cost=opening).fit(X)
        d = squared_distances(np.array(X))
        least = naive.least_energy(d, np.full(len(X), found.opening_cost_))
        tolerance = RELATIVE * max(abs(least), 1e-9, float(np.median(d)))
        assert found.energy_ == pytest.approx(least, abs=tolerance)
        assert found.lower_bound_ <= least + tolerance
