"""Penalties from features of the series."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from likewise.arrays.namespace import to_host
from likewise.errors import CertificateWarning, InputError, InputTypeError
from likewise.learners.interval_strength import choose_strength
from likewise.learners.intervals import IntervalProblem, Standardised, minimise
from likewise.validation import (
    validate_choice,
    validate_number,
    validate_rows,
    validate_sample_weight,
)

__all__ = ["PenaltyRegressor"]

Floats = NDArray[np.float64]

REGULARISERS = ("l1", "l2")
# Squares of larger limits leave the range of numbers.
LARGEST = 1e100


class PenaltyRegressor(RegressorMixin, BaseEstimator):
    """Learn which penalty suits a series, from features of the series.

    A linear function of the features is fitted such that it passes between two limits for every
    series, at a distance from both, by the squared hinge loss of [1]_::

        mean of max(0, low + margin - f)^2 + max(0, f - high + margin)^2
          + strength * (sum of |w|, or half the sum of w^2)

    where w are the coefficients of the features in units of their standard deviations; the
    intercept is free.

    Parameters
    ----------
    regulariser : {"l1", "l2"}, default="l1"
        ``"l1"`` uses few of the features, ``"l2"`` all of them.
    strength : float or "auto", default="auto"
        How much coefficients cost. ``"auto"`` takes, of a path of strengths, the one with the
        fewest predictions outside their limits in five-fold cross-validation, of equal ones the
        strongest. Where half of the limits are no further apart than the margin, the squared
        distance from the limits takes the place of the count.
    margin : float, default=1.0
        How far inside its limits a prediction costs nothing.

    Attributes
    ----------
    coef_ : array of shape (f,)
        Coefficients, in the units of X; 0 for constant features.
    intercept_ : float
        The prediction where all features are 0.
    strength_ : float
        The strength that was used.
    n_iter_ : int
        Steps of the last fit.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, where X is a frame.

    Notes
    -----
    Features that are logarithms fit better: of the length, of the noise. A series that is best at
    every penalty, with limits -inf and +inf, tells nothing and is left out.

    References
    ----------
    .. [1] G. Rigaill, T. D. Hocking, J.-P. Vert, F. Bach, "Learning sparse penalties for
       change-point detection using max margin interval regression", ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> import likewise as lw
    >>> X = np.log([[100.0], [200.0], [400.0], [800.0]])
    >>> y = [[-np.inf, 3.0], [2.5, 4.5], [3.0, 5.0], [5.0, np.inf]]
    >>> regressor = lw.PenaltyRegressor(strength=0.0, margin=0.1).fit(X, y)
    >>> regressor.score(X, y)
    1.0
    """

    def __init__(
        self, *, regulariser: str = "l1", strength: float | str = "auto", margin: float = 1.0
    ) -> None:
        self.regulariser = regulariser
        self.strength = strength
        self.margin = margin

    def fit(self, X: Any, y: Any) -> PenaltyRegressor:
        """Learn from series with known limits.

        Parameters
        ----------
        X : array-like or frame of shape (n, f)
            Features of n series.
        y : array-like or frame of shape (n, 2) or (n,)
            The lowest and highest log-penalty that suits each series, -inf or +inf where there is
            none; or one number per series, which is both.

        Returns
        -------
        self
        """
        is_l1 = validate_choice("regulariser", self.regulariser, REGULARISERS) == "l1"
        margin = validate_number("margin", self.margin, 0.0, LARGEST)
        strength = self._checked_strength()
        rows = validate_rows(self, X, reset=True)
        low, high = _limits(y, len(rows))
        says = np.isfinite(low) | np.isfinite(high)
        if not says.any():
            raise InputError(
                "y must have a finite limit somewhere; got -inf and +inf in every row, so every "
                "penalty suits every series. Add series whose limits are known."
            )
        table = Standardised.of(rows[says])
        problem = IntervalProblem(table.columns, low[says], high[says], margin)
        if strength is None:
            strength = choose_strength(problem, is_l1)
        l1, l2 = (strength, 0.0) if is_l1 else (0.0, strength)
        found = minimise(IntervalProblem(table.columns, low[says], high[says], margin, l1, l2))
        if not found.converged:
            warnings.warn(
                f"PenaltyRegressor stopped after {found.n_iter} steps with a residual of "
                f"{found.residual:.1e}: raise strength, or leave out features that repeat others.",
                CertificateWarning,
                stacklevel=2,
            )
        self.coef_, self.intercept_ = table.original(found.solution)
        self.strength_ = strength
        self.n_iter_ = found.n_iter
        return self

    def predict(self, X: Any) -> Floats:
        """Log-penalties of series.

        Parameters
        ----------
        X : array-like or frame of shape (n, f)
            Their features.

        Returns
        -------
        array of shape (n,)
            ``ChangePointDetector(penalty=numpy.exp(...))`` takes one of them.
        """
        check_is_fitted(self)
        rows = validate_rows(self, X, reset=False)
        predicted: Floats = rows @ self.coef_ + self.intercept_
        return predicted

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the series whose prediction is within its limits, both included.

        Where y has one number per series there are no limits to be within, and the score is the
        coefficient of determination, as of any regressor of scikit-learn.

        Parameters
        ----------
        X : array-like or frame of shape (n, f)
            Features of n series.
        y : array-like or frame of shape (n, 2) or (n,)
            As in ``fit``.
        sample_weight : array-like of shape (n,), default=None
            How much every series counts.

        Returns
        -------
        float
            At most 1.0, which is best.
        """
        predicted = self.predict(X)
        if np.ndim(to_host(y)) != 2 or np.shape(to_host(y))[1] == 1:
            return float(super().score(X, y, sample_weight))
        low, high = _limits(y, len(predicted))
        weights = validate_sample_weight(sample_weight, len(predicted))
        inside = (low <= predicted) & (predicted <= high)
        return float(np.average(inside, weights=weights))

    def _checked_strength(self) -> float | None:
        if isinstance(self.strength, str):
            if self.strength != "auto":
                raise InputError(f"strength must be 'auto' or a number; got {self.strength!r}.")
            return None
        return validate_number("strength", self.strength, 0.0)


def _limits(y: Any, n: int) -> tuple[Floats, Floats]:
    """The limits, checked; what is wrong is said with its row."""
    rule = f"y must have shape ({n}, 2), the limits of every row of X, or ({n},)"
    if y is None:
        raise InputError(
            "PenaltyRegressor requires y to be passed, but the target y is None. " + rule + "."
        )
    try:
        values = np.asarray(to_host(y))
    except ValueError as error:
        raise InputError(f"{rule}; got rows of different lengths.") from error
    if values.ndim == 2 and values.shape[1] == 1:
        values = column_or_1d(values, warn=True)
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] != 2):
        raise InputError(f"{rule}; got shape {values.shape}.")
    if len(values) != n:
        raise InputError(
            f"{rule}; got shape {values.shape}: inconsistent numbers of samples, {n} in X and "
            f"{len(values)} in y."
        )
    try:
        if values.dtype.kind not in "biufO":
            raise TypeError(f"dtype {values.dtype}")
        limits = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"{rule}, all of them numbers; {error}.") from error
    low, high = (limits, limits) if limits.ndim == 1 else limits.T.copy()
    _refuse(np.isnan(low) | np.isnan(high), limits, "NaN", "drop the row, or give -inf or +inf")
    unusable = np.isposinf(low) | np.isneginf(high)
    _refuse(unusable, limits, "infinity", "the lower limit may be -inf, the upper limit +inf")
    _refuse(low > high, limits, "low > high", "give the lower limit first")
    huge = np.zeros(n, dtype=bool)
    for side in (low, high):
        huge |= np.isfinite(side) & (np.abs(side) > LARGEST)
    _refuse(huge, limits, f"a limit beyond {LARGEST:.0e}", "give -inf or +inf for no limit")
    return low, high


def _refuse(bad: NDArray[np.bool_], limits: Floats, what: str, remedy: str) -> None:
    places = np.flatnonzero(bad)
    if places.size:
        given = np.array2string(limits[places[0]], separator=", ")
        raise InputError(
            f"Input y contains {what} at row {places[0]}: {given} ({places.size} such in total); "
            f"{remedy}."
        )
