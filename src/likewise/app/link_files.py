"""Files of row pairs: two columns of row numbers, from 0, for must-links and cannot-links."""

from __future__ import annotations

import csv
from pathlib import Path

from likewise.app.tables import explained
from likewise.errors import DataFileError

Pairs = list[tuple[int, int]]


def read_pairs(path: Path, n_rows: int) -> Pairs:
    """Read pairs of rows of a table.

    Parameters
    ----------
    path : Path
        A CSV file of two columns; a first line without any number is a header.
    n_rows : int
        Rows of the table.

    Examples
    --------
    >>> import tempfile
    >>> from likewise.app.link_files import read_pairs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "pairs.csv")
    ...     _ = file.write_text("row,other\\n0,3\\n1,2\\n")
    ...     read_pairs(file, 4)
    [(0, 3), (1, 2)]
    """
    if path.is_dir():
        raise DataFileError(f"{path} is a directory; name a CSV file of pairs of rows.")
    pairs: Pairs = []
    with explained(path):
        if path.stat().st_size == 0:
            raise DataFileError(f"{path} is empty (0 bytes); it needs pairs of rows, such as 0,5.")
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            header_allowed = True
            for fields in reader:
                texts = [text.strip() for text in fields]
                if not any(texts):
                    continue
                _check_count(path, reader.line_num, texts)
                if not (header_allowed and not any(map(_is_number, texts))):
                    first, second = (_row(path, reader.line_num, text, n_rows) for text in texts)
                    pairs.append((first, second))
                header_allowed = False
    return pairs


def _check_count(path: Path, line: int, texts: list[str]) -> None:
    if len(texts) != 2:
        has = f"{len(texts)} fields" if len(texts) != 1 else f"one field, {texts[0]!r}"
        raise DataFileError(
            f"{path}: line {line} has {has}; two row numbers separated by a comma are needed, "
            "such as 0,5."
        )


def _row(path: Path, line: int, text: str, n_rows: int) -> int:
    allowed = f"rows are numbered from 0 to {n_rows - 1}"
    try:
        row = int(text)
    except ValueError:
        raise DataFileError(
            f"{path}: line {line}: {text!r} is not a row number; {allowed}."
        ) from None
    if not 0 <= row < n_rows:
        raise DataFileError(f"{path}: line {line}: there is no row {row}; {allowed}.")
    return row


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
