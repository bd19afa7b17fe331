"""Units: equal rows merged where that is right, and an order that is not the user's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from likewise.estimators.units import units_of_costs, units_of_rows
from likewise.supervision import Links
from registry import some_pairs

# Rows 0 and 3 are equal, and rows 1 and 4 but for the sign of zero.
X = np.array([[2.0, 1.0], [0.0, 5.0], [2.0, 0.0], [2.0, 1.0], [-0.0, 5.0]])


def test_equal_rows_are_merged():
    units = units_of_rows(X, None, None, merge=True)
    assert units.row_of.tolist() == [1, 2, 0]
    assert units.unit_of.tolist() == [2, 0, 1, 2, 0]
    assert units.weight.tolist() == [2.0, 1.0, 2.0]
    assert len(units) == 3
    assert units.weighted


def test_equal_rows_are_kept_apart():
    units = units_of_rows(X, None, None, merge=False)
    assert units.row_of.tolist() == [1, 4, 2, 0, 3]
    assert units.unit_of.tolist() == [3, 0, 2, 4, 1]
    assert not units.weighted


def test_weights_add_up_and_weight_zero_leaves():
    units = units_of_rows(X, np.array([1.0, 0.0, 0.0, 2.5, 4.0]), None, merge=True)
    assert units.row_of.tolist() == [4, 0]
    assert units.unit_of.tolist() == [1, -1, -1, 1, 0]
    assert units.weight.tolist() == [4.0, 3.5]


def test_the_cheapest_of_equal_rows_stands_for_them():
    opening = np.array([3.0, 1.0, 1.0, 2.0, 1.0])
    units = units_of_rows(X, None, opening, merge=True)
    assert units.row_of.tolist() == [1, 2, 3]
    absent = units_of_rows(X, np.array([1.0, 1, 1, 0, 1]), opening, merge=True)
    assert absent.row_of.tolist() == [1, 2, 0]


@pytest.mark.parametrize("merge", [True, False])
def test_the_order_of_rows_does_not_matter(merge: bool, seed: int):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, size=(40, 2)).astype(float)
    order = rng.permutation(40)
    one = units_of_rows(rows, None, None, merge=merge)
    other = units_of_rows(rows[order], None, None, merge=merge)
    np.testing.assert_array_equal(rows[one.row_of], rows[order][other.row_of])
    np.testing.assert_array_equal(one.weight, other.weight)
    for units, table in ((one, rows), (other, rows[order])):
        np.testing.assert_array_equal(table[units.row_of][units.unit_of], table)


def permuted(costs, order):
    if sparse.issparse(costs):
        return sparse.csr_array(costs[order][:, order])
    return costs[np.ix_(order, order)]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_order_of_items_does_not_matter(kind: str, seed: int):
    rng = np.random.default_rng(seed)
    n = 30
    costs = rng.random((n, n))
    if kind == "sparse":
        costs = some_pairs(rng, costs, 0.2)
    opening, weight = rng.random(n), rng.integers(0, 3, size=n).astype(float)
    order = rng.permutation(n)
    for own_opening in (None, opening):
        for own_weight in (None, weight):
            given = (own_opening, own_weight)
            moved = [None if part is None else part[order] for part in given]
            one = units_of_costs(costs, *given)
            other = units_of_costs(permuted(costs, order), *moved)
            np.testing.assert_array_equal(one.row_of, order[other.row_of])
            np.testing.assert_array_equal(one.weight, other.weight)
            back = one.unit_of >= 0
            np.testing.assert_array_equal(one.row_of[one.unit_of[back]], np.flatnonzero(back))


def test_opening_costs_and_weights_tell_items_apart():
    """Costs that are all alike: the order comes from what else is known of an item."""
    costs = np.ones((4, 4))
    for argument in ("opening", "weight"):
        values = np.array([3.0, 1.0, 2.0, 4.0])
        orders = []
        for order in ([0, 1, 2, 3], [2, 3, 1, 0]):
            own = {"opening": None, "weight": None, argument: values[order]}
            orders.append(values[order][units_of_costs(costs, **own).row_of].tolist())
        assert orders[0] == orders[1]


def test_the_diagonal_does_not_matter():
    costs = np.random.default_rng(0).random((6, 6))
    other = costs.copy()
    np.fill_diagonal(other, np.nan)
    one, another = units_of_costs(costs, None, None), units_of_costs(other, None, None)
    np.testing.assert_array_equal(one.row_of, another.row_of)


def test_zero_has_no_sign():
    costs = np.random.default_rng(1).random((5, 5))
    costs[0, 1] = 0.0
    other = costs.copy()
    other[0, 1] = -0.0
    one = units_of_costs(costs, np.zeros(5), None)
    another = units_of_costs(other, -np.zeros(5), None)
    np.testing.assert_array_equal(one.row_of, another.row_of)


def test_equal_rows_are_merged_only_where_links_allow_it():
    X = np.array([[1.0], [1.0], [1.0], [1.0], [1.0], [2.0]])
    links = Links.of(6, [(0, 1), (1, 5)], [(2, 0)])
    units = units_of_rows(X, None, None, merge=True, links=links)
    assert units.unit_of[0] == units.unit_of[1]
    assert units.unit_of[3] == units.unit_of[4]
    assert len(set(units.unit_of[[0, 2, 3, 5]].tolist())) == 4
    assert sorted(units.weight) == [1.0, 1.0, 2.0, 2.0]


@pytest.mark.parametrize("costs_given", [False, True])
def test_links_decide_the_order_of_what_else_is_equal(costs_given: bool):
    rng = np.random.default_rng(0)
    X = np.array([[0.0]] * 5 + [[1.0]] * 5 + [[3.0]])
    must, cannot = np.array([(0, 1), (5, 2)]), np.array([(0, 2), (3, 6)])
    chosen = []
    for _ in range(5):
        order = rng.permutation(11)
        place = np.argsort(order)
        links = Links.of(11, place[must], place[cannot])
        rows = X[order]
        if costs_given:
            units = units_of_costs((rows - rows.T) ** 2, None, None, links)
        else:
            units = units_of_rows(rows, None, None, merge=False, links=links)
        chosen.append(order[units.row_of])
    # Rows 4 and 7 to 9 have no link; 0 and 1 are in one block: nothing tells those apart.
    alike = np.array([0, 0, 2, 3, 4, 5, 6, 7, 7, 7, 10])
    for other in chosen[1:]:
        np.testing.assert_array_equal(alike[other], alike[chosen[0]])
