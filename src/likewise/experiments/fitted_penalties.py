"""Segmenting with one penalty for all sequences, fitted on sequences whose changes are known.

No metric is learnt: every column counts alike once it is divided by what varies within segments.
Between neighbouring penalties of their paths nothing changes, so the best penalty is found exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.estimators.change_points import ChangePointDetector, PenaltyPath
from likewise.geometry.noise import noise_scales
from likewise.transformers import WindowFeatures

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
# From a number of a sequence and change points to how good they are.
Score = Callable[[int, Indices], float]

# Windows are a sixteenth of a typical segment, and long enough for a standard deviation.
WINDOWS_PER_SEGMENT, SHORTEST_WINDOW = 16, 5
BLOCKS_PER_WINDOW = 4
# Penalties are looked at until a sequence falls into so many times its true segments.
MOST, MORE = 3, 10
# Scores closer than this are the same.
EQUAL = 1e-9


@dataclass(frozen=True, eq=False)
class Blocks:
    """A sequence thinned by averages over blocks of rows; the last block may be longer.

    Attributes
    ----------
    rows : array of shape (B, f)
        The averages.
    ends : array of shape (B + 1,)
        Block b is made of rows ``ends[b]`` to ``ends[b + 1]``.
    """

    rows: Floats
    ends: Indices

    @classmethod
    def of(cls, rows: Floats, size: int) -> Blocks:
        """Average over blocks of so many rows."""
        starts = np.arange(max(len(rows) // size, 1)) * size
        ends = np.append(starts, len(rows))
        sums = np.add.reduceat(rows, starts, axis=0)
        return cls(sums / np.diff(ends)[:, None], ends)

    def blocks_of(self, change_points: Indices) -> Indices:
        """Segment of every block, by its middle."""
        middles = (self.ends[:-1] + self.ends[1:]) / 2
        return np.searchsorted(change_points, middles, side="right")


class FittedPenalty:
    """Window features, columns in units of what varies within segments, one penalty.

    Windows are an eighth of the median segment that was shown, blocks a quarter of a window.

    Parameters
    ----------
    score : callable
        From true and found change points and the length of a sequence to how good they are.
    """

    def __init__(self, score: Callable[[Indices, Indices, int], float]) -> None:
        self.score = score

    def fit(self, series: Sequence[Floats], change_points: Sequence[Indices]) -> FittedPenalty:
        """Choose window, scales and penalty by sequences whose changes are known."""
        lengths = [
            np.diff([0, *cuts, len(rows)]) for rows, cuts in zip(series, change_points, strict=True)
        ]
        typical = float(np.median(np.concatenate(lengths)))
        self.window_ = max(round(typical / WINDOWS_PER_SEGMENT), SHORTEST_WINDOW)
        thin = [self._thinned(rows) for rows in series]
        self.scales_ = scales_within(
            [blocks.rows for blocks in thin],
            [blocks.blocks_of(cuts) for blocks, cuts in zip(thin, change_points, strict=True)],
        )

        def score(place: int, cuts: Indices) -> float:
            found = thin[place].ends[cuts]
            return self.score(change_points[place], found, len(series[place]))

        counts = [len(cuts) + 1 for cuts in change_points]
        paths = paths_of([blocks.rows / self.scales_ for blocks in thin], counts)
        self.penalty_ = best_penalty(paths, score)
        return self

    def change_points(self, rows: Floats) -> Indices:
        """Segment a sequence; in its own rows."""
        blocks = self._thinned(rows)
        detector = ChangePointDetector(penalty=self.penalty_).fit(blocks.rows / self.scales_)
        found: Indices = blocks.ends[detector.change_points_]
        return found

    def _thinned(self, rows: Floats) -> Blocks:
        features = WindowFeatures(self.window_).fit_transform(rows)
        return Blocks.of(features, self.window_ // BLOCKS_PER_WINDOW)


def default_change_points(rows: Floats, n_blocks: int, noise: str) -> Indices:
    """Segment means with the penalty 2 p log T, nothing fitted.

    Parameters
    ----------
    rows : array of shape (T, p)
        The sequence.
    n_blocks : int
        Longer sequences are thinned to about so many blocks.
    noise : {"differences", "total"}
        Columns are divided by the noise that their differences show, or by their standard
        deviation.
    """
    blocks = Blocks.of(rows, max(round(len(rows) / n_blocks), 1))
    means = blocks.rows
    scales = noise_scales(means)[0] if noise == "differences" else means.std(axis=0)
    penalty = 2.0 * means.shape[1] * np.log(len(means))
    scaled = means / np.where(scales > 0.0, scales, np.inf)
    found: Indices = blocks.ends[ChangePointDetector(penalty=penalty).fit(scaled).change_points_]
    return found


def scales_within(series: Sequence[Floats], segments: Sequence[Indices]) -> Floats:
    """Standard deviation of every column within segments, of all sequences; inf for constants."""
    squares = np.zeros(series[0].shape[1])
    for rows, own in zip(series, segments, strict=True):
        for segment in np.unique(own):
            squares += np.square(rows[own == segment] - rows[own == segment].mean(axis=0)).sum(0)
    scales = np.sqrt(squares / sum(map(len, series)))
    constant = scales <= EQUAL * scales.max()
    return np.where(constant, np.inf, scales)


def paths_of(series: Sequence[Floats], counts: Sequence[int]) -> list[PenaltyPath]:
    """Paths of all sequences between the same penalties.

    The highest leaves every sequence whole. The lowest cuts one of them into at least `MOST` times
    its true number of segments and `MORE`, or all of them into single rows.
    """
    total = max(float(np.square(rows - rows.mean(axis=0)).sum()) for rows in series)
    high = low = 2.0 * total + 1.0
    while low > EQUAL * high:
        low /= 2.0
        found = [ChangePointDetector(penalty=low).fit(rows).labels_[-1] + 1 for rows in series]
        if any(n >= MOST * count + MORE for n, count in zip(found, counts, strict=True)):
            break
    return [ChangePointDetector().path(rows, low, high) for rows in series]


def best_penalty(paths: Sequence[PenaltyPath], score: Score) -> float:
    """The penalty of the best mean score: the middle, in logarithms, of the widest best interval.

    Parameters
    ----------
    paths : sequence of PenaltyPath
        Of all sequences, between the same penalties.
    score : callable
        How good change points are for a sequence.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.estimators.change_points import PenaltyPath
    >>> from likewise.experiments.fitted_penalties import best_penalty
    >>> path = PenaltyPath([np.array([3, 5]), np.array([3]), np.array([], int)],
    ...                    np.array([1.0, 2.0, 9.0]), np.array([0.1, 1.0, 100.0, 1000.0]))
    >>> round(best_penalty([path], lambda place, cuts: -abs(len(cuts) - 1)), 6)
    10.0
    """
    edges = np.unique(np.concatenate([path.penalties for path in paths]))
    middles = (edges[:-1] + edges[1:]) / 2.0
    total = np.zeros(len(middles))
    for place, path in enumerate(paths):
        values = np.array([score(place, cuts) for cuts in path.change_points])
        total += values[np.searchsorted(path.penalties[1:-1], middles, side="right")]
    best = total >= total.max() - EQUAL * len(paths)
    logs = np.log(edges)
    turns = np.flatnonzero(np.diff(np.concatenate([[0], best.astype(int), [0]])))
    starts, ends = logs[turns[::2]], logs[turns[1::2]]
    widest = int(np.argmax(ends - starts))
    return float(np.exp((starts[widest] + ends[widest]) / 2.0))
