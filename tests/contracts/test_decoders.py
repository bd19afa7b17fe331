"""Identity I3, for every registered decoder: bound <= minimum <= energy, exact ones in the middle.

The minimum is that of brute force over all exemplar sets.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import likewise as lw
from likewise.decoders.base import STATUS_REMEDIES
from likewise.decoders.exemplar import decode
from likewise.potentials import AssignmentCosts
from naive import exemplar as naive
from registry import DECODERS, DecoderCase, dense_costs, sparse_costs
from strategies import assignment_costs

N_INSTANCES = 500
RELATIVE = 1e-9

cases = pytest.mark.parametrize("case", DECODERS.values(), ids=DECODERS)


def relative(energy: float) -> float:
    """A tolerance relative to the energy, or to the least of terms of about 1 that cancel."""
    return RELATIVE * max(abs(energy), 1e-3)


@cases
def test_random_instances(case: DecoderCase, seed: int):
    rng = np.random.default_rng(seed)
    optimal = 0
    for index in range(N_INSTANCES):
        costs = case.make(rng, index)
        d = naive.dense_of(costs)
        found = case.decode(costs, solver=case.solver, gap=0.0, random_state=index)
        least = naive.least_energy(d, costs.opening)
        assert found.lower_bound <= least + relative(least)
        assert found.energy >= least - relative(least)
        recomputed = naive.energy_of_service(d, costs.opening, found.partition.served_by)
        assert found.energy == pytest.approx(recomputed, rel=RELATIVE, abs=1e-12)
        assert found.status in STATUS_REMEDIES
        optimal += found.energy <= least + relative(least)
        if case.optimal == 1.0:
            assert found.status == "converged"
            assert found.lower_bound == pytest.approx(least, rel=RELATIVE, abs=1e-12)
    assert optimal >= case.optimal * N_INSTANCES


@pytest.mark.parametrize("make", [dense_costs, sparse_costs])
@pytest.mark.parametrize("solver", ["exact", "auto"])
def test_random_instances_through_the_estimator(make, solver: str, seed: int):
    rng = np.random.default_rng(seed)
    optimal, n_instances = 0, 200
    for index in range(n_instances):
        costs = make(rng, index, int(rng.integers(2, 10)))
        d = naive.dense_of(costs)
        clusterer = lw.ExemplarClusterer(
            features="precomputed", opening_cost=costs.opening, solver=solver, gap=0.0
        ).fit(costs.service)
        least = naive.least_energy(d, costs.opening)
        served_by = clusterer.exemplars_[clusterer.labels_]
        recomputed = naive.energy_of_service(d, costs.opening, served_by.tolist())
        assert clusterer.energy_ == pytest.approx(recomputed, rel=RELATIVE, abs=1e-12)
        assert clusterer.lower_bound_ <= least + relative(least)
        assert clusterer.energy_ >= least - relative(least)
        optimal += clusterer.energy_ <= least + relative(least)
    assert optimal >= {"exact": 1.0, "auto": 0.98}[solver] * n_instances


@given(costs=assignment_costs())
def test_any_costs(costs: AssignmentCosts):
    d = naive.dense_of(costs)
    least = naive.least_energy(d, costs.opening)
    # Terms of any size may cancel: relative to their sum, signs left out.
    scale = RELATIVE * float(np.abs(costs.opening).sum() + np.abs(d[np.isfinite(d)]).sum())
    for solver in ("fast", "auto", "exact"):
        found = decode(costs, solver=solver, gap=0.0)
        assert found.lower_bound - scale <= least <= found.energy + scale
        if solver == "exact":
            assert found.energy <= least + scale
            assert found.status == "converged"
        assert found.energy == costs.energy_of(found.partition)


@cases
def test_the_result_is_well_formed(case: DecoderCase):
    costs = case.make(np.random.default_rng(3), 3, 9)
    found = case.decode(costs, solver=case.solver)
    partition = found.partition
    assert partition.n_items == costs.n_items
    assert sorted(set(partition.labels)) == list(range(partition.n_clusters))
    np.testing.assert_array_equal(
        partition.labels[partition.representatives], np.arange(partition.n_clusters)
    )
    assert found.lower_bound <= found.energy
    assert found.gap >= 0.0
    assert found.n_iter >= 1
    assert len({len(column) for column in found.history.values()}) == 1
    assert list(found.history) == ["stage", "seconds", "energy", "lower_bound"]


@cases
def test_history_only_improves(case: DecoderCase):
    costs = case.make(np.random.default_rng(11), 0, 60)
    found = case.decode(costs, solver=case.solver, gap=0.05)
    history = found.history
    assert np.all(np.diff(history["energy"]) <= 0)
    assert np.all(np.diff(history["lower_bound"]) >= 0)
    assert np.all(np.diff(history["seconds"]) >= 0)
    assert history["energy"][-1] == pytest.approx(found.energy, rel=1e-9)


@cases
def test_costs_are_left_alone(case: DecoderCase):
    costs = case.make(np.random.default_rng(5), 1, 20)
    stored = costs.service.data if costs.is_sparse else costs.service
    before = stored.copy(), costs.opening.copy()
    for array in (stored, costs.opening):
        array.setflags(write=False)
    case.decode(costs, solver=case.solver)
    np.testing.assert_array_equal(stored, before[0])
    np.testing.assert_array_equal(costs.opening, before[1])


@pytest.mark.parametrize("solver", ["fast", "auto", "exact"])
@pytest.mark.parametrize("diagonal", [np.nan, np.inf, -5.0])
def test_the_diagonal_is_never_read(diagonal: float, solver: str):
    costs = dense_costs(np.random.default_rng(6), 0, 12)
    other = AssignmentCosts(costs.service.copy(), costs.opening)
    np.fill_diagonal(other.service, diagonal)
    found = [decode(each, solver=solver) for each in (costs, other)]
    assert found[0].energy == found[1].energy
    np.testing.assert_array_equal(found[0].partition.labels, found[1].partition.labels)


@cases
def test_bigger_instances_keep_the_order(case: DecoderCase):
    """Where brute force ends: the bound of one solver never exceeds the energy of another."""
    rng = np.random.default_rng(17)
    for index in range(12):
        costs = case.make(rng, index, 30)
        exact = decode(costs, solver="exact", gap=0.0)
        found = case.decode(costs, solver=case.solver, gap=0.0)
        slack = relative(exact.energy)
        assert exact.status == "converged"
        assert found.lower_bound <= exact.energy + slack
        assert found.energy >= exact.energy - slack


@pytest.mark.parametrize("solver", ["fast", "auto", "exact"])
def test_a_start_is_only_a_start(solver: str):
    costs = dense_costs(np.random.default_rng(2), 3, 9)
    least = naive.least_energy(naive.dense_of(costs), costs.opening)
    for start in ([0], [3, 4], list(range(9))):
        found = decode(costs, solver=solver, gap=0.0, start=np.array(start))
        assert found.lower_bound <= least + relative(least)
        assert found.energy >= least - relative(least)
        if solver != "fast":
            assert found.energy == pytest.approx(least, rel=RELATIVE)


def test_prices_prove_the_bound(seed: int):
    rng = np.random.default_rng(seed)
    proven = 0
    for index in range(60):
        make = (dense_costs, sparse_costs)[index % 2]
        costs = make(rng, index, 25)
        found = decode(costs, solver="auto", gap=1e-3)
        if found.prices is None:
            continue
        proven += 1
        serve = naive.dense_of(costs).T
        np.fill_diagonal(serve, 0.0)
        least = serve.min(axis=0)
        # From every row its least cost; an exemplar then serves itself at no cost.
        serve = serve - least
        np.fill_diagonal(serve, 0.0)
        if costs.is_sparse:
            # A pair that costs its client more than opening itself is as good as missing.
            serve[(serve >= costs.opening - least) & ~np.eye(25, dtype=bool)] = np.inf
        v = found.prices - least
        bound = naive.lagrangian(serve, costs.opening - least, v, range(25)) + least.sum()
        assert found.lower_bound <= bound + relative(found.energy)
    assert proven > 0
