"""The energy of segmentations with a learnt metric and penalty, lajugie2014 section 3.

    E(M; w) = <B, within-segment scatter of M> + penalty * Tr M

Weights are one vector: those of the columns, or the rows of the matrix B one after the other, and
last the penalty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.partitions import Partition
from likewise.potentials import TraceScores
from likewise.supervision import SegmentedSeries

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Eigenvalues are zero below this share of the largest.
NO_DIRECTION = 1e-12


@dataclass(frozen=True)
class SegmentEnergy:
    """What turns a sequence and weights into scores, and a partition into features.

    Parameters
    ----------
    full : bool
        Whether the metric is a matrix.
    groups : array (p,) or None
        Columns with the same number share a weight; None is one for each.
    """

    full: bool = False
    groups: Any = None

    def potentials(self, example: SegmentedSeries, weights: Floats) -> TraceScores:
        """The scores of one sequence with the weights applied."""
        metric, share = weights[:-1], example.shown.share
        rows = example.rows
        if self.full:
            p = rows.shape[1]
            factor = factor_of(metric.reshape(p, p))
            found = rows @ (np.sqrt(share) * factor)
        else:
            metric = metric if self.groups is None else metric[self.groups]
            used = metric > 0.0
            found = rows[:, used] * np.sqrt(share * metric[used])
        if not found.shape[1]:
            found = np.zeros((len(rows), 1))
        return TraceScores(np.ascontiguousarray(found), share * float(weights[-1]))

    def joint_features(self, example: SegmentedSeries, partition: Partition) -> Floats:
        """The features whose product with the weights is the energy."""
        sizes = partition.sizes
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        means = np.add.reduceat(example.rows, starts, axis=0) / np.sqrt(sizes)[:, None]
        if self.full:
            scatter = (example.rows.T @ example.rows - means.T @ means).ravel()
        else:
            scatter = np.square(example.rows).sum(axis=0) - np.square(means).sum(axis=0)
            if self.groups is not None:
                scatter = np.bincount(self.groups, weights=scatter).astype(np.float64)
        features: Floats = example.shown.share * np.append(scatter, len(sizes))
        return features

    def complete(self, example: SegmentedSeries, _: TraceScores) -> Partition:
        """The shown partition: nothing is left open."""
        return Partition(example.shown.labels)

    def point_of(self, code: Indices) -> Partition:
        """A partition from what it is kept as."""
        return Partition(code)


def factor_of(matrix: Floats) -> Floats:
    """F with F F' = the positive part of a symmetric matrix."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    kept = values > NO_DIRECTION * max(float(values[-1]), 0.0)
    factor: Floats = vectors[:, kept] * np.sqrt(values[kept])
    return factor


def factor_in_any_units(matrix: Floats) -> Floats:
    """F with F F' = a positive semi-definite matrix, whatever the units of its columns.

    Directions are left out as far as they do not count in units in which all columns count alike.
    """
    scales = np.sqrt(np.abs(np.diag(matrix)))
    scales[scales == 0.0] = 1.0
    factor: Floats = scales[:, None] * factor_of(matrix / scales[:, None] / scales)
    return factor
