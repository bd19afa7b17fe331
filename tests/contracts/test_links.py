"""Must-links and cannot-links: I3 under links, feasible answers, and refusals that help.

The minimum is that of brute force over all ways to serve everybody that keep to the links.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likewise as lw
from likewise.decoders.exemplar import decode
from likewise.errors import InputError, MemoryBudgetError
from likewise.potentials import AssignmentCosts, LinkedCosts
from likewise.supervision import Links
from naive import exemplar as naive
from registry import dense_costs, some_pairs, sparse_costs
from strategies import assignment_costs

N_INSTANCES = 500
RELATIVE = 1e-9
Generator = np.random.Generator
Make = Callable[..., AssignmentCosts]


def random_links(rng: Generator, n: int, most: int = 5) -> Links:
    """Links that do not contradict each other; none at all now and then."""
    must = rng.integers(0, n, size=(int(rng.integers(0, most - 1)), 2))
    blocks = Links.of(n, must).blocks
    cannot = rng.integers(0, n, size=(int(rng.integers(0, most + 1)), 2))
    return Links.of(n, must, cannot[blocks[cannot[:, 0]] != blocks[cannot[:, 1]]])


def least_energy(costs: AssignmentCosts, links: Links) -> float:
    together, apart = links.together.tolist(), links.apart.tolist()
    return naive.least_linked_energy(naive.dense_of(costs), costs.opening, together, apart)


def tolerance(energy: float) -> float:
    """Relative to the energy, or to the least of terms of about 1 that cancel."""
    return RELATIVE * max(abs(energy), 1e-3)


@pytest.mark.parametrize("make", [dense_costs, sparse_costs])
@pytest.mark.parametrize(("solver", "optimal"), [("exact", 1.0), ("auto", 0.98), ("fast", 0.9)])
def test_random_instances(make: Make, solver: str, optimal: float, seed: int):
    rng = np.random.default_rng(seed)
    solved, feasible = 0, 0
    for index in range(N_INSTANCES):
        costs = make(rng, index, int(rng.integers(2, 8)))
        links = random_links(rng, costs.n_items)
        least = least_energy(costs, links)
        problem = LinkedCosts(costs, links)
        if least == np.inf:
            with pytest.raises(InputError, match="no partition was found that keeps"):
                decode(problem, solver=solver)
            continue
        feasible += 1
        found = decode(problem, solver=solver, gap=0.0, random_state=index)
        assert links.hold_for(found.partition.labels)
        assert found.energy == problem.energy_of(found.partition)
        assert found.lower_bound <= least + tolerance(least)
        assert found.energy >= least - tolerance(least)
        solved += found.energy <= least + tolerance(least)
        if solver == "exact":
            assert found.status == "converged"
            assert found.lower_bound == pytest.approx(least, rel=RELATIVE, abs=1e-12)
    assert feasible > N_INSTANCES / 2
    assert solved >= optimal * feasible


@given(costs=assignment_costs(), number=st.integers(0, 10_000))
def test_any_costs(costs: AssignmentCosts, number: int):
    links = random_links(np.random.default_rng(number), costs.n_items)
    d = naive.dense_of(costs)
    least = least_energy(costs, links)
    # Terms of any size may cancel: relative to their sum, signs left out.
    scale = RELATIVE * float(np.abs(costs.opening).sum() + np.abs(d[np.isfinite(d)]).sum())
    for solver in ("fast", "auto", "exact"):
        try:
            found = decode(LinkedCosts(costs, links), solver=solver, gap=0.0)
        except InputError:
            assert least == np.inf
            continue
        assert found.lower_bound - scale <= least <= found.energy + scale
        if solver == "exact":
            assert found.energy <= least + scale
            assert found.status == "converged"


@pytest.mark.parametrize("make", [dense_costs, sparse_costs])
@pytest.mark.parametrize("solver", ["exact", "auto", "fast"])
def test_random_instances_through_the_estimator(make: Make, solver: str, seed: int):
    """With sample weights, which the brute force sees as rows that pay more."""
    rng = np.random.default_rng(seed)
    for index in range(150):
        costs = make(rng, index, int(rng.integers(2, 8)))
        weight = rng.integers(1, 4, size=costs.n_items).astype(float)
        links = random_links(rng, costs.n_items)
        model = lw.ExemplarClusterer(
            "precomputed", opening_cost=costs.opening, solver=solver, gap=0.0
        )
        d = weight[:, None] * naive.dense_of(costs)
        least = naive.least_linked_energy(
            d, costs.opening, links.together.tolist(), links.apart.tolist()
        )
        given_links = {"must_link": links.together, "cannot_link": links.apart.tolist()}
        if least == np.inf:
            with pytest.raises(InputError, match="link"):
                model.fit(costs.service, sample_weight=weight, **given_links)
            continue
        model.fit(costs.service, sample_weight=weight, **given_links)
        assert links.hold_for(model.labels_)
        served_by = model.exemplars_[model.labels_]
        recomputed = naive.energy_of_service(d, costs.opening, served_by.tolist())
        assert model.energy_ == pytest.approx(recomputed, rel=RELATIVE, abs=1e-12)
        assert model.lower_bound_ <= least + tolerance(least)
        assert model.energy_ >= least - tolerance(least)
        if solver == "exact":
            assert model.energy_ <= least + tolerance(least)
            assert model.status_ == "converged"


@pytest.mark.parametrize("features", ["sqeuclidean", "columns"])
def test_equal_rows_are_told_apart_by_their_links(features: str, seed: int):
    """Rows on few places: merging must change nothing that links can see."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        n = int(rng.integers(2, 8))
        X = rng.integers(0, 2, size=(n, 2)).astype(float)
        links, opening = random_links(rng, n), float(rng.integers(0, 3))
        model = lw.ExemplarClusterer(features, opening_cost=opening, solver="exact", gap=0.0)
        model.fit(X, must_link=links.together, cannot_link=links.apart)
        d = ((X[:, None] - X) ** 2).sum(axis=2)
        least = naive.least_linked_energy(
            d, np.full(n, opening), links.together.tolist(), links.apart.tolist()
        )
        assert links.hold_for(model.labels_)
        assert model.energy_ == pytest.approx(least, rel=RELATIVE, abs=1e-12)


@pytest.mark.parametrize("precomputed", [False, True])
def test_permuted_rows_permute_the_partition(precomputed: bool, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        n = 40
        X = rng.normal(size=(n, 2))
        # Rows that only their links tell apart.
        X[20:24] = X[19]
        links = random_links(rng, n, most=12)
        data = ((X[:, None] - X) ** 2).sum(axis=2) if precomputed else X
        order = rng.permutation(n)
        place = np.argsort(order)
        model = lw.ExemplarClusterer(
            "precomputed" if precomputed else "sqeuclidean", opening_cost=2.0
        )
        one = model.fit(data, must_link=links.together, cannot_link=links.apart)
        energy, labels, bound = one.energy_, one.labels_, one.lower_bound_
        moved = data[order][:, order] if precomputed else data[order]
        other = model.fit(
            moved,
            must_link=rng.permutation(place[links.together][:, ::-1]),
            cannot_link=place[links.apart],
        )
        assert other.energy_ == pytest.approx(energy, rel=1e-12)
        assert other.lower_bound_ == pytest.approx(bound, rel=1e-12)
        assert lw.metrics.rand_loss(labels[order], other.labels_) == 0.0


@pytest.mark.parametrize("nothing", [None, [], np.empty((0, 2), int), [(3, 3)]])
def test_links_that_rule_out_nothing_change_no_bit(nothing):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 2)), 1)
    for options in ({}, {"candidates": 4}, {"features": "precomputed"}):
        data = ((X[:, None] - X) ** 2).sum(axis=2) if "features" in options else X
        one = lw.ExemplarClusterer(**options).fit(data)
        other = lw.ExemplarClusterer(**options).fit(data, must_link=nothing)
        np.testing.assert_array_equal(one.labels_, other.labels_)
        assert (one.energy_, one.lower_bound_) == (other.energy_, other.lower_bound_)
        assert one.history_["energy"] == other.history_["energy"]


def test_a_larger_problem_is_solved_to_a_small_gap(seed: int):
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=8.0, size=(8, 2))
    y = np.repeat(np.arange(8), 40)
    X = centres[y] + rng.normal(size=(320, 2))
    pairs = rng.integers(0, 320, size=(150, 2))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    links = Links.of(320, pairs[same], pairs[~same])
    model = lw.ExemplarClusterer(opening_cost=60.0).fit(
        X, must_link=links.together, cannot_link=links.apart
    )
    free = lw.ExemplarClusterer(opening_cost=60.0).fit(X)
    assert links.hold_for(model.labels_)
    assert model.gap_ < 0.02
    assert model.energy_ >= free.lower_bound_
    assert lw.metrics.rand_loss(y, model.labels_) <= lw.metrics.rand_loss(y, free.labels_) + 0.02


def test_everybody_apart_is_everybody_alone():
    n = 12
    everyone = np.array([(p, q) for p in range(n) for q in range(p)])
    model = lw.ExemplarClusterer(opening_cost=100.0).fit(
        np.arange(n)[:, None], cannot_link=everyone
    )
    assert model.n_clusters_ == n
    assert model.status_ == "converged"
    assert model.energy_ == 100.0 * n


def test_everybody_joined_is_one_cluster():
    X = np.array([[0.0], [1.0], [5.0], [6.0], [100.0]])
    chain = [(p, p + 1) for p in range(4)]
    model = lw.ExemplarClusterer(opening_cost=1.0).fit(X, must_link=chain)
    assert model.n_clusters_ == 1
    assert model.energy_ == pytest.approx(1.0 + 6.0**2 + 5.0**2 + 1.0 + 94.0**2)


def test_contradictions_are_named_with_their_chain():
    X = np.arange(6.0)[:, None]
    with pytest.raises(InputError, match=re.escape("must_link joins them: 4 - 0 - 2")):
        lw.ExemplarClusterer().fit(X, must_link=[(0, 4), (2, 0)], cannot_link=[(1, 5), (4, 2)])
    with pytest.raises(InputError, match=re.escape("cannot_link[0] is [0, 6]")):
        lw.ExemplarClusterer().fit(X, cannot_link=[(0, 6)])


def test_rows_of_weight_zero_follow_the_rows_they_are_joined_with():
    X = np.array([[0.0], [0.1], [9.0], [9.1], [9.2]])
    weight = [1, 1, 1, 1, 0]
    model = lw.ExemplarClusterer(opening_cost=1.0)
    assert model.fit(X, sample_weight=weight).labels_[4] == model.labels_[3]
    energy = model.energy_
    model.fit(X, sample_weight=weight, must_link=[(4, 0)])
    assert model.labels_[4] == model.labels_[0] != model.labels_[3]
    assert model.energy_ == energy
    # Rows joined by way of one that counts as absent are joined.
    model.fit(X, sample_weight=weight, must_link=[(4, 0), (4, 2)])
    assert len(set(model.labels_[[0, 2, 4]].tolist())) == 1
    model.fit(X, sample_weight=weight, must_link=[(4, 3)], cannot_link=[(4, 2)])
    assert model.labels_[4] == model.labels_[3] != model.labels_[2]
    d = (X - X.T) ** 2
    precomputed = lw.ExemplarClusterer("precomputed", opening_cost=1.0)
    precomputed.fit(d, sample_weight=weight, must_link=[(4, 0)])
    assert precomputed.labels_[4] == precomputed.labels_[0]
    with pytest.raises(InputError, match=r"concern row 4, but sample_weight is 0"):
        model.fit(X, sample_weight=weight, cannot_link=[(4, 2)])


def test_blocks_that_nobody_may_serve_are_named():
    d = sparse.csr_array((np.ones(4), ([0, 1, 2, 3], [1, 0, 3, 2])), shape=(4, 4))
    model = lw.ExemplarClusterer("precomputed", opening_cost=1.0)
    with pytest.raises(InputError, match=r"must_link joins rows 1, 2, but no row may serve"):
        model.fit(d, must_link=[(1, 2)])
    # Row 2 serves row 1 as well: then it can, and takes row 1 away from row 0.
    served = ([0, 1, 2, 3, 1], [1, 0, 3, 2, 2])
    d = sparse.csr_array(([1.0, 1.0, 1.0, 0.5, 5.0], served), shape=(4, 4))
    model.fit(d, must_link=[(1, 2)])
    np.testing.assert_array_equal(model.exemplars_[model.labels_], [0, 2, 2, 2])
    assert model.energy_ == 7.5


def test_a_server_in_common_is_found_where_no_row_of_the_block_may_serve_it():
    """Rows 0 and 1 have only row 2 in common, which is expensive: no search starts there."""
    service = sparse.csr_array(([1.0, 50.0, 1.0, 50.0], ([0, 0, 1, 1], [3, 2, 4, 2])), shape=(5, 5))
    costs = AssignmentCosts(service, np.array([1.0, 1.0, 900.0, 1.0, 1.0]))
    links = Links.of(5, [(0, 1)])
    for solver in ("fast", "auto", "exact"):
        found = decode(LinkedCosts(costs, links), solver=solver)
        assert found.energy == 1002.0
        np.testing.assert_array_equal(found.partition.served_by, [2, 2, 2, 3, 4])


def test_candidates_are_refused_with_links():
    X = np.arange(10.0)[:, None]
    with pytest.raises(InputError, match=r"candidates=3 cannot be combined with must_link"):
        lw.ExemplarClusterer(candidates=3).fit(X, cannot_link=[(0, 1)])


@pytest.mark.parametrize("precomputed", [False, True])
def test_memory_is_asked_for(precomputed: bool, monkeypatch: pytest.MonkeyPatch):
    X = np.random.default_rng(0).normal(size=(1000, 2))
    data = some_pairs(np.random.default_rng(0), np.ones((1000, 1000)), 0.01) if precomputed else X
    monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", "20MB")
    with pytest.raises(MemoryBudgetError, match="under links"):
        lw.ExemplarClusterer("precomputed" if precomputed else "sqeuclidean").fit(
            data, cannot_link=[(0, 1)]
        )


@pytest.mark.parametrize("solver", ["fast", "auto", "exact"])
def test_a_time_limit_leaves_a_feasible_answer(solver: str):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2))
    links = random_links(rng, 200, most=60)
    model = lw.ExemplarClusterer(opening_cost=1.0, solver=solver, time_limit=0.0)
    with pytest.warns(lw.errors.CertificateWarning):
        model.fit(X, must_link=links.together, cannot_link=links.apart)
    assert links.hold_for(model.labels_)
    assert model.status_ == "time_limit"
    assert model.lower_bound_ <= model.energy_ < np.inf


def test_ctrl_c_leaves_a_feasible_answer():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2))
    links = random_links(rng, 120, most=40)

    def interrupt(progress):
        raise KeyboardInterrupt

    model = lw.ExemplarClusterer(opening_cost=1.0, callbacks=interrupt)
    with pytest.warns(lw.errors.CertificateWarning):
        model.fit(X, must_link=links.together, cannot_link=links.apart)
    assert links.hold_for(model.labels_)
    assert model.status_ == "interrupted"


def test_the_exact_stage_keeps_to_links_in_a_child_process(monkeypatch: pytest.MonkeyPatch):
    from likewise.decoders import exact

    rng = np.random.default_rng(3)
    costs = AssignmentCosts(rng.random((7, 7)), np.full(7, 0.7))
    links = Links.of(7, [(0, 1)], [(1, 2), (2, 3), (3, 4), (4, 2)])
    monkeypatch.setattr(exact, "PAIRS_IN_PROCESS", -1)
    found = decode(LinkedCosts(costs, links), solver="exact", gap=0.0)
    assert found.energy == pytest.approx(least_energy(costs, links), rel=RELATIVE)
    assert found.status == "converged"


def test_links_pass_through_pipelines():
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    with config_context(enable_metadata_routing=True):
        model = lw.ExemplarClusterer(opening_cost=0.1)
        model.set_fit_request(must_link=True, cannot_link=True, sample_weight=False)
        pipeline = make_pipeline(StandardScaler(), model)
        pipeline.fit(X, must_link=[(0, 2)], cannot_link=[(0, 1)])
    labels = pipeline[-1].labels_
    assert labels[0] == labels[2]
    assert labels[0] != labels[1]
    assert model.fit_predict(X, cannot_link=[(0, 1)]).tolist() == model.labels_.tolist()
