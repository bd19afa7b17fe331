"""Judging partitions: eight numbers for (true, found) pairs of label arrays.

Labels only say which rows belong together: whole numbers or strings, compared within one array
and never across the two, so renaming clusters changes nothing. The label -1 is a label like any
other (its rows form one cluster): where -1 means "not shown" or "noise" and should not count,
drop those rows from both arrays first. Only :func:`change_point_f1` and :func:`hausdorff` read
the labels as a sequence: a change point is a row whose label is not that of the row before it.

With true clusters A_1..A_K, found clusters B_1..B_L over n rows, everything but those two follows
from the overlaps ``n_kl = |A_k ∩ B_l|``. Only non-empty ones are stored, O(n); the n x n matrices
of the papers are never formed. Pairs of rows are counted in 64-bit integers and ratios summed by
``math.fsum``, so no bit depends on the names or the order of labels.

- Lajugie, Arlot, Bach, "Large-Margin Metric Learning for Constrained Partitioning Problems", 2014.
- Tuzel, Porikli, Meer, "Kernel Methods for Weakly Supervised Mean Shift Clustering", 2009.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from likewise.errors import InputError, InputTypeError

__all__ = [
    "change_point_f1",
    "class_majority_accuracy",
    "clustering_accuracy",
    "covering",
    "hausdorff",
    "pairwise_f1",
    "projection_loss",
    "rand_loss",
]

_Ints = NDArray[np.int64]


def projection_loss(truth: ArrayLike, found: ArrayLike) -> float:
    """Squared distance between the projection matrices of two partitions.

    ``|M - N|_F^2 = K + L - 2 sum_kl n_kl^2 / (|A_k| |B_l|)``, eq. (8) of Lajugie et al. (2014).
    Symmetric, 0 for equal partitions only, at least ``|K - L|``, at most ``K + L - 2``; not
    divided by n.

    Parameters
    ----------
    truth, found : array-like of shape (n,)
        Cluster of every row.

    Examples
    --------
    >>> from likewise.metrics import projection_loss
    >>> projection_loss([0, 0, 1, 1], [0, 0, 1, 2])
    1.0
    """
    table = _overlaps(truth, found)
    shared = (table.counts / table.true_sizes[table.rows]) * (
        table.counts / table.found_sizes[table.columns]
    )
    return len(table.true_sizes) + len(table.found_sizes) - 2.0 * math.fsum(shared.tolist())


def rand_loss(truth: ArrayLike, found: ArrayLike) -> float:
    """Share of the pairs of rows on which two partitions disagree: 1 - Rand index.

    Symmetric. 0.0 for a single row, which has no pairs.

    Parameters
    ----------
    truth, found : array-like of shape (n,)
        Cluster of every row.

    Examples
    --------
    >>> from likewise.metrics import rand_loss
    >>> rand_loss([0, 0, 1, 1], [0, 0, 1, 2])
    0.16666666666666666
    """
    table = _overlaps(truth, found)
    n = table.n_rows
    if n == 1:
        return 0.0
    together = _pairs(table.true_sizes) + _pairs(table.found_sizes)
    return (together - 2 * _pairs(table.counts)) / (n * (n - 1) // 2)


def pairwise_f1(truth: ArrayLike, found: ArrayLike) -> float:
    """F-measure of the pairs of rows that are put together.

    ``2 P R / (P + R)``, P the share of the found pairs that are true, R of the true pairs that are
    found. Symmetric. 1.0 when neither partition puts any rows together, 0.0 when only one does.

    Parameters
    ----------
    truth, found : array-like of shape (n,)
        Cluster of every row.

    Examples
    --------
    >>> from likewise.metrics import pairwise_f1
    >>> pairwise_f1(["a", "a", "b", "b"], [0, 0, 1, 2])
    0.6666666666666666
    """
    table = _overlaps(truth, found)
    together = _pairs(table.true_sizes) + _pairs(table.found_sizes)
    return 2 * _pairs(table.counts) / together if together else 1.0


def covering(truth: ArrayLike, found: ArrayLike) -> float:
    """How well the best found cluster covers each true one, weighted by size.

    ``sum_k |A_k| / n * max_l |A_k ∩ B_l| / |A_k ∪ B_l|``, in (0, 1], 1.0 for equal partitions
    only. Not symmetric: small found clusters that cover nothing are not punished by themselves.

    Parameters
    ----------
    truth, found : array-like of shape (n,)
        Cluster of every row.

    Examples
    --------
    >>> from likewise.metrics import covering
    >>> covering([0, 0, 1, 1], [0, 0, 1, 2])
    0.75
    """
    table = _overlaps(truth, found)
    union = table.true_sizes[table.rows] + table.found_sizes[table.columns] - table.counts
    best = np.maximum.reduceat(table.counts / union, table.starts)
    return math.fsum((table.true_sizes * best).tolist()) / table.n_rows


def change_point_f1(truth: ArrayLike, found: ArrayLike, margin: float) -> float:
    """F-measure of the positions where the label changes, up to a margin.

    A found change point may be matched to a true one at most `margin` rows away, each at most
    once; as many as possible are matched (t pairs), and the result is ``2 t / (true + found)``.
    Symmetric. 1.0 when neither sequence changes, 0.0 when only one does.

    Parameters
    ----------
    truth, found : array-like of shape (n,)
        Segment of every row, in time order.
    margin : float
        Largest distance of a match in rows, itself included. At least 0.

    Examples
    --------
    >>> from likewise.metrics import change_point_f1
    >>> change_point_f1([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 2], margin=1)
    0.6666666666666666
    """
    if not isinstance(margin, Real) or isinstance(margin, bool):
        raise InputTypeError(f"margin must be a number of rows, got {margin!r}; pass 0 or more.")
    if not margin >= 0:
        raise InputError(f"margin must be 0 rows or more, got {margin!r}; 0 asks for exact hits.")
    true_changes, found_changes = map(_change_points, _both_codes(truth, found))
    total = len(true_changes) + len(found_changes)
    if total == 0:
        return 1.0
    return 2 * _count_matches(true_changes.tolist(), found_changes.tolist(), margin) / total


def hausdorff(truth: ArrayLike, found: ArrayLike) -> float:
    """Largest distance, in rows, from a change point to the nearest one of the other sequence.

    Symmetric. 0.0 when neither sequence changes, n when only one does.

    Parameters
    ----------
    truth, found : array-like of shape (n,)
        Segment of every row, in time order.

    Examples
    --------
    >>> from likewise.metrics import hausdorff
    >>> hausdorff([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 2])
    2.0
    """
    codes = _both_codes(truth, found)
    true_changes, found_changes = map(_change_points, codes)
    if len(true_changes) == 0 or len(found_changes) == 0:
        return 0.0 if len(true_changes) == len(found_changes) else float(len(codes[0]))
    nearest = _farthest(true_changes, found_changes), _farthest(found_changes, true_changes)
    return float(max(nearest))


def clustering_accuracy(truth: ArrayLike, found: ArrayLike) -> float:
    """Share of the rows that agree under the best one-to-one matching of clusters.

    ``max over one-to-one maps f of sum_k n_k,f(k) / n``. Clusters without a partner count as
    wrong, which is what happens to the surplus when K and L differ. Symmetric. Exact in memory
    O(n), not K x L; slow (tens of seconds) only where hundreds of thousands of clusters have
    nothing to do with each other.

    Parameters
    ----------
    truth, found : array-like of shape (n,)
        Cluster of every row.

    Examples
    --------
    >>> from likewise.metrics import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], [5, 5, 3, 4])
    0.75
    """
    table = _overlaps(truth, found)
    return _heaviest_matching(table.rows, table.columns, table.counts) / table.n_rows


def class_majority_accuracy(truth: ArrayLike, found: ArrayLike) -> float:
    """Share of the rows that are in the largest found cluster of their class.

    ``sum_k max_l n_kl / n``, section 6.3 of Tuzel et al. (2009). Not symmetric: it punishes
    splitting a class but not merging two (one cluster for everything scores 1.0), so read it next
    to the number of clusters, or use :func:`clustering_accuracy`.

    Parameters
    ----------
    truth, found : array-like of shape (n,)
        Class and cluster of every row.

    Examples
    --------
    >>> from likewise.metrics import class_majority_accuracy
    >>> class_majority_accuracy([0, 0, 0, 1], [1, 1, 2, 2])
    0.75
    """
    table = _overlaps(truth, found)
    return int(np.maximum.reduceat(table.counts, table.starts).sum()) / table.n_rows


@dataclass(frozen=True, slots=True)
class _Overlaps:
    """The non-empty cells of the contingency table, sorted by true cluster."""

    counts: _Ints  # rows in both clusters, one entry per cell, like `rows` and `columns`
    rows: _Ints  # true cluster of the cell
    columns: _Ints  # found cluster of the cell
    starts: _Ints  # first cell of every true cluster
    true_sizes: _Ints
    found_sizes: _Ints
    n_rows: int


def _overlaps(truth: ArrayLike, found: ArrayLike) -> _Overlaps:
    true_codes, found_codes = _both_codes(truth, found)
    true_sizes, found_sizes = np.bincount(true_codes), np.bincount(found_codes)
    ones = np.ones(len(true_codes), dtype=np.int64)
    # Conversion to rows adds up repeated cells: a counting sort, O(n + K).
    cells = coo_array((ones, (true_codes, found_codes))).tocsr()
    return _Overlaps(
        counts=cells.data,
        rows=np.repeat(np.arange(len(true_sizes)), np.diff(cells.indptr)),
        columns=cells.indices.astype(np.int64),
        starts=cells.indptr[:-1].astype(np.int64),
        true_sizes=true_sizes.astype(np.int64),
        found_sizes=found_sizes.astype(np.int64),
        n_rows=len(true_codes),
    )


def _pairs(sizes: _Ints) -> int:
    # Fits 64 bits up to 3e9 rows in one cluster; a Python integer from here on.
    return int(np.dot(sizes, sizes - 1)) // 2


def _change_points(codes: _Ints) -> _Ints:
    return np.flatnonzero(codes[1:] != codes[:-1]) + 1


def _count_matches(truth: list[int], found: list[int], margin: float) -> int:
    """Size of a largest matching of two sorted lists; earliest with earliest is optimal."""
    matched = i = j = 0
    while i < len(truth) and j < len(found):
        if abs(truth[i] - found[j]) <= margin:
            matched, i, j = matched + 1, i + 1, j + 1
        elif truth[i] < found[j]:
            i += 1
        else:
            j += 1
    return matched


def _farthest(points: _Ints, others: _Ints) -> int:
    right = np.searchsorted(others, points)
    before = others[np.maximum(right - 1, 0)]
    after = others[np.minimum(right, len(others) - 1)]
    return int(np.minimum(np.abs(points - before), np.abs(points - after)).max())


def _heaviest_matching(rows: _Ints, columns: _Ints, weights: _Ints) -> int:
    """Weight of the heaviest set of cells without two in one row or column."""
    total = 0
    while len(weights):
        # A cell at least as heavy as the best other cell of its row and the best other cell of
        # its column together is in some optimum: put it in place of those two.
        rivals = _best_other(rows, weights) + _best_other(columns, weights)
        certain = np.flatnonzero(weights >= rivals)
        certain = certain[np.unique(rows[certain], return_index=True)[1]]
        certain = certain[np.unique(columns[certain], return_index=True)[1]]
        if len(certain) == 0:
            return total + _assign(rows, columns, weights)
        total += int(weights[certain].sum())
        left = ~(np.isin(rows, rows[certain]) | np.isin(columns, columns[certain]))
        rows, columns, weights = rows[left], columns[left], weights[left]
    return total


def _best_other(lines: _Ints, weights: _Ints) -> _Ints:
    """For each cell, the largest other weight on the same line, or 0."""
    order = np.lexsort((weights, lines))
    lines, weights = lines[order], weights[order]
    first = np.flatnonzero(np.diff(lines, prepend=-1))
    last = np.append(first[1:], len(lines)) - 1
    best = np.repeat(weights[last], last - first + 1)
    best[last] = np.where(last > first, weights[last - 1], 0)
    other = np.empty_like(best)
    other[order] = best
    return other


def _assign(rows: _Ints, columns: _Ints, weights: _Ints) -> int:
    rows = np.unique(rows, return_inverse=True)[1]
    columns = np.unique(columns, return_inverse=True)[1]
    if rows.max() > columns.max():
        rows, columns = columns, rows  # the solver's work grows with the rows
    n_rows = int(rows.max()) + 1
    # SciPy matches every row and drops explicit zeros, so every row gets a column of its own for
    # "no partner", and all weights grow by one.
    rows = np.append(rows, np.arange(n_rows))
    columns = np.append(columns, int(columns.max()) + 1 + np.arange(n_rows))
    cells = coo_array((np.append(weights + 1.0, np.ones(n_rows)), (rows, columns))).tocsr()
    matched = min_weight_full_bipartite_matching(cells, maximize=True)
    return int(cells[matched].sum()) - n_rows


def _both_codes(truth: ArrayLike, found: ArrayLike) -> tuple[_Ints, _Ints]:
    true_codes, found_codes = _codes(truth, "truth"), _codes(found, "found")
    if len(true_codes) != len(found_codes):
        raise InputError(
            "truth and found must label the same rows, got "
            f"{len(true_codes)} and {len(found_codes)} labels; pass one label per row to both."
        )
    return true_codes, found_codes


def _codes(labels: ArrayLike, name: str) -> _Ints:
    """Clusters numbered 0..k-1, after checking the labels."""
    if np.ma.is_masked(labels):  # a plain conversion would drop the mask in silence
        labels = np.ma.filled(np.ma.asarray(labels).astype(object), np.nan)
    if isinstance(labels, list | tuple):  # as objects, 1 and "1" in one list stay apart
        values = np.fromiter(labels, dtype=object, count=len(labels))
    else:
        values = np.asarray(labels)
    if values.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, got shape {values.shape}; pass one label per row."
        )
    if len(values) == 0:
        raise InputError(f"{name} is empty; pass the labels of at least one row.")
    if values.dtype.kind == "f":
        _refuse(values, (values != np.rint(values)) | np.isinf(values), name)
    if values.dtype.kind in "biuf":
        return np.unique(values, return_inverse=True)[1].astype(np.int64, copy=False)
    if values.dtype.kind not in "USTO":
        raise InputTypeError(
            f"{name} has dtype {values.dtype}; convert it to whole numbers or strings."
        )
    items = values.tolist()
    if not all(issubclass(kind, str | bytes | Integral) for kind in set(map(type, items))):
        _refuse(values, np.array([not _is_label(item) for item in items]), name)
    numbers = {item: number for number, item in enumerate(dict.fromkeys(items))}
    return np.fromiter((numbers[item] for item in items), dtype=np.int64, count=len(items))


def _is_label(item: object) -> bool:
    if isinstance(item, float | np.floating):
        return math.isfinite(item) and item == round(item)
    return isinstance(item, str | bytes | Integral | np.bool_)


def _refuse(values: NDArray[Any], bad: NDArray[np.bool_], name: str) -> None:
    """Raise for the first bad label, if there is one."""
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{name} has the label {values[row]!s} at row {row} ({int(bad.sum())} such in total); "
            "labels are one whole number or string per row and none may be missing (NaN, None): "
            "drop such rows from both arrays, or name the cluster they form."
        )
