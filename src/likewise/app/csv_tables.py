"""CSV files -> numbers.

Everything is read as text first: nothing is guessed from the first rows, and a cell that is not a
number is refused with its data row, its line and its text.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from likewise.app.columns import (
    Place,
    and_more,
    choose_columns,
    finite_numbers,
    import_polars,
    refuse_text,
    stacked,
)
from likewise.errors import DataFileError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})
# A column in which at least half of the texts are numbers is a numeric column with wrong cells;
# below that it is a column of text.
NUMERIC_SHARE = 0.5


def read_csv(
    path: Path, columns: Sequence[str] | None, header: bool | None
) -> tuple[list[str], NDArray[np.float64]]:
    """Names and numbers of the chosen columns; see ``tables.read_table``."""
    names = column_names(path, header)
    chosen = choose_columns(path, names, columns)
    frame, place = read_texts(path, names, header)
    cells = {name: frame.to_series(i) for i, name in chosen.items()}
    if columns is None:
        refuse_text(path, names, text_columns(cells, place))
    values = [to_numbers(column, place, name) for name, column in cells.items()]
    return list(cells), stacked(values, frame.height)


def column_names(path: Path, header: bool | None) -> list[str]:
    """Names of all columns, from the first line or by position."""
    first = [text.strip() for text in _first_record(path)]
    _check_first_line(path, first, header)
    return first if header is not False else [f"column_{i + 1}" for i in range(len(first))]


def read_texts(path: Path, names: list[str], header: bool | None) -> tuple[pl.DataFrame, Place]:
    """All cells as text, and how to name them."""
    polars = import_polars()
    named = header is not False
    try:
        frame = polars.read_csv(path, has_header=named, infer_schema=False)
    except polars.exceptions.ComputeError:
        _refuse_longer_record(path, len(names))
        raise
    place = Place(path, lambda row: _line_of(path, row + named))
    return _without_trailing_blank_lines(frame), place


def text_columns(cells: dict[str, pl.Series], place: Place) -> dict[str, str]:
    """Columns in which most of what is not missing is not a number, with the first such cell."""
    polars = import_polars()
    found = {}
    for name, column in cells.items():
        texts = column.str.strip_chars()
        present = ~texts.str.to_lowercase().is_in(list(MISSING)).fill_null(value=True)
        wrong = (present & texts.cast(polars.Float64, strict=False).is_null()).arg_true()
        if len(wrong) > (1 - NUMERIC_SHARE) * int(present.sum()):
            row = int(wrong[0])
            found[name] = f"{place.row(row)}: {column[row]!r}"
    return found


def to_numbers(column: pl.Series, place: Place, name: str) -> NDArray[np.float64]:
    """A column of texts as numbers."""
    polars = import_polars()
    texts = column.str.strip_chars()
    values = texts.cast(polars.Float64, strict=False)
    words = texts.str.to_lowercase().is_in(list(MISSING)).fill_null(value=True)
    wrong = (values.is_null() & ~words).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise DataFileError(
            f"{place.cell(row, name)}: {column[row]!r} is not a number{and_more(len(wrong))}; "
            "correct it, or leave the column out with --columns."
        )
    return finite_numbers(values, column, place, name)


def _without_trailing_blank_lines(frame: pl.DataFrame) -> pl.DataFrame:
    polars = import_polars()
    filled = frame.select(polars.any_horizontal(polars.all().is_not_null())).to_series()
    last = filled.arg_true()
    return frame.head(int(last[-1]) + 1 if len(last) else 0)


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line at which each record of a CSV starts, and its fields; leading blank lines skipped."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        line, started = 1, False
        for fields in reader:
            started = started or bool(fields)
            if started:
                yield line, fields
            line = reader.line_num + 1


def _first_record(path: Path) -> list[str]:
    for _, fields in _records(path):
        return fields
    raise DataFileError(f"{path} holds only blank lines; it needs at least one row of numbers.")


def _refuse_longer_record(path: Path, width: int) -> None:
    for line, fields in _records(path):
        if len(fields) > width:
            raise DataFileError(
                f"{path}: line {line} has {len(fields)} fields, the first line has {width}; "
                "correct it, or put quotes around a text that holds a comma."
            )


def _line_of(path: Path, record: int) -> int:
    """Line (from 1) at which a record (from 0) starts; a quoted field may span several lines."""
    lines = (line for i, (line, _) in enumerate(_records(path)) if i == record)
    return next(lines, record + 1)


def _check_first_line(path: Path, first: list[str], header: bool | None) -> None:
    for name, sign in (("semicolons", ";"), ("tabs", "\t")):
        if len(first) == 1 and sign in first[0]:
            raise DataFileError(
                f"{path}: the fields of the first line are separated by {name}; commas are "
                "needed: save the table again with commas."
            )
    if header is None and all(_is_number(text) for text in first):
        raise DataFileError(
            f"{path}: the first line holds only numbers ({','.join(first[:4])}...); say whether "
            "it is a row of data (--no-header) or names the columns (--header)."
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
