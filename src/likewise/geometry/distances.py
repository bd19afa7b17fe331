"""Named pair distances: pure functions of two blocks of rows.

Every name is put together from three small parts::

    prepare      rows -> rows, each on its own         cosine: to unit length
    Base         one number per pair, a sum or maximum over columns, in column order
    finish       number -> number                      euclidean: square root

    name         prepare   base                        finish
    sqeuclidean            sum (x - y)^2
    euclidean              sum (x - y)^2               sqrt
    rbf                    sum (x - y)^2               sqrt(2 - 2 exp(-gamma .)), gamma = 1 / p
    cosine       unit      sum (x - y)^2               . / 2, which is 1 - cos
    manhattan              sum |x - y|
    chebyshev              max |x - y|
    hamming                share of columns that differ
    chi2                   sum (x - y)^2 / (x + y), 0 / 0 = 0, values >= 0 only

No expansion |x|^2 + |y|^2 - 2 <x, y> is used: it would give small positive or negative numbers for
identical rows and bits that depend on the block. Here the distance of identical rows is exactly 0,
d(x, y) and d(y, x) are the same bits, and the value of a pair does not depend on the block or the
thread in which it is computed. Row by row (`PairDistance.paired`) the bits are those of the block
form too, unless SciPy was compiled with fused multiply-add (never on x86-64).
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from likewise.arrays.blocks import row_blocks
from likewise.errors import InputError

__all__ = ["DISTANCES", "PairDistance", "distance_named"]

Array = NDArray[np.float64]

# The stubs of SciPy want the name of the metric as a literal.
_cdist: Callable[..., Array] = cdist

# x + y = 0 only where x = y = 0; any positive number in its place makes the term 0 / tiny = 0.
_TINY = np.finfo(np.float64).smallest_subnormal


@dataclass(frozen=True)
class Base:
    """A number per pair of rows that is a sum or a maximum over columns.

    Attributes
    ----------
    block : callable
        ``block(A, B, out)`` returns (a, b) values, in `out` where it is given.
    column : callable
        ``column(x, y)`` returns what one column contributes to each pair of ``zip(x, y)``.
    fold : numpy.ufunc
        How the contributions of the columns are put together.
    minkowski : float or None
        The p for which the base orders pairs as the Minkowski distance does.
    is_mean : bool
        The sum is divided by the number of columns.
    """

    block: Callable[[Array, Array, Array | None], Array]
    column: Callable[[Array, Array], Array]
    fold: np.ufunc = np.add
    minkowski: float | None = None
    is_mean: bool = False


@dataclass(frozen=True)
class PairDistance:
    """A named distance between rows.

    Calling it with (a, p) and (b, p) rows gives the (a, b) distances.

    Attributes
    ----------
    name : str
        What ``Compare`` and ``features=`` call it.
    base : Base
        The sum or maximum over columns that it is a function of.
    prepare : callable or None
        Applied to the rows first, each on its own.
    finish : callable or None
        ``finish(values, n_columns)`` changes base values in place, in an increasing way.
    factor : float or None
        Distance / base value where that is a constant, so that weighted sums of distances are
        sums over columns again; None where `finish` is not linear.
    lowest : float or None
        The least value that rows may hold.
    symmetric, zero_on_identical : bool
        Both hold to the last bit.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry.distances import DISTANCES
    >>> DISTANCES["chi2"](np.array([[1.0, 0.0]]), np.array([[3.0, 0.0], [1.0, 0.0]]))
    array([[1., 0.]])
    """

    name: str
    base: Base
    prepare: Callable[[Array], Array] | None = None
    finish: Callable[[Array, int], None] | None = None
    factor: float | None = None
    lowest: float | None = None
    symmetric: bool = True
    zero_on_identical: bool = True

    def __call__(self, A: Array, B: Array, out: Array | None = None) -> Array:
        """Return the (a, b) distances of every row of A from every row of B."""
        values = self.base.block(*self._prepared(A, B), out)
        if self.finish is not None:
            self.finish(values, A.shape[1])
        return values

    def paired(self, A: Array, B: Array) -> Array:
        """Return the (n,) distances of row i of A from row i of B."""
        A, B = self._prepared(A, B)
        base = self.base
        # An overflow gives inf, as in the block form; whoever asked decides what it means.
        with np.errstate(over="ignore", invalid="ignore"):
            values = base.column(A[:, 0], B[:, 0])
            for j in range(1, A.shape[1]):
                base.fold(values, base.column(A[:, j], B[:, j]), out=values)
        if base.is_mean:
            values /= A.shape[1]
        if self.finish is not None:
            self.finish(values, A.shape[1])
        return values

    def _prepared(self, A: Array, B: Array) -> tuple[Array, Array]:
        for rows in (A, B):
            found = self.outside_domain(rows)
            if found is not None:
                row, column = found
                raise InputError(
                    f"distance {self.name!r} needs values >= {self.lowest:g}; got "
                    f"{rows[row, column]:g} at row {row}, column {column}. Shift the column, or "
                    "choose another distance such as 'manhattan'."
                )
        if self.prepare is None:
            return A, B
        return self.prepare(A), self.prepare(B)

    def outside_domain(self, rows: Array) -> tuple[int, int] | None:
        """Return row and column of the first value that the distance is not defined for."""
        if self.lowest is None or rows.size == 0 or rows.min() >= self.lowest:
            return None
        row, column = np.argwhere(rows < self.lowest)[0]
        return int(row), int(column)


def distance_named(name: str, *, also: Sequence[str] = ()) -> PairDistance:
    """Return the distance of that name, or raise `InputError` with the names there are.

    Parameters
    ----------
    name : str
        What the user gave.
    also : sequence of str, default=()
        Words that are allowed where the name was given, for the message.

    Examples
    --------
    >>> from likewise.geometry.distances import distance_named
    >>> distance_named("chi2").symmetric
    True
    """
    if name in DISTANCES:
        return DISTANCES[name]
    known = [*also, *DISTANCES]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else "Pass one of these, or a callable f(A, B)."
    names = ", ".join(map(repr, known))
    raise InputError(f"there is no distance named {name!r}; there are {names}. {hint}")


def _of_scipy(metric: str) -> Callable[[Array, Array, Array | None], Array]:
    def block(A: Array, B: Array, out: Array | None) -> Array:
        if out is None or out.flags.c_contiguous:
            return _cdist(A, B, metric, out=out)
        out[...] = _cdist(A, B, metric)
        return out

    return block


def _chi2_block(A: Array, B: Array, out: Array | None) -> Array:
    if not (len(A) and len(B)):
        return np.empty((len(A), len(B)))
    # Here, because it loads all of scikit-learn's metrics and their progress bars.
    from sklearn.metrics.pairwise import additive_chi2_kernel

    # Its compiled loop does not take read-only arrays; `require` copies only those.
    values: Array = additive_chi2_kernel(np.require(A, None, "W"), np.require(B, None, "W"))
    return np.negative(values, out=values if out is None else out)


def _square_column(x: Array, y: Array) -> Array:
    difference: Array = x - y
    return np.multiply(difference, difference, out=difference)


def _absolute_column(x: Array, y: Array) -> Array:
    difference: Array = x - y
    return np.absolute(difference, out=difference)


def _differs_column(x: Array, y: Array) -> Array:
    differs: Array = (x != y).astype(np.float64)
    return differs


def _chi2_column(x: Array, y: Array) -> Array:
    total = np.maximum(x + y, _TINY)
    return np.divide(_square_column(x, y), total, out=total)


def _unit_rows(rows: Array) -> Array:
    """Rows of length 1, with one column more: a row of zeros becomes (0, ..., 0, 1).

    Half the squared distance of unit rows is 1 - cos; two zero rows are then at 0 and a zero row
    is at 1 from all others.
    """
    largest = np.max(np.abs(rows), axis=1, keepdims=True, initial=0.0)
    is_zero = largest == 0.0
    # Dividing by the largest value first keeps squares within range.
    scaled = rows / np.where(is_zero, 1.0, largest)
    squares = np.zeros(len(rows))
    for j in range(rows.shape[1]):
        squares += scaled[:, j] ** 2
    lengths = np.sqrt(squares)[:, None]
    return np.hstack([scaled / np.where(is_zero, 1.0, lengths), is_zero.astype(np.float64)])


def _root(values: Array, n_columns: int) -> None:
    np.sqrt(values, out=values)


def _half(values: Array, n_columns: int) -> None:
    np.multiply(values, 0.5, out=values)


def _kernel_distance(values: Array, n_columns: int) -> None:
    """Squared distances to sqrt(k(x, x) + k(y, y) - 2 k(x, y)) of the Gaussian kernel."""
    # Contiguous and in small pieces: the vectorised expm1 sees the same layout in every block.
    for block in row_blocks(len(values), values[:1].nbytes, limit=2**18):
        piece = np.ascontiguousarray(values[block])
        piece *= -1.0 / n_columns
        np.expm1(piece, out=piece)
        piece *= -2.0
        np.sqrt(piece, out=values[block])


SQUARES = Base(_of_scipy("sqeuclidean"), _square_column, minkowski=2.0)
ABSOLUTES = Base(_of_scipy("cityblock"), _absolute_column, minkowski=1.0)
LARGEST = Base(_of_scipy("chebyshev"), _absolute_column, np.maximum, minkowski=np.inf)
HAMMING = Base(_of_scipy("hamming"), _differs_column, is_mean=True)
CHI2 = Base(_chi2_block, _chi2_column)

DISTANCES = MappingProxyType(
    {
        distance.name: distance
        for distance in (
            PairDistance("sqeuclidean", SQUARES, factor=1.0),
            PairDistance("euclidean", SQUARES, finish=_root),
            PairDistance("manhattan", ABSOLUTES, factor=1.0),
            PairDistance("chebyshev", LARGEST),
            PairDistance("chi2", CHI2, factor=1.0, lowest=0.0),
            PairDistance("cosine", SQUARES, prepare=_unit_rows, finish=_half, factor=0.5),
            PairDistance("hamming", HAMMING, factor=1.0),
            PairDistance("rbf", SQUARES, finish=_kernel_distance),
        )
    }
)
