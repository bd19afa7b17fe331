"""`Compare`, what the user writes to say what is compared and on which columns."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import InputError, InputTypeError
from likewise.geometry.distances import distance_named

__all__ = ["Compare", "name_of", "resolve_columns"]

Array = NDArray[np.float64]
Columns = slice | Sequence[int] | Sequence[str] | None


class Compare:
    """One comparison of rows: what ``features=`` takes a list of.

    Parameters
    ----------
    name : str
        What the feature is called in results; unique within a list.
    distance : str or callable
        A name: ``"sqeuclidean"``, ``"euclidean"``, ``"manhattan"``, ``"chebyshev"``, ``"chi2"``,
        ``"cosine"``, ``"hamming"``, ``"rbf"`` (with gamma = 1 / number of columns). Or a function
        ``f(A, B)`` of two blocks of rows that returns an array (len(A), len(B)) of finite numbers,
        entry [p, q] being "p served by q"; it need not be symmetric, metric or differentiable.
        It is called with blocks of a set and must compare every pair on its own.
    columns : slice, list of int, list of str or None, default=None
        The columns to compare, by position or by name (of a pandas or polars frame); None is all.
    local_scale : int or None, default=None
        k: divide by sqrt(s_p s_q), where s_p is the distance of row p to its k-th neighbour in
        its set. The row itself does not count. Where the k-th neighbour is at distance 0, the
        first one at a positive distance takes its place; a row at distance 0 from all has scale 1.

    Examples
    --------
    >>> from likewise import Compare
    >>> Compare("size", "manhattan", columns=["width", "height"])
    Compare('size', 'manhattan', columns=['width', 'height'])
    """

    def __init__(
        self,
        name: str,
        distance: str | Callable[[Array, Array], ArrayLike],
        columns: Columns = None,
        *,
        local_scale: int | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise InputTypeError(
                f"Compare: name must be a string that is not empty; got {name!r}. Write for "
                "instance Compare('colour', 'chi2')."
            )
        who = f"Compare {name!r}"
        if isinstance(distance, str):
            distance_named(distance)
        elif not callable(distance):
            raise InputTypeError(
                f"{who}: distance must be the name of a distance or a callable f(A, B); got "
                f"{distance!r}. Write for instance Compare({name!r}, 'chi2')."
            )
        self.name = name
        self.distance = distance
        self.columns = _standard_columns(columns, who)
        self.local_scale = _standard_scale(local_scale, who)

    def __repr__(self) -> str:
        named = isinstance(self.distance, str)
        parts = [repr(self.name), repr(self.distance) if named else name_of(self.distance)]
        if self.columns is not None:
            parts.append(f"columns={self.columns!r}")
        if self.local_scale is not None:
            parts.append(f"local_scale={self.local_scale}")
        return f"Compare({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Compare):
            return NotImplemented
        return vars(self) == vars(other)

    # Columns may be a list, so equal comparisons could not be given equal hashes cheaply.
    __hash__ = None  # type: ignore[assignment]


def name_of(function: Any) -> str:
    """Return what to call a callable in results and messages.

    Examples
    --------
    >>> from likewise.geometry.compare import name_of
    >>> name_of(len)
    'len'
    """
    return str(getattr(function, "__name__", type(function).__name__))


def resolve_columns(
    columns: Columns, n_columns: int, column_names: Sequence[str] | None, who: str
) -> NDArray[np.intp] | None:
    """Turn what `Compare` was given into positions; None means all columns.

    Parameters
    ----------
    columns : slice, list of int, list of str or None
        The columns asked for.
    n_columns : int
        How many X has.
    column_names : sequence of str or None
        Their names, where X has any.
    who : str
        Names the comparison in messages.

    Examples
    --------
    >>> from likewise.geometry.compare import resolve_columns
    >>> resolve_columns(["b", "a"], 3, ["a", "b", "c"], "Compare 'size'")
    array([1, 0])
    """
    if columns is None:
        return None
    if isinstance(columns, slice):
        chosen = np.arange(n_columns, dtype=np.intp)[columns]
        if chosen.size == 0:
            raise InputError(
                f"{who}: columns={columns!r} selects none of the {n_columns} columns of X; select "
                "at least one, or leave columns out to compare all."
            )
        return chosen
    if isinstance(columns[0], str):
        return _positions_of([str(name) for name in columns], column_names, who)
    positions = np.array(columns, dtype=np.int64)
    outside = positions[(positions < -n_columns) | (positions >= n_columns)]
    if outside.size:
        raise InputError(
            f"{who}: columns must be positions from 0 to {n_columns - 1}, as X has {n_columns} "
            f"columns; got {outside.tolist()}. Remove these."
        )
    return np.where(positions < 0, positions + n_columns, positions).astype(np.intp)


def _positions_of(
    wanted: list[str], column_names: Sequence[str] | None, who: str
) -> NDArray[np.intp]:
    if column_names is None:
        raise InputError(
            f"{who}: columns={wanted} are names, but X has no column names (names are strings, "
            "and come with a pandas or polars frame). Pass a frame, or give positions instead."
        )
    known = list(column_names)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        close = difflib.get_close_matches(unknown[0], known, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else "Check the spelling."
        raise InputError(
            f"{who}: unknown columns {_listed(unknown)}; X has columns {_listed(known)}. {hint}"
        )
    return np.array([known.index(name) for name in wanted], dtype=np.intp)


def _listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in total)"


def _standard_columns(columns: Any, who: str) -> slice | list[int] | list[str] | None:
    """Check the form of `columns` and turn sequences into a list of int or of str."""
    if columns is None:
        return None
    if isinstance(columns, slice):
        bounds = (columns.start, columns.stop, columns.step)
        if all(bound is None or isinstance(bound, Integral) for bound in bounds):
            return columns
    elif isinstance(columns, Iterable) and not isinstance(columns, (str, bytes)):
        items = list(columns)
        if not items:
            raise InputError(
                f"{who}: columns is empty; name at least one column, or leave columns out to "
                "compare all."
            )
        if all(isinstance(item, str) for item in items):
            return [str(item) for item in items]
        # A mask would be read as positions 0 and 1.
        if all(isinstance(item, Integral) and not isinstance(item, bool) for item in items):
            return [int(item) for item in items]
    raise InputTypeError(
        f"{who}: columns must be a slice of positions, a list of positions, a list of column names "
        f"or None; got {columns!r}. Write for instance columns=[0, 2], columns=slice(0, 4) or "
        "columns=['width']."
    )


def _standard_scale(local_scale: Any, who: str) -> int | None:
    if local_scale is None:
        return None
    if not isinstance(local_scale, Integral) or isinstance(local_scale, bool):
        raise InputTypeError(
            f"{who}: local_scale must be None or an integer >= 1, which neighbour sets the scale; "
            f"got {local_scale!r}. Write for instance local_scale=7."
        )
    if local_scale < 1:
        raise InputError(
            f"{who}: local_scale must be None or an integer >= 1, which neighbour sets the scale; "
            f"got {local_scale}. Write for instance local_scale=7."
        )
    return int(local_scale)
