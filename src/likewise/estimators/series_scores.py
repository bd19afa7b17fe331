"""From a sequence, and a metric or a kernel, to what its segments cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics.pairwise import pairwise_kernels

from likewise.arrays.blocks import require_memory
from likewise.decoders._kernels import segments as kernels
from likewise.energies.segments import factor_in_any_units
from likewise.errors import InputError
from likewise.potentials import GramScores, TraceScores
from likewise.validation import validate_precomputed, validate_rows

__all__ = ["checked_metric", "gram_scores", "trace_scores"]

Floats = NDArray[np.float64]

# How far a metric may be from a symmetric, positive one, relatively: what rounding leaves.
ROUNDING = 1e-8


def checked_metric(metric: Any, n_columns: int) -> Floats | None:
    """A factor (p, r) of the metric, or roots of weights (p,); None for the identity."""
    if metric is None:
        return None
    rule = (
        f"metric must be None, {n_columns} weights, or a symmetric positive semi-definite matrix "
        f"({n_columns}, {n_columns})"
    )
    try:
        array = np.asarray(metric, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{rule}; got something that holds no numbers ({error}).") from error
    if array.shape not in ((n_columns,), (n_columns, n_columns)):
        raise InputError(f"{rule}; got shape {array.shape}.")
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0].tolist()
        raise InputError(f"{rule}; metric{place} is {array[tuple(place)]}.")
    if array.ndim == 1:
        if (array < 0.0).any():
            place = int(np.flatnonzero(array < 0.0)[0])
            raise InputError(f"{rule}; metric[{place}] = {array[place]:g} is negative.")
        roots: Floats = np.sqrt(array)
        return roots
    largest = float(np.abs(array).max(initial=0.0))
    off = np.abs(array - array.T)
    if off.max(initial=0.0) > ROUNDING * largest:
        p, q = np.unravel_index(int(off.argmax()), off.shape)
        raise InputError(
            f"{rule}; it is not symmetric: metric[{p}, {q}] = {array[p, q]:g}, "
            f"metric[{q}, {p}] = {array[q, p]:g}."
        )
    values = np.linalg.eigvalsh(0.5 * (array + array.T))
    if values[0] < -ROUNDING * largest:
        raise InputError(f"{rule}; its smallest eigenvalue is {values[0]:g}.")
    return factor_in_any_units(array)


def trace_scores(rows: Floats, factor: Floats | None, penalty: float) -> TraceScores:
    """The potentials of rows that were checked."""
    centred, each = kernels.centred(np.ascontiguousarray(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        if factor is not None and factor.ndim == 1:
            counts = factor > 0.0
            centred, each = centred[:, counts] * factor[counts], each[counts] * factor[counts]
        elif factor is not None:
            centred = centred @ factor
            each = np.abs(centred).max(axis=0)
        if not centred.shape[1]:
            centred, each = np.zeros((len(rows), 1)), np.zeros(1)
        largest = float(each.max()) * len(rows)
        if not np.isfinite(largest * largest):
            raise InputError(
                "the values of X, or the weights of the metric, are too large: their squares are "
                "beyond the largest number. Divide the columns by a power of ten."
            )
    return TraceScores(np.ascontiguousarray(centred), penalty)


def gram_scores(gate: Any, X: Any, kernel: Any, penalty: float) -> GramScores:
    """The potentials of similarities; ``gate`` records the columns of X."""
    if isinstance(kernel, str) and kernel == "precomputed":
        if issparse(X):
            raise InputError("kernel='precomputed' needs a dense matrix; X is sparse.")
        gram = validate_precomputed(gate, X, reset=True).costs
        if gram.ndim != 2:
            raise InputError(f"kernel='precomputed' needs a matrix (T, T); got {gram.shape}.")
        return GramScores(_symmetric(np.array(gram, dtype=np.float64)), penalty)
    rows = validate_rows(gate, X, reset=True)
    require_memory(
        16 * len(rows) ** 2,
        f"The kernel of {len(rows)} rows",
        "pass features whose inner products are the kernel, without kernel=",
    )
    if callable(kernel):
        gram = np.asarray(kernel(rows, rows), dtype=np.float64)
        if gram.shape != (len(rows), len(rows)):
            raise InputError(
                f"kernel(A, B) must return an array of shape (len(A), len(B)) = "
                f"{(len(rows), len(rows))}; got {gram.shape}."
            )
    else:
        try:
            gram = pairwise_kernels(rows, metric=kernel)
        except (KeyError, ValueError, TypeError) as error:
            raise InputError(
                "kernel must be None, 'precomputed', a callable, or the name of a kernel of "
                f"scikit-learn, such as 'rbf' or 'linear'; got {kernel!r} ({error})."
            ) from error
    return GramScores(_symmetric(gram), penalty)


def _symmetric(gram: Floats) -> Floats:
    """Checked to be finite and, but for rounding, symmetric; made so to the last bit."""
    if not np.isfinite(gram).all():
        p, q = np.argwhere(~np.isfinite(gram))[0]
        raise InputError(f"the kernel of row {p} and row {q} is {gram[p, q]}; it must be finite.")
    off = np.abs(gram - gram.T)
    if off.max(initial=0.0) > ROUNDING * float(np.abs(gram).max(initial=0.0)):
        p, q = np.unravel_index(int(off.argmax()), off.shape)
        raise InputError(
            f"the kernel must be symmetric: [{p}, {q}] is {gram[p, q]:g}, [{q}, {p}] is "
            f"{gram[q, p]:g}. Pass (K + K.T) / 2 if that is what is meant."
        )
    return 0.5 * (gram + gram.T)
