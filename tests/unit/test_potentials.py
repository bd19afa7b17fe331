"""AssignmentCosts: the energy of a partition, dense, sparse and on another array library."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from likewise.partitions import Partition
from likewise.potentials import AssignmentCosts
from naive import exemplar as naive
from registry import dense_costs, sparse_costs
from strategies import assignment_costs


def random_service(rng: np.random.Generator, n: int) -> np.ndarray:
    exemplars = rng.choice(n, size=int(rng.integers(1, n + 1)), replace=False)
    served_by = rng.choice(exemplars, size=n)
    served_by[exemplars] = exemplars
    return served_by


@given(costs=assignment_costs(), number=st.integers(0, 1000))
def test_energy(costs: AssignmentCosts, number: int):
    served_by = random_service(np.random.default_rng(number), costs.n_items)
    naive_energy = naive.energy_of_service(naive.dense_of(costs), costs.opening, served_by.tolist())
    energy = costs.energy_of(Partition.from_service(served_by))
    # Twelve terms of at most 1e6 each.
    assert energy == pytest.approx(naive_energy, rel=1e-12, abs=1e-8)


def test_a_forbidden_pair_costs_infinity():
    service = sparse.csr_array(([1.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    costs = AssignmentCosts(service, np.ones(3))
    assert costs.energy_of(Partition.from_service([1, 1, 2])) == 3.0
    assert costs.energy_of(Partition.from_service([2, 2, 2])) == np.inf
    nothing = AssignmentCosts(sparse.csr_array((2, 2)), np.ones(2))
    assert nothing.energy_of(Partition.from_service([0, 0])) == np.inf
    assert nothing.energy_of(Partition.from_service([0, 1])) == 2.0


def test_a_stored_zero_is_no_missing_pair():
    service = sparse.csr_array(([0.0], ([0], [1])), shape=(2, 2))
    costs = AssignmentCosts(service, np.array([5.0, 3.0]))
    assert costs.energy_of(Partition.from_service([1, 1])) == 3.0


def test_the_energy_is_linear_in_the_costs():
    rng = np.random.default_rng(0)
    one, other = dense_costs(rng, 0, 7), dense_costs(rng, 1, 7)
    both = AssignmentCosts(2 * one.service + other.service, 2 * one.opening + other.opening)
    partition = Partition.from_service(random_service(rng, 7))
    expected = 2 * one.energy_of(partition) + other.energy_of(partition)
    assert both.energy_of(partition) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("make", [dense_costs, sparse_costs])
def test_restricted_to_a_permutation(make, seed: int):
    rng = np.random.default_rng(seed)
    costs = make(rng, 0, 8)
    order = rng.permutation(8)
    place = np.argsort(order)
    served_by = random_service(rng, 8)
    permuted = costs.restricted_to(order)
    assert permuted.is_sparse == costs.is_sparse
    energy = permuted.energy_of(Partition.from_service(place[served_by[order]]))
    expected = costs.energy_of(Partition.from_service(served_by))
    assert energy == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("make", [dense_costs, sparse_costs])
def test_restricted_to_some_items(make):
    costs = make(np.random.default_rng(1), 1, 6)
    items = np.array([4, 0, 3])
    part = costs.restricted_to(items)
    np.testing.assert_array_equal(naive.dense_of(part), naive.dense_of(costs)[np.ix_(items, items)])
    np.testing.assert_array_equal(part.opening, costs.opening[items])


def test_another_array_library():
    costs = dense_costs(np.random.default_rng(2), 1, 6)
    strict = AssignmentCosts(
        array_api_strict.asarray(costs.service), array_api_strict.asarray(costs.opening)
    )
    partition = Partition.from_service([1, 1, 4, 4, 4, 1])
    assert strict.energy_of(partition) == pytest.approx(costs.energy_of(partition), rel=1e-12)
    part = strict.restricted_to(np.array([4, 1, 0]))
    assert isinstance(part.service, type(strict.service))
    small = Partition.from_service([0, 1, 1])
    expected = costs.restricted_to(np.array([4, 1, 0])).energy_of(small)
    assert part.energy_of(small) == pytest.approx(expected, rel=1e-12)
