"""Scores against several annotators, as the Turing change point benchmark defines them.

Row 0 counts as a change of everybody. Van den Burg and Williams, "An evaluation of change point
detection algorithms", arXiv:2003.06222, 2020.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.metrics import covering

Indices = NDArray[np.intp]


def segments_of(change_points: ArrayLike, n_rows: int) -> Indices:
    """Segment of every row, 0, 1, ... in the order of time.

    Examples
    --------
    >>> from likewise.experiments.annotators import segments_of
    >>> segments_of([2], 5)
    array([0, 0, 1, 1, 1])
    """
    return np.searchsorted(np.asarray(change_points, dtype=np.intp), np.arange(n_rows), "right")


def annotated_f1(annotations: Collection[ArrayLike], found: ArrayLike, margin: int = 5) -> float:
    """F-measure: precision by the changes that anybody saw, recall as the mean over annotators.

    Parameters
    ----------
    annotations : collection of array-like
        Change points of every annotator.
    found : array-like
        Change points that were found.
    margin : int, default=5
        Rows between two changes that are the same.

    Examples
    --------
    >>> from likewise.experiments.annotators import annotated_f1
    >>> annotated_f1([[50], []], [52])
    1.0
    """
    own = _with_start(found)
    everybody = [_with_start(one) for one in annotations]
    precision = _matched(sorted(set().union(*everybody)), own, margin) / len(own)
    recall = float(np.mean([_matched(one, own, margin) / len(one) for one in everybody]))
    return 2.0 * precision * recall / (precision + recall)


def annotated_covering(annotations: Collection[ArrayLike], found: ArrayLike, n_rows: int) -> float:
    """Mean over annotators of how well the found segments cover theirs.

    Examples
    --------
    >>> from likewise.experiments.annotators import annotated_covering
    >>> annotated_covering([[2], []], [2], 4)
    0.75
    """
    labels = segments_of(found, n_rows)
    return float(np.mean([covering(segments_of(one, n_rows), labels) for one in annotations]))


def _with_start(change_points: ArrayLike) -> list[int]:
    return sorted({0, *np.asarray(change_points, dtype=np.intp).tolist()})


def _matched(truth: Iterable[int], found: list[int], margin: int) -> int:
    """How many true changes have a found one near, each found one used once, the nearest first."""
    left, count = list(found), 0
    for change in truth:
        near = [other for other in left if abs(other - change) <= margin]
        if near:
            left.remove(min(near, key=lambda other: abs(other - change)))
            count += 1
    return count
