"""Tables as users hand them in: arrays, lists of rows, pandas and polars frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

__all__ = ["column_names", "why_no_table"]


def column_names(X: Any) -> list[str] | None:
    """Return the column names of a pandas or polars frame, None for anything else.

    Examples
    --------
    >>> from likewise.arrays.tables import column_names
    >>> column_names([[1, 2]]) is None
    True
    """
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


def why_no_table(X: Any) -> str | None:
    """Say what keeps X from being a table of numbers: text, or rows of uneven length.

    Returns
    -------
    str or None
        With row and column; None where it is something else.

    Examples
    --------
    >>> from likewise.arrays.tables import why_no_table
    >>> print(why_no_table([[1, 2], [3]]).partition(";")[0])
    all rows of X must have the same length
    """
    names = column_names(X)
    if names is not None:
        for j, name in enumerate(names):
            row = _first_text(np.asarray(_safe_indexing(X, j, axis=1), dtype=object))
            if row is not None:
                return _text_found(row[0], repr(name), row[1])
        return None
    if isinstance(X, (list, tuple)) and X and all(hasattr(row, "__len__") for row in X):
        lengths = [len(row) for row in X]
        uneven = [place for place, length in enumerate(lengths) if length != lengths[0]]
        if uneven:
            return (
                f"all rows of X must have the same length; row 0 has {lengths[0]} values and row "
                f"{uneven[0]} has {lengths[uneven[0]]}. For many sets, pass a list of 2-D arrays."
            )
    cells = np.asarray(X, dtype=object)
    for j in range(cells.shape[1] if cells.ndim == 2 else 0):
        row = _first_text(cells[:, j])
        if row is not None:
            return _text_found(row[0], str(j), row[1])
    return None


def _first_text(column: NDArray[Any]) -> tuple[int, Any] | None:
    for row, value in enumerate(column):
        try:
            float(value)
        except ValueError:
            return row, value
        except TypeError:
            # Not text: scikit-learn's message says what it is.
            continue
    return None


def _text_found(row: int, column: str, value: Any) -> str:
    return (
        f"Input X contains {value!r} at row {row}, column {column}, where a number is needed; "
        "encode the column as numbers or leave it out"
    )
