"""Columns of a sequence in their own units, however large or small their numbers are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["in_units_of", "measure"]

Floats = NDArray[np.float64]

# Whatever is further away counts as this far: its square is a number still.
FAR = 1e100
_NUMBERS = np.finfo(np.float64)


def measure(
    rows: Floats, statistics: Callable[[Floats], tuple[Floats, Floats]]
) -> tuple[Floats, Floats]:
    """A centre and a scale of every column, from statistics of numbers of at most 1.

    Parameters
    ----------
    rows : array of shape (n, p)
        Finite; of any size, as every column is divided by a power of two first, which is exact.
    statistics : callable
        From such rows to the centres and the scales of the columns.

    Returns
    -------
    centres : array of shape (p,)
    scales : array of shape (p,)
        0 only where the statistics say so.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.transformers.columns import measure
    >>> rows = np.array([[1e300, 5.0], [3e300, 5.0]])
    >>> measure(rows, lambda rows: (rows.mean(axis=0), rows.std(axis=0)))
    (array([2.e+300, 5.e+000]), array([1.e+300, 0.e+000]))
    """
    _, exponents = np.frexp(np.abs(rows).max(axis=0))
    centres, scales = statistics(np.ldexp(rows, -exponents))
    with np.errstate(over="ignore"):
        original = np.clip(np.ldexp(scales, exponents), _NUMBERS.tiny, _NUMBERS.max)
    return np.ldexp(centres, exponents), np.where(scales > 0.0, original, 0.0)


def in_units_of(rows: Floats, centres: Floats, scales: Floats) -> Floats:
    """(rows - centres) / scales, within plus and minus 1e100.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.transformers.columns import in_units_of
    >>> in_units_of(np.array([[5.0], [1.7e308]]), np.array([-1e308]), np.array([1e-3]))
    array([[1.e+100],
           [1.e+100]])
    """
    with np.errstate(over="ignore"):
        away = (rows - centres) / scales
    return np.clip(away, -FAR, FAR, out=away)
