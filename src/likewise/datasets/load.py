"""Real data sets whose true clusters are known, to be shown and to be tested with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class LabelledRows:
    """Rows, and the cluster that each is known to belong to.

    Attributes
    ----------
    rows : ndarray of shape (n, p)
        What a clusterer is given.
    labels : ndarray of shape (n,)
        The known partition, for judging only.
    image_shape : tuple of int or None
        Height and width, where every row is an image.
    source : str
        Where the data comes from.
    """

    rows: NDArray[np.float64]
    labels: NDArray[np.intp]
    image_shape: tuple[int, int] | None
    source: str


def load_digits_demo() -> LabelledRows:
    """Load 1797 handwritten digits, images of 8 x 8 pixels with grey values 0 to 16.

    Returns
    -------
    LabelledRows
        One row per image; its label is the digit, 0 to 9.

    References
    ----------
    E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning
    Repository, 1998, https://doi.org/10.24432/C50P49 (its test part, as scikit-learn ships it).

    Examples
    --------
    >>> from likewise.datasets import load_digits_demo
    >>> digits = load_digits_demo()
    >>> digits.rows.shape, digits.labels[:5].tolist()
    ((1797, 64), [0, 1, 2, 3, 4])
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    return LabelledRows(
        rows=np.ascontiguousarray(digits.data, dtype=np.float64),
        labels=np.asarray(digits.target, dtype=np.intp),
        image_shape=(8, 8),
        source=(
            "Optical Recognition of Handwritten Digits (E. Alpaydin, C. Kaynak, 1998; "
            "UCI Machine Learning Repository, test part), as shipped inside scikit-learn"
        ),
    )
