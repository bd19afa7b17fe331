"""Losses of segmentations that decompose over segments, lajugie2014 section 3.2.

For K shown segments B and L found ones A of T rows,

    projection    |M - N|^2 = K + L - 2 sum |A ∩ B|^2 / (|A| |B|)
    Rand          (sum |A|^2 + sum |B|^2 - 2 sum |A ∩ B|^2) / (T (T - 1))

so both fold into the scores of segments. The first is about the number of changes missed and
invented; the second is at most one, so it gets a weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likewise.metrics import projection_loss, rand_loss
from likewise.partitions import Partition
from likewise.potentials import AugmentedScores, ShownSegments, TraceScores


@dataclass(frozen=True)
class ProjectionLoss:
    """The squared distance of projections, times a weight.

    Splitting a shown segment raises this loss by one, however small the piece. So where a segment
    costs less than the weight, worst segmentations fall into single rows; ``least_penalty`` is what
    learning must keep the penalty above.

    Parameters
    ----------
    weight : float
        Not negative.
    known : bool
        Whether only segmentations into as many segments as were shown count.
    """

    weight: float = 1.0
    known: bool = False

    @property
    def least_penalty(self) -> float:
        """The least penalty that does not lead to single rows."""
        return 0.0 if self.known else self.weight

    def value(self, shown: ShownSegments, partition: Partition) -> float:
        """The loss of a partition, times the share of its sequence."""
        return shown.share * self.weight * projection_loss(shown.labels, partition.labels)

    def augment(self, scores: TraceScores, shown: ShownSegments) -> AugmentedScores:
        """The scores minus this loss."""
        weight = shown.share * self.weight
        n_shown = len(shown.starts) - 1
        return AugmentedScores(
            TraceScores(scores.rows, scores.penalty - weight), shown, pairs=0.0,
            overlap=2.0 * weight, constant=-weight * n_shown, divided=True,
            n_segments=n_shown if self.known else None,
        )  # fmt: skip


@dataclass(frozen=True)
class RandLoss:
    """The share of pairs of rows that are judged wrongly, times a weight.

    Parameters
    ----------
    weight : float
        Not negative.
    known : bool
        Whether only segmentations into as many segments as were shown count.
    """

    weight: float = 1.0
    known: bool = False

    @property
    def least_penalty(self) -> float:
        """Splits in the middle of a segment always add to this loss, but a bounded amount."""
        return 0.0

    def value(self, shown: ShownSegments, partition: Partition) -> float:
        """The loss of a partition, times the share of its sequence."""
        return shown.share * self.weight * rand_loss(shown.labels, partition.labels)

    def augment(self, scores: TraceScores, shown: ShownSegments) -> AugmentedScores:
        """The scores minus this loss."""
        n = scores.n_items
        weight = shown.share * self.weight / max(n * (n - 1), 1)
        sizes = np.diff(shown.starts).astype(np.float64)
        return AugmentedScores(
            scores, shown, pairs=weight, overlap=2.0 * weight,
            constant=-weight * float(sizes @ sizes), divided=False,
            n_segments=len(sizes) if self.known else None,
        )  # fmt: skip
