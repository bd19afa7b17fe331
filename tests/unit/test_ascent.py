"""The ascent of the Lagrangian bound, with linear programming as an outside oracle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from likewise.decoders.ascent import Ascent, promising
from likewise.decoders.facilities import facilities_of
from likewise.potentials import AssignmentCosts
from naive import exemplar as naive
from registry import SERVICES, dense_costs, some_pairs, sparse_costs

N = 40


def everyone_of(facilities) -> np.ndarray:
    return np.arange(len(facilities.opening), dtype=np.int32)


def linear_program(costs: AssignmentCosts) -> float:
    """Value of the relaxation: sum_j x_jp = 1, x_jp <= y_j, an exemplar serves itself at no cost.

    Written from eq. (1), with x[p, p] = y_p.
    """
    d = naive.dense_of(costs)
    n = len(d)
    allowed = np.isfinite(d) & ~np.eye(n, dtype=bool)
    p, q = np.nonzero(allowed)
    pair = n + np.arange(len(p))
    ones = np.ones(len(p))
    served = sparse.csr_array(
        (
            np.concatenate([np.ones(n), ones]),
            (np.concatenate([np.arange(n), p]), np.concatenate([np.arange(n), pair])),
        ),
        shape=(n, n + len(p)),
    )
    rows = np.arange(len(p))
    linked = sparse.csr_array(
        (np.concatenate([ones, -ones]), (np.tile(rows, 2), np.concatenate([pair, q]))),
        shape=(len(p), n + len(p)),
    )
    result = linprog(
        np.concatenate([costs.opening, d[allowed]]),
        A_ub=linked, b_ub=np.zeros(len(p)), A_eq=served, b_eq=np.ones(n), bounds=(0, 1),
    )  # fmt: skip
    assert result.status == 0
    return float(result.fun)


def best_bound(costs: AssignmentCosts, steps: int) -> tuple[float, float]:
    """What the ascent reaches, and the energy it aims at."""
    facilities = facilities_of(costs)
    solution = facilities.first_solution()
    ascent = Ascent(facilities, facilities.first_multipliers(solution))
    ascent.climb(everyone_of(facilities), solution.energy, steps)
    return ascent.bound + facilities.constant, solution.energy + facilities.constant


@pytest.mark.parametrize("index", range(20))
def test_within_one_percent_of_the_linear_program(index: int):
    rng = np.random.default_rng(index)
    kind = ("uniform", "metric", "signed", "integer")[index % 4]
    service = SERVICES[kind](rng, N)
    if index % 8 >= 4:
        service = some_pairs(rng, service)
    costs = AssignmentCosts(service, np.full(N, 1.0 + index % 3) + 0.3 * rng.random(N))
    value = linear_program(costs)
    bound, energy = best_bound(costs, steps=3000)
    assert bound <= value + 1e-7
    assert value <= energy + 1e-7
    assert bound >= value - 0.01 * abs(value)


def test_the_bound_is_one_from_any_multipliers(seed: int):
    rng = np.random.default_rng(seed)
    for index in range(40):
        make = (dense_costs, sparse_costs)[index % 2]
        costs = make(rng, index, 8)
        facilities = facilities_of(costs)
        least = naive.least_energy(naive.dense_of(costs), costs.opening) - facilities.constant
        ascent = Ascent(facilities, 2.0 * rng.random(8))
        ascent.climb(everyone_of(facilities), least + rng.random(), 64)
        assert ascent.bound <= least + 1e-9 * max(1.0, abs(least))


def test_the_best_multipliers_are_kept(seed: int):
    rng = np.random.default_rng(seed)
    for make in (dense_costs, sparse_costs):
        facilities = facilities_of(make(rng, 0, 30))
        everyone = everyone_of(facilities)
        solution = facilities.first_solution()
        ascent = Ascent(facilities, facilities.first_multipliers(solution))
        bounds = []
        for _ in range(6):
            ascent.climb(everyone, solution.energy, 40)
            bounds.append(ascent.bound)
            slack, served = np.empty(30), np.empty(30)
            again = facilities.bound(ascent.v, everyone, slack, served)
            assert again == pytest.approx(ascent.bound, rel=1e-12)
            np.testing.assert_allclose(slack, ascent.slack, rtol=1e-9, atol=1e-12)
        assert bounds == sorted(bounds)


def test_a_tight_bound_ends_it():
    X = np.array([0.0, 0.1, 0.2, 9.0, 9.1])
    costs = AssignmentCosts((X[:, None] - X) ** 2, np.ones(5))
    facilities = facilities_of(costs)
    solution = facilities.first_solution()
    ascent = Ascent(facilities, facilities.first_multipliers(solution))
    ascent.climb(everyone_of(facilities), solution.energy, 1000)
    assert ascent.finished
    assert ascent.bound == pytest.approx(solution.energy, rel=1e-12)
    steps = ascent.steps
    ascent.climb(everyone_of(facilities), solution.energy, 1000)
    assert ascent.steps == steps
    ascent.renew()
    assert not ascent.finished


def test_the_promising_candidates():
    slack = np.array([5.0, 1.0, 4.0, 0.0, 3.0, 2.0, 9.0, 8.0])
    everyone = np.arange(8, dtype=np.int32)
    assert promising(everyone, slack, 0.5, at_least=2).tolist() == [1, 3, 4, 5]
    assert promising(everyone, slack, 0.1, at_least=2).tolist() == [1, 3]
    assert promising(everyone[:3], slack, 0.5, at_least=2).tolist() == [1, 2]
    assert promising(everyone, slack, 0.01).tolist() == list(range(8))
