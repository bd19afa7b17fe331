"""Candidate graphs: both ways to find them against the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from likewise import Compare
from likewise.errors import InputError, MemoryBudgetError
from likewise.geometry import (
    candidate_graph,
    distance_matrix,
    link_to,
    merge_graphs,
    neighbours,
    resolve_features,
)
from naive import neighbours as naive


def entries(graph: csr_array) -> naive.Graph:
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    pairs = zip(rows.tolist(), graph.indices.tolist(), graph.data.tolist(), strict=True)
    return {(p, q): cost for p, q, cost in pairs}


def well_formed(graph: csr_array) -> bool:
    """What SciPy finds when it looks, not what the graph says of itself."""
    fresh = csr_array((graph.data, graph.indices, graph.indptr), shape=graph.shape)
    fresh.check_format(full_check=True)
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    return bool(fresh.has_canonical_format) and not (rows == graph.indices).any()


def lopsided(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.abs(A[:, :1] - 2.0 * B[:, :1].T) - B[:, 1:2].T


FEATURES = {
    "sqeuclidean": "sqeuclidean",
    "columns": "columns",
    "euclidean": "euclidean",
    "manhattan": "manhattan",
    "chebyshev": "chebyshev",
    "cosine": "cosine",
    "rbf": "rbf",
    "chi2": "chi2",
    "hamming": "hamming",
    "callable": lopsided,
    "scaled": Compare("a", "euclidean", local_scale=2),
    "sum": [Compare("a", "manhattan", [0]), Compare("b", "euclidean")],
}


def table(seed: int, n: int = 40, p: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).gamma(2.0, size=(n, p))


@pytest.mark.parametrize("name", sorted(FEATURES))
@pytest.mark.parametrize("k", [1, 7, 39, 100])
def test_nearest_rows(name: str, k: int, seed: int):
    X = table(seed)
    features = resolve_features(FEATURES[name], 3)
    graph = candidate_graph(features, X, None, k)
    assert well_formed(graph)
    dense = distance_matrix(features, X)
    assert entries(graph) == pytest.approx(naive.nearest(dense.tolist(), range(40), k), rel=1e-13)


@pytest.mark.parametrize("name", sorted(FEATURES))
@pytest.mark.parametrize("k", [1, 3, 6])
def test_nearest_targets(name: str, k: int, seed: int):
    X = table(seed)
    targets = np.array([31, 4, 17, 4, 39])
    features = resolve_features(FEATURES[name], 3)
    graph = link_to(features, X, None, targets, k)
    assert well_formed(graph)
    dense = distance_matrix(features, X)
    expected = naive.nearest(dense.tolist(), set(targets.tolist()), k)
    assert entries(graph) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("dimensions", [0, 15])
@given(data=st.data())
def test_few_values_and_many_equal_rows(dimensions: int, data: st.DataObject):
    """On a line of integers the costs per row are what they must be, whatever the ties."""
    values = data.draw(st.lists(st.integers(-3, 3), min_size=1, max_size=25))
    k = data.draw(st.integers(1, 30))
    X = np.array(values, dtype=float)[:, None]
    features = resolve_features("manhattan", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "TREE_DIMENSIONS", dimensions)
        graph = candidate_graph(features, X, [2.0], k)
    assert well_formed(graph)
    dense = distance_matrix(features, X, [2.0])
    expected = naive.nearest(dense.tolist(), range(len(X)), k)
    found = entries(graph)
    for p in range(len(X)):
        own = [(cost, q) for (row, q), cost in found.items() if row == p]
        best = [(cost, q) for (row, q), cost in expected.items() if row == p]
        assert sorted(cost for cost, _ in own) == sorted(cost for cost, _ in best)
        assert all(cost == dense[p, q] for cost, q in own)
        if dimensions == 0:
            assert sorted(own) == sorted(best)
        else:
            # Equal rows are linked to first rows first in a tree, too.
            assert {q for cost, q in own if cost == 0.0} == {q for cost, q in best if cost == 0.0}


@pytest.mark.parametrize("features", ["sqeuclidean", "chi2"])
def test_constant_rows(features: str):
    graph = candidate_graph(resolve_features(features, 2), np.ones((500, 2)), None, 3)
    assert well_formed(graph)
    assert graph.nnz == 1500
    assert not graph.data.any()
    assert graph.indices[:12].tolist() == [1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2]
    assert graph[[499]].indices.tolist() == [0, 1, 2]


def test_zeros_and_negative_costs_are_stored():
    X = np.array([[0.0], [0.0], [5.0]])
    graph = candidate_graph(resolve_features("sqeuclidean", 1), X, [-1.0], 2)
    assert graph.nnz == 6
    assert graph.data.tolist() == [0.0, -25.0, 0.0, -25.0, -25.0, -25.0]


@pytest.mark.parametrize("features", ["sqeuclidean", "chi2", "callable"])
def test_one_row_has_no_links(features: str):
    resolved = resolve_features(FEATURES[features], 3)
    graph = candidate_graph(resolved, table(0, n=1), None, 5)
    assert graph.shape == (1, 1)
    assert graph.nnz == 0


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_same_bits_for_any_number_of_threads_and_blocks(name: str, seed: int, monkeypatch):
    X = np.round(table(seed, n=90), 1)
    features = resolve_features(FEATURES[name], 3)
    whole = candidate_graph(features, X, None, 6)
    monkeypatch.setattr(neighbours, "_WORK", 9000)
    for n_jobs in (1, 2, 8):
        graph = candidate_graph(features, X, None, 6, n_jobs=n_jobs)
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(graph, part), getattr(whole, part))


def test_given_scales(seed: int):
    X = table(seed)
    features = resolve_features(FEATURES["scaled"], 3)
    scales = features.local_scales(X)
    given_, own = (candidate_graph(features, X, None, 4, scales=s) for s in (scales, None))
    np.testing.assert_array_equal(given_.data, own.data)


def test_huge_values_are_refused_and_tiny_ones_are_not():
    features = resolve_features("sqeuclidean", 1)
    with pytest.raises(InputError, match="is inf: the values of X or the weights are too large"):
        candidate_graph(features, np.array([[0.0], [1e300], [2e300]]), None, 1)
    graph = candidate_graph(features, np.array([[0.0], [1e-300], [1.0]]), None, 1)
    assert graph.nnz == 3


@pytest.mark.parametrize("k", [0, -1])
def test_too_few_candidates(k: int):
    with pytest.raises(InputError, match=f"candidates must be an integer >= 1.*got {k}"):
        candidate_graph(resolve_features("chi2", 3), table(0), None, k)


def test_a_graph_beyond_the_budget_is_refused(monkeypatch):
    monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", "10KiB")
    with pytest.raises(MemoryBudgetError, match=r"40 rows with 20 links each.*lower candidates"):
        candidate_graph(resolve_features("sqeuclidean", 3), table(0), None, 20)


def test_merge_keeps_the_first_value_and_zeros(seed: int, monkeypatch):
    rng = np.random.default_rng(seed)
    graphs = []
    for _ in range(3):
        mask = rng.random((30, 30)) < 0.2
        mask[rng.integers(30)] = False
        p, q = np.nonzero(mask)
        costs = rng.integers(-2, 3, size=len(p)).astype(float)
        indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
        graphs.append(csr_array((costs, q, indptr), shape=(30, 30)))
    expected = naive.merged([entries(graph) for graph in graphs])
    whole = merge_graphs(*graphs)
    assert entries(whole) == expected
    assert (whole.data == 0.0).any()
    monkeypatch.setattr(neighbours, "_WORK", 2000)
    np.testing.assert_array_equal(merge_graphs(*graphs).indices, whole.indices)
    assert entries(merge_graphs(graphs[0])) == entries(graphs[0])


def test_a_graph_with_global_candidates(seed: int):
    """Clusters larger than k: a few rows may serve all others."""
    X = table(seed)
    features = resolve_features("sqeuclidean", 3)
    near, far = candidate_graph(features, X, None, 3), link_to(features, X, None, np.arange(5), 5)
    graph = merge_graphs(near, far)
    assert well_formed(graph)
    assert set(entries(graph)) == set(entries(near)) | set(entries(far))
    dense = distance_matrix(features, X)
    assert all(cost == pytest.approx(dense[pair]) for pair, cost in entries(graph).items())
