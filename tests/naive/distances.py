"""Pair distances as their definitions read: two rows, plain loops, plain floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Row = Sequence[float]


def sqeuclidean(x: Row, y: Row) -> float:
    return math.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def euclidean(x: Row, y: Row) -> float:
    return math.dist(x, y)


def manhattan(x: Row, y: Row) -> float:
    return math.fsum(abs(a - b) for a, b in zip(x, y, strict=True))


def chebyshev(x: Row, y: Row) -> float:
    return max(abs(a - b) for a, b in zip(x, y, strict=True))


def chi2(x: Row, y: Row) -> float:
    return math.fsum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b)


def cosine(x: Row, y: Row) -> float:
    lengths = [math.hypot(*x), math.hypot(*y)]
    if not any(lengths):
        return 0.0
    if not all(lengths):
        return 1.0
    return 1.0 - math.fsum(a * b for a, b in zip(x, y, strict=True)) / (lengths[0] * lengths[1])


def hamming(x: Row, y: Row) -> float:
    return sum(a != b for a, b in zip(x, y, strict=True)) / len(x)


def rbf(x: Row, y: Row) -> float:
    return math.sqrt(2.0 - 2.0 * math.exp(-sqeuclidean(x, y) / len(x)))


DISTANCES: dict[str, Callable[[Row, Row], float]] = {
    function.__name__: function
    for function in (sqeuclidean, euclidean, manhattan, chebyshev, chi2, cosine, hamming, rbf)
}


def matrix(distance: Callable[[Row, Row], float], A: Sequence[Row], B: Sequence[Row]) -> list:
    return [[distance(x, y) for y in B] for x in A]


def local_scale(distances: Sequence[float], k: int) -> float:
    """Scale of a row from its distances to all other rows of its set."""
    ordered = sorted(distances)
    if ordered[k - 1] > 0.0:
        return ordered[k - 1]
    return next((value for value in ordered if value > 0.0), 1.0)
