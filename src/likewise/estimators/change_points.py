"""Change points in sequences, exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from likewise.decoders.segments import Segmentation, decode_segments, penalty_path
from likewise.errors import InputError, InputTypeError
from likewise.estimators.series_scores import checked_metric, gram_scores, trace_scores
from likewise.potentials import GramScores, TraceScores
from likewise.supervision import RegionLabels, Windows
from likewise.validation import as_sets, validate_int, validate_number, validate_rows

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class PenaltyPath:
    """All segmentations that are best for some penalty in a range, most segments first.

    Attributes
    ----------
    change_points : list of array
        Of every segmentation.
    scatter : array of shape (m,)
        What each leaves within segments.
    penalties : array of shape (m + 1,)
        Segmentation i is best for penalties from ``penalties[i]`` to ``penalties[i + 1]``.
    """

    change_points: list[Indices]
    scatter: Floats
    penalties: Floats
    n_segments: Indices = field(init=False)

    def __post_init__(self) -> None:
        counts = np.array([len(cuts) + 1 for cuts in self.change_points])
        object.__setattr__(self, "n_segments", counts)

    def __len__(self) -> int:
        return len(self.change_points)

    @classmethod
    def of(cls, found: list[Segmentation], low: float, high: float) -> PenaltyPath:
        """From what the decoder found, in order."""
        scatter = np.array([part.scatter for part in found])
        counts = np.array([part.n_segments for part in found])
        meet = np.diff(scatter) / -np.diff(counts) if len(found) > 1 else np.empty(0)
        cuts = [part.partition.change_points for part in found]
        return cls(cuts, scatter, np.concatenate([[low], meet, [high]]))


class ChangePointDetector(BaseEstimator):
    """Cut sequences into segments where the mean changes; exact for every penalty.

    Finds the segmentation of least cost, eqs. (3) and (5) of [1]_::

        sum over segments of the squared distances from the mean of the segment
          + penalty * number of segments

    with distances under a metric or, with ``kernel``, in the space of a kernel.

    Parameters
    ----------
    metric : array-like of shape (p,) or (p, p), default=None
        How much every column counts, or a positive semi-definite matrix; None is the identity.
    penalty : float, default=1.0
        What every segment costs: higher means fewer.
    n_segments : int, default=None
        Exactly so many segments, whatever the penalty.
    kernel : str or callable, default=None
        The name of a kernel of scikit-learn, ``f(A, B)`` that returns a matrix, or
        ``"precomputed"``: X is the matrix (T, T), any symmetric one. Needs 16 T^2 bytes.
    min_size : int, default=1
        Rows of a segment at least.

    Attributes
    ----------
    labels_ : array of shape (T,)
        Segment of every row, 0, 1, ... in the order of time.
    change_points_ : array
        The first row of every segment after the first.
    cost_ : float
        The cost above; without the penalties where ``n_segments`` is given.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of str
        Their names, where X is a frame.

    References
    ----------
    .. [1] R. Lajugie, S. Arlot, F. Bach, "Large-margin metric learning for constrained partitioning
       problems", ICML 2014.

    Examples
    --------
    >>> import likewise as lw
    >>> X = [[0.0], [0.1], [0.0], [5.0], [5.1], [4.9]]
    >>> detector = lw.ChangePointDetector(penalty=1.0).fit(X)
    >>> detector.change_points_, detector.labels_
    (array([3]), array([0, 0, 0, 1, 1, 1]))
    """

    def __init__(
        self,
        metric: Any = None,
        penalty: float = 1.0,
        n_segments: int | None = None,
        *,
        kernel: Any = None,
        min_size: int = 1,
    ) -> None:
        self.metric = metric
        self.penalty = penalty
        self.n_segments = n_segments
        self.kernel = kernel
        self.min_size = min_size

    def fit(self, X: Any, y: Any = None, *, labels: Any = None) -> ChangePointDetector:
        """Segment one sequence.

        Parameters
        ----------
        X : array-like or frame of shape (T, p), or what ``kernel="precomputed"`` takes
            The sequence, rows in the order of time.
        y : None
            Ignored.
        labels : RegionLabels, default=None
            How many changes there are in some regions: the segmentation keeps to all of them.

        Returns
        -------
        self
        """
        found = self._segmented(self, X, labels)
        self.labels_ = found.partition.labels
        self.change_points_ = found.partition.change_points
        self.cost_ = found.energy if self.n_segments is None else found.scatter
        return self

    def fit_predict(self, X: Any, y: Any = None, *, labels: Any = None) -> Indices:
        """``fit`` and return ``labels_``."""
        return self.fit(X, y, labels=labels).labels_

    def cluster(self, X: Any, groups: Any = None) -> Any:
        """Segment one or many new sequences; the fitted state stays as it is.

        Parameters
        ----------
        X : array-like or frame of shape (T, p), or list of such
            One table, or a list of sequences of any lengths.
        groups : array-like of shape (T,), default=None
            For one table: which sequence a row belongs to.

        Returns
        -------
        labels : array of shape (T,), or list of arrays
            Segments of every sequence, from 0 on in each.
        """
        sets, restore = as_sets(X, groups, square=self._is_precomputed())
        gates = [type(self)(**self.get_params(deep=False)) for _ in sets]
        return restore(
            [
                gate._segmented(gate, part, None).partition.labels
                for gate, part in zip(gates, sets, strict=True)
            ]
        )

    def path(self, X: Any, low: float, high: float) -> PenaltyPath:
        """All segmentations that are best for a penalty between two.

        Parameters
        ----------
        X : array-like or frame of shape (T, p)
            The sequence.
        low, high : float
            The range of penalties.

        Returns
        -------
        path : PenaltyPath
            ``change_points``, ``scatter``, ``n_segments`` and ``penalties`` of all of them.
        """
        if self.kernel is not None:
            raise InputError(
                "path needs rows, but kernel is set: pass features whose inner products are the "
                "kernel, or fit with several penalties."
            )
        low = validate_number("low", low, 0.0)
        high = validate_number("high", high, low)
        gate = type(self)(**self.get_params(deep=False))
        scores = gate._scores(gate, X)
        min_size = self._checked_min_size(scores.n_items)
        return PenaltyPath.of(penalty_path(scores, low, high, min_size), low, high)

    def _segmented(self, gate: ChangePointDetector, X: Any, labels: Any) -> Segmentation:
        scores = self._scores(gate, X)
        n = scores.n_items
        min_size = self._checked_min_size(n)
        n_segments = self.n_segments
        if n_segments is not None:
            most = n // min_size
            rows = "" if min_size == 1 else f" of {min_size} rows and more"
            if validate_int("n_segments", n_segments, 1) > most:
                raise InputError(
                    f"n_segments must be at most {most} for a sequence of {n} rows and segments"
                    f"{rows}; got {n_segments}."
                )
        windows = None
        if labels is not None:
            if not isinstance(labels, RegionLabels):
                raise InputTypeError(
                    f"labels must be lw.RegionLabels(...) or None; got {type(labels).__name__}."
                )
            windows = labels.windows(n, min_size)
        found = decode_segments(scores, min_size=min_size, n_segments=n_segments, windows=windows)
        if found is None:
            raise InputError(_infeasible(scores, labels, min_size, n_segments))
        return found

    def _scores(self, gate: ChangePointDetector, X: Any) -> Any:
        penalty = validate_number("penalty", self.penalty, 0.0)
        if self.kernel is not None:
            if self.metric is not None:
                raise InputError(
                    "metric and kernel are two ways to compare rows: leave out one of them."
                )
            return gram_scores(gate, X, self.kernel, penalty)
        rows = validate_rows(gate, X, reset=True)
        return trace_scores(rows, checked_metric(self.metric, rows.shape[1]), penalty)

    def _checked_min_size(self, n: int) -> int:
        size = validate_int("min_size", self.min_size, 1)
        if size > n:
            raise InputError(
                f"min_size must be at most the number of rows; got min_size={size} for a sequence "
                f"of {n} rows."
            )
        return size

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags


def _infeasible(
    scores: TraceScores | GramScores, labels: Any, min_size: int, n_segments: int | None
) -> str:
    """Which labels leave no segmentation: the first ones that do."""
    n = scores.n_items
    asked = f"min_size={min_size}" + ("" if n_segments is None else f", n_segments={n_segments}")
    if labels is None:
        return f"no segmentation of {n} rows has {asked}."
    rows = labels.rows
    for count in range(1, len(rows) + 1):
        windows: Windows = labels.windows(n, min_size, count)
        if decode_segments(scores, n_segments=n_segments, windows=windows) is None:
            break
    named = ", ".join(f"labels[{k}] = {rows[k]}" for k in range(max(count - 3, 0), count))
    return (
        f"no segmentation of {n} rows keeps to the labels with {asked}: {named} cannot be kept "
        "together. Change one of them, or lower min_size."
    )
