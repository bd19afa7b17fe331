"""Rows or distances -> positions in the plane, the same ones on every run.

Principal components for rows, classical scaling for distances; the sign of an axis is such that
its largest entry is positive.

References
----------
W. S. Torgerson, "Multidimensional scaling: I. Theory and method", Psychometrika 17, 1952.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Positions = NDArray[np.float64]

# Up to here all eigenvectors are computed, above it only the first two, by iteration.
SMALL = 200


def project(X: Any, projection: Any = "auto", *, precomputed: bool = False) -> Positions:
    """Positions of shape (n, 2) for rows, or for distances where `precomputed`.

    `projection` is "pca", "mds", "auto" (whichever of them fits), or the positions themselves.
    """
    if not isinstance(projection, str):
        return _checked_positions(projection, X.shape[0] if hasattr(X, "shape") else len(X))
    if projection not in ("auto", "pca", "mds"):
        raise InputError(
            f"projection must be 'auto', 'pca', 'mds' or an array (n, 2); got {projection!r}."
        )
    expected = "mds" if precomputed else "pca"
    if projection not in ("auto", expected):
        kind = "distances" if precomputed else "rows"
        raise InputError(
            f"projection={projection!r} does not apply to {kind}; use {expected!r} or 'auto', or "
            "give positions, an array (n, 2)."
        )
    values = _as_numbers(X)
    return classical_scaling(values) if precomputed else principal_components(values)


def principal_components(X: NDArray[np.float64]) -> Positions:
    """First two principal components of rows; one or two columns are shown as they are."""
    n, p = X.shape
    if p <= 2:
        return np.column_stack([X, np.zeros((n, 2 - p))])
    centred = X - X.mean(axis=0)
    # The smaller of the two has the same axes: p x p where there are many rows.
    axes = np.linalg.svd(centred.T @ centred if p <= n else centred, full_matrices=False)[2][:2]
    axes = axes * _signs(axes)[:, None]
    positions = centred @ axes.T
    return np.column_stack([positions, np.zeros((n, 2 - positions.shape[1]))])


def classical_scaling(distances: NDArray[np.float64]) -> Positions:
    """Positions whose distances approximate the given ones.

    Distances are made symmetric by their mean, and shifted where one is negative; the diagonal is
    taken as 0. Positions are the leading eigenvectors of ``-J D^2 J / 2``, J the centring.
    """
    n = distances.shape[0]
    if distances.shape != (n, n):
        raise InputError(
            f"distances must be square to be shown; got shape {distances.shape}. Give positions, "
            "projection=array of shape (n, 2)."
        )
    squared = (distances + distances.T) / 2
    np.fill_diagonal(squared, 0.0)
    squared -= min(0.0, float(squared.min()))
    np.fill_diagonal(squared, 0.0)
    squared **= 2
    means = squared.mean(axis=0)
    inner = -0.5 * (squared - means[:, None] - means + means.mean())
    values, vectors = _leading_pairs(inner)
    vectors = vectors * _signs(vectors.T)
    positions = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.column_stack([positions, np.zeros((n, 2 - positions.shape[1]))])


def _leading_pairs(inner: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two largest eigenvalues and their vectors, largest first."""
    n = inner.shape[0]
    if n <= SMALL:
        values, vectors = np.linalg.eigh(inner)
    else:
        from scipy.sparse.linalg import eigsh

        # A fixed start makes the iteration repeatable; a ramp is not orthogonal to every answer
        # the way the constant vector, removed by the centring, is.
        values, vectors = eigsh(inner, k=2, which="LA", v0=np.linspace(1.0, 2.0, n))
    order = np.argsort(values)[::-1][:2]
    return values[order], vectors[:, order]


def _signs(axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """One sign per row of `axes`, so that its entry of largest size becomes positive."""
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(largest < 0, -1.0, 1.0)


def _as_numbers(X: Any) -> NDArray[np.float64]:
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"X cannot be shown: it is not an array of numbers ({type(X).__name__}); give "
            "positions, projection=array of shape (n, 2)."
        ) from error
    if values.ndim != 2 or values.size == 0:
        raise InputError(
            f"X must have rows and columns to be shown; got shape {values.shape}. Give positions, "
            "projection=array of shape (n, 2)."
        )
    return values


def _checked_positions(projection: Any, n: int) -> Positions:
    positions = np.asarray(projection, dtype=np.float64)
    if positions.shape != (n, 2):
        raise InputError(
            f"projection must have shape ({n}, 2), one position per row of X; got "
            f"{positions.shape}."
        )
    return positions
