"""Correlation clustering: the partition that maximises the similarities within its clusters.

``sum over pairs p < q of one cluster of S[p, q]``, S symmetric with entries of both signs; the
number of clusters follows. Found by greedy merging, then by moves of single rows and merges of
clusters as long as one of them gains.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

# A gain below this share of the largest similarity is rounding.
ROUNDING = 1e-12
# Empty columns that are added when the last one is filled.
SPARE = 16


def value_of(similarities: Floats, labels: Labels) -> float:
    """Sum of the similarities of the pairs that are together."""
    together = labels[:, None] == labels[None, :]
    return float((similarities[together].sum() - np.trace(similarities)) / 2)


def merge_greedily(similarities: Floats) -> Labels:
    """Merge, from single rows on, the two clusters whose merger gains most, while one gains."""
    n = len(similarities)
    between = similarities.copy()
    np.fill_diagonal(between, -np.inf)
    labels = np.arange(n)
    for _ in range(n - 1):
        first, second = divmod(int(between.argmax()), n)
        if between[first, second] <= 0:
            break
        labels[labels == second] = first
        between[first] += between[second]
        between[:, first] = between[first]
        between[first, first] = -np.inf
        between[second] = between[:, second] = -np.inf
    return np.unique(labels, return_inverse=True)[1]


def improve(similarities: Floats, labels: Labels) -> Labels:
    """Move rows, and merge clusters, as long as that gains."""
    scores = similarities.copy()
    np.fill_diagonal(scores, 0.0)
    least = ROUNDING * float(np.abs(scores).max(initial=0.0)) * len(scores)
    own = np.unique(labels, return_inverse=True)[1]
    while True:
        own = _move_rows(scores, own, least)
        merged = _merge_best(scores, own, least)
        if merged is None:
            return own
        own = merged


def _move_rows(scores: Floats, labels: Labels, least: float) -> Labels:
    """Move rows to where they gain, in rounds; a new cluster is a place to move to, too."""
    n, own = len(labels), labels.copy()
    rows = np.arange(n)
    # One column per cluster, and an empty one behind them.
    sums = np.zeros((n, int(own.max()) + 2))
    sums[:, :-1] = scores @ np.eye(sums.shape[1] - 1)[own]
    sizes = np.bincount(own, minlength=sums.shape[1])
    while True:
        gains = sums.max(axis=1) - sums[rows, own]
        movers = np.flatnonzero(gains > least)
        if len(movers) == 0:
            return np.unique(own, return_inverse=True)[1]
        # Those that gain most first; what the others gain may have changed by their turn.
        for row in movers[np.argsort(-gains[movers], kind="stable")]:
            source, target = own[row], int(sums[row].argmax())
            if sums[row, target] - sums[row, source] <= least:
                continue
            sums[:, source] -= scores[row]
            sums[:, target] += scores[row]
            sizes[source] -= 1
            sizes[target] += 1
            own[row] = target
            if sizes.all():
                sums = np.hstack([sums, np.zeros((n, SPARE))])
                sizes = np.append(sizes, np.zeros(SPARE, dtype=sizes.dtype))


def _merge_best(scores: Floats, labels: Labels, least: float) -> Labels | None:
    members = np.eye(int(labels.max()) + 1)[labels]
    between = members.T @ scores @ members
    np.fill_diagonal(between, -np.inf)
    first, second = divmod(int(between.argmax()), len(between))
    if not between[first, second] > least:
        return None
    return np.unique(np.where(labels == second, first, labels), return_inverse=True)[1]


def cluster_by_similarity(similarities: Floats, *starts: Labels) -> Labels:
    """The best partition found from greedy merging, or from the starts where some are given."""
    first = list(starts) or [merge_greedily(similarities)]
    found = [improve(similarities, start) for start in first]
    return max(found, key=lambda labels: value_of(similarities, labels))
