"""What happens around every row of a sequence."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from likewise.arrays.blocks import require_memory
from likewise.transformers.columns import in_units_of, measure
from likewise.validation import validate_int, validate_number, validate_rows

__all__ = ["WindowFeatures", "window_moments"]

Floats = NDArray[np.float64]

# Least local standard deviation, as a share of that of the whole column.
FLOOR = 2e-2
# A column whose numbers are at most 1 and spread less than this varies by rounding only.
ROUNDING = 4.0 * np.finfo(np.float64).eps
NARROWEST, SHARE_OF_ROWS, WIDEST = 5, 50, 200
LARGEST_WIDTH, LARGEST_WIDE = 10**9, 1e6


class WindowFeatures(TransformerMixin, BaseEstimator):
    """Level, strength and roughness around every row of a sequence.

    For data of sensors, such as movement, where what changes is how a column moves rather than
    where it is. Of every column, in a window around every row:

    - the mean, from the mean of the column, in units of its standard deviation;
    - the logarithm of the standard deviation, in the same units;
    - the logarithm of the standard deviation of the differences of neighbouring rows, in units of
      that of all differences of the column;
    - both logarithms in a wider window.

    Parameters
    ----------
    width : int or None, default=None
        Rows of a window, at least 3. About a second of movement is a good choice, three seconds
        where it is slow and repeats itself. None takes a fiftieth of the rows seen in ``fit``,
        but at least 5 and at most 200.
    wide : float or None, default=3.0
        How many times wider the wider window is, above 1. None leaves its features out.

    Attributes
    ----------
    width_ : int
        Rows of a window.
    wide_width_ : int or None
        Rows of a wider window.
    means_ : array of shape (p,)
        Mean of every column.
    scales_ : array of shape (p,)
        Standard deviation of every column; 0 where it is only rounding, and all features of the
        column are 0.
    step_scales_ : array of shape (p,)
        Standard deviation of the differences of its neighbouring rows; 0 where it is only rounding,
        and the features of the differences are 0.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, where X is a frame.

    Notes
    -----
    The window of row t holds the rows t - width // 2, ..., t - width // 2 + width - 1, as far as
    there are such. A standard deviation below a hundredth of that of the column counts as a
    hundredth. ``a * X + b`` with a > 0 has the same features as X.

    Rows are looked at together with their neighbours: the features of some of the rows are not some
    of the features, and the order of the rows matters. Pass whole sequences, one at a time, and do
    not cross-validate over rows. scikit-learn has no tag that would say so; its two checks that
    rows are independent of each other fail for this class, all others pass.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.transformers import WindowFeatures
    >>> X = np.random.default_rng(0).normal(size=(100, 1))
    >>> X[60:] *= 5.0
    >>> features = WindowFeatures(width=20, wide=None).fit(X)
    >>> features.get_feature_names_out().tolist()
    ['x0 mean', 'x0 log sd', 'x0 log sd of differences']
    >>> features.transform(X)[[30, 80], 1].round(1)
    array([-1.6,  0.4])
    """

    def __init__(self, width: int | None = None, wide: float | None = 3.0) -> None:
        self.width = width
        self.wide = wide

    def fit(self, X: Any, y: Any = None) -> WindowFeatures:
        """Learn the units of every column and the widths.

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
        width, wide = self._checked_options()
        rows = validate_rows(self, X, reset=True)
        if width is None:
            width = min(max(len(rows) // SHARE_OF_ROWS, NARROWEST), WIDEST)
        self.width_ = width
        self.wide_width_ = None if wide is None else max(round(wide * width), width + 1)
        self.means_, self.scales_ = measure(rows, _means_and_spreads)
        _, self.step_scales_ = measure(rows, _spreads_of_steps)
        return self

    def transform(self, X: Any) -> Floats:
        """Features of the rows of a sequence.

        Parameters
        ----------
        X : array-like or frame of shape (m, p)
            A sequence, its rows in the order of time.

        Returns
        -------
        array of shape (m, f)
            In the order of ``get_feature_names_out``, column by column.
        """
        check_is_fitted(self)
        rows = validate_rows(self, X, reset=False)
        m, p = rows.shape
        # Besides the features, about 24 tables of the size of X are held at a time.
        require_memory(8 * m * p * 30, "windows of the rows", "pass fewer rows or columns")
        varies, steps_vary = self.scales_ > 0.0, self.step_scales_ > 0.0
        scales = np.where(varies, self.scales_, 1.0)
        step_scales = np.where(steps_vary, self.step_scales_, 1.0)
        away = in_units_of(rows, self.means_, scales)
        steps = np.diff(away, axis=0) * np.where(steps_vary, scales / step_scales, 0.0)
        features: list[Floats] = []
        for width in (self.width_, self.wide_width_):
            if width is None:
                continue
            means, spreads = window_moments(away, width, width // 2, m)
            _, step_spreads = window_moments(steps, width - 1, width // 2, m)
            if not features:
                features.append(np.where(varies, means, 0.0))
            features.append(np.where(varies, _logarithms(spreads), 0.0))
            features.append(np.where(steps_vary, _logarithms(step_spreads), 0.0))
        return np.stack(features, axis=2).reshape(m, -1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features, such as "x0 log sd" and "x0 wide log sd".

        Parameters
        ----------
        input_features : array-like of str of shape (p,), default=None
            Names of the columns; None takes those of the frame seen in ``fit``, or x0, x1, ...

        Returns
        -------
        array of str of shape (f,)
        """
        # The mixin checks the names and fills them in.
        columns = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        kinds = ["mean", "log sd", "log sd of differences"]
        if self.wide_width_ is not None:
            kinds += ["wide log sd", "wide log sd of differences"]
        names = [f"{column} {kind}" for column, kind in product(columns, kinds)]
        return np.array(names, dtype=object)

    def _checked_options(self) -> tuple[int | None, float | None]:
        width, wide = self.width, self.wide
        if width is not None:
            width = validate_int("width", width, 3, LARGEST_WIDTH)
        if wide is not None:
            wide = validate_number("wide", wide, 1.0, LARGEST_WIDE, above_low=True)
        return width, wide


def window_moments(values: Floats, width: int, before: int, n: int) -> tuple[Floats, Floats]:
    """Means and standard deviations of n windows, in time O(n p) for every width.

    Window t are the values t - before, ..., t - before + width - 1, as far as there are such. It is
    the end of one block of `width` values and the beginning of the next: what is known of all ends
    and all beginnings is put together, and nothing is ever taken away, so that nothing cancels.

    Parameters
    ----------
    values : array of shape (m, p)
        n - 1 or n of them.
    width : int
        Values in a window.
    before : int
        How many of them come before number t; at most `width`.
    n : int
        How many windows.

    Returns
    -------
    means, spreads : arrays of shape (n, p)
        Both 0 for a window without values.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.transformers.windows import window_moments
    >>> means, spreads = window_moments(np.array([[0.0], [2.0], [4.0], [4.0]]), 2, 1, 4)
    >>> means.ravel().tolist(), spreads.ravel().tolist()
    ([0.0, 1.0, 3.0, 4.0], [0.0, 1.0, 1.0, 0.0])
    """
    m, p = values.shape
    if m == 0:
        return np.zeros((n, p)), np.zeros((n, p))
    # Wider windows see everything as well, whatever their row.
    if before >= n and width - before >= n:
        before, width = n, 2 * n
    n_blocks = (n - 1) // width + 2
    behind = n_blocks * width - before - m
    padded = np.pad(values, ((before, behind), (0, 0)), mode="edge")
    present = np.pad(np.ones(m), (before, behind))
    blocks = padded.reshape(n_blocks, width, p)
    levels = blocks[:, :1].copy()
    blocks -= levels
    counted = present.reshape(n_blocks, width, 1)
    beginnings = _running_moments(blocks, counted)
    ends = _running_moments(blocks[:, ::-1], counted[:, ::-1])
    block, place = np.divmod(np.arange(n), width)
    n_left, left, squares_left = (part[block, width - place] for part in ends)
    n_right, right, squares_right = (part[block + 1, place] for part in beginnings)
    n_both = np.maximum(n_left + n_right, 1.0)
    apart = (right + levels[block + 1, 0]) - (left + levels[block, 0])
    means = left + levels[block, 0] + apart * (n_right / n_both)
    squares = squares_left + squares_right + apart**2 * (n_left * n_right / n_both)
    return means * (n_left + n_right > 0.0), np.sqrt(squares / n_both)


def _logarithms(spreads: Floats) -> Floats:
    logarithms: Floats = np.log(np.maximum(spreads, FLOOR))
    return logarithms


def _running_moments(blocks: Floats, counted: Floats) -> tuple[Floats, Floats, Floats]:
    """Count, mean and sum of squares about the mean of the first 0, 1, ..., width of every block.

    The squares are those of Youngs and Cramer: one value more adds its squared distance from the
    mean of those before, times their share.
    """
    counts = _sums_from_zero(counted)
    means = _sums_from_zero(blocks * counted) / np.maximum(counts, 1.0)
    shares = counted * counts[:, :-1] / np.maximum(counts[:, 1:], 1.0)
    squares = _sums_from_zero(shares * (blocks - means[:, :-1]) ** 2)
    return counts, means, squares


def _sums_from_zero(blocks: Floats) -> Floats:
    sums = np.zeros((blocks.shape[0], blocks.shape[1] + 1, blocks.shape[2]))
    np.cumsum(blocks, axis=1, out=sums[:, 1:])
    return sums


def _means_and_spreads(rows: Floats) -> tuple[Floats, Floats]:
    spreads = rows.std(axis=0)
    return rows.mean(axis=0), np.where(spreads > ROUNDING, spreads, 0.0)


def _spreads_of_steps(rows: Floats) -> tuple[Floats, Floats]:
    steps = np.diff(rows, axis=0) if len(rows) > 1 else np.zeros_like(rows)
    spreads = steps.std(axis=0)
    return steps.mean(axis=0), np.where(spreads > ROUNDING, spreads, 0.0)
