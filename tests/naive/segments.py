"""Segmentations by enumeration, and the tables of Algorithm 1 of lajugie2014 as they stand."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np


def segmentations(n: int, min_size: int = 1) -> Iterator[tuple[int, ...]]:
    """The change points of every segmentation of n rows."""
    for count in range(n):
        for cuts in itertools.combinations(range(1, n), count):
            if min(np.diff([0, *cuts, n])) >= min_size:
                yield cuts


def scatter_of_rows(rows: np.ndarray, cuts: tuple[int, ...]) -> float:
    """Squared distances from the means, segment by segment."""
    ends = [0, *cuts, len(rows)]
    return sum(
        float(((rows[s:t] - rows[s:t].mean(axis=0)) ** 2).sum())
        for s, t in itertools.pairwise(ends)
    )


def scatter_of_gram(gram: np.ndarray, cuts: tuple[int, ...]) -> float:
    """Tr(A (I - M)) with the projection M written out."""
    n = len(gram)
    M = np.zeros((n, n))
    for s, t in itertools.pairwise([0, *cuts, n]):
        M[s:t, s:t] = 1.0 / (t - s)
    return float(np.trace(gram @ (np.eye(n) - M)))


def least(
    n: int,
    scatter: Callable[[tuple[int, ...]], float],
    penalty: float,
    min_size: int = 1,
    n_segments: int | None = None,
    keeps: Callable[[tuple[int, ...]], bool] = lambda cuts: True,
) -> float | None:
    """The least cost; None where nothing keeps to what is asked."""
    costs = [
        scatter(cuts) + (penalty * (len(cuts) + 1) if n_segments is None else 0.0)
        for cuts in segmentations(n, min_size)
        if n_segments in (None, len(cuts) + 1) and keeps(cuts)
    ]
    return min(costs, default=None)


def algorithm_1(gram: np.ndarray, penalty: float) -> float:
    """Its maximum of Tr(A M) less penalties, by integral images; signs as docs/papers say."""
    n = len(gram)
    integral = np.zeros((n + 1, n + 1))
    integral[1:, 1:] = gram.cumsum(axis=0).cumsum(axis=1)
    best = np.full(n + 1, -np.inf)
    best[0] = 0.0
    for t in range(1, n + 1):
        for s in range(t):
            block = integral[t, t] + integral[s, s] - integral[s, t] - integral[t, s]
            best[t] = max(best[t], best[s] + block / (t - s) - penalty)
    return float(best[n])
