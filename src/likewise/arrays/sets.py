"""Sets: the two shapes in which users pass many of them, and results in the same shape.

One table with ``groups`` (scikit-learn's word for the set that a row belongs to), or a list with
one table per set. What goes in as an array comes out as an array, and a list as a list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from likewise.arrays.sparse import canonical_csr
from likewise.arrays.tables import column_names
from likewise.errors import InputError, InputTypeError

__all__ = ["as_sets"]


def as_sets(
    X: Any, groups: ArrayLike | None = None, *, square: bool = False
) -> tuple[list[Any], Callable[[list[Any]], Any]]:
    """Take apart one or many sets, and return how to put results together again.

    Parameters
    ----------
    X : array-like, frame or sparse of shape (n, p), or list of such
        One table, or a list with one table per set. A list of lists of numbers is one table.
    groups : array-like of shape (n,) or None, default=None
        For one table: which set a row belongs to. Sets come in the order of sorted groups.
    square : bool, default=False
        The table is precomputed: groups select rows and columns.

    Returns
    -------
    sets : list
        The sets, not validated; a part of a frame is a frame.
    restore : callable
        Turns a list with one array per set (one entry per row) into what matches X: an array in
        the order of rows for a table, a list for a list.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.arrays.sets import as_sets
    >>> sets, restore = as_sets(np.array([[1.0], [2.0], [3.0]]), groups=["b", "a", "b"])
    >>> [part.ravel().tolist() for part in sets]
    [[2.0], [1.0, 3.0]]
    >>> restore([np.array([7]), np.array([8, 9])])
    array([8, 7, 9])
    """
    if _is_list_of_sets(X):
        if groups is not None:
            raise InputError(
                "groups says which set a row of one table belongs to; X is a list, whose elements "
                "are the sets already. Leave out groups, or stack the sets into one table."
            )
        return list(X), list
    if groups is None:
        return [X], _only
    table = canonical_csr(X) if issparse(X) else X
    table = np.asarray(table) if isinstance(table, (list, tuple)) else table
    rows = list(_rows_of_sets(groups, _n_rows(table)))
    sets = [_safe_indexing(table, own) for own in rows]
    if square:
        sets = [part[:, own] for part, own in zip(sets, rows, strict=True)]

    def restore(parts: list[Any]) -> NDArray[Any]:
        values = np.concatenate(parts)
        result = np.empty_like(values)
        result[np.concatenate(rows)] = values
        return result

    return sets, restore


def _depth(X: Any) -> int:
    """How many axes something has, looking at first elements only."""
    if column_names(X) is not None:
        return 2
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1 and len(X):
        return 1 + _depth(X[0])
    if hasattr(X, "ndim"):
        return int(X.ndim)
    if isinstance(X, (list, tuple)):
        return 1 + (_depth(X[0]) if X else 0)
    return 0


def _is_list_of_sets(X: Any) -> bool:
    is_list = isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.dtype == object)
    if not is_list or _depth(X) < 3:
        return False
    flat = [place for place, part in enumerate(X) if _depth(part) < 2]
    if flat:
        raise InputError(
            f"a list of sets must hold one 2-D table per set; X[{flat[0]}] is not one, although "
            f"X[0] is. A univariate set has shape (n, 1)."
        )
    return True


def _n_rows(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def _rows_of_sets(groups: ArrayLike, n_rows: int) -> Iterator[NDArray[np.intp]]:
    rule = f"groups must be {n_rows} labels, one per row of X, that say which set a row belongs to"
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise InputError(f"{rule}; got shape {labels.shape}.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InputError(f"{rule}; groups[{np.flatnonzero(np.isnan(labels))[0]}] is NaN.")
    try:
        names, which = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise InputTypeError(
            f"{rule}; they cannot be compared with each other: {error}."
        ) from error
    for place in range(len(names)):
        yield np.flatnonzero(which == place)


def _only(parts: list[Any]) -> Any:
    (part,) = parts
    return part
