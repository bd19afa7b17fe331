"""One form for sparse costs: rows, sorted indices, no entry twice, zeros kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from likewise.errors import InputError

__all__ = ["canonical_csr"]


def canonical_csr(X: Any) -> csr_array:
    """Turn a sparse matrix of any format into a csr_array with sorted indices, float64.

    Stored zeros stay stored, which is why this is not left to SciPy's arithmetic. Entries stored
    twice are refused: SciPy would add them, but two costs of one pair are a mistake.

    Parameters
    ----------
    X : sparse array or matrix of shape (m, n)
        Real numbers in any format; not changed.

    Returns
    -------
    csr_array of shape (m, n)
        May share memory with X.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> from likewise.arrays.sparse import canonical_csr
    >>> canonical_csr(coo_array(([0, 3], ([0, 0], [1, 0])), shape=(1, 2))).data
    array([3., 0.])
    """
    if X.ndim != 2:
        raise InputError(f"a sparse X must have two axes, rows and columns; got shape {X.shape}.")
    if X.dtype.kind not in "fiub":
        # The words that scikit-learn uses for dense data.
        reason = "Complex data not supported" if X.dtype.kind == "c" else "X must be real numbers"
        raise InputError(f"{reason}: a sparse X must hold real numbers; got dtype {X.dtype}.")
    rows = csr_array(X) if X.format in ("csr", "csc") else _csr_of_coo(coo_array(X))
    if not rows.has_sorted_indices:
        rows = rows.sorted_indices()
    try:
        # Compiled code trusts the column numbers.
        rows.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"the sparse X is damaged: {error}. Build it anew.") from error
    _refuse_repeated(rows)
    return rows.astype(np.float64, copy=False)


def _csr_of_coo(entries: Any) -> csr_array:
    """Like ``tocsr``, but without adding up entries that are stored twice."""
    order = np.lexsort((entries.col, entries.row))
    counts = np.bincount(entries.row, minlength=entries.shape[0])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return csr_array((entries.data[order], entries.col[order], indptr), shape=entries.shape)


def _refuse_repeated(rows: csr_array) -> None:
    same = rows.indices[1:] == rows.indices[:-1]
    # The first entry of a row does not follow the last one of the row before.
    starts = rows.indptr[1:-1]
    same[starts[(starts > 0) & (starts < rows.nnz)] - 1] = False
    found = np.flatnonzero(same)
    if found.size:
        row = int(np.searchsorted(rows.indptr, found[0], side="right")) - 1
        raise InputError(
            f"a sparse X must store every entry once; [{row}, {rows.indices[found[0]]}] is stored "
            f"more than once ({found.size} repetitions in total). Keep one cost per pair, or call "
            "X.sum_duplicates() first if they are to be added up."
        )
