"""Data files -> sets: rows of numbers, the cluster that each row was put in, the set it is in.

Labels and sets may be text; they are compared as text, in one set only. A cell of the label column
that is empty says that the cluster of its row is not shown. Columns that hold text, and are neither
label nor set, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.app.columns import Place, finite_numbers, import_polars, stacked
from likewise.app.csv_tables import MISSING, column_names, read_texts, text_columns, to_numbers
from likewise.app.tables import Table, explained, read_table
from likewise.errors import DataFileError, InputError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Integers = NDArray[np.intp]

NOT_SHOWN = -1
# Column names that a message lists.
LISTED = 20


@dataclass(frozen=True)
class Wanted:
    """Which columns of a file are what.

    Parameters
    ----------
    label, split : str or None
        The columns with the cluster of every row, and with the set that it is in.
    columns : sequence of str or None
        The columns to compare, ``*`` standing for any text; None takes all that hold numbers.
    header : bool or None
        As for ``tables.read_table``.
    needed_by : str or None
        What was fitted on `columns`, which are then names without ``*``.
    """

    label: str | None = None
    split: str | None = None
    columns: Sequence[str] | None = None
    header: bool | None = None
    needed_by: str | None = None


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """One set of a file.

    Attributes
    ----------
    name : str
        The file, and the value of its set column.
    table : Table
        Its rows of numbers.
    places : array of shape (n,)
        Where its rows are in the file, from 0.
    labels : array of shape (n,) or None
        The cluster of every row, 0..k-1, or -1 where it is not shown; None without a label column.
    clusters : tuple of str
        What the file calls these clusters.
    value : str or None
        The value of its set column, where there is one.
    """

    name: str
    table: Table
    places: Integers
    labels: Integers | None
    clusters: tuple[str, ...] = ()
    value: str | None = None

    def known(self) -> NDArray[np.str_] | None:
        """The cluster of every row as the file calls it, empty where it is not shown."""
        if self.labels is None:
            return None
        # The last name is that of label -1.
        return np.array([*self.clusters, ""])[self.labels]


@dataclass(frozen=True)
class _Content:
    """What was read of a file: names and numbers of columns, label and set of every row as text."""

    names: list[str]
    values: Numbers
    labels: list[str] | None
    splits: list[str] | None
    named: bool


def read_sets(path: Path, wanted: Wanted) -> list[LabelledSet]:
    """Read the sets of a file, in the order in which they first appear.

    Parameters
    ----------
    path : Path
        A ``.csv``, ``.parquet`` or ``.npy`` file.
    wanted : Wanted
        Which of its columns are what.

    Returns
    -------
    list of LabelledSet

    Raises
    ------
    DataFileError
        If the file cannot be read, a column is missing, or a cell is not a finite number.

    Examples
    --------
    >>> import tempfile
    >>> from likewise.app.labelled_tables import Wanted, read_sets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "shelf.csv")
    ...     _ = file.write_text("kind,width\\nnovel,5.1\\natlas,9\\nnovel,4.9\\n")
    ...     (shelf,) = read_sets(file, Wanted(label="kind"))
    >>> shelf.table.columns, shelf.labels.tolist()
    (('width',), [1, 0, 1])
    """
    kind = path.suffix.lower()
    if kind == ".csv":
        with explained(path):
            _check_header(path, wanted)
            content = _read_csv(path, wanted)
    elif kind == ".parquet":
        with explained(path):
            _check_header(path, wanted)
            content = _read_parquet(path, wanted)
    else:
        content = _read_array(path, wanted)
    if content.values.shape[0] == 0:
        raise DataFileError(f"{path} has columns but no rows; it needs at least one row.")
    return _split(path, content)


def chosen_names(
    path: Path, names: Sequence[str], patterns: Sequence[str], needed_by: str | None = None
) -> list[str]:
    """Names that were asked for, in that order; ``*`` in a pattern stands for any text.

    With `needed_by`, what was fitted on them, they are names as they are.
    """
    if needed_by is not None:
        _refuse_missing(path, names, patterns, needed_by)
        return list(patterns)
    found: list[str] = []
    for pattern in patterns:
        if pattern in names:
            matching = [pattern]
        elif "*" in pattern:
            matching = [name for name in names if fnmatchcase(name, pattern)]
        else:
            matching = []
        if not matching:
            raise DataFileError(f"{path} has no column {pattern!r}; {_columns_are(names)}.")
        found += [name for name in matching if name not in found]
    return found


def _refuse_missing(
    path: Path, names: Sequence[str], needed: Sequence[str], needed_by: str
) -> None:
    missing = [name for name in needed if name not in names]
    if not missing:
        return
    listed = ", ".join(map(repr, missing[:LISTED]))
    more = f" and {len(missing) - LISTED} more" if len(missing) > LISTED else ""
    raise DataFileError(
        f"{path} has no column{'s' * (len(missing) > 1)} {listed}{more}, which {needed_by} was "
        f"fitted on; {_columns_are(names)}."
    )


def _check_header(path: Path, wanted: Wanted) -> None:
    if path.is_dir():
        raise DataFileError(f"{path} is a directory; name the files in it.")
    if wanted.header is not None and path.suffix.lower() != ".csv":
        raise DataFileError(f"{path} is not a CSV file: leave out --header and --no-header.")
    if path.stat().st_size == 0:
        raise DataFileError(f"{path} is empty (0 bytes); it needs at least one row of numbers.")


def _read_csv(path: Path, wanted: Wanted) -> _Content:
    names = column_names(path, wanted.header)
    _check_names(path, names)
    special = _special(path, names, wanted)
    frame, place = read_texts(path, names, wanted.header)
    cells = {name: frame.to_series(names.index(name)) for name in names}
    if wanted.columns is None:
        text = text_columns({n: c for n, c in cells.items() if n not in special}, place)
        used = [name for name in names if name not in special and name not in text]
        _refuse_nothing(path, used, text)
        _refuse_unnamed(path, used)
    else:
        used = chosen_names(path, names, wanted.columns, wanted.needed_by)
    _refuse_overlap(used, wanted)
    values = stacked([to_numbers(cells[name], place, name) for name in used], frame.height)
    return _Content(
        used, values,
        None if wanted.label is None else _texts(cells[wanted.label]),
        None if wanted.split is None else _set_names(cells[wanted.split], place, wanted.split),
        wanted.header is not False,
    )  # fmt: skip


def _read_parquet(path: Path, wanted: Wanted) -> _Content:
    polars = import_polars()
    schema = polars.read_parquet_schema(path)
    names = list(schema)
    special = _special(path, names, wanted)
    place = Place(path)
    text = {n: str(schema[n]) for n in names if n not in special and not schema[n].is_numeric()}
    if wanted.columns is None:
        used = [name for name in names if name not in special and name not in text]
        _refuse_nothing(path, used, text)
    else:
        used = chosen_names(path, names, wanted.columns, wanted.needed_by)
        for name in used:
            if name in text:
                raise DataFileError(
                    f"{path}: column {name!r} holds {text[name]}, not numbers; leave it out."
                )
    _refuse_overlap(used, wanted)
    frame = polars.read_parquet(path, columns=[*used, *special])
    values = [finite_numbers(frame[name], frame[name], place, name) for name in used]
    return _Content(
        used, stacked(values, frame.height),
        None if wanted.label is None else _texts(frame[wanted.label]),
        None if wanted.split is None else _set_names(frame[wanted.split], place, wanted.split),
        True,
    )  # fmt: skip


def _read_array(path: Path, wanted: Wanted) -> _Content:
    """An array of numbers, whose columns are named by position."""
    table = read_table(path, header=wanted.header)
    names = list(table.columns)
    special = _special(path, names, wanted)
    used = (
        [name for name in names if name not in special]
        if wanted.columns is None
        else chosen_names(path, names, wanted.columns, wanted.needed_by)
    )
    _refuse_nothing(path, used, {})
    _refuse_overlap(used, wanted)

    def texts(name: str | None) -> list[str] | None:
        if name is None:
            return None
        return [f"{value:.15g}" for value in table.values[:, names.index(name)]]

    values = table.values[:, [names.index(name) for name in used]]
    return _Content(used, values, texts(wanted.label), texts(wanted.split), table.named)


def _split(path: Path, content: _Content) -> list[LabelledSet]:
    n = content.values.shape[0]
    rows_of: dict[str, list[int]] = {}
    for row, value in enumerate(content.splits or [""] * n):
        rows_of.setdefault(value, []).append(row)
    sets = []
    for value, places in rows_of.items():
        rows = np.array(places, dtype=np.intp)
        own = None if content.splits is None else value
        name = path.stem if own is None else f"{path.stem}: {own}"
        table = Table(path, content.values[rows], tuple(content.names), content.named)
        if content.labels is None:
            sets.append(LabelledSet(name, table, rows, None, value=own))
        else:
            labels, clusters = _numbered([content.labels[row] for row in rows])
            sets.append(LabelledSet(name, table, rows, labels, clusters, own))
    return sets


def _numbered(texts: list[str]) -> tuple[Integers, tuple[str, ...]]:
    """Labels 0..k-1 in the order of their texts; what is missing, or -1, is not shown."""
    shown = {text for text in texts if text.lower() not in MISSING and text != str(NOT_SHOWN)}
    clusters = tuple(sorted(shown))
    numbers = {text: number for number, text in enumerate(clusters)}
    return np.array([numbers.get(text, NOT_SHOWN) for text in texts], dtype=np.intp), clusters


def _texts(column: pl.Series) -> list[str]:
    polars = import_polars()
    return list(column.cast(polars.String).str.strip_chars().fill_null("").to_list())


def _set_names(column: pl.Series, place: Place, name: str) -> list[str]:
    texts = _texts(column)
    for row, text in enumerate(texts):
        if not text:
            raise DataFileError(
                f"{place.cell(row, name)}: the value is missing, but it says which set the row is "
                "in; fill it in, or drop the row."
            )
    return texts


def _special(path: Path, names: list[str], wanted: Wanted) -> list[str]:
    special = []
    for option, name in (("--label", wanted.label), ("--set", wanted.split)):
        if name is None:
            continue
        if name not in names:
            raise DataFileError(f"{path} has no column {name!r} ({option}); {_columns_are(names)}.")
        special.append(name)
    if len(special) == 2 and special[0] == special[1]:
        raise InputError(f"--label and --set both name {special[0]!r}; a column can be only one.")
    return special


def _check_names(path: Path, names: list[str]) -> None:
    repeated = sorted({name for name in names if name and names.count(name) > 1})
    if repeated:
        raise DataFileError(
            f"{path}: several columns are called {repeated[0]!r}; give each its own name."
        )


def _refuse_unnamed(path: Path, used: list[str]) -> None:
    if "" in used:
        raise DataFileError(
            f"{path}: a column of numbers has no name (an index that was written along?); say "
            "which columns to compare with --columns."
        )


def _refuse_overlap(used: Sequence[str], wanted: Wanted) -> None:
    for option, name in (("--label", wanted.label), ("--set", wanted.split)):
        if name is not None and name in used:
            raise InputError(
                f"column {name!r} is both {option} and a column to compare; leave it out of "
                "--columns and --compare."
            )


def _refuse_nothing(path: Path, used: Sequence[str], text: dict[str, Any]) -> None:
    if used:
        return
    found = ", ".join(f"{name!r} ({what})" for name, what in list(text.items())[:LISTED])
    raise DataFileError(
        f"{path}: no column of numbers is left to compare; "
        + (f"these hold text: {found}." if found else "there are no other columns.")
    )


def _columns_are(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return "its columns are " + ", ".join(repr(name) for name in names[:LISTED]) + more
