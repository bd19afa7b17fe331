"""Finding NaN and infinity, fast where there are none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.blocks import row_blocks

__all__ = ["NonFinite", "first_nonfinite"]


@dataclass(frozen=True)
class NonFinite:
    """Where an array is not finite.

    Attributes
    ----------
    position : tuple of int
        The first place, in C order.
    value : float
        NaN or an infinity.
    total : int
        How many there are.
    """

    position: tuple[int, ...]
    value: float
    total: int

    @property
    def word(self) -> str:
        """``"NaN"`` or ``"infinity"``."""
        return "NaN" if np.isnan(self.value) else "infinity"


def first_nonfinite(
    values: NDArray[np.float64], *, skip_diagonal: bool = False
) -> NonFinite | None:
    """Find the first value that is not finite.

    Parameters
    ----------
    values : array of any shape
        What to look through.
    skip_diagonal : bool, default=False
        Leave out entries [i, i] (of any further axes).

    Returns
    -------
    NonFinite or None
        None where all are finite.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.arrays.finite import first_nonfinite
    >>> first_nonfinite(np.array([[0.0, 1.0], [np.nan, np.inf]]))
    NonFinite(position=(1, 0), value=nan, total=2)
    """
    # One pass over the values, and masks only where the sum says that something may be wrong.
    with np.errstate(over="ignore", invalid="ignore"):
        if values.size == 0 or np.isfinite(values.sum()):
            return None
    first: tuple[int, ...] | None = None
    total = 0
    for block in row_blocks(len(values), values[:1].nbytes):
        bad = ~np.isfinite(values[block])
        if skip_diagonal:
            on_diagonal = np.arange(block.start, min(block.stop, values.shape[1]))
            bad[on_diagonal - block.start, on_diagonal] = False
        total += int(bad.sum())
        if first is None and bad.any():
            place = np.unravel_index(int(bad.argmax()), bad.shape)
            first = (block.start + int(place[0]), *map(int, place[1:]))
    return None if first is None else NonFinite(first, float(values[first]), total)
