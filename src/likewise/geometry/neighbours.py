"""Candidate graphs: for every row, the few rows that may serve it.

A graph is a `scipy.sparse.csr_array` (n, n) whose stored entry [p, q] is d[p, q], "p served by q".
Costs of 0 are stored like any other; the diagonal is not. Two ways to the k nearest rows::

    coordinates of at most 15 dimensions known      k-d tree on the distinct rows, then true costs
    else                                            blocks of the dense matrix, partitioned

Both compute the costs that `distance_matrix` would. Ties are broken by the row number; only where
different rows of a k-d tree lie at the same distance of a row is the choice that of the tree, which
is the same for the same data and any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from likewise.arrays.blocks import MIB, map_blocks, require_memory, row_blocks
from likewise.errors import InputError
from likewise.geometry.features import PairFeatures

__all__ = ["candidate_graph", "link_to", "merge_graphs"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Links of consecutive rows: rows linked to, costs, and how many links every row has.
_Links = tuple[NDArray[np.integer], Array, NDArray[np.integer]]

_WORK = 32 * MIB

# Beyond this a k-d tree visits most of its leaves, and comparing all rows is as fast.
TREE_DIMENSIONS = 15


def candidate_graph(
    features: PairFeatures,
    X: Array,
    weights: ArrayLike | None,
    k: int,
    *,
    scales: Array | None = None,
    n_jobs: int | None = None,
) -> csr_array:
    """Link every row to the k other rows nearest to it.

    Parameters
    ----------
    features : PairFeatures
        What is compared.
    X : array of shape (n, p)
        The rows.
    weights : array-like of shape (F,) or None
        One weight per feature; None adds the features up.
    k : int
        The number of links per row; n - 1 or more links all rows.
    scales : array or None, default=None
        What ``features.local_scales(X)`` returned; computed where it is needed and not given.
    n_jobs : int or None, default=None
        The number of threads; the result is the same bits for any number.

    Returns
    -------
    csr_array of shape (n, n)
        With sorted indices, min(k, n - 1) stored entries per row, none on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry import candidate_graph, resolve_features
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> candidate_graph(resolve_features("manhattan", 1), X, None, k=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """
    return link_to(features, X, weights, np.arange(len(X)), k, scales=scales, n_jobs=n_jobs)


def link_to(
    features: PairFeatures,
    X: Array,
    weights: ArrayLike | None,
    targets: Indices,
    k: int,
    *,
    scales: Array | None = None,
    n_jobs: int | None = None,
) -> csr_array:
    """Link every row to the k nearest of some rows, itself left out.

    Parameters
    ----------
    targets : array of int
        The rows of X that may be linked to, at least one.
    features, X, weights, k, scales, n_jobs
        As in `candidate_graph`.

    Returns
    -------
    csr_array of shape (n, n)
        With sorted indices and no entry on the diagonal. A row has k entries, or as many as there
        are targets other than itself where that is less.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry import link_to, resolve_features
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> link_to(resolve_features("manhattan", 1), X, None, np.array([0]), k=1).toarray()
    array([[0., 0., 0.],
           [1., 0., 0.],
           [3., 0., 0.]])
    """
    if k < 1:
        raise InputError(
            f"candidates must be an integer >= 1, the number of links per row; got {k}. Pass for "
            "instance candidates=20."
        )
    targets = np.unique(targets)
    width = min(k, len(targets))
    # Links and costs of all blocks, and the same again when they are put together.
    require_memory(
        32 * len(X) * (width + 1),
        f"a candidate graph of {len(X)} rows with {width} links each",
        "lower candidates",
    )
    features.check(X)
    resolved = features.resolve_weights(weights)
    if scales is None:
        scales = features.local_scales(X, n_jobs=n_jobs)
    embedding = features.embedding(X, resolved)
    task = _Task(features, X, resolved, scales, targets, X[targets], width)
    nearest: Callable[[slice], _Links]
    if embedding is not None and embedding[0].shape[1] <= TREE_DIMENSIONS:
        nearest = _TreeSearch(task, *embedding)
        bytes_per_row = 16 * (width + 1) * (X.shape[1] + 8)
    else:
        nearest = task.compare
        # Distances, the copy that is partitioned, masks and counts of ties.
        bytes_per_row = 32 * len(targets)
    threads = 1 if features.has_callables else n_jobs
    blocks = row_blocks(len(X), bytes_per_row, limit=_WORK)
    return _assembled(map_blocks(nearest, blocks, threads), len(X))


def merge_graphs(*graphs: csr_array) -> csr_array:
    """Return the union of graphs on the same rows.

    Parameters
    ----------
    *graphs : csr_array of shape (n, n)
        An entry that several of them store keeps the value of the first.

    Returns
    -------
    csr_array of shape (n, n)
        With sorted indices; stored zeros stay stored.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from likewise.geometry import merge_graphs
    >>> merge_graphs(csr_array([[0, 2], [0, 0]]), csr_array([[0, 5], [7, 0]])).toarray()
    array([[0, 2],
           [7, 0]])
    """
    n_rows, n_columns = graphs[0].shape
    stored = sum(graph.nnz for graph in graphs)

    def merge(block: slice) -> _Links:
        parts = [graph[block] for graph in graphs]
        places = np.arange(block.stop - block.start, dtype=np.int64)
        rows = np.concatenate([np.repeat(places, np.diff(part.indptr)) for part in parts])
        columns = np.concatenate([part.indices for part in parts])
        costs = np.concatenate([part.data for part in parts])
        # `unique` returns where an entry occurs first.
        keys, first = np.unique(rows * n_columns + columns, return_index=True)
        counts = np.bincount(keys // n_columns, minlength=len(places))
        return keys % n_columns, costs[first], counts

    blocks = row_blocks(n_rows, 64 * (1 + stored // max(1, n_rows)), limit=_WORK)
    return _assembled([merge(block) for block in blocks], n_columns)


@dataclass(frozen=True)
class _Task:
    """What is asked: the `width` nearest of the rows `targets`, which are sorted, for all rows."""

    features: PairFeatures
    X: Array
    weights: Array
    scales: Array | None
    targets: Indices
    target_rows: Array
    width: int

    def compare(self, block: slice) -> _Links:
        """Find the links of a block of rows by computing all their distances to the targets."""
        scales = None if self.scales is None else (self.scales[block], self.scales[self.targets])
        values = self.features.distance(
            self.X[block],
            self.target_rows,
            self.weights,
            scales=scales,
            first_row=block.start,
        )
        rows = np.arange(block.start, block.stop)
        places = np.minimum(np.searchsorted(self.targets, rows), len(self.targets) - 1)
        own = self.targets[places] == rows
        values[np.flatnonzero(own), places[own]] = np.inf
        chosen = _smallest(values, self.width)
        return self.targets[np.nonzero(chosen)[1]], values[chosen], chosen.sum(axis=1)

    def costs(self, rows: Indices, others: Indices) -> Array:
        """Return d[p, q] for pairs of rows."""
        scales = None if self.scales is None else (self.scales[rows], self.scales[others])
        return self.features.paired(self.X[rows], self.X[others], self.weights, scales=scales)


class _TreeSearch:
    """Finds links in a k-d tree of the distinct targets.

    Equal targets are one point of the tree: it would put all of them into one leaf, and every
    query would read the whole leaf.
    """

    def __init__(self, task: _Task, Z: Array, power: float) -> None:
        self.task = task
        self.Z = Z
        self.power = power
        points = Z[task.targets]
        order = np.lexsort(points.T)
        points = points[order]
        is_new = np.ones(len(points), dtype=bool)
        is_new[1:] = np.any(points[1:] != points[:-1], axis=1)
        # Members of point i are members[starts[i] : starts[i + 1]], in increasing order.
        self.members = task.targets[order]
        self.starts = np.append(np.flatnonzero(is_new), len(points))
        self.tree = cKDTree(points[is_new])

    def __call__(self, block: slice) -> _Links:
        """Find the links of a block of rows."""
        task = self.task
        rows = np.arange(block.start, block.stop)[:, None]
        found, known = self._nearest_members(block)
        known &= found != rows
        costs = np.full(found.shape, np.inf)
        costs[known] = task.costs(np.broadcast_to(rows, found.shape)[known], found[known])
        best = np.lexsort((found, costs), axis=1)[:, : task.width]
        best = np.take_along_axis(best, np.argsort(np.take_along_axis(found, best, 1), axis=1), 1)
        known = np.take_along_axis(known, best, 1)
        links = np.take_along_axis(found, best, 1)[known]
        return links, np.take_along_axis(costs, best, 1)[known], known.sum(axis=1)

    def _nearest_members(self, block: slice) -> tuple[Indices, NDArray[np.bool_]]:
        """Nearest targets of every row, itself included, one more than asked for; and which exist.

        Within equal targets the first come first.
        """
        slots = self.task.width + 1
        n_points = min(slots, self.tree.n)
        nearest = range(1, n_points + 1)
        points: Indices = np.asarray(self.tree.query(self.Z[block], k=nearest, p=self.power)[1])
        sizes = np.diff(self.starts)[points]
        ends = np.cumsum(sizes, axis=1)
        found = np.empty((len(points), slots), dtype=np.intp)
        known = np.empty(found.shape, dtype=bool)
        rows = np.arange(len(points))
        for slot in range(slots):
            known[:, slot] = slot < ends[:, -1]
            at = np.minimum(np.sum(ends <= slot, axis=1), n_points - 1)
            before = ends[rows, at] - sizes[rows, at]
            place = self.starts[points[rows, at]] + slot - before
            found[:, slot] = self.members[np.minimum(place, len(self.members) - 1)]
        return found, known


def _smallest(values: Array, width: int) -> NDArray[np.bool_]:
    """Mask of the `width` smallest finite values per row; the first of equal ones."""
    bound = np.partition(values, width - 1, axis=1)[:, width - 1, None]
    chosen: NDArray[np.bool_] = values < bound
    ties: NDArray[np.bool_] = (values == bound) & np.isfinite(bound)
    missing = width - chosen.sum(axis=1)
    crowded = ties.sum(axis=1) > missing
    ties[crowded] &= np.cumsum(ties[crowded], axis=1) <= missing[crowded, None]
    return np.logical_or(chosen, ties, out=chosen)


def _assembled(parts: list[_Links], n_columns: int) -> csr_array:
    """Put the links of consecutive blocks of rows into one sparse array."""
    counts = np.concatenate([part[2] for part in parts])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    small = max(indptr[-1], n_columns) <= np.iinfo(np.int32).max
    kind = np.int32 if small else np.int64
    indices = np.concatenate([part[0].astype(kind, copy=False) for part in parts])
    costs = np.concatenate([part[1] for part in parts])
    graph = csr_array((costs, indices, indptr.astype(kind)), shape=(len(counts), n_columns))
    graph.has_sorted_indices = True
    graph.has_canonical_format = True
    return graph
