"""Hermite functions of the rows of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from likewise.arrays.blocks import require_memory
from likewise.errors import InputError, InputTypeError
from likewise.geometry.noise import noise_scales
from likewise.transformers.columns import in_units_of, measure
from likewise.validation import validate_choice, validate_int, validate_number, validate_rows

__all__ = ["HermiteFeatures", "hermite_functions"]

Floats = NDArray[np.float64]

SCALES = ("noise", "spread")
LARGEST_DEGREE = 100
# Interquartile range of a normal variable / its standard deviation.
NORMAL_OF_IQR = 1.349
# Where h_0 is 0 in floating point, and so are the others, up to the largest degree.
BEYOND = 50.0


class HermiteFeatures(TransformerMixin, BaseEstimator):
    """Features whose means change when the distribution of the rows of a sequence does.

    Every column is measured from its median, in units of a width times its noise, and the
    orthonormal Hermite functions h_0, ..., h_degree of the result are taken [1]_. Together their
    means describe the distribution: a change of its variance or of its shape becomes a change of
    means. They are between -0.76 and 0.76, so outliers count no more than other rows.

    Parameters
    ----------
    degree : int, default=4
        The highest degree, at most 100.
    widths : sequence of float, default=(1.0, 2.0)
        How many times the noise is one unit. Small widths see what happens near the median, large
        ones what happens in the tails.
    clip : float or None, default=3.0
        The column itself is one more feature, from its median, in units of its noise, and cut off
        at plus and minus `clip`: the feature for changes of the mean. None leaves it out.
    scale : {"noise", "spread"}, default="noise"
        What columns are measured by: the noise between neighbouring rows, or the interquartile
        range, which suits sequences that are smooth.

    Attributes
    ----------
    medians_ : array of shape (p,)
        The median of every column.
    scales_ : array of shape (p,)
        Its noise: 1.4826 / sqrt(2) times the MAD of the differences of neighbouring rows about
        their median. Where that is 0 their standard deviation / sqrt(2); where that is 0 too the
        standard deviation of the column; for a constant column 1. With ``scale="spread"`` the
        interquartile range / 1.349; where that is 0 the standard deviation.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, where X is a frame.

    Notes
    -----
    The medians and the noise are those of the sequence seen in ``fit``; then every row is taken by
    itself. To compare sequences by their shapes rather than by their levels, fit one transformer
    for each. ``a * X + b`` with a > 0 has the same features as X.

    References
    ----------
    .. [1] R. Lajugie, S. Arlot, F. Bach, "Large-margin metric learning for constrained partitioning
       problems", ICML 2014, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.transformers import HermiteFeatures
    >>> X = np.random.default_rng(0).normal(size=(100, 1))
    >>> features = HermiteFeatures(degree=1, widths=[2.0]).fit(X)
    >>> features.get_feature_names_out().tolist()
    ['x0 hermite 0 width 2', 'x0 hermite 1 width 2', 'x0 clipped']
    >>> features.transform(X).shape
    (100, 3)
    """

    def __init__(
        self,
        degree: int = 4,
        widths: Sequence[float] = (1.0, 2.0),
        clip: float | None = 3.0,
        scale: str = "noise",
    ) -> None:
        self.degree = degree
        self.widths = widths
        self.clip = clip
        self.scale = scale

    def fit(self, X: Any, y: Any = None) -> HermiteFeatures:
        """Learn the median and the noise of every column.

        Parameters
        ----------
        X : array-like or frame of shape (n, p)
            A sequence, its rows in the order of time.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._checked_options()
        by_noise = validate_choice("scale", self.scale, SCALES) == "noise"
        rows = validate_rows(self, X, reset=True)
        self.medians_, scales = measure(rows, _medians_and_noise if by_noise else _quartiles)
        self.scales_ = np.where(scales > 0.0, scales, 1.0)
        return self

    def transform(self, X: Any) -> Floats:
        """Features of rows.

        Parameters
        ----------
        X : array-like or frame of shape (m, p)
            The rows.

        Returns
        -------
        array of shape (m, f)
            In the order of ``get_feature_names_out``: column by column, and for every column width
            by width, the clipped column last.
        """
        check_is_fitted(self)
        degree, widths, clip = self._checked_options()
        rows = validate_rows(self, X, reset=False)
        m, p = rows.shape
        n_functions = len(widths) * (degree + 1)
        n_kinds = n_functions + (clip is not None)
        require_memory(16 * m * p * n_kinds, "the features", "pass fewer rows, or lower degree")
        away = in_units_of(rows, self.medians_, self.scales_)
        features = np.empty((m, p, n_kinds))
        for place, width in enumerate(widths):
            first = place * (degree + 1)
            with np.errstate(over="ignore"):
                z = away / width
            features[..., first : first + degree + 1] = hermite_functions(z, degree)
        if clip is not None:
            np.clip(away, -clip, clip, out=features[..., -1])
        return features.reshape(m, p * n_kinds)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features, such as "x0 hermite 2 width 1" and "x0 clipped".

        Parameters
        ----------
        input_features : array-like of str of shape (p,), default=None
            Names of the columns; None takes those of the frame seen in ``fit``, or x0, x1, ...

        Returns
        -------
        array of str of shape (f,)
        """
        degree, widths, clip = self._checked_options()
        kinds = [
            f"hermite {n} width {np.format_float_positional(width, trim='-')}"
            for width, n in product(widths, range(degree + 1))
        ]
        if clip is not None:
            kinds.append("clipped")
        # The mixin checks the names and fills them in.
        columns = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        names = [f"{column} {kind}" for column, kind in product(columns, kinds)]
        return np.array(names, dtype=object)

    def _checked_options(self) -> tuple[int, list[float], float | None]:
        degree = validate_int("degree", self.degree, 0, LARGEST_DEGREE)
        rule = "widths must be a list of different numbers > 0"
        if isinstance(self.widths, str) or np.ndim(self.widths) != 1:
            raise InputTypeError(f"{rule}; got {self.widths!r}.")
        widths = [
            validate_number(f"widths[{place}]", width, 0.0, above_low=True)
            for place, width in enumerate(self.widths)
        ]
        if not widths or len(set(widths)) < len(widths):
            raise InputError(f"{rule}; got {self.widths!r}.")
        if self.clip is None:
            return degree, widths, None
        return degree, widths, validate_number("clip", self.clip, 0.0, above_low=True)


def hermite_functions(z: Floats, degree: int) -> Floats:
    """Orthonormal Hermite functions (2^n n! sqrt(pi))^-1/2 e^(-z^2/2) H_n(z), n = 0, ..., degree.

    By h_{n+1} = sqrt(2 / (n+1)) z h_n - sqrt(n / (n+1)) h_{n-1}, which is stable for every z.

    Parameters
    ----------
    z : array of any shape
        Where to evaluate them.
    degree : int
        The highest degree, at most 100.

    Returns
    -------
    array of shape (*z.shape, degree + 1)

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.transformers.hermite import hermite_functions
    >>> hermite_functions(np.array([0.0, 1e300]), 2).round(4)
    array([[ 0.7511,  0.    , -0.5311],
           [ 0.    ,  0.    ,  0.    ]])
    """
    z = np.clip(z, -BEYOND, BEYOND)
    functions = np.empty((*z.shape, degree + 1))
    functions[..., 0] = np.pi**-0.25 * np.exp(-0.5 * z**2)
    if degree:
        functions[..., 1] = np.sqrt(2.0) * z * functions[..., 0]
    for n in range(1, degree):
        functions[..., n + 1] = (
            np.sqrt(2.0 / (n + 1)) * z * functions[..., n]
            - np.sqrt(n / (n + 1)) * functions[..., n - 1]
        )
    return functions


def _medians_and_noise(rows: Floats) -> tuple[Floats, Floats]:
    scales, guessed = noise_scales(rows)
    if guessed.any():
        of_steps = np.diff(rows[:, guessed], axis=0).std(axis=0) / np.sqrt(2.0)
        scales[guessed] = np.where(of_steps > 0.0, of_steps, scales[guessed])
    return np.median(rows, axis=0), scales


def _quartiles(rows: Floats) -> tuple[Floats, Floats]:
    low, middle, high = np.percentile(rows, [25.0, 50.0, 75.0], axis=0)
    scales = (high - low) / NORMAL_OF_IQR
    return middle, np.where(scales > 0.0, scales, rows.std(axis=0))
