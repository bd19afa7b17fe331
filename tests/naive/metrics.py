"""Partition metrics by their definitions: n x n matrices, sets, all pairs and all matchings.

Every function takes two lists of labels, truth first, and is written without looking at
``likewise.metrics``: slow, and short enough to be checked by eye.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from itertools import combinations, permutations

import numpy as np

Labels = Sequence[Hashable]


def clusters(labels: Labels) -> list[set[int]]:
    return [{i for i, label in enumerate(labels) if label == name} for name in set(labels)]


def together(labels: Labels) -> np.ndarray:
    """Equivalence matrix Y Y'."""
    return np.array([[float(a == b) for b in labels] for a in labels])


def projection(labels: Labels) -> np.ndarray:
    """Projection matrix Y (Y'Y)^-1 Y'."""
    names = sorted(set(labels), key=str)
    indicator = np.array([[float(label == name) for name in names] for label in labels])
    return indicator @ np.linalg.inv(indicator.T @ indicator) @ indicator.T


def projection_loss(truth: Labels, found: Labels) -> float:
    return float(np.sum((projection(truth) - projection(found)) ** 2))


def rand_loss(truth: Labels, found: Labels) -> float:
    """1 - Rand as lajugie2014 writes it, section 3.2."""
    n = len(truth)
    if n == 1:
        return 0.0
    return float(np.sum((together(truth) - together(found)) ** 2)) / (n * (n - 1))


def pairwise_f1(truth: Labels, found: Labels) -> float:
    def pairs(labels: Labels) -> set[tuple[int, int]]:
        return {(i, j) for i, j in combinations(range(len(labels)), 2) if labels[i] == labels[j]}

    true, proposed = pairs(truth), pairs(found)
    if not true and not proposed:
        return 1.0
    hits = len(true & proposed)
    if hits == 0:
        return 0.0
    precision, recall = hits / len(proposed), hits / len(true)
    return 2 * precision * recall / (precision + recall)


def covering(truth: Labels, found: Labels) -> float:
    return sum(
        len(a) / len(truth) * max(len(a & b) / len(a | b) for b in clusters(found))
        for a in clusters(truth)
    )


def change_points(labels: Labels) -> list[int]:
    return [i for i in range(1, len(labels)) if labels[i] != labels[i - 1]]


def change_point_f1(truth: Labels, found: Labels, margin: float) -> float:
    """Tries every matching of the change points."""
    true, proposed = change_points(truth), change_points(found)
    if not true and not proposed:
        return 1.0

    @cache
    def most(i: int, free: frozenset[int]) -> int:
        if i == len(true):
            return 0
        tries = [1 + most(i + 1, free - {t}) for t in free if abs(true[i] - t) <= margin]
        return max([most(i + 1, free), *tries])

    return 2 * most(0, frozenset(proposed)) / (len(true) + len(proposed))


def hausdorff(truth: Labels, found: Labels) -> float:
    true, proposed = change_points(truth), change_points(found)
    if not true and not proposed:
        return 0.0
    if not true or not proposed:
        return float(len(truth))
    there = max(min(abs(a - b) for b in proposed) for a in true)
    back = max(min(abs(a - b) for a in true) for b in proposed)
    return float(max(there, back))


def clustering_accuracy(truth: Labels, found: Labels) -> float:
    """Tries every one-to-one map from the smaller partition into the larger one."""
    small, large = sorted((clusters(truth), clusters(found)), key=len)
    return max(
        sum(len(a & b) for a, b in zip(small, chosen, strict=True))
        for chosen in permutations(large, len(small))
    ) / len(truth)


def class_majority_accuracy(truth: Labels, found: Labels) -> float:
    return sum(max(len(a & b) for b in clusters(found)) for a in clusters(truth)) / len(truth)
