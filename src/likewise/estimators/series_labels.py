"""Labels that sequences share: segments that are alike under a metric get the same one.

Segments are joined by the mean distance of their mean rows (average linkage), up to a distance that
is learnt: the one at which joining the shown segments gives the labels that were shown best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.metrics import adjusted_rand_score

from likewise.energies.segments import factor_in_any_units

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SegmentLabeller:
    """Joins segments.

    Parameters
    ----------
    metric : array of shape (f, f)
        How features are compared.
    cost : float
        Segments further apart than this are not joined.
    """

    metric: Floats
    cost: float

    def shared(self, sequences: Sequence[Floats], labels: Sequence[Indices]) -> list[Indices]:
        """Labels of rows, the same for segments that are alike, numbered by first appearance."""
        factor = factor_in_any_units(self.metric)
        means = np.vstack(
            [segment_means(rows @ factor, own) for rows, own in zip(sequences, labels, strict=True)]
        )
        joined = np.zeros(len(means), dtype=np.intp)
        if len(means) > 1:
            joined = fcluster(linkage(means, "average"), self.cost, "distance")
        _, first, joined = np.unique(joined, return_index=True, return_inverse=True)
        number = np.empty(len(first), dtype=np.intp)
        number[np.argsort(first)] = np.arange(len(first))
        found, place = [], 0
        for own in labels:
            count = int(own[-1]) + 1
            found.append(number[joined[place : place + count]][own])
            place += count
        return found


def segment_means(rows: Floats, labels: Indices) -> Floats:
    """The mean row of every segment."""
    sizes = np.bincount(labels)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    means: Floats = np.add.reduceat(rows, starts, axis=0) / sizes[:, None]
    return means


def learnt_cost(means: Floats, classes: Indices, sizes: Indices) -> float:
    """The distance up to which joining segments gives their classes best, of row-weighted pairs.

    It is the middle of the widest interval that is best; where no two segments are of one class, or
    all are, what the extremes say.
    """
    if len(means) < 2:
        return 0.0
    tree = linkage(means, "average")
    heights = np.concatenate([[0.0], np.unique(tree[:, 2])])
    scores = []
    for height in heights:
        joined = fcluster(tree, height * (1.0 + 1e-12), "distance")
        scores.append(adjusted_rand_score(np.repeat(classes, sizes), np.repeat(joined, sizes)))
    best = np.flatnonzero(np.array(scores) >= max(scores) - 1e-9)
    ends = np.append(heights, 2.0 * heights[-1])
    widest = best[np.argmax(ends[best + 1] - ends[best])]
    return float(0.5 * (ends[widest] + ends[widest + 1]))
