"""Facility location under links: costs of blocks, cliques, the bound, fixing and the search."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.decoders.exact import ReducedProblem, run_highs
from likewise.decoders.facilities import DRAWS_PER_ROUND, Opened
from likewise.decoders.linked import Cliques, LinkedFacilities
from likewise.errors import InputError
from likewise.partitions import Partition
from likewise.potentials import AssignmentCosts, LinkedCosts
from likewise.supervision import Links
from naive import exemplar as naive
from registry import dense_costs, sparse_costs

N = 7


def problem_of(make, rng: np.random.Generator, index: int, n: int = N) -> LinkedCosts:
    """Random costs with a block or two and some pairs kept apart."""
    must = rng.integers(0, n, size=(2, 2))
    blocks = Links.of(n, must).blocks
    cannot = rng.integers(0, n, size=(5, 2))
    cannot = cannot[blocks[cannot[:, 0]] != blocks[cannot[:, 1]]]
    return LinkedCosts(make(rng, index, n), Links.of(n, must, cannot))


def least_energy(problem: LinkedCosts) -> float:
    links = problem.links
    return naive.least_linked_energy(
        naive.dense_of(problem.costs),
        problem.costs.opening,
        links.together.tolist(),
        links.apart.tolist(),
    )


def check_solution(problem: LinkedCosts, facilities: LinkedFacilities, found: Opened) -> None:
    """It keeps to the links, its exemplars serve themselves, and it costs what it says."""
    served_by = facilities.served_by(found)
    assert np.array_equal(served_by[np.unique(served_by)], np.unique(served_by))
    np.testing.assert_array_equal(np.flatnonzero(found.is_open), np.unique(served_by))
    energy = problem.energy_of(Partition.from_service(served_by))
    assert found.energy + facilities.constant == pytest.approx(energy, rel=1e-9, abs=1e-9)


def test_the_energy_of_a_violation_is_infinite():
    costs = AssignmentCosts(np.ones((3, 3)), np.ones(3))
    problem = LinkedCosts(costs, Links.of(3, [(0, 1)], [(1, 2)]))
    assert problem.n_items == 3
    assert problem.energy_of(Partition.from_service([0, 0, 2])) == 3.0
    assert problem.energy_of(Partition.from_service([0, 1, 2])) == np.inf
    assert problem.energy_of(Partition.from_service([0, 0, 0])) == np.inf


@given(number=st.integers(0, 10_000))
def test_cliques_cover_the_blocks_kept_apart(number: int):
    rng = np.random.default_rng(number)
    m = int(rng.integers(1, 12))
    pairs = rng.integers(0, m, size=(int(rng.integers(0, 20)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    cliques = Cliques.of(np.arange(m), pairs)
    assert sorted(cliques.place) == list(range(m))
    apart = {tuple(sorted(pair)) for pair in cliques.place[pairs].tolist()}
    assert {tuple(sorted(pair)) for pair in cliques.apart.tolist()} == apart
    assert {p for pair in apart for p in pair} == set(range(cliques.n_free, m))
    for begin, end in zip(cliques.bounds[:-1], cliques.bounds[1:], strict=True):
        assert apart.issuperset(combinations(range(begin, end), 2))
    assert cliques.bounds[0] == cliques.n_free
    assert cliques.bounds[-1] == m
    start, near = cliques.graph
    around = {(p, int(q)) for p in range(m) for q in near[start[p] : start[p + 1]]}
    assert around == apart | {(q, p) for p, q in apart}


def test_a_pack_for_every_pair_kept_apart():
    """A triangle is one pack; the pair that is left over is another."""
    cliques = Cliques.of(np.arange(5), np.array([(0, 1), (1, 2), (0, 2), (2, 3)]))
    which, client = np.repeat([0, 1], 5), np.tile(np.arange(5), 2)
    pack, pair = cliques.packs(which, client)
    names = {
        frozenset(
            (int(which[t]), int(np.flatnonzero(cliques.place == client[t])[0])) for t in group
        )
        for group in (pair[pack == number] for number in np.unique(pack))
    }
    assert names == {
        frozenset((j, p) for p in pack) for j in (0, 1) for pack in ((0, 1, 2), (2, 3))
    }


def test_what_blocks_pay():
    service = np.array([[9.0, 1.0, 2.0], [4.0, 9.0, 8.0], [16.0, 32.0, 9.0]])
    problem = LinkedCosts(
        AssignmentCosts(service, np.array([1.0, 2.0, 3.0])), Links.of(3, [(0, 1)])
    )
    facilities = LinkedFacilities(problem)
    # The block of 0 and 1 pays 4, 1 or 10; row 2 pays 16, 32 or nothing. Less the least of each:
    np.testing.assert_array_equal(facilities.least, [1.0, 0.0])
    np.testing.assert_array_equal(facilities.serve, [[0.0, 16.0], [0.0, 32.0], [9.0, 0.0]])
    # An exemplar of the block pays what the rest of the block pays.
    np.testing.assert_array_equal(facilities.opening, [1.0 + 3.0, 2.0 + 0.0, 3.0])


@pytest.mark.parametrize("make", [dense_costs, sparse_costs])
def test_every_multiplier_is_a_certificate(make, seed: int):
    rng = np.random.default_rng(seed)
    for index in range(60):
        problem = problem_of(make, rng, index)
        least = least_energy(problem)
        facilities = LinkedFacilities(problem)
        m = len(facilities.least)
        everyone = np.arange(len(facilities.opening), dtype=np.int32)
        slack, served = np.empty(len(everyone)), np.empty(m)
        for scale in (0.0, 0.5, 2.0, 8.0):
            v = scale * rng.random(m)
            bound = facilities.bound(v, everyone, slack, served) + facilities.constant
            assert bound <= least + 1e-9 * max(1.0, abs(least))
            below = np.sum(np.minimum(slack, 0.0)) + v.sum() + facilities.constant
            assert bound == pytest.approx(below, rel=1e-9, abs=1e-9)
        if np.isfinite(least):
            v = facilities.first_multipliers(facilities.first_solution())
            assert np.all(v >= 0.0)
            bound = facilities.bound(v, everyone, slack, served) + facilities.constant
            assert bound <= least + 1e-9 * max(1.0, abs(least))


def test_the_subgradient_is_one(seed: int):
    """L lies below its tangent: L(w) <= L(v) + (1 - served(v)) (w - v)."""
    rng = np.random.default_rng(seed)
    for index in range(60):
        facilities = LinkedFacilities(problem_of(dense_costs, rng, index))
        m, everyone = len(facilities.least), np.arange(N, dtype=np.int32)
        slack, served, other = np.empty(N), np.empty(m), np.empty(m)
        v, w = 2.0 * rng.random((2, m))
        here = facilities.bound(v, everyone, slack, served)
        there = facilities.bound(w, everyone, slack, other)
        assert there <= here + (1.0 - served) @ (w - v) + 1e-9


@pytest.mark.parametrize("make", [dense_costs, sparse_costs])
def test_searches_visit_feasible_solutions(make, seed: int):
    rng = np.random.default_rng(seed)
    for index in range(60):
        problem = problem_of(make, rng, index)
        least = least_energy(problem)
        facilities = LinkedFacilities(problem)
        if least == np.inf:
            with pytest.raises(InputError):
                facilities.first_solution()
            continue
        first = facilities.first_solution()
        check_solution(problem, facilities, first)
        pool = np.flatnonzero(np.isfinite(facilities.opening)).astype(np.int32)
        kicked = facilities.search(first, pool, rng.random((5, DRAWS_PER_ROUND)), 0.1)
        check_solution(problem, facilities, kicked)
        assert kicked.energy <= first.energy + 1e-9
        # From any start, two exemplars in a block included.
        start = Opened(rng.random(len(facilities.opening)) < 0.5, np.inf)
        found = facilities.search(start, pool, rng.random((2, DRAWS_PER_ROUND)), 0.0)
        if np.all(found.is_open[N:] == 0):
            check_solution(problem, facilities, found)


def test_everybody_alone_is_feasible(seed: int):
    rng = np.random.default_rng(seed)
    for index in range(30):
        problem = problem_of(dense_costs, rng, index)
        facilities = LinkedFacilities(problem)
        check_solution(problem, facilities, facilities.all_open())


@pytest.mark.parametrize("make", [dense_costs, sparse_costs])
def test_highs_agrees_with_brute_force(make, seed: int):
    rng = np.random.default_rng(seed)
    for index in range(30):
        problem = problem_of(make, rng, index)
        facilities = LinkedFacilities(problem)
        alive = np.flatnonzero(np.isfinite(facilities.opening[:N])).astype(np.int32)
        v, slack = np.zeros(len(facilities.least)), np.zeros(len(facilities.opening))
        which, client, cost = facilities.useful_pairs(alive, v, slack, np.inf)
        reduced = ReducedProblem(facilities.opening[alive], which, client, cost, len(v))
        result = run_highs(facilities.constrained(reduced, alive), np.inf)
        least = least_energy(problem)
        if least == np.inf:
            assert result.opened is None
            continue
        total = facilities.opening[alive][result.opened].sum() + cost[result.served].sum()
        assert total + facilities.constant == pytest.approx(least, rel=1e-9, abs=1e-9)
