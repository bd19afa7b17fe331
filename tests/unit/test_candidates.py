"""Candidate graphs: clusters beyond k neighbours, and what the bound is about."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import likewise as lw
from likewise.estimators import candidates
from likewise.estimators.candidates import reaches_all_pairs, sparse_costs
from likewise.estimators.exemplar_costs import RowGeometry, units_for_rows
from likewise.geometry import resolve_features


def geometry_of(X: np.ndarray) -> RowGeometry:
    features = resolve_features("sqeuclidean", X.shape[1])
    return RowGeometry.of(X, features, features.resolve_weights(None), None)


def graph(X: np.ndarray, k: int, weight=None, opening=1.0):
    geometry = geometry_of(X)
    units = units_for_rows(geometry, opening, weight)
    return units, sparse_costs(geometry, units, opening, k, 0, lambda: np.inf)


# One exemplar per blob.
LARGE = 1000.0


@cache
def blobs() -> np.ndarray:
    return make_blobs(2000, centers=8, random_state=0)[0]


@cache
def dense_blobs() -> lw.ExemplarClusterer:
    return lw.ExemplarClusterer(opening_cost=LARGE, gap=1e-3).fit(blobs())


class TestClustersBeyondTheNeighbours:
    # With a sample of 2,000 rows every row is in it.
    @pytest.mark.parametrize("sample", [100, 2000])
    @pytest.mark.parametrize("k", [5, 20])
    def test_within_one_percent_of_all_pairs(
        self, k: int, sample: int, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(candidates, "FIRST_SAMPLE", sample)
        dense = dense_blobs()
        clusterer = lw.ExemplarClusterer(opening_cost=LARGE, gap=1e-3, candidates=k).fit(blobs())
        assert np.bincount(clusterer.labels_).max() > 10 * k
        assert clusterer.energy_ <= 1.01 * dense.energy_
        # A partition over the graph is one over all pairs.
        assert clusterer.energy_ >= dense.lower_bound_
        assert clusterer.lower_bound_ <= clusterer.energy_
        if clusterer.bound_scope_ == "all pairs":
            assert clusterer.lower_bound_ <= dense.energy_

    def test_the_reported_energy_is_that_of_the_labels(self):
        X = blobs()
        clusterer = lw.ExemplarClusterer(candidates=5, solver="fast").fit(X)
        own = X[clusterer.exemplars_[clusterer.labels_]]
        energy = np.square(X - own).sum() + clusterer.n_clusters_ * clusterer.opening_cost_
        assert clusterer.energy_ == pytest.approx(energy, rel=1e-9)


@pytest.mark.parametrize("solver", ["fast", "auto", "exact"])
def test_what_the_bound_is_about(solver: str, seed: int):
    """Where it is said to hold over all pairs, it does; both cases occur."""
    rng = np.random.default_rng(seed)
    scopes = []
    for index in range(24):
        n, k = int(rng.integers(10, 40)), int(rng.integers(1, 6))
        X = rng.normal(size=(n, 1 + index % 2))
        weight = rng.integers(1, 4, size=n) if index % 3 == 0 else None
        opening = float(rng.choice([0.01, 0.1, 1.0, 4.0]))
        part = lw.ExemplarClusterer(
            opening_cost=opening, candidates=k, solver=solver, gap=0.0, random_state=index
        ).fit(X, sample_weight=weight)
        whole = lw.ExemplarClusterer(opening_cost=opening, solver="exact", gap=0.0)
        whole.fit(X, sample_weight=weight)
        assert part.energy_ >= whole.energy_ * (1 - 1e-9)
        scopes.append(part.bound_scope_)
        if part.bound_scope_ == "all pairs":
            assert part.lower_bound_ <= whole.energy_ * (1 + 1e-9)
    assert set(scopes) == {"all pairs", "candidate pairs"}


@pytest.mark.parametrize("k", [29, 30, 1000])
def test_all_pairs_stored_is_dense(k: int, seed: int):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    dense = lw.ExemplarClusterer(solver="exact", gap=0.0).fit(X)
    every = lw.ExemplarClusterer(solver="exact", gap=0.0, candidates=k).fit(X)
    assert every.energy_ == pytest.approx(dense.energy_, rel=1e-9)
    assert every.opening_cost_ == dense.opening_cost_
    # Of two rows either may be the exemplar: only the clusters are the same.
    np.testing.assert_array_equal(every.labels_, dense.labels_)


def test_precomputed_pairs_are_candidate_pairs():
    X = np.random.default_rng(0).normal(size=(20, 2))
    d = np.square(X[:, None] - X).sum(axis=2)
    dense = lw.ExemplarClusterer(features="precomputed").fit(d)
    assert dense.bound_scope_ == "all pairs"
    assert lw.ExemplarClusterer().fit(X).bound_scope_ == "all pairs"


class TestGraph:
    def test_holds_the_nearest_neighbours(self):
        X = np.random.default_rng(1).normal(size=(50, 2))
        units, found = graph(X, 4)
        own = X[units.row_of]
        d = np.square(own[:, None] - own).sum(axis=2)
        service = found.costs.service
        for p in range(50):
            stored = set(service.indices[service.indptr[p] : service.indptr[p + 1]].tolist())
            nearest = [q for q in np.argsort(d[p]) if q != p][:4]
            assert set(nearest) <= stored
            assert p not in stored
            assert found.reach[p] == pytest.approx(d[p, nearest[-1]], rel=1e-9)
            # Whatever costs less than the reach is stored.
            cheaper = np.flatnonzero(d[p] < found.reach[p] * (1 - 1e-9))
            assert set(cheaper.tolist()) - {p} <= stored

    def test_holds_the_exemplars_to_start_from(self):
        X = make_blobs(400, centers=3, random_state=1)[0]
        units, found = graph(X, 3, opening=100.0)
        service = found.costs.service
        assert len(found.start) >= 3
        linked = np.isin(service.indices, found.start)
        has_one = np.add.reduceat(linked, service.indptr[:-1]) > 0
        assert np.all(has_one | np.isin(np.arange(len(units)), found.start))

    def test_weights_multiply_costs_and_reach(self):
        X = np.random.default_rng(2).normal(size=(30, 2))
        weight = np.full(30, 3.0)
        _, once = graph(X, 5, opening=1.0)
        units, thrice = graph(X, 5, weight, opening=3.0)
        np.testing.assert_allclose(thrice.reach, 3.0 * once.reach, rtol=1e-12)
        own = X[units.row_of]
        d = np.square(own[:, None] - own).sum(axis=2)
        entries = thrice.costs.service.tocoo()
        np.testing.assert_allclose(entries.data, 3.0 * d[entries.row, entries.col], rtol=1e-9)

    def test_every_pair_within_reach_where_all_are_stored(self):
        X = np.random.default_rng(3).normal(size=(6, 2))
        for k in (5, 9):
            assert np.all(np.isinf(graph(X, k)[1].reach))

    def test_a_sample_that_is_too_small_grows(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(candidates, "FIRST_SAMPLE", 20)
        X = make_blobs(600, centers=40, cluster_std=0.05, random_state=2)[0]
        clusterer = lw.ExemplarClusterer(opening_cost=0.5, candidates=4, gap=1e-3).fit(X)
        dense = lw.ExemplarClusterer(opening_cost=0.5, gap=1e-3).fit(X)
        assert clusterer.energy_ <= 1.01 * dense.energy_

    def test_no_time_for_refinement(self):
        geometry = geometry_of(np.random.default_rng(4).normal(size=(60, 2)))
        units = units_for_rows(geometry, 1.0, None)
        found = sparse_costs(geometry, units, 1.0, 4, 0, lambda: 0.0)
        assert found.costs.is_sparse
        assert len(found.start) >= 1


def test_prices_beyond_reach():
    reach = np.array([1.0, 2.0, np.inf])
    assert reaches_all_pairs(np.array([1.0, 0.5, 1e9]), reach)
    assert not reaches_all_pairs(np.array([1.1, 0.5, 0.0]), reach)


@pytest.mark.parametrize("k", [1, 5])
def test_constant_data(k: int):
    clusterer = lw.ExemplarClusterer(candidates=k).fit(np.ones((40, 3)))
    assert clusterer.n_clusters_ == 1
    assert (clusterer.energy_, clusterer.lower_bound_) == (0.0, 0.0)
    assert clusterer.status_ == "converged"


def test_two_distinct_rows():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    clusterer = lw.ExemplarClusterer(candidates=3, opening_cost=1.0).fit(X)
    assert clusterer.n_clusters_ == 2
    assert clusterer.energy_ == 2.0
