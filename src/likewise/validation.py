"""The one gate for user input: rows, precomputed costs, weights, costs, options and sets.

It wraps scikit-learn's ``validate_data`` (which records feature names and counts, and whose wording
scikit-learn's estimator checks look for) and adds what that does not say: where the bad value is
and what to do about it. Below this gate code trusts its input.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import validate_data

from likewise.arrays.blocks import require_memory
from likewise.arrays.finite import first_nonfinite
from likewise.arrays.namespace import is_foreign, to_host
from likewise.arrays.sets import as_sets
from likewise.arrays.sparse import canonical_csr
from likewise.arrays.tables import column_names, why_no_table
from likewise.errors import InputError, InputTypeError

__all__ = [
    "Precomputed",
    "as_sets",
    "validate_choice",
    "validate_int",
    "validate_number",
    "validate_opening_cost",
    "validate_precomputed",
    "validate_rows",
    "validate_sample_weight",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Precomputed:
    """Costs that the user computed, checked.

    Attributes
    ----------
    costs : array of shape (n, n) or (n, n, F), or csr_array of shape (n, n)
        Float64. The diagonal of an array holds anything, NaN included; a sparse array has sorted
        indices, no diagonal and at least one entry per row, unless the row is `alone`. Memory may
        be shared with the user's own.
    alone : array of bool of shape (n,) or None
        Sparse: which rows had an explicit diagonal entry. None for arrays.
    """

    costs: Array | csr_array
    alone: NDArray[np.bool_] | None = None


def validate_rows(estimator: Any, X: Any, *, reset: bool, min_rows: int = 1) -> Array:
    """Check a table of numbers and return it as an array.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` and ``feature_names_in_`` when `reset`, is compared with otherwise.
    X : array-like or frame of shape (n, p)
        Finite real numbers, dense.
    reset : bool
        True in ``fit``.
    min_rows : int, default=1
        The least number of rows.

    Returns
    -------
    array of shape (n, p)
        Float64, C-contiguous; the user's own memory where that is possible.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from likewise.validation import validate_rows
    >>> validate_rows(BaseEstimator(), [[1, 2], [3, 4]], reset=True)
    array([[1., 2.],
           [3., 4.]])
    """
    rows = _numbers(estimator, X, reset, ensure_min_samples=min_rows)
    bad = first_nonfinite(rows)
    if bad is not None:
        row, column = bad.position
        names = column_names(X)
        where = column if names is None else repr(names[column])
        raise InputError(
            f"Input X contains {bad.word} at row {row}, column {where} ({bad.total} in total); "
            "drop or impute such values first."
        )
    return rows


def validate_precomputed(estimator: Any, X: Any, *, reset: bool) -> Precomputed:
    """Check costs or pair features that the user computed.

    Parameters
    ----------
    estimator : estimator
        Gets ``n_features_in_`` = n when `reset`, is compared with otherwise.
    X : array-like of shape (n, n) or (n, n, F), or sparse of shape (n, n)
        Entry [p, q] is "p served by q". Where not `reset`, rows of distances (m, n) or (m, n, F)
        to the n rows of ``fit``, all of which count, the "diagonal" included.
    reset : bool
        True in ``fit``.

    Returns
    -------
    Precomputed
        The costs and, for a sparse array, which rows had a diagonal entry.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> from sklearn.base import BaseEstimator
    >>> from likewise.validation import validate_precomputed
    >>> X = coo_array(([5.0, 7.0], ([0, 1], [1, 1])), shape=(2, 2))
    >>> checked = validate_precomputed(BaseEstimator(), X, reset=True)
    >>> checked.costs.nnz, checked.alone.tolist()
    (1, [False, True])
    """
    if issparse(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        rows = canonical_csr(X)
        _refuse_shape(rows.shape, is_fit=reset, allowed=(2,))
        return _sparse_costs(rows, is_fit=reset)
    costs = _numbers(estimator, X, reset, allow_nd=True)
    _refuse_shape(costs.shape, is_fit=reset, allowed=(2, 3))
    bad = first_nonfinite(costs, skip_diagonal=reset)
    if bad is not None:
        raise InputError(
            f"Input X contains {bad.word} at {list(bad.position)} ({bad.total} in total); "
            "costs must be finite. To say that a pair may not be used, pass a SciPy sparse array "
            "that leaves the pair out."
        )
    return Precomputed(costs)


def validate_sample_weight(sample_weight: Any, n_rows: int) -> Array | None:
    """Check the weights of rows: None, one number for all, or one number >= 0 for each.

    Examples
    --------
    >>> from likewise.validation import validate_sample_weight
    >>> validate_sample_weight([1, 0, 2], n_rows=3)
    array([1., 0., 2.])
    """
    if sample_weight is None:
        return None
    rule = f"sample_weight must be None or {n_rows} finite numbers >= 0, one per row of X"
    weights = _real_array(sample_weight, rule)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    _refuse_length(weights, n_rows, rule)
    _refuse_entries(weights, ~np.isfinite(weights) | (weights < 0.0), "sample_weight", rule)
    if not weights.any():
        raise InputError(
            f"{rule}, at least one of them not zero; got only zeros. A row of weight zero counts "
            "as absent, so nothing would be left."
        )
    return weights


def validate_opening_cost(value: Any, n_rows: int) -> Literal["median"] | float | Array:
    """Check an opening cost: ``"median"``, a finite number, or one finite number per row.

    Examples
    --------
    >>> from likewise.validation import validate_opening_cost
    >>> validate_opening_cost(2, n_rows=3), validate_opening_cost("median", n_rows=3)
    (2.0, 'median')
    """
    rule = f"opening_cost must be 'median', a finite number, or {n_rows} of them, one per row of X"
    if isinstance(value, str):
        if value != "median":
            raise InputError(f"{rule}; got {value!r}.")
        return "median"
    costs = _real_array(value, rule)
    if costs.ndim:
        _refuse_length(costs, n_rows, rule)
        _refuse_entries(costs, ~np.isfinite(costs), "opening_cost", rule)
        return costs
    if not np.isfinite(costs):
        raise InputError(f"{rule}; got {value}. A large finite cost keeps a row closed.")
    return float(costs)


def validate_choice(name: str, value: Any, allowed: Collection[str]) -> str:
    """Check that an option is one of the names there are.

    Examples
    --------
    >>> from likewise.validation import validate_choice
    >>> validate_choice("solver", "fast", ["auto", "fast", "exact"])
    'fast'
    """
    if isinstance(value, str) and value in allowed:
        return value
    choices = ", ".join(map(repr, allowed))
    kind = InputError if isinstance(value, str) else InputTypeError
    raise kind(f"{name} must be one of {choices}; got {value!r}.")


def validate_int(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Check an integer, bounds included.

    Examples
    --------
    >>> from likewise.validation import validate_int
    >>> validate_int("candidates", 20, low=1)
    20
    """
    rule = f"{name} must be an integer {_range(low, high)}"
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InputTypeError(f"{rule}; got {value!r}.")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise InputError(f"{rule}; got {number}.")
    return number


def validate_number(
    name: str,
    value: Any,
    low: float | None = None,
    high: float | None = None,
    *,
    above_low: bool = False,
) -> float:
    """Check a finite real number, bounds included, or above `low` where `above_low`.

    Examples
    --------
    >>> from likewise.validation import validate_number
    >>> validate_number("gap", 0, low=0.0)
    0.0
    """
    rule = f"{name} must be a finite number {_range(low, high, above_low)}".rstrip()
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        raise InputTypeError(f"{rule}; got {value!r}.")
    number = float(value)
    too_low = low is not None and (number < low or (above_low and number == low))
    if not np.isfinite(number) or too_low or (high is not None and number > high):
        raise InputError(f"{rule}; got {value}.")
    return number


def _numbers(estimator: Any, X: Any, reset: bool, **checks: Any) -> Array:
    """Pass X through scikit-learn, and say where it is that text or rows of uneven length are."""
    table = to_host(X) if is_foreign(X) else X
    if isinstance(table, np.ndarray) and table.dtype.kind in "fiub" and table.dtype != np.float64:
        require_memory(8 * table.size, "X as 64-bit floating-point numbers", "pass fewer rows")
    try:
        numbers: Array = validate_data(
            estimator,
            table,
            reset=reset,
            dtype=np.float64,
            order="C",
            ensure_all_finite=False,
            **checks,
        )
    except ValueError as error:
        reason = why_no_table(table)
        if reason is None and "minimum of" in str(error):
            raise InputError(f"{error} Pass a table with more of them.") from error
        if reason is None:
            raise
        raise InputError(f"{reason} ({error})") from error
    return numbers


def _refuse_shape(shape: tuple[int, ...], *, is_fit: bool, allowed: tuple[int, ...]) -> None:
    if len(shape) in allowed and (not is_fit or shape[0] == shape[1]):
        return
    rows = "n" if is_fit else "m"
    forms = " or ".join([f"({rows}, n)", f"({rows}, n, F)"][: len(allowed)])
    word = "a square matrix of shape" if is_fit else "of shape"
    raise InputError(
        f"with features='precomputed' X must be {word} {forms}, entry [p, q] being the cost of 'p "
        f"served by q'; got shape {shape}. For rows of features choose another features=."
    )


def _sparse_costs(costs: csr_array, *, is_fit: bool) -> Precomputed:
    counts = np.diff(costs.indptr)
    empty = np.flatnonzero(counts == 0)
    if empty.size:
        shown = ", ".join(map(str, empty[:5])) + (", ..." if empty.size > 5 else "")
        raise InputError(
            f"every row of a sparse X needs at least one stored entry, a candidate to serve it; "
            f"{empty.size} have none (rows {shown}). Add a candidate, or store an explicit "
            "diagonal entry for a row that may only stand alone."
        )
    rows = np.repeat(np.arange(costs.shape[0]), counts)
    counted = costs.indices != rows if is_fit else np.ones(len(rows), dtype=bool)
    bad = np.flatnonzero(counted & ~np.isfinite(costs.data))
    if bad.size:
        word = "NaN" if np.isnan(costs.data[bad[0]]) else "infinity"
        raise InputError(
            f"Input X contains {word} at [{rows[bad[0]]}, {costs.indices[bad[0]]}] ({bad.size} in "
            "total); costs must be finite. Leave out the entries of pairs that may not be used."
        )
    if not is_fit:
        return Precomputed(costs)
    alone = np.zeros(costs.shape[0], dtype=bool)
    alone[rows[~counted]] = True
    if alone.any():
        starts = np.concatenate([[0], np.cumsum(counts - alone)]).astype(costs.indptr.dtype)
        parts = (costs.data[counted], costs.indices[counted], starts)
        costs = csr_array(parts, shape=costs.shape)
    return Precomputed(costs, alone)


def _real_array(value: Any, rule: str) -> Array:
    try:
        array = np.asarray(to_host(value))
    except ValueError as error:
        raise InputError(f"{rule}; got something that is not a list of numbers.") from error
    if array.dtype.kind not in "fiu":
        raise InputTypeError(f"{rule}; got {value!r}.")
    return array.astype(np.float64)


def _refuse_length(array: Array, n_rows: int, rule: str) -> None:
    if array.shape != (n_rows,):
        raise InputError(f"{rule}; got shape {array.shape}.")


def _refuse_entries(array: Array, bad: NDArray[np.bool_], name: str, rule: str) -> None:
    places = np.flatnonzero(bad)
    if places.size:
        raise InputError(
            f"{rule}; {name}[{places[0]}] is {array[places[0]]} ({places.size} such in total)."
        )


def _range(low: float | None, high: float | None, above_low: bool = False) -> str:
    sign = ">" if above_low else ">="
    if low is not None and high is not None:
        return f"{sign} {low} and <= {high}"
    return f"{sign} {low}" if low is not None else "" if high is None else f"<= {high}"
