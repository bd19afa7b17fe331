"""How strong the noise of a sequence is, whatever changes there are in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Standard deviation of a normal variable / its median absolute deviation.
NORMAL_OF_MAD = 1.4826


def noise_scales(rows: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Standard deviation of the noise of every column, and where it could only be guessed.

    It is 1.4826 * MAD of the differences of neighbouring rows / sqrt(2), the MAD being the median
    of the distances from the median: a few changes of the mean are outliers among the differences.
    Where more than half of the differences are the same, the MAD is zero, and the standard
    deviation of the column takes its place; it contains the changes, so it is only a guess. Columns
    that are constant have the scale 0.

    Parameters
    ----------
    rows : array of shape (T, p)
        The sequence, finite, rows in the order of time.

    Returns
    -------
    scales : array of shape (p,)
    guessed : array of shape (p,)
        Whether the standard deviation was taken.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry.noise import noise_scales
    >>> noise = np.random.default_rng(0).normal(size=1000)
    >>> scales, _ = noise_scales((noise + 50 * (np.arange(1000) >= 400))[:, None])
    >>> bool(abs(scales[0] - 1) < 0.1)
    True
    """
    varies = np.ptp(rows, axis=0) > 0.0
    scales = np.zeros(rows.shape[1])
    if varies.any():
        steps = np.diff(rows[:, varies], axis=0)
        away = np.abs(steps - np.median(steps, axis=0))
        scales[varies] = NORMAL_OF_MAD * np.median(away, axis=0) / np.sqrt(2.0)
    guessed = varies & (scales == 0.0)
    if guessed.any():
        scales[guessed] = rows[:, guessed].std(axis=0)
    return scales, guessed
