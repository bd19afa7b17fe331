"""Matrices of distances: blocked, in threads, the same bits for any number of them.

``d(p, q) = sum_f weights[f] * feature_f(x_p, x_q)`` for all pairs, from rows (`distance_matrix`) or
from pair features that the user computed (`combine_stack`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.arrays.blocks import KIB, MIB, map_blocks, require_memory, row_blocks
from likewise.arrays.finite import first_nonfinite
from likewise.errors import InputError
from likewise.geometry.features import PairFeatures, Scales, resolve_weights

__all__ = ["combine_stack", "distance_matrix"]

Array = NDArray[np.float64]

# Small enough for sharing out among threads, large enough for few calls.
_WORK = 8 * MIB
# Features are read one after the other: a block of the stack stays in the cache meanwhile.
_CACHED = 256 * KIB


def distance_matrix(
    features: PairFeatures,
    X: Array,
    weights: ArrayLike | None = None,
    *,
    Y: Array | None = None,
    scales: Scales | None = None,
    n_jobs: int | None = None,
    out: Array | None = None,
) -> Array:
    """Return d[p, q] of rows p of X and q of Y, computed in blocks of rows.

    Parameters
    ----------
    features : PairFeatures
        What is compared.
    X : array of shape (n, p)
        Rows.
    weights : array-like of shape (F,) or None, default=None
        One weight per feature; None adds the features up.
    Y : array of shape (m, p) or None, default=None
        Other rows; None is X.
    scales : tuple of two arrays or None, default=None
        What ``features.local_scales`` returned for the rows of X and of Y. Where a feature is
        locally scaled and none are given, they are taken within X, or within Y where it is given.
    n_jobs : int or None, default=None
        The number of threads; the result is the same bits for any number.
    out : array of shape (n, m) or None, default=None
        For the result.

    Returns
    -------
    array of shape (n, m)
        The distances; refused with `MemoryBudgetError` where they would not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry import distance_matrix, resolve_features
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0]])
    >>> distance_matrix(resolve_features("euclidean", 2), X)
    array([[0., 5.],
           [5., 0.]])
    """
    others = X if Y is None else Y
    shape = (len(X), len(others))
    if out is None:
        what = f"the distance matrix of {shape[0]} x {shape[1]} rows"
        require_memory(8 * shape[0] * shape[1], what, "pass candidates=k, for instance 20")
        out = np.empty(shape)
    resolved = features.resolve_weights(weights)
    features.check(X)
    if Y is not None:
        features.check(Y)
    if features.needs_scales and scales is None:
        scales = _scales_within(features, X, Y, n_jobs)
    mirror = Y is None and features.symmetric

    def fill(block: slice) -> None:
        after = slice(block.start, None) if mirror else slice(None)
        own = None if scales is None else (scales[0][block], scales[1][after])
        target = None if mirror else out[block]
        values = features.distance(
            X[block],
            others[after],
            resolved,
            scales=own,
            out=target,
            first_row=block.start,
            first_other=after.start or 0,
        )
        if mirror:
            out[block, after] = values
            out[block.stop :, block] = values[:, block.stop - block.start :].T

    threads = 1 if features.has_callables else n_jobs
    map_blocks(fill, row_blocks(shape[0], 8 * shape[1], limit=_WORK), threads)
    return out


def _scales_within(
    features: PairFeatures, X: Array, Y: Array | None, n_jobs: int | None
) -> Scales | None:
    first = features.local_scales(X, Y, n_jobs=n_jobs)
    second = first if Y is None else features.local_scales(Y, n_jobs=n_jobs)
    return None if first is None or second is None else (first, second)


def combine_stack(
    stack: Array,
    weights: ArrayLike | None = None,
    *,
    n_jobs: int | None = None,
    out: Array | None = None,
) -> Array:
    """Return the weighted sum of precomputed pair features, (n, m), from a stack (n, m, F).

    The diagonal of a square stack is ignored, whatever it holds, and is 0 in the result.

    Parameters
    ----------
    stack : array of shape (n, m, F)
        Entry [p, q] holds the features of "p served by q".
    weights, n_jobs, out
        As in `distance_matrix`.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry import combine_stack
    >>> combine_stack(np.arange(8.0).reshape(2, 2, 2), [1.0, 10.0])
    array([[ 0., 32.],
           [54.,  0.]])
    """
    n_rows, n_columns, n_features = stack.shape
    if out is None:
        what = f"the distance matrix of {n_rows} x {n_columns} rows"
        require_memory(8 * n_rows * n_columns, what, "pass a SciPy sparse array instead")
        out = np.empty((n_rows, n_columns))
    resolved = resolve_weights(weights, [f"feature {f}" for f in range(n_features)])
    is_square = n_rows == n_columns

    def fill(block: slice) -> None:
        values = out[block]
        values[...] = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for f in np.flatnonzero(resolved):
                values += resolved[f] * stack[block, :, f]
        if is_square:
            values[np.arange(len(values)), np.arange(block.start, block.stop)] = 0.0
        found = first_nonfinite(values)
        if found is not None:
            row, column = found.position
            raise InputError(
                f"the weighted sum of the features of X[{block.start + row}, {column}] is "
                f"{found.value}: values or weights are too large. Scale them down."
            )

    blocks = row_blocks(n_rows, 8 * n_columns * n_features, limit=_CACHED)
    map_blocks(fill, blocks, n_jobs)
    return out
