"""The opening cost that fits the number of clusters it leads to, on made-up solvers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from likewise.estimators.learner_output import self_consistent
from likewise.learners.calibration import SizeLaw

# 100 rows: a cost of 100 / k is right for k clusters.
LAW, N_ROWS = SizeLaw(1.0, 1.0), 100


def solver(count: Callable[[float], float]) -> Callable[[float], np.ndarray]:
    """Labels of as many clusters as ``count(cost)`` says."""
    return lambda cost: np.arange(N_ROWS) % max(1, min(N_ROWS, round(count(cost))))


def found(count: Callable[[float], float], expected: float, law: SizeLaw = LAW) -> int:
    return int(self_consistent(solver(count), law, N_ROWS, expected).max()) + 1


def steps(*limits: tuple[float, int]) -> Callable[[float], int]:
    """The clusters of the first limit that a cost does not exceed."""
    return lambda cost: next((k for limit, k in limits if cost <= limit), 1)


def test_well_separated_clusters_are_found_from_any_expectation():
    # Ten clusters, from a cost of 5 to one of 40; 10 is what fits.
    count = steps((5.0, 30), (40.0, 10), (60.0, 6))
    assert [found(count, k) for k in (2.0, 5.0, 10.0, 15.0)] == [10, 10, 10, 10]


def test_close_clusters_are_found_where_only_some_costs_tell_them_apart():
    # Eight at the first cost of 20; ten from 7.5 to 12, which is right for ten.
    count = steps((7.5, 11), (12.0, 10), (14.0, 9), (35.0, 8))
    assert found(count, 5.0) == 10


def test_without_clusters_the_number_does_not_drift():
    # More for every lower cost: the answer is that of the number of clusters that was shown.
    assert found(lambda cost: 12.0 * (20.0 / cost) ** 0.9, 5.0) == 12
    # Nor to every row on its own, where nothing is left to change.
    assert found(lambda cost: 30.0 * (20.0 / cost) ** 1.1, 5.0) == 30


def test_a_set_of_one_cluster_is_found():
    assert found(steps((8.0, 30), (15.0, 4), (24.0, 2)), 5.0) == 1


def test_a_cost_that_never_fits_leaves_the_first_answer():
    # Every cost leads to another number, in turns.
    assert found(steps((11.0, 7), (100.0, 10)), 5.0) == 10


@pytest.mark.parametrize("expected", [2.0, 5.0])
def test_a_cost_that_does_not_depend_on_clusters_is_taken_as_it_is(expected: float):
    count = steps((5.0, 30), (40.0, 10), (60.0, 6))
    assert found(count, expected, SizeLaw(50.0, 0.0)) == 6
