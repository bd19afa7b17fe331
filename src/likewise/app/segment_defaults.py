"""How ``likewise segment`` cuts where nothing says what a segment costs.

Every column is divided by its noise, and a segment costs 2 p log T, for T rows of p columns: a
segment more brings p means and a change point, which is what such a penalty pays for where the
noise of all columns is normal, alike and independent. Where rows that follow each other are
correlated, it finds too many segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.app.layout import counted
from likewise.errors import InputError
from likewise.geometry.noise import noise_scales

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.app.tables import Table

    Floats = NDArray[np.float64]

# The default penalty is this times p log T.
PER_COLUMN = 2.0
# Fewer rows do not show how strong the noise is.
FEW_ROWS = 10
# Column names that a note lists.
LISTED = 8


@dataclass(frozen=True, eq=False)
class Noise:
    """What every column was divided by; 0 where it is constant, and was left out."""

    columns: tuple[str, ...]
    scales: Floats
    guessed: NDArray[np.bool_]

    def notes(self) -> list[str]:
        """What should be known about columns that are not like the others."""
        notes = []
        constant = self._where(self.scales == 0.0)
        if constant:
            notes.append(f"left out, as constant: {_listed(constant)}")
        guessed = self._where(self.guessed)
        if guessed:
            notes.append(
                "divided by the standard deviation, as most differences of neighbouring rows are "
                f"the same: {_listed(guessed)}"
            )
        return notes

    def _where(self, mask: NDArray[np.bool_]) -> list[str]:
        return [name for name, kept in zip(self.columns, mask, strict=True) if kept]


def in_noise(table: Table) -> tuple[Floats, Noise]:
    """Columns divided by their noise, those that are constant left out; and what that noise is."""
    rows = table.values
    with np.errstate(over="ignore", invalid="ignore"):
        scales, guessed = noise_scales(rows)
        varies = scales > 0.0
        scaled = np.zeros((len(rows), 1))
        if varies.any():
            # The first row takes a common offset away before it costs digits.
            scaled = (rows[:, varies] - rows[0, varies]) / scales[varies]
    if not (np.isfinite(scales).all() and np.isfinite(scaled).all()):
        raise InputError(
            "the values are too large to be divided by their noise: divide the columns by a power "
            "of ten, or give --no-scale."
        )
    return scaled, Noise(table.columns, scales, guessed)


def default_penalty(rows: Floats) -> float:
    """2 p log T, for T rows of p columns that have noise of variance 1.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.app.segment_defaults import default_penalty
    >>> round(default_penalty(np.zeros((100, 3))), 2)
    27.63
    """
    n, p = rows.shape
    return float(PER_COLUMN * p * np.log(n))


def few_rows(n: int) -> list[str]:
    """What to say of a series that is too short for the default."""
    if n >= FEW_ROWS:
        return []
    return [
        f"{counted(n, 'row')} do not show how strong the noise is: give --penalty or --n-segments"
    ]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more
