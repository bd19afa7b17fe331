"""Pair features: F numbers for every pair of rows, and their weighted sum, the distance.

``d(p, q) = sum_f weights[f] * feature_f(x_p, x_q)``, where every feature is a named distance, a
function of the user, or the squared difference of one column. `Compare` says what to compare;
`resolve_features` turns any form of ``features=`` into `PairFeatures`, which computes. Nothing
here forms an array (n, n, F) unless it is asked for: sums are taken term by term.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.arrays.finite import first_nonfinite
from likewise.arrays.namespace import to_host
from likewise.errors import InputError, InputTypeError
from likewise.geometry.compare import Compare, name_of, resolve_columns
from likewise.geometry.distances import distance_named
from likewise.geometry.scaling import root_scales
from likewise.geometry.terms import CallableTerm, ColumnsTerm, NamedTerm, Term

__all__ = ["Compare", "PairFeatures", "resolve_features"]

Array = NDArray[np.float64]
Scales = tuple[Array, Array]

# The square of a difference of coordinates, and a sum of many, must stay finite.
_LARGEST_COORDINATE = 1e150


@dataclass(frozen=True)
class PairFeatures:
    """Features of pairs of rows, as made by `resolve_features`.

    Attributes
    ----------
    terms : tuple of Term
        What is computed, in order; every term gives one or more features.
    column_names : tuple of str or None
        For messages.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.geometry import resolve_features
    >>> features = resolve_features("columns", n_columns=2)
    >>> features.names
    ['x0', 'x1']
    >>> features.distance(np.zeros((1, 2)), np.array([[1.0, 2.0]]), np.array([1.0, 0.5]))
    array([[3.]])
    """

    terms: tuple[Term, ...]
    column_names: tuple[str, ...] | None = None

    @property
    def names(self) -> list[str]:
        """One name per feature."""
        return [name for term in self.terms for name in term.names]

    @property
    def n_features(self) -> int:
        """The number of features, F."""
        return len(self.names)

    @property
    def symmetric(self) -> bool:
        """Whether d(p, q) and d(q, p) are the same bits."""
        return all(term.symmetric for term in self.terms)

    @property
    def zero_on_identical(self) -> bool:
        """Whether equal rows are at distance 0 and interchangeable in every set."""
        return all(term.zero_on_identical for term in self.terms)

    @property
    def has_callables(self) -> bool:
        """Whether functions of the user are among the features; they run in one thread."""
        return any(isinstance(term, CallableTerm) for term in self.terms)

    @property
    def needs_scales(self) -> bool:
        """Whether a feature is locally scaled."""
        return any(term.local_scale is not None for term in self.terms)

    def nonnegative(self, weights: Array) -> bool:
        """Tell whether no distance can be negative: named features, no negative weight."""
        return not self.has_callables and bool(weights.min() >= 0.0)

    def resolve_weights(self, weights: ArrayLike | None) -> Array:
        """Return the weights, one per feature; None means that the features are added up."""
        return resolve_weights(weights, self.names)

    def check(self, X: Array) -> None:
        """Refuse rows that a distance is not defined for, naming feature, row and column."""
        for term in self.terms:
            term.check(X, self.column_names)

    def stack(
        self, A: Array, B: Array, *, scales: Scales | None = None, first_row: int = 0
    ) -> Array:
        """Return all features of all pairs, (a, b, F).

        Parameters
        ----------
        A, B : array of shape (a, p), (b, p)
            Two blocks of rows.
        scales : tuple of two arrays or None, default=None
            What `local_scales` returned for the rows of A and of B.
        first_row : int, default=0
            The number of A's first row in messages.
        """
        parts = []
        with np.errstate(over="ignore", invalid="ignore"):
            for t, term in enumerate(self.terms):
                values = term.stacked(A, B, first_row)
                self._rescale(t, values[:, :, 0], scales)
                parts.append(values)
        stacked = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
        found = first_nonfinite(stacked)
        if found is not None:
            row, other, _ = found.position
            raise _too_large(f"row {first_row + row} from row {other}", found.value)
        return stacked

    def distance(
        self,
        A: Array,
        B: Array,
        weights: Array,
        *,
        scales: Scales | None = None,
        out: Array | None = None,
        first_row: int = 0,
        first_other: int = 0,
    ) -> Array:
        """Return the weighted sum of the features of all pairs, (a, b), without the stack.

        Parameters are those of `stack`, the weights of `resolve_weights`, an array for the result
        and, for messages, the number of B's first row.
        """
        total = None
        # Overflow is found in the result, with its position.
        with np.errstate(over="ignore", invalid="ignore"):
            for t, term, own in self._active(weights):
                values = term.weighted(A, B, own, out if total is None else None, first_row)
                self._rescale(t, values, scales)
                total = values if total is None else np.add(total, values, out=total)
        if total is None:
            total = np.empty((len(A), len(B))) if out is None else out
            total[...] = 0.0
        found = first_nonfinite(total)
        if found is not None:
            row, other = found.position
            pair = f"row {first_row + row} from row {first_other + other}"
            raise _too_large(pair, found.value)
        return total

    def paired(self, A: Array, B: Array, weights: Array, *, scales: Scales | None = None) -> Array:
        """Return the weighted sum of the features of row i of A and row i of B, (n,)."""
        total = np.zeros(len(A))
        with np.errstate(over="ignore", invalid="ignore"):
            for place, (t, term, own) in enumerate(self._active(weights)):
                values = term.paired(A, B, own)
                self._rescale(t, values, scales)
                total = values if place == 0 else np.add(total, values, out=total)
        found = first_nonfinite(total)
        if found is not None:
            (pair,) = found.position
            raise _too_large(f"pair {pair}", found.value)
        return total

    def local_scales(
        self, X: Array, reference: Array | None = None, *, n_jobs: int | None = None
    ) -> Array | None:
        """Return the square roots of the local scales of the rows of X, (n, terms).

        Parameters
        ----------
        X : array of shape (n, p)
            The rows to scale.
        reference : array of shape (m, p) or None, default=None
            The set whose neighbours count; None is X itself. A row of X that is also a row of the
            reference gets the scale that it has there.
        n_jobs : int or None, default=None
            The number of threads.

        Returns
        -------
        array or None
            1 for terms without local scale; None where no term has one.
        """
        if not self.needs_scales:
            return None
        threads = 1 if self.has_callables else n_jobs
        columns = [
            np.ones(len(X))
            if term.local_scale is None
            else root_scales(term, X, reference, n_jobs=threads)
            for term in self.terms
        ]
        return np.column_stack(columns)

    def embedding(self, X: Array, weights: Array) -> tuple[Array, float] | None:
        """Return coordinates in which nearest neighbours are a matter of Minkowski distance.

        Returns
        -------
        tuple of (array of shape (n, z), float) or None
            (Z, p): pairs of rows are ordered by the Minkowski p-distance of the rows of Z as by
            their weighted distance, up to rounding. None where no such coordinates are known.
        """
        active = list(self._active(weights))
        found = [term.coordinates(X, own, alone=len(active) == 1) for _, term, own in active]
        known = [part for part in found if part is not None]
        powers = {power for _, power in known}
        if len(known) < len(found) or len(powers) != 1:
            return None
        Z = np.ascontiguousarray(np.hstack([part for part, _ in known]))
        return (Z, powers.pop()) if np.abs(Z).max() < _LARGEST_COORDINATE else None

    def _active(self, weights: Array) -> Iterator[tuple[int, Term, Array]]:
        """Yield place, term and its weights; terms without weight are not computed."""
        start = 0
        for t, term in enumerate(self.terms):
            own = weights[start : start + len(term.names)]
            start += len(term.names)
            if own.any():
                yield t, term, own

    def _rescale(self, t: int, values: Array, scales: Scales | None) -> None:
        if self.terms[t].local_scale is None:
            return
        if scales is None:
            raise InputError(
                f"feature {self.terms[t].names[0]!r} is locally scaled, but no scales were given; "
                "compute them with local_scales."
            )
        first, second = scales[0][:, t], scales[1][:, t]
        # One product, so that [p, q] and [q, p] are divided by the same bits.
        values /= first * second if values.ndim == 1 else np.multiply.outer(first, second)


def resolve_features(
    features: Any, n_columns: int, column_names: Sequence[str] | None = None
) -> PairFeatures:
    """Turn any form of ``features=`` but ``"precomputed"`` into pair features.

    Parameters
    ----------
    features : str, callable, Compare or list of Compare
        ``"columns"`` for one feature per column, the name of a distance or a callable for one
        feature on all columns, or comparisons.
    n_columns : int
        The number of columns of X.
    column_names : sequence of str or None, default=None
        Their names, where X has any.

    Returns
    -------
    PairFeatures
        With one term per comparison.

    Examples
    --------
    >>> from likewise.geometry import Compare, resolve_features
    >>> resolve_features([Compare("size", "manhattan"), Compare("shape", "cosine")], 3).names
    ['size', 'shape']
    """
    names = None if column_names is None else tuple(map(str, column_names))
    if isinstance(features, str) and features == "columns":
        own = names if names is not None else tuple(f"x{j}" for j in range(n_columns))
        return PairFeatures((ColumnsTerm(own),), names)
    if isinstance(features, str):
        distance_named(features, also=("columns", "precomputed"))
        features = Compare(features, features)
    elif callable(features):
        features = Compare(name_of(features), features)
    comparisons = [features] if isinstance(features, Compare) else features
    if not isinstance(comparisons, (list, tuple)) or not comparisons:
        raise InputTypeError(
            "features must be 'columns', 'precomputed', the name of a distance, a callable "
            f"f(A, B), or a list of at least one Compare; got {features!r}."
        )
    for place, item in enumerate(comparisons):
        if not isinstance(item, Compare):
            raise InputTypeError(
                f"features[{place}] must be a Compare; got {item!r}. Write for instance "
                f"Compare('f{place}', 'sqeuclidean')."
            )
    _refuse_repeated([item.name for item in comparisons])
    terms = tuple(_term(item, n_columns, names) for item in comparisons)
    return PairFeatures(terms, names)


def _term(item: Compare, n_columns: int, column_names: tuple[str, ...] | None) -> Term:
    columns = resolve_columns(item.columns, n_columns, column_names, f"Compare {item.name!r}")
    if isinstance(item.distance, str):
        distance = distance_named(item.distance)
        return NamedTerm(item.name, distance, columns, item.local_scale)
    return CallableTerm(item.name, item.distance, columns, item.local_scale)


def _refuse_repeated(names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(
            f"features: every Compare needs a name of its own; {repeated} occur more than once. "
            "Rename them."
        )


def resolve_weights(weights: ArrayLike | None, names: Sequence[str]) -> Array:
    """Return one finite weight per feature; None means that the features are added up.

    Examples
    --------
    >>> from likewise.geometry.features import resolve_weights
    >>> resolve_weights(None, ["size", "shape"])
    array([1., 1.])
    """
    if weights is None:
        return np.ones(len(names))
    shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
    rule = f"weights must be one finite number per feature, {len(names)} ({shown})"
    try:
        given = np.asarray(to_host(weights))
    except ValueError as error:
        raise InputError(f"{rule}; got something that is not a list of numbers.") from error
    if given.dtype.kind not in "fiu":
        raise InputTypeError(f"{rule}; got dtype {given.dtype}. Pass a list of numbers.")
    if given.shape != (len(names),):
        raise InputError(
            f"{rule}; got shape {given.shape}. Pass them in the order of the features."
        )
    bad = np.flatnonzero(~np.isfinite(given))
    if bad.size:
        raise InputError(
            f"{rule}; weights[{bad[0]}] ({names[bad[0]]!r}) is {given[bad[0]]}. Use 0 to leave a "
            "feature out."
        )
    return given.astype(np.float64)


def _too_large(pair: str, value: float) -> InputError:
    return InputError(
        f"the distance of {pair} is {value}: the values of X or the weights "
        "are too large. Scale the columns, for instance to unit variance."
    )
