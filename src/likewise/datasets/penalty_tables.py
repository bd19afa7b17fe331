"""Penalties that are known to suit labelled series, and what series look like.

The tables of the neuroblastoma benchmark: for every series the errors that its labels count, by
log-penalty, and features from which a log-penalty may be predicted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.errors import DataFileError, InputError, MissingDependencyError

__all__ = ["PenaltyTable", "load_penalty_table"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

ID, LOW, HIGH = "sequenceID", "min.log.lambda", "max.log.lambda"
FILES = {
    "targets": "{}_targets.csv.gz",
    "folds": "{}_folds.csv.gz",
    "features": "{}_features.parquet",
    "evaluation": "{}_evaluation.parquet",
}


@dataclass(frozen=True, eq=False)
class PenaltyTable:
    """Series by their features, and what each log-penalty costs.

    Attributes
    ----------
    ids : list of str
        One per series.
    features : ndarray of shape (n, f)
        What a log-penalty is predicted from.
    names : list of str
        Of the features.
    limits : ndarray of shape (n, 2)
        Between which log-penalties the fewest labels are wrong; infinite where there is no limit.
    folds : dict of str to ndarray of shape (n,)
        Published splits: name -> number of the fold of every series.
    labels : ndarray of shape (n,)
        How many labels a series has.
    steps : tuple of ndarray
        Series, lowest and highest log-penalty, labels that are wrong between: one row each.
    """

    ids: list[str]
    features: Floats
    names: list[str]
    limits: Floats
    folds: dict[str, Indices]
    labels: Indices
    steps: tuple[Indices, Floats, Floats, Indices]

    def errors(self, log_penalties: ArrayLike) -> Indices:
        """How many labels of every series are wrong at these log-penalties.

        Parameters
        ----------
        log_penalties : array-like of shape (n,)
            One per series; errors are those of ``low < log-penalty <= high``.
        """
        chosen = np.asarray(log_penalties, dtype=np.float64)
        if chosen.shape != (len(self.ids),) or np.isnan(chosen).any():
            raise InputError(f"log_penalties must be {len(self.ids)} numbers, one per series.")
        series, low, high, wrong = self.steps
        at = (low < chosen[series]) & (chosen[series] <= high)
        return np.bincount(series[at], wrong[at], len(self.ids)).astype(np.intp)


def load_penalty_table(folder: str | Path, labels: str) -> PenaltyTable:
    """Load one of the label sets of a folder; needs polars, which reads its files.

    Parameters
    ----------
    folder : str or Path
        Where ``<labels>_targets.csv.gz``, ``_folds.csv.gz``, ``_features.parquet`` and
        ``_evaluation.parquet`` are.
    labels : str
        The first word of the files: ``"systematic"`` or ``"detailed"``.

    Returns
    -------
    PenaltyTable
    """
    tables = {kind: _read(Path(folder) / name.format(labels)) for kind, name in FILES.items()}
    targets, folds = tables["targets"], tables["folds"]
    ids = [str(one) for one in targets.get_column(ID)]
    place = {one: row for row, one in enumerate(ids)}
    if len(place) != len(ids):
        raise DataFileError(f"{folder}: a series has two rows of targets.")
    features = _in_order(tables["features"], place, f"{folder}: features")
    folds = _in_order(folds, place, f"{folder}: folds")
    evaluation = tables["evaluation"]
    series = np.array([place.get(str(one), -1) for one in evaluation.get_column(ID)], dtype=np.intp)
    if (series < 0).any():
        raise DataFileError(f"{folder}: the evaluation has series without targets.")
    low, high, wrong, counted = (
        evaluation.get_column(name).to_numpy() for name in (LOW, HIGH, "errors", "labels")
    )
    totals = np.zeros(len(ids), dtype=np.intp)
    totals[series] = counted
    names = [name for name in features.columns if name != ID]
    return PenaltyTable(
        ids=ids,
        features=features.select(names).to_numpy().astype(np.float64),
        names=names,
        limits=targets.select(LOW, HIGH).to_numpy().astype(np.float64),
        folds={
            name: folds.get_column(name).to_numpy().astype(np.intp)
            for name in folds.columns
            if name != ID
        },
        labels=totals,
        steps=(series, low.astype(np.float64), high.astype(np.float64), wrong.astype(np.intp)),
    )


def _read(path: Path) -> Any:
    """One table; which reader by the end of its name."""
    if not path.is_file():
        raise DataFileError(f"{path} is not there.")
    try:
        import polars
    except ImportError as error:
        raise MissingDependencyError(
            "tables of penalties are read with polars: pip install 'likewise[app]'."
        ) from error
    try:
        table = polars.read_parquet(path) if path.suffix == ".parquet" else polars.read_csv(path)
    except (OSError, polars.exceptions.PolarsError) as error:
        raise DataFileError(f"{path} cannot be read: {error}") from error
    if ID not in table.columns:
        raise DataFileError(f"{path} has no column {ID}.")
    return table


def _in_order(table: Any, place: dict[str, int], what: str) -> Any:
    """The rows of a table in the order of the targets."""
    rows = {str(one): row for row, one in enumerate(table.get_column(ID))}
    missing = [one for one in place if one not in rows]
    if missing:
        raise DataFileError(f"{what} of {missing[0]} are missing ({len(missing)} such in total).")
    return table[[rows[one] for one in place]]
