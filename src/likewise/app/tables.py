"""Data files -> tables of finite numbers: CSV and Parquet (polars), NPY (never pickled).

Every cell that is not a finite number is refused by name: data row, line of the file, column and
the text that was found.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from likewise.app.csv_tables import read_csv
from likewise.errors import DataFileError, MissingDependencyError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Read = tuple[list[str], NDArray[np.float64]]

NPY_MAGIC = b"\x93NUMPY"


@dataclass(frozen=True)
class Table:
    """Rows of finite numbers read from a file.

    Attributes
    ----------
    path : Path
        The file.
    values : ndarray of shape (n, p)
        Its numbers.
    columns : tuple of str
        Names of the columns that are used; positions, written out, for an NPY file.
    named : bool
        Whether the file itself names its columns.
    """

    path: Path
    values: NDArray[np.float64]
    columns: tuple[str, ...]
    named: bool

    def rows(self) -> pl.DataFrame | NDArray[np.float64]:
        """Return what an estimator is given: a frame where the file names its columns."""
        if not self.named:
            return self.values
        polars = import_polars()
        frame: pl.DataFrame = polars.DataFrame(self.values, schema=list(self.columns), orient="row")
        return frame


def read_table(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    header: bool | None = None,
) -> Table:
    """Read a table of finite numbers from a ``.csv``, ``.parquet`` or ``.npy`` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    columns : sequence of str, default=None
        The columns to use, by name (for ``.npy`` by position, from 0). None uses all columns,
        which must then all be numeric.
    header : bool, default=None
        Whether the first line of a CSV file names the columns. None means that it does, and
        refuses a first line that holds only numbers.

    Returns
    -------
    Table
        Rows in the order of the file.

    Raises
    ------
    DataFileError
        If the file cannot be read, or a cell is not a finite number.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from likewise.app.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "iris.csv")
    ...     _ = file.write_text("sepal,petal\\n5.1,1.4\\n4.9,1.3\\n")
    ...     table = read_table(file, ["petal"])
    >>> table.columns, table.values.tolist()
    (('petal',), [[1.4], [1.3]])
    """
    path = Path(path)
    readers = {".csv": read_csv, ".parquet": _read_parquet, ".npy": _read_npy}
    read = readers.get(path.suffix.lower())
    if path.is_dir():
        raise DataFileError(f"{path} is a directory; name one file: {', '.join(readers)}.")
    if read is None:
        raise DataFileError(
            f"{path}: files ending in {', '.join(readers)} can be read, not {path.suffix!r}; "
            "convert it to one of them."
        )
    if header is not None and read is not read_csv:
        raise DataFileError(f"{path} is not a CSV file: leave out --header and --no-header.")
    with explained(path):
        if path.stat().st_size == 0:
            raise DataFileError(f"{path} is empty (0 bytes); it needs at least one row of numbers.")
        names, values = read(path, columns, header)
    if values.shape[0] == 0:
        raise DataFileError(f"{path} has columns but no rows; it needs at least one row.")
    named = read is not _read_npy and header is not False
    return Table(path, values, tuple(names), named)


def _read_parquet(path: Path, columns: Sequence[str] | None, _: bool | None) -> Read:
    polars = import_polars()
    schema = polars.read_parquet_schema(path)
    names = list(choose_columns(path, list(schema), columns).values())
    refuse_text(
        path, list(schema), {n: str(schema[n]) for n in names if not schema[n].is_numeric()}
    )
    frame = polars.read_parquet(path, columns=names)
    values = [finite_numbers(frame[name], frame[name], Place(path), name) for name in names]
    return names, stacked(values, frame.height)


def _read_npy(path: Path, columns: Sequence[str] | None, _: bool | None) -> Read:
    array = _mapped_array(path)
    if array.dtype.kind not in "iuf":
        raise DataFileError(
            f"{path} holds {array.dtype}; real numbers are needed: convert it with astype(float)."
        )
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataFileError(
            f"{path} has shape {array.shape}; rows and columns are needed, (n, p) with p >= 1: "
            "reshape a vector to (n, 1)."
        )
    chosen = choose_columns(path, [str(i) for i in range(array.shape[1])], columns)
    names = list(chosen.values())
    values = np.array(array[:, list(chosen)], dtype=np.float64, order="C")
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        row, column = bad[0]
        more = and_more(int(np.count_nonzero(bad[:, 1] == column)))
        raise DataFileError(
            f"{Place(path).cell(row, names[column])}: the value is {values[row, column]}{more}; "
            "drop or fill in such rows first."
        )
    return names, values


def _mapped_array(path: Path) -> NDArray[Any]:
    """Map an NPY file: a header that promises more than the file holds is refused by that."""
    with path.open("rb") as file:
        if file.read(len(NPY_MAGIC)) != NPY_MAGIC:
            raise DataFileError(f"{path} is not an NPY file; save one array with numpy.save.")
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # the parser of the header raises whatever a damaged one provokes
        raise _damaged(path, error) from error
    return array


def _damaged(path: Path, error: BaseException) -> DataFileError:
    reason = str(error).strip().split("\n")[0].rstrip(".")
    return DataFileError(
        f"{path} is damaged or not a {path.suffix.lower()} file ({reason}); write it again."
    )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the errors of the file system and of the readers into one clear line."""
    try:
        yield
    except (DataFileError, MissingDependencyError):
        raise
    except FileNotFoundError as error:
        raise DataFileError(f"{path} does not exist; check the name and the folder.") from error
    except UnicodeDecodeError as error:
        raise DataFileError(f"{path} is not UTF-8 text; save it again as UTF-8.") from error
    except OSError as error:
        raise DataFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except BaseException as error:
        if not (isinstance(error, csv.Error) or _is_from_polars(error)):
            raise
        raise _damaged(path, error) from error


def _is_from_polars(error: BaseException) -> bool:
    """Whether a reader of polars raised; a panic in it derives from BaseException only."""
    return type(error).__module__.split(".")[0] in ("polars", "pyo3_runtime")
