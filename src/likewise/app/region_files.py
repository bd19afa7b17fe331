"""Files of labelled regions: start, end, number of changes, and the series where there are several.

``likewise segment --labels`` keeps to them, ``likewise learn --kind changes --regions`` learns from
them.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from likewise.app.tables import explained
from likewise.errors import DataFileError, LikewiseError
from likewise.supervision import RegionLabels

COLUMNS = ("start", "end", "changes")
# The column that names the series, where there are several.
SET = "set"
# Names of series that a message lists.
LISTED = 8


def read_regions(path: Path) -> RegionLabels:
    """Read regions in which the number of changes is known.

    Parameters
    ----------
    path : Path
        A CSV file whose first line names the columns start, end and changes, in any order; others
        are left out. Without such a line, the first three columns are these.

    Examples
    --------
    >>> import tempfile
    >>> from likewise.app.region_files import read_regions
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "regions.csv")
    ...     _ = file.write_text("start,end,changes\\n10,20,0\\n40,60,>=1\\n")
    ...     read_regions(file).rows
    [(10, 20, '0'), (40, 60, '>=1')]
    """
    lines, places = _lines_of(path)
    return _checked(path, [_region(path, number, texts, places) for number, texts in lines])


def read_regions_of(path: Path, series: Mapping[str, int]) -> list[RegionLabels]:
    """Read regions of several series, in the order of these.

    Parameters
    ----------
    path : Path
        A file as for `read_regions`, with one more column, set: the name of the series. It is not
        needed where there is one series only.
    series : mapping of str to int
        Names of the series, and their numbers of rows.
    """
    lines, places = _lines_of(path)
    if SET not in places and len(series) > 1:
        raise DataFileError(
            f"{path}: there are {len(series):,} series, so a column {SET!r} must name the one of "
            "every region."
        )
    regions: dict[str, list[tuple[str, str, str]]] = {name: [] for name in series}
    for number, texts in lines:
        region = _region(path, number, texts, places)
        name = texts[places[SET]] if SET in places else next(iter(series))
        if name not in regions:
            raise DataFileError(
                f"{path}: line {number}: there is no series {name!r}; they are "
                f"{', '.join(map(repr, list(series)[:LISTED]))}{', ...' * (len(series) > LISTED)}."
            )
        regions[name].append(region)
    return [_checked(path, own, (name, series[name])) for name, own in regions.items()]


def _checked(
    path: Path, regions: list[tuple[str, str, str]], series: tuple[str, int] | None = None
) -> RegionLabels:
    """Regions that do not overlap and, where the series is known, are inside it."""
    labels = RegionLabels(regions)
    try:
        # The rows are made on demand: ask for them here, where the file can be named.
        if labels.rows and series is not None:
            labels.windows(series[1])
    except LikewiseError as error:
        where = "" if series is None else f" series {series[0]!r}:"
        raise DataFileError(f"{path}:{where} {error}") from error
    return labels


def _lines_of(path: Path) -> tuple[list[tuple[int, list[str]]], dict[str, int]]:
    """The lines of regions, numbered, and where the columns are."""
    if path.is_dir():
        raise DataFileError(f"{path} is a directory; name a CSV file of regions.")
    with explained(path), path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        lines = [(reader.line_num, [text.strip() for text in fields]) for fields in reader]
    lines = [(number, texts) for number, texts in lines if any(texts)]
    places = _places(path, lines[0][1]) if lines else None
    if places is None:
        places = {name: place for place, name in enumerate(COLUMNS)}
    else:
        lines = lines[1:]
    if not lines:
        raise DataFileError(f"{path} holds no regions; it needs lines such as 10,20,1.")
    return lines, places


def _places(path: Path, first: list[str]) -> dict[str, int] | None:
    """Where the columns are, by the first line; None where that is a region."""
    names = [text.lower() for text in first]
    if any(_is_number(text) for text in names):
        return None
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise DataFileError(
            f"{path}: the first line names no column {missing[0]!r}; the columns are "
            f"{','.join(COLUMNS)}."
        )
    return {name: names.index(name) for name in (*COLUMNS, SET) if name in names}


def _region(
    path: Path, number: int, texts: list[str], places: dict[str, int]
) -> tuple[str, str, str]:
    if len(texts) <= max(places.values()):
        raise DataFileError(
            f"{path}: line {number} has {len(texts)} field{'s' if len(texts) != 1 else ''}; "
            f"{','.join(COLUMNS)} are needed, such as 10,20,1."
        )
    start, end, changes = (texts[places[name]] for name in COLUMNS)
    for text in (start, end):
        if not _is_number(text):
            raise DataFileError(
                f"{path}: line {number}: {text!r} is not a row number; rows are numbered from 0."
            )
    return start, end, changes


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
