"""Which columns of a table to use, and which of their cells cannot be used.

Shared by all file formats, so that the same mistake reads the same in each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DataFileError, MissingDependencyError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

# Column names that a message lists.
SHOWN = 20


@dataclass(frozen=True)
class Place:
    """Where a cell is, in the words of its file."""

    path: Path
    line_of: Callable[[int], int] | None = None

    def cell(self, row: int, column: str) -> str:
        """Name a cell by data row (counted from 1), line of the file and column."""
        return f"{self.path}: {self.row(row)}, column {column!r}"

    def row(self, row: int) -> str:
        """Name a row: counted from 1, and by line of the file."""
        line = "" if self.line_of is None else f" (line {self.line_of(row)} of the file)"
        return f"data row {row + 1}{line}"


def choose_columns(path: Path, names: list[str], columns: Sequence[str] | None) -> dict[int, str]:
    """Positions and names of the columns to use, in the order in which they were asked for."""
    repeated = [name for name, times in Counter(names).items() if times > 1 and name]
    if repeated:
        raise DataFileError(
            f"{path}: several columns are called {_quoted(repeated)}; give each its own name."
        )
    if columns is None:
        if "" in names:
            raise DataFileError(
                f"{path}: column {names.index('') + 1} has no name (an index that was written "
                f"along?); say which columns to use with --columns {_listed(names)}."
            )
        return dict(enumerate(names))
    unknown = [name for name in columns if name not in names or not name]
    if unknown:
        raise DataFileError(
            f"{path} has no column {_quoted(unknown)}; its columns are {_quoted(names)}."
        )
    twice = [name for name, times in Counter(columns).items() if times > 1]
    if twice:
        raise DataFileError(f"--columns names {_quoted(twice)} more than once; name each once.")
    return {names.index(name): name for name in columns}


def refuse_text(path: Path, names: list[str], text: dict[str, str]) -> None:
    """Refuse columns that hold something else than numbers; name the others.

    `text` gives, for each such column, what was found in it.
    """
    if not text:
        return
    numeric = [name for name in names if name not in text]
    remedy = (
        f"use the others with --columns {_listed(numeric)}"
        if numeric
        else "there is no other column: turn them into numbers first"
    )
    found = ", ".join(f"{name!r} ({what})" for name, what in list(text.items())[:SHOWN])
    raise DataFileError(f"{path}: not a column of numbers: {found}; {remedy}.")


def finite_numbers(
    values: pl.Series, shown: pl.Series, place: Place, name: str
) -> NDArray[np.float64]:
    """Return the numbers of a column, refused where one is missing or infinite."""
    polars = import_polars()
    numbers: NDArray[np.float64] = values.cast(polars.Float64).to_numpy()
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        row = int(bad[0])
        text = shown[row]
        found = f"{text!r} is infinite" if np.isinf(numbers[row]) else "the value is missing"
        raise DataFileError(
            f"{place.cell(row, name)}: {found}{and_more(bad.size)}; "
            "fill it in, drop the row, or leave the column out with --columns."
        )
    return numbers


def stacked(columns: Sequence[NDArray[np.float64]], n: int) -> NDArray[np.float64]:
    """Columns side by side, also when there are no rows."""
    return np.column_stack(columns) if n else np.empty((0, len(columns)))


def import_polars() -> Any:
    """Import polars, which only reading CSV and Parquet files needs."""
    try:
        import polars
    except ImportError as error:
        raise MissingDependencyError(
            "reading CSV and Parquet files needs polars: pip install 'likewise[app]'."
        ) from error
    return polars


def and_more(count: int) -> str:
    """Say how many cells share the fault of the one that a message names."""
    return f" ({count} such cells in this column)" if count > 1 else ""


def _quoted(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name) for name in names[:SHOWN]) + more


def _listed(names: Sequence[str]) -> str:
    return ",".join(name for name in names if name)
