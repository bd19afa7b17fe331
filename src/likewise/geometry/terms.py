"""Terms: the comparisons that pair features are made of, one class per kind.

A term turns two blocks of rows into one or more features per pair of rows:

    NamedTerm      a distance of `geometry.distances` on some columns      1 feature
    CallableTerm   the user's function on some columns, output checked     1 feature
    ColumnsTerm    (x_pi - x_qi)^2                                         1 feature per column

All have the same four methods: the features themselves (`stacked`), their weighted sum for all
pairs of two blocks (`weighted`), the same row by row (`paired`), and coordinates in which that sum
orders pairs as a Minkowski distance does (`coordinates`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.finite import first_nonfinite
from likewise.arrays.namespace import to_host
from likewise.errors import InputError, InputTypeError
from likewise.geometry.distances import DISTANCES, PairDistance

__all__ = ["CallableTerm", "ColumnsTerm", "NamedTerm", "Term"]

Array = NDArray[np.float64]
Coordinates = tuple[Array, float]

_SQUARES = DISTANCES["sqeuclidean"]


@dataclass(frozen=True)
class NamedTerm:
    """A named distance on some columns (None: all)."""

    name: str
    distance: PairDistance
    columns: NDArray[np.intp] | None = None
    local_scale: int | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The name of its one feature."""
        return (self.name,)

    @property
    def symmetric(self) -> bool:
        """Whether d(x, y) and d(y, x) are the same bits."""
        return self.distance.symmetric

    @property
    def zero_on_identical(self) -> bool:
        """Whether equal rows are at distance 0 in every set."""
        return self.distance.zero_on_identical and self.local_scale is None

    def weighted(
        self, A: Array, B: Array, weights: Array, out: Array | None = None, first_row: int = 0
    ) -> Array:
        """Return weight * distance for all pairs, (a, b)."""
        values = self.distance(_take(A, self.columns), _take(B, self.columns), out)
        return _times(values, weights[0])

    def stacked(self, A: Array, B: Array, first_row: int = 0) -> Array:
        """Return the features of all pairs, (a, b, 1)."""
        return self.weighted(A, B, np.ones(1), first_row=first_row)[:, :, None]

    def paired(self, A: Array, B: Array, weights: Array) -> Array:
        """Return weight * distance of row i of A from row i of B, (n,)."""
        values = self.distance.paired(_take(A, self.columns), _take(B, self.columns))
        return _times(values, weights[0])

    def coordinates(self, X: Array, weights: Array, *, alone: bool) -> Coordinates | None:
        """Return (Z, p) such that pairs of rows of Z are ordered by their Minkowski distance.

        Where the term is one of several (not `alone`), the p-th power of that distance is its
        weighted value, so that terms add up by putting their coordinates side by side.
        """
        power = self.distance.base.minkowski
        factor = self.distance.factor
        if power is None or self.local_scale is not None or weights[0] <= 0.0:
            return None
        rows = _take(X, self.columns)
        if self.distance.prepare is not None:
            rows = self.distance.prepare(rows)
        if factor is not None:
            return rows * (weights[0] * factor) ** (1.0 / power), power
        return (rows, power) if alone else None

    def check(self, X: Array, column_names: tuple[str, ...] | None) -> None:
        """Refuse rows that the distance is not defined for."""
        found = self.distance.outside_domain(_take(X, self.columns))
        if found is None:
            return
        row, position = found
        column = position if self.columns is None else int(self.columns[position])
        where = f"column {column}" if column_names is None else f"column {column_names[column]!r}"
        raise InputError(
            f"feature {self.name!r}: distance {self.distance.name!r} needs values >= "
            f"{self.distance.lowest:g}, but X has {X[row, column]:g} at row {row}, {where}; shift "
            "the column, leave it out with Compare(..., columns=...), or choose another distance."
        )


@dataclass(frozen=True)
class CallableTerm:
    """A function f(A, B) -> (len(A), len(B)) of the user on some columns (None: all)."""

    name: str
    function: Callable[[Array, Array], Any]
    columns: NDArray[np.intp] | None = None
    local_scale: int | None = None
    symmetric: bool = False
    zero_on_identical: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The name of its one feature."""
        return (self.name,)

    def weighted(
        self, A: Array, B: Array, weights: Array, out: Array | None = None, first_row: int = 0
    ) -> Array:
        """Return weight * value for all pairs, (a, b)."""
        values = self.function(_take(A, self.columns), _take(B, self.columns))
        checked = self._checked(values, (len(A), len(B)), first_row)
        # Never in place: the function may have returned an array that it keeps.
        weighted: Array = np.multiply(checked, weights[0], out=out)
        return weighted

    def stacked(self, A: Array, B: Array, first_row: int = 0) -> Array:
        """Return the features of all pairs, (a, b, 1)."""
        return self.weighted(A, B, np.ones(1), first_row=first_row)[:, :, None]

    def paired(self, A: Array, B: Array, weights: Array) -> Array:
        """Return weight * value of row i of A and row i of B, (n,): one call per row."""
        values = np.empty(len(A))
        for i in range(len(A)):
            values[i] = self.weighted(A[i : i + 1], B[i : i + 1], weights, first_row=i)[0, 0]
        return values

    def coordinates(self, X: Array, weights: Array, *, alone: bool) -> Coordinates | None:
        """Return None: nothing is known about the function."""
        return None

    def check(self, X: Array, column_names: tuple[str, ...] | None) -> None:
        """Accept all rows: what a function is defined for shows in what it returns."""

    def _checked(self, values: Any, shape: tuple[int, int], first_row: int) -> Array:
        who = f"feature {self.name!r}: the distance callable"
        try:
            array = np.asarray(to_host(values))
        except (TypeError, ValueError) as error:
            raise InputTypeError(
                f"{who} must return an array of numbers; got a {type(values).__name__} that is "
                f"none ({error})."
            ) from error
        if array.shape != shape:
            raise InputError(
                f"{who} must return shape (len(A), len(B)) = {shape}; got {array.shape}. It is "
                "called with two blocks of rows and compares every row of A with every row of B."
            )
        if array.dtype.kind not in "fiub":
            raise InputTypeError(
                f"{who} must return real numbers; got dtype {array.dtype}. Convert its result to "
                "float."
            )
        numbers: Array = array.astype(np.float64, copy=False)
        found = first_nonfinite(numbers)
        if found is not None:
            p, q = found.position
            raise InputError(
                f"{who} must return finite numbers; got {found.value} for row {first_row + p} of "
                f"A and row {q} of B. Return a large finite number for pairs to keep apart, or "
                "pass features='precomputed' and a SciPy sparse array without these pairs."
            )
        return numbers


@dataclass(frozen=True)
class ColumnsTerm:
    """One feature per column: (x_pi - x_qi)^2."""

    names: tuple[str, ...]
    local_scale: None = None
    symmetric: bool = True
    zero_on_identical: bool = True

    def weighted(
        self, A: Array, B: Array, weights: Array, out: Array | None = None, first_row: int = 0
    ) -> Array:
        """Return sum_i w_i (a_i - b_i)^2 for all pairs, (a, b).

        Computed as the squared distance of rows times sqrt(w), for positive weights minus the same
        for negative ones.
        """
        values = np.empty((len(A), len(B))) if out is None else out
        _SQUARES(_scaled(A, weights), _scaled(B, weights), values)
        if weights.min() < 0.0:
            values -= _SQUARES(_scaled(A, -weights), _scaled(B, -weights))
        return values

    def stacked(self, A: Array, B: Array, first_row: int = 0) -> Array:
        """Return the features of all pairs, (a, b, p)."""
        return np.square(A[:, None, :] - B[None, :, :])

    def paired(self, A: Array, B: Array, weights: Array) -> Array:
        """Return sum_i w_i (a_i - b_i)^2 of row i of A and row i of B, (n,)."""
        values = _SQUARES.paired(_scaled(A, weights), _scaled(B, weights))
        if weights.min() < 0.0:
            values -= _SQUARES.paired(_scaled(A, -weights), _scaled(B, -weights))
        return values

    def coordinates(self, X: Array, weights: Array, *, alone: bool) -> Coordinates | None:
        """Return the rows times sqrt(w), whose squared distance is the weighted sum."""
        if weights.min() < 0.0:
            return None
        return _scaled(X, weights), 2.0

    def check(self, X: Array, column_names: tuple[str, ...] | None) -> None:
        """Accept all rows."""


Term = NamedTerm | CallableTerm | ColumnsTerm


def _take(rows: Array, columns: NDArray[np.intp] | None) -> Array:
    return rows if columns is None else np.ascontiguousarray(rows[:, columns])


def _times(values: Array, weight: float) -> Array:
    if weight != 1.0:
        np.multiply(values, weight, out=values)
    return values


def _scaled(rows: Array, weights: Array) -> Array:
    """Columns of positive weight times its square root; a column of zeros where there is none."""
    kept = weights > 0.0
    if not kept.any():
        return np.zeros((len(rows), 1))
    return rows[:, kept] * np.sqrt(weights[kept])
