"""Labelled sequences in folders: ``sequences.npz`` holds the numbers, ``meta.json`` says the rest.

For every sequence of ``meta.json`` the archive has an array ``X__<id>``, one row per time step, and
may have others, ``<name>__<id>``, one value per row: ``y`` is the state of every row. Nothing in
the folder is executed: arrays of objects are refused.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DataFileError

__all__ = [
    "LabelledSequences",
    "load_annotated_series",
    "load_chromosomes",
    "load_regions",
    "load_sequences",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

NUMBERS, REST = "sequences.npz", "meta.json"
# What an expert of copy numbers writes -> how many changes there are in a region.
CHANGES = {"0breakpoints": "0", "1breakpoint": "1"}


@dataclass(frozen=True, eq=False)
class LabelledSequences:
    """Sequences, and where they are known to change.

    Attributes
    ----------
    ids : list of str
        One per sequence.
    series : list of ndarray of shape (T, p)
        One row per time step.
    change_points : list of ndarray or None
        The first row of every segment after the first; None where the folder does not say.
    labels : list of ndarray of shape (T,) or None
        The state of every row, where the folder has one. States may return, and mean the same in
        different sequences only where the folder says so.
    groups : list of str
        What sequence belongs to whom: the same as the ids, or the sequence that it is a part of.
    columns : dict of str to list of ndarray of shape (T,)
        Other numbers of every row, such as positions.
    entries : list of dict
        What ``meta.json`` says of every sequence.
    meta : dict
        What it says of all.
    """

    ids: list[str]
    series: list[Floats]
    change_points: list[Indices] | None
    labels: list[Indices] | None
    groups: list[str]
    columns: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    entries: list[dict[str, Any]] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def segments(self) -> list[Indices]:
        """Segment of every row, 0, 1, ... in the order of time: what a learner is shown."""
        if self.change_points is None:
            raise DataFileError("these sequences have no change points.")
        return [
            np.searchsorted(cuts, np.arange(len(rows)), side="right")
            for rows, cuts in zip(self.series, self.change_points, strict=True)
        ]


def load_sequences(folder: str | Path) -> LabelledSequences:
    """Load the labelled sequences of a folder.

    Parameters
    ----------
    folder : str or Path
        Where ``sequences.npz`` and ``meta.json`` are.

    Returns
    -------
    LabelledSequences

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import numpy as np
    >>> from likewise.datasets import load_sequences
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = pathlib.Path(name)
    ...     np.savez(folder / "sequences.npz", X__walk=np.zeros((5, 2)))
    ...     about = {"sequences": [{"id": "walk", "changepoints": [3]}]}
    ...     _ = (folder / "meta.json").write_text(json.dumps(about))
    ...     found = load_sequences(folder)
    >>> found.ids, found.segments
    (['walk'], [array([0, 0, 0, 1, 1])])
    """
    folder = Path(folder)
    meta = _described(folder)
    entries = meta.pop("sequences")
    arrays = _arrays(folder)
    ids = [str(entry["id"]) for entry in entries]
    series = [_rows(folder, arrays, name) for name in ids]
    lengths = [len(rows) for rows in series]
    columns = {
        kind: [
            _column(folder, arrays, f"{kind}__{name}", n)
            for name, n in zip(ids, lengths, strict=True)
        ]
        for kind in _kinds(arrays, ids)
    }
    change_points = None
    if all("changepoints" in entry for entry in entries):
        change_points = [
            _cuts(folder, name, entry["changepoints"], n)
            for name, entry, n in zip(ids, entries, lengths, strict=True)
        ]
    labels = columns.pop("y", None)
    if labels is not None:
        labels = [column.astype(np.intp) for column in labels]
    return LabelledSequences(ids, series, change_points, labels, list(ids), columns, entries, meta)


def load_chromosomes(folder: str | Path) -> LabelledSequences:
    """Load copy-number profiles, cut at the borders of chromosomes.

    Parameters
    ----------
    folder : str or Path
        As for `load_sequences`; the archive says in ``chrom__<id>`` where every row is.

    Returns
    -------
    LabelledSequences
        One sequence per profile and chromosome, ``<id>/<chromosome>``; the group is the profile.
    """
    whole = load_sequences(folder)
    if "chrom" not in whole.columns or whole.change_points is None:
        raise DataFileError(f"{folder} does not say the chromosomes and change points of profiles.")
    ids, series, cuts, groups = [], [], [], []
    for profile, rows, known, places in zip(
        whole.ids, whole.series, whole.change_points, whole.columns["chrom"], strict=True
    ):
        borders = np.flatnonzero(np.diff(places)) + 1
        ends = np.append(borders, len(rows))
        for start, end in zip(np.insert(borders, 0, 0), ends, strict=True):
            ids.append(f"{profile}/{places[start]}")
            series.append(rows[start:end])
            cuts.append(known[(known > start) & (known < end)] - start)
            groups.append(profile)
    return LabelledSequences(ids, series, cuts, None, groups, meta=whole.meta)


def load_annotated_series(
    folder: str | Path,
) -> tuple[LabelledSequences, list[dict[str, Indices]]]:
    """Load series that several people have marked with the changes that they see.

    Parameters
    ----------
    folder : str or Path
        As for `load_sequences`; ``meta.json`` has the marks as ``annotations``.

    Returns
    -------
    sequences : LabelledSequences
        Missing values are NaN.
    annotations : list of dict of str to ndarray
        For every series, annotator -> change points.
    """
    found = load_sequences(folder)
    annotations = []
    for name, entry, rows in zip(found.ids, found.entries, found.series, strict=True):
        marks = entry.get("annotations")
        if not isinstance(marks, dict) or not marks:
            raise DataFileError(f"{Path(folder) / REST} has no annotations of {name}.")
        annotations.append(
            {who: _cuts(Path(folder), name, cuts, len(rows)) for who, cuts in marks.items()}
        )
    return found, annotations


def load_regions(
    folder: str | Path,
) -> tuple[LabelledSequences, list[list[tuple[int, int, str]]]]:
    """Load copy-number profiles with regions in which the number of changes is known.

    Parameters
    ----------
    folder : str or Path
        As for `load_sequences`; ``meta.json`` has the ``regions``, in the units of ``pos__<id>``.

    Returns
    -------
    sequences : LabelledSequences
    regions : list of list of tuple
        For every profile ``(first row, row after the last, "0" or "1")``, as
        `likewise.RegionLabels` takes them, sorted. Regions without a row are left out.
    """
    found = load_sequences(folder)
    if "pos" not in found.columns or not all("regions" in entry for entry in found.entries):
        raise DataFileError(f"{folder} does not say the positions and regions of profiles.")
    regions = []
    for entry, places in zip(found.entries, found.columns["pos"], strict=True):
        if (np.diff(places) < 0).any():
            raise DataFileError(f"{Path(folder) / NUMBERS}: positions of {entry['id']} must rise.")
        own = []
        for region in entry["regions"]:
            start = int(np.searchsorted(places, region["start"], side="left"))
            end = int(np.searchsorted(places, region["end"], side="right"))
            if region["annotation"] not in CHANGES:
                raise DataFileError(
                    f"{Path(folder) / REST}: annotation {region['annotation']!r} of "
                    f"{entry['id']} must be one of {', '.join(CHANGES)}."
                )
            if end > start:
                own.append((start, end, CHANGES[region["annotation"]]))
        regions.append(sorted(own))
    return found, regions


def _described(folder: Path) -> dict[str, Any]:
    """What ``meta.json`` says, once it is sure to describe sequences."""
    if not folder.is_dir():
        raise DataFileError(f"{folder} is no folder; name one that holds {NUMBERS} and {REST}.")
    for name in (NUMBERS, REST):
        if not (folder / name).is_file():
            raise DataFileError(f"{folder} has no file {name}; it needs {NUMBERS} and {REST}.")
    try:
        meta = json.loads((folder / REST).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataFileError(f"{folder / REST} is not JSON: {error}") from error
    entries = meta.get("sequences") if isinstance(meta, dict) else None
    if not isinstance(entries, list) or not entries:
        raise DataFileError(f"{folder / REST} must list its sequences under 'sequences'.")
    if not all(isinstance(entry, dict) and "id" in entry for entry in entries):
        raise DataFileError(f"{folder / REST}: every entry of 'sequences' needs an 'id'.")
    return dict(meta)


def _arrays(folder: Path) -> dict[str, NDArray[Any]]:
    try:
        with (folder / NUMBERS).open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise DataFileError(f"{folder / NUMBERS} cannot be read: {error}") from error


def _rows(folder: Path, arrays: dict[str, NDArray[Any]], name: str) -> Floats:
    rows = arrays.get(f"X__{name}")
    if rows is None:
        raise DataFileError(f"{folder / NUMBERS} has no array X__{name}.")
    if rows.ndim != 2 or rows.size == 0 or rows.dtype.kind not in "biuf":
        raise DataFileError(
            f"{folder / NUMBERS}: X__{name} must be a table of numbers, rows in the order of time; "
            f"got shape {rows.shape} of {rows.dtype}."
        )
    return rows.astype(np.float64)


def _kinds(arrays: dict[str, NDArray[Any]], ids: list[str]) -> list[str]:
    """Names of the columns that every sequence has, besides its rows."""
    names = {name.partition("__")[0] for name in arrays} - {"X"}
    return sorted(kind for kind in names if all(f"{kind}__{name}" in arrays for name in ids))


def _column(folder: Path, arrays: dict[str, NDArray[Any]], name: str, n_rows: int) -> NDArray[Any]:
    column = arrays[name]
    if column.shape != (n_rows,):
        raise DataFileError(
            f"{folder / NUMBERS}: {name} must have one value for each of {n_rows} rows; got shape "
            f"{column.shape}."
        )
    return column


def _cuts(folder: Path, name: str, given: Any, n_rows: int) -> Indices:
    try:
        cuts = np.array(given, dtype=np.intp)
    except (TypeError, ValueError, OverflowError):
        cuts = np.array([0], dtype=np.intp)
    if cuts.size == 0:
        return np.empty(0, dtype=np.intp)
    if cuts.ndim != 1 or cuts[0] < 1 or cuts[-1] >= n_rows or (np.diff(cuts) < 1).any():
        raise DataFileError(
            f"{folder / REST}: change points of {name} must be rising row numbers from 1 to "
            f"{n_rows - 1}; got {given!r}."
        )
    return cuts
