"""From rows or precomputed costs to potentials: weights applied, units merged, cost settled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from likewise.errors import InputError
from likewise.estimators import exemplar_costs
from likewise.estimators.exemplar_costs import (
    RowGeometry,
    dense_costs,
    estimated_median,
    opening_of,
    precomputed_costs,
    settled,
    units_for_rows,
)
from likewise.geometry import resolve_features
from likewise.validation import Precomputed
from naive import distances
from naive import exemplar as naive


def geometry_of(X: np.ndarray, features="sqeuclidean", weights=None) -> RowGeometry:
    resolved = resolve_features(features, X.shape[1])
    return RowGeometry.of(X, resolved, resolved.resolve_weights(weights), None)


def difference(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return B[None, :, 0] - A[:, None, 0]


@pytest.fixture
def rows() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 3, size=(12, 2)).astype(float)


class TestRows:
    def test_costs_of_units(self, rows: np.ndarray):
        geometry = geometry_of(rows)
        weight = np.random.default_rng(1).integers(1, 4, size=12).astype(float)
        units = units_for_rows(geometry, 2.0, weight)
        found = dense_costs(geometry, units, 2.0)
        costs, used = found.potentials, found.opening_cost
        own = rows[units.row_of]
        expected = np.array(distances.matrix(distances.sqeuclidean, own, own))
        np.testing.assert_allclose(costs.service, units.weight[:, None] * expected, rtol=1e-12)
        assert used == 2.0
        np.testing.assert_array_equal(costs.opening, np.full(len(units), 2.0))

    def test_the_median_is_that_of_the_rows(self, rows: np.ndarray):
        geometry = geometry_of(rows)
        counts = np.random.default_rng(2).integers(0, 4, size=12).astype(float)
        present = counts > 0
        units = units_for_rows(geometry_of(rows[present]), "median", counts[present])
        used = dense_costs(geometry_of(rows[present]), units, "median").opening_cost
        d = np.array(distances.matrix(distances.sqeuclidean, rows, rows))
        assert used == pytest.approx(naive.median_of_repeated(d, counts.astype(int)), rel=1e-12)
        whole, same = units_for_rows(geometry, "median", None), np.ones(12, dtype=int)
        used = dense_costs(geometry, whole, "median").opening_cost
        assert used == naive.median_of_repeated(d, same)

    def test_symmetric_distances_are_not_copied(self, rows: np.ndarray):
        geometry = geometry_of(rows + np.arange(12)[:, None])
        costs = dense_costs(geometry, units_for_rows(geometry, 1.0, None), 1.0).potentials
        # The search reads the transpose, candidate by candidate: it is contiguous.
        assert costs.service.T.flags.c_contiguous

    def test_asymmetric_distances_are_served_by(self, rows: np.ndarray):
        geometry = geometry_of(rows, difference)
        weight = np.arange(1.0, 13.0)
        units = units_for_rows(geometry, 1.0, weight)
        costs = dense_costs(geometry, units, 1.0).potentials
        assert len(units) == 12
        own = rows[units.row_of]
        expected = units.weight[:, None] * (own[None, :, 0] - own[:, None, 0])
        np.testing.assert_array_equal(costs.service, expected)

    @pytest.mark.parametrize(
        ("features", "weights", "opening", "merged"),
        [
            ("sqeuclidean", None, 1.0, True),
            ("sqeuclidean", None, "median", True),
            ("columns", [1.0, 0.0], 1.0, True),
            # What follows may put equal rows into clusters of their own.
            ("sqeuclidean", None, -1.0, False),
            ("sqeuclidean", None, np.r_[-1.0, np.ones(11)], False),
            ("sqeuclidean", [-1.0], 1.0, False),
            (difference, None, 1.0, False),
        ],
    )
    def test_when_equal_rows_are_merged(self, rows, features, weights, opening, merged: bool):
        units = units_for_rows(geometry_of(rows, features, weights), opening, None)
        assert (len(units) < 12) == merged

    def test_a_sample_estimates_the_median(self, monkeypatch: pytest.MonkeyPatch):
        X = np.random.default_rng(3).normal(size=(300, 2))
        geometry = geometry_of(X)
        units = units_for_rows(geometry, "median", None)
        exact = dense_costs(geometry, units, "median").opening_cost
        assert estimated_median(geometry, units, seed=0) == exact
        monkeypatch.setattr(exemplar_costs, "MEDIAN_SAMPLE", 100)
        estimate = estimated_median(geometry, units, seed=0)
        assert estimate == estimated_median(geometry, units, seed=0)
        assert estimate == pytest.approx(exact, rel=0.5)
        assert estimate != exact


class TestPrecomputed:
    def test_costs_in_the_order_of_units(self):
        rng = np.random.default_rng(4)
        d, opening, weight = rng.normal(size=(7, 7)), rng.random(7), rng.integers(0, 3, size=7)
        given = Precomputed(d)
        found = precomputed_costs(given, opening, weight.astype(float))
        costs, used, rows = found.potentials, found.opening_cost, found.units.row_of
        assert set(rows.tolist()) == set(np.flatnonzero(weight).tolist())
        expected = d[np.ix_(rows, rows)] * weight[rows, None]
        np.fill_diagonal(expected, 0.0)
        np.testing.assert_array_equal(costs.service, expected)
        np.testing.assert_array_equal(costs.opening, opening[rows])
        assert used is opening
        assert costs.service.T.flags.c_contiguous

    @pytest.mark.parametrize("weight", [None, [1, 2, 0, 1, 3, 1]])
    def test_the_median_leaves_out_the_diagonal(self, weight):
        d = np.random.default_rng(5).random((6, 6))
        np.fill_diagonal(d, np.nan)
        times = np.ones(6, dtype=int) if weight is None else np.array(weight)
        weights = None if weight is None else times.astype(float)
        used = precomputed_costs(Precomputed(d), "median", weights).opening_cost
        # Repeated items are at distance zero of each other.
        assert used == naive.median_of_repeated(np.nan_to_num(d), times)

    def test_the_median_of_stored_pairs(self):
        d = sparse.csr_array(([1.0, 5.0, 2.0], ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
        given = Precomputed(d, np.zeros(3, dtype=bool))
        assert precomputed_costs(given, "median", None).opening_cost == 2.0
        weight = np.array([1.0, 4.0, 2.0])
        assert precomputed_costs(given, "median", weight).opening_cost == 5.0
        alone = Precomputed(sparse.csr_array((2, 2)), np.ones(2, dtype=bool))
        assert precomputed_costs(alone, "median", None).opening_cost == 0.0

    def test_sparse_costs_in_the_order_of_units(self):
        rng = np.random.default_rng(6)
        d = np.where(rng.random((6, 6)) < 0.7, rng.random((6, 6)), 0.0)
        np.fill_diagonal(d, 0.0)
        d[np.arange(6), (np.arange(6) + 1) % 6] = 0.5
        weight = np.array([1.0, 2, 1, 3, 1, 1])
        given = Precomputed(sparse.csr_array(d), np.zeros(6, dtype=bool))
        found = precomputed_costs(given, 1.0, weight)
        costs, rows = found.potentials, found.units.row_of
        expected = d[np.ix_(rows, rows)] * weight[rows, None]
        np.testing.assert_array_equal(costs.service.toarray(), expected)
        assert costs.service.has_sorted_indices
        np.testing.assert_array_equal(given.costs.toarray(), d)

    def test_a_row_that_lost_its_candidates(self):
        d = sparse.csr_array(([1.0, 2.0, 3.0], ([0, 1, 2], [1, 2, 1])), shape=(3, 3))
        weight = np.array([1.0, 0.0, 1.0])
        with pytest.raises(
            InputError, match=r"all candidates of row 0 .* sample_weight 0 \(2 such"
        ):
            precomputed_costs(Precomputed(d, np.zeros(3, dtype=bool)), 1.0, weight)
        alone = Precomputed(d, np.array([True, False, True]))
        assert len(precomputed_costs(alone, 1.0, weight).units) == 2


def test_opening_costs():
    X = np.array([[1.0], [0.0], [1.0]])
    units = units_for_rows(geometry_of(X), 1.0, None)
    assert opening_of(2.0, units).tolist() == [2.0, 2.0]
    assert opening_of(np.array([5.0, 6.0, 7.0]), units).tolist() == [6.0, 5.0]
    assert settled("median", lambda: 3.0) == 3.0
    assert settled(1.0, lambda: 3.0) == 1.0
