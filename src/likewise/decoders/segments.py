"""The decoder of segmentations: dynamic programming, exact for every problem it takes.

one dimension, penalty          functional pruning
rows, penalty                   pruning and skipping of blocks
number of segments known        the penalty that leads to it, if there is one; else all pairs
regions, similarities           all pairs that are allowed
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.blocks import require_memory
from likewise.decoders._kernels import functional
from likewise.decoders._kernels import segments as kernels
from likewise.partitions import Partition
from likewise.potentials import GramScores, TraceScores
from likewise.supervision import Windows

__all__ = ["Segmentation", "decode_segments", "penalty_path"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Candidates of a new block; chosen on series of 1,000 to 100,000 rows, like `blocks_for`.
YOUNG = 16
# Penalties that are tried for a known number of segments before all pairs are looked at.
TRIALS = 40
# Penalised costs closer than this, relatively, are the same.
EQUAL = 1e-10


@dataclass(frozen=True, eq=False)
class Segmentation:
    """The best partition into segments, its scatter, and its energy: scatter and penalties."""

    partition: Partition
    scatter: float
    energy: float

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return self.partition.n_clusters


def decode_segments(
    scores: TraceScores | GramScores,
    *,
    min_size: int = 1,
    n_segments: int | None = None,
    windows: Windows | None = None,
) -> Segmentation | None:
    """The segmentation of least energy; None where no segmentation keeps to what is asked.

    Parameters
    ----------
    scores : TraceScores or GramScores
        The potentials.
    min_size : int
        Rows of a segment at least.
    n_segments : int or None
        Exactly so many; penalties then do not matter.
    windows : Windows or None
        Which cuts are allowed; ``min_size`` is in them already.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.decoders.segments import decode_segments
    >>> from likewise.potentials import TraceScores
    >>> scores = TraceScores(np.array([[-1.0], [-1.0], [2.0]]), 0.5)
    >>> decode_segments(scores).partition.labels
    array([0, 0, 1])
    """
    n = scores.n_items
    if min_size > n or (n_segments is not None and min_size * n_segments > n):
        return None
    if windows is None and isinstance(scores, TraceScores):
        if n_segments is None:
            return _finished(scores, _search(scores.rows, min_size)(scores.penalty))
        found = _by_penalty(scores, n_segments, min_size)
        if found is not None:
            return found
    windows = windows or Windows.of(n, min_size)
    return _all_pairs(scores, n_segments, windows)


def penalty_path(
    scores: TraceScores, low: float, high: float, min_size: int = 1
) -> list[Segmentation]:
    """All segmentations that are best for a penalty from low to high, most segments first.

    Haynes, Eckley and Fearnhead (2017): where two neighbours on the path cost the same, either
    nothing lies between them or what does is found there.
    """

    search = _search(scores.rows, min_size)

    def best(penalty: float) -> Segmentation:
        return _finished(TraceScores(scores.rows, penalty), search(penalty))

    def between(left: Segmentation, right: Segmentation) -> list[Segmentation]:
        if left.n_segments <= right.n_segments + 1:
            return []
        penalty = (right.scatter - left.scatter) / (left.n_segments - right.n_segments)
        middle = best(penalty)
        level = left.scatter + penalty * left.n_segments
        if middle.energy >= level - EQUAL * (1.0 + abs(level)):
            return []
        return [*between(left, middle), middle, *between(middle, right)]

    first, last = best(low), best(high)
    if first.n_segments == last.n_segments:
        return [first]
    return [first, *between(first, last), last]


def _search(rows: Floats, min_size: int) -> Callable[[float], Indices]:
    """The change points of least energy as a function of the penalty."""
    n, sums = len(rows), kernels.cumulative(rows)
    if rows.shape[1] == 1:
        squares = np.ascontiguousarray(kernels.cumulative(np.square(rows))[:, 0])
        column = np.ascontiguousarray(sums[:, 0])
        return lambda penalty: _traced(functional.penalised(column, squares, penalty, min_size)[1])
    blocks = blocks_for(n)
    return lambda penalty: _traced(kernels.penalised(sums, penalty, min_size, YOUNG, blocks)[1])


def blocks_for(n: int) -> int:
    """How many blocks of candidates to look at: more of them for long segments."""
    return int(np.clip(np.sqrt(n) / 4.0, 24, 96))


def _traced(before: Indices) -> Indices:
    """Change points from predecessors."""
    cuts, t = [], len(before) - 1
    while t > 0:
        t = int(before[t])
        cuts.append(t)
    return np.array(cuts[-2::-1], dtype=np.intp)


def _finished(scores: TraceScores | GramScores, change_points: Indices) -> Segmentation:
    partition = Partition.from_change_points(change_points, scores.n_items)
    scatter = scores.scatter_of(partition)
    return Segmentation(partition, scatter, scatter + scores.penalty * partition.n_clusters)


def _by_penalty(scores: TraceScores, n_segments: int, min_size: int) -> Segmentation | None:
    """The best segmentation into so many segments if it is best for some penalty, too."""
    rows, search = scores.rows, _search(scores.rows, min_size)

    def best(penalty: float) -> Segmentation:
        return _finished(TraceScores(rows, scores.penalty), search(penalty))

    few = best(float(np.square(rows).sum()) + 1.0)
    many = best(0.0)
    for _ in range(TRIALS):
        for side in (few, many):
            if side.n_segments == n_segments:
                return side
        if not few.n_segments < n_segments < many.n_segments:
            return None
        slope = (few.scatter - many.scatter) / (many.n_segments - few.n_segments)
        middle = best(slope)
        if middle.n_segments in (few.n_segments, many.n_segments):
            return None
        if middle.n_segments > n_segments:
            many = middle
        else:
            few = middle
    return None


def _all_pairs(
    scores: TraceScores | GramScores, n_segments: int | None, windows: Windows
) -> Segmentation | None:
    n, layers = scores.n_items, n_segments or 0
    require_memory(
        12 * (layers + 1) * (n + 1),
        f"Segmenting {n} rows into exactly {layers} segments",
        "leave n_segments out and choose a penalty, or thin the rows",
    )
    penalty = scores.penalty if n_segments is None else 0.0
    wanted = (penalty, layers, windows.low, windows.high, windows.allowed)
    if isinstance(scores, GramScores):
        best, before = kernels.windowed_gram(scores.gram, *wanted)
    else:
        best, before = kernels.windowed(kernels.cumulative(scores.rows), *wanted)
    if best[layers, n] == -np.inf:
        return None
    cuts, t, k = [], n, layers
    while t > 0:
        t, k = int(before[k, t]), max(k - 1, 0)
        cuts.append(t)
    return _finished(scores, np.array(cuts[-2::-1], dtype=np.intp))
