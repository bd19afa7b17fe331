"""Local scales: how far a row is from its k-th neighbour within its set.

A feature is divided by sqrt(s_p s_q), so that clusters of different density look alike
(Zelnik-Manor and Perona, "Self-tuning spectral clustering", NIPS 2004). What is kept is sqrt(s_p):
the product of two roots can neither overflow nor vanish.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.blocks import map_blocks, row_blocks
from likewise.errors import InputError
from likewise.geometry.terms import Term

__all__ = ["root_scales"]

Array = NDArray[np.float64]

_ONE = np.ones(1)


def root_scales(
    term: Term, X: Array, reference: Array | None, *, n_jobs: int | None = None
) -> Array:
    """Return sqrt(s_p) of every row of X for one locally scaled term, O(n m) time, blocked.

    Parameters
    ----------
    term : Term
        One with ``local_scale=k``.
    X : array of shape (n, p)
        The rows to scale.
    reference : array of shape (m, p) or None
        The set whose rows are the neighbours; None is X itself. One row equal to the row that is
        scaled does not count, so a row of the set gets the same scale when it comes back as new.
    n_jobs : int or None, default=None
        The number of threads.

    Returns
    -------
    array of shape (n,)
        All positive.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry.distances import DISTANCES
    >>> from likewise.geometry.scaling import root_scales
    >>> from likewise.geometry.terms import NamedTerm
    >>> term = NamedTerm("d", DISTANCES["manhattan"], local_scale=1)
    >>> root_scales(term, np.array([[0.0], [4.0], [13.0]]), None)
    array([2., 2., 3.])
    """
    neighbours = X if reference is None else reference
    k = term.local_scale
    if k is None or k > len(neighbours) - 1:
        raise InputError(
            f"feature {term.names[0]!r}: local_scale={k} needs a set of at least {(k or 0) + 1} "
            f"rows, because a row is not its own neighbour; got {len(neighbours)} rows. Lower "
            "local_scale or add rows."
        )
    own = np.arange(len(X)) if reference is None else first_equal_rows(X, reference)

    def scale(block: slice) -> Array:
        values = term.weighted(X[block], neighbours, _ONE, first_row=block.start)
        counted = own[block] >= 0
        values[np.flatnonzero(counted), own[block][counted]] = np.inf
        return _kth_positive(values, k, term.names[0])

    # Distances, the copy that is partitioned and a mask.
    blocks = row_blocks(len(X), 24 * len(neighbours))
    scales: Array = np.concatenate(map_blocks(scale, blocks, n_jobs))
    return np.sqrt(scales, out=scales)


def first_equal_rows(X: Array, reference: Array) -> NDArray[np.intp]:
    """Return for every row of X the first row of the reference that is equal to it, or -1.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry.scaling import first_equal_rows
    >>> first_equal_rows(np.array([[1.0], [2.0]]), np.array([[0.0], [1.0], [1.0]]))
    array([ 1, -1])
    """
    places: dict[bytes, int] = {}
    # Adding 0.0 turns -0.0, which is equal to 0.0, into the same bytes.
    for place, row in enumerate(reference + 0.0):
        places.setdefault(row.tobytes(), place)
    return np.array([places.get(row.tobytes(), -1) for row in X + 0.0], dtype=np.intp)


def _kth_positive(values: Array, k: int, name: str) -> Array:
    """k-th smallest value per row; the smallest positive one where that is 0; 1 where none is."""
    lowest = values.min(initial=np.inf)
    if lowest < 0.0:
        raise InputError(
            f"feature {name!r}: local_scale needs distances >= 0; got {lowest:g}. Leave out "
            "local_scale, or shift the distance so that it is never negative."
        )
    scales = np.partition(values, k - 1, axis=1)[:, k - 1]
    for row in np.flatnonzero(scales == 0.0):
        positive = values[row][(values[row] > 0.0) & np.isfinite(values[row])]
        scales[row] = positive.min(initial=np.inf)
    scales[np.isinf(scales)] = 1.0
    return scales
