"""The decoder of segmentations with a loss folded in, exact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.blocks import require_memory
from likewise.decoders._kernels import augmented as kernels
from likewise.decoders._kernels.segments import cumulative
from likewise.partitions import Partition
from likewise.potentials import AugmentedScores

__all__ = ["decode_augmented"]

Indices = NDArray[np.intp]


def decode_augmented(scores: AugmentedScores) -> Partition:
    """The segmentation of least energy.

    Candidates are pruned where the loss is that of projections and the number of segments is free.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.decoders.augmented import decode_augmented
    >>> from likewise.losses.segments import ProjectionLoss
    >>> from likewise.potentials import ShownSegments, TraceScores
    >>> scores = TraceScores(np.array([[-1.0], [-1.0], [2.0]]), 1.5)
    >>> shown = ShownSegments(np.array([0, 1, 1]))
    >>> decode_augmented(ProjectionLoss().augment(scores, shown)).labels
    array([0, 0, 1])
    """
    constant = -scores.scores.penalty
    numbers = (scores.pairs, scores.overlap, constant, float(scores.divided))
    terms = (*scores.shown.terms(scores.divided), numbers)
    sums = cumulative(scores.scores.rows)
    n = scores.n_items
    if scores.n_segments is not None:
        layers = scores.n_segments
        require_memory(
            12 * (layers + 1) * (n + 1),
            f"Segmenting {n} rows into exactly {layers} segments",
            "learn with n_segments=None, or thin the rows",
        )
        before = kernels.layered(sums, terms, layers)[1]
        return Partition.from_change_points(_traced(before, n, layers), n)
    is_pruned = scores.divided and scores.pairs == 0.0
    # What a candidate that is behind can gain on the others: see the kernel.
    slack = max(scores.overlap - constant, 0.0) if is_pruned else np.inf
    before = kernels.penalised(sums, terms, slack)[1]
    return Partition.from_change_points(_traced(before[None], n, 0), n)


def _traced(before: Indices, t: int, layer: int) -> Indices:
    """Change points from predecessors by layer."""
    cuts = []
    while t > 0:
        t, layer = int(before[layer, t]), max(layer - 1, 0)
        cuts.append(t)
    return np.array(cuts[-2::-1], dtype=np.intp)
