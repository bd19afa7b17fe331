"""Segmentations as other libraries write them, and as labels.

Here a change point is the first row of a segment after the first: sorted, never 0, never the number
of rows.

============  =====================================================================================
ruptures      the *ends* of all segments, that of the last one, the number of rows, included
skchange      as here
sktime        half-open intervals [start, end), one for every segment
TCPD          one list of change points for every annotator, as here
============  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import InputError
from likewise.partitions import Partition

__all__ = [
    "change_points_of",
    "from_intervals",
    "from_ruptures",
    "from_skchange",
    "from_tcpd",
    "labels_of",
    "to_intervals",
    "to_ruptures",
    "to_skchange",
    "to_tcpd",
]

Indices = NDArray[np.intp]


def labels_of(change_points: ArrayLike, n_rows: int) -> Indices:
    """The segment of every row, 0, 1, ... in the order of time.

    Examples
    --------
    >>> from likewise.conventions import labels_of
    >>> labels_of([2], 5)
    array([0, 0, 1, 1, 1])
    """
    return Partition.from_change_points(_checked(change_points, n_rows), n_rows).labels


def change_points_of(labels: ArrayLike) -> Indices:
    """The rows whose label is not that of the row before, whatever the labels are.

    Examples
    --------
    >>> from likewise.conventions import change_points_of
    >>> change_points_of(["rest", "rest", "run", "rest"])
    array([2, 3])
    """
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InputError(f"labels must be one per row; got shape {array.shape}.")
    return np.flatnonzero(array[1:] != array[:-1]) + 1


def from_ruptures(breakpoints: Iterable[int]) -> tuple[Indices, int]:
    """The change points of a list of ends, and the number of rows.

    Examples
    --------
    >>> from likewise.conventions import from_ruptures
    >>> from_ruptures([30, 70, 100])
    (array([30, 70]), 100)
    """
    ends = [int(end) for end in breakpoints]
    if not ends:
        raise InputError("breakpoints must end with the number of rows; the list is empty.")
    return _checked(ends[:-1], ends[-1]), ends[-1]


def to_ruptures(change_points: ArrayLike, n_rows: int) -> list[int]:
    """The ends of all segments, the number of rows included.

    Examples
    --------
    >>> from likewise.conventions import to_ruptures
    >>> to_ruptures([30, 70], 100)
    [30, 70, 100]
    """
    return [*_checked(change_points, n_rows).tolist(), n_rows]


def from_skchange(change_points: ArrayLike, n_rows: int) -> Indices:
    """Checked; the convention is the same."""
    return _checked(change_points, n_rows)


def to_skchange(change_points: ArrayLike, n_rows: int) -> Indices:
    """Checked; the convention is the same."""
    return _checked(change_points, n_rows)


def from_intervals(intervals: Iterable[Sequence[int]]) -> tuple[Indices, int]:
    """The change points of consecutive intervals [start, end), and the number of rows.

    Examples
    --------
    >>> from likewise.conventions import from_intervals
    >>> from_intervals([(0, 3), (3, 10)])
    (array([3]), 10)
    """
    bounds = [(int(start), int(end)) for start, end in intervals]
    if not bounds or bounds[0][0] != 0:
        raise InputError(f"intervals must begin at row 0; got {bounds[:1]}.")
    for place in range(1, len(bounds)):
        if bounds[place][0] != bounds[place - 1][1]:
            raise InputError(
                f"intervals[{place}] must begin where the one before ends, at "
                f"{bounds[place - 1][1]}; got {bounds[place]}."
            )
    n_rows = bounds[-1][1]
    return _checked([start for start, _ in bounds[1:]], n_rows), n_rows


def to_intervals(change_points: ArrayLike, n_rows: int) -> list[tuple[int, int]]:
    """Intervals [start, end), one for every segment.

    Examples
    --------
    >>> from likewise.conventions import to_intervals
    >>> to_intervals([3], 10)
    [(0, 3), (3, 10)]
    """
    ends = to_ruptures(change_points, n_rows)
    return list(zip([0, *ends[:-1]], ends, strict=True))


def from_tcpd(annotations: Mapping[str, ArrayLike], n_rows: int) -> dict[str, Indices]:
    """The change points of every annotator; an empty list is "no change".

    Examples
    --------
    >>> from likewise.conventions import from_tcpd
    >>> from_tcpd({"6": [20], "8": []}, 50)
    {'6': array([20]), '8': array([], dtype=int64)}
    """
    return {str(name): _checked(points, n_rows) for name, points in annotations.items()}


def to_tcpd(annotations: Mapping[str, ArrayLike], n_rows: int) -> dict[str, list[int]]:
    """The same as lists, for JSON."""
    return {name: points.tolist() for name, points in from_tcpd(annotations, n_rows).items()}


def _checked(change_points: Any, n_rows: int) -> Indices:
    array = np.asarray(change_points)
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    rule = f"change points must be sorted whole numbers from 1 to {n_rows - 1}"
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"{rule}; got shape {array.shape} of {array.dtype}.")
    inside = (array >= 1) & (array < n_rows)
    if not inside.all():
        place = int(np.flatnonzero(~inside)[0])
        raise InputError(f"{rule}; [{place}] is {array[place]}.")
    falls = np.flatnonzero(np.diff(array) <= 0)
    if len(falls):
        place = int(falls[0]) + 1
        raise InputError(f"{rule}; [{place}] = {array[place]} is behind {array[place - 1]}.")
    return array.astype(np.intp)
