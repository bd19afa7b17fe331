"""SVM-cluster: correlation clustering with a similarity learnt by a structural SVM.

The similarity of two rows is linear in their pair features, here the squared differences of the
columns in units of their means, and a bias: ``s(p, q) = <w, phi(p, q)>``. With
``Psi(X, y)`` the mean over all pairs of ``[y_p = y_q] phi(p, q)``, and ``loss`` the share of pairs
on which two partitions disagree, training minimises

    strength / 2 |w|^2 + 1/K sum_k max over y of loss(y_k, y) + <w, Psi(X_k, y) - Psi(X_k, y_k)>

by AdaGrad. The loss is a sum over pairs, so the maximiser is a correlation clustering of
similarities with a margin; it is found by local moves, from the truth or from the last answer,
whichever violates its margin more.

T. Finley, T. Joachims, "Supervised clustering with support vector machines", ICML 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Self

import numpy as np

from likewise.experiments.baselines.correlation import (
    cluster_by_similarity,
    improve,
    value_of,
)
from likewise.experiments.baselines.distances import squared_distances
from likewise.experiments.baselines.tuned import Floats, Labels, Score
from likewise.metrics import pairwise_f1

STRENGTHS = (1e-1, 1e-2, 1e-4)
STEPS = (0.5, 1.0, 2.0, 5.0)
# Keeps the first steps of AdaGrad finite where a derivative is 0.
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class ShownSet:
    """One training set with what does not change while w does."""

    rows: Floats
    labels: Labels
    truth: Floats
    margins: Floats

    @classmethod
    def of(cls, rows: Floats, labels: Labels) -> ShownSet:
        """Margins: what a pair that is together adds to the loss, up to a constant."""
        apart = labels[:, None] != labels[None, :]
        margins = np.where(apart, 1.0, -1.0)
        return cls(rows, labels, joint_features(rows, labels), margins)


class SVMCluster:
    """Similarity of rows and a bias, learnt from shown partitions.

    Parameters
    ----------
    strengths, steps : sequence of float
        Every pair of them is trained; the one that scores best on the training sets is kept.
    max_iter : int, default=60
        Passes over the training sets; the iterates of the second half are averaged.
    score : callable, default=pairwise_f1
        ``score(truth, found)``, whose mean over sets is maximised.

    Attributes
    ----------
    weights_ : array of shape (p + 1,)
        One weight per column, in units of the mean of its squared differences, then the bias.
    score_ : float
        The mean score on the training sets.
    """

    def __init__(
        self,
        *,
        strengths: Sequence[float] = STRENGTHS,
        steps: Sequence[float] = STEPS,
        max_iter: int = 60,
        score: Score = pairwise_f1,
    ) -> None:
        self.strengths = strengths
        self.steps = steps
        self.max_iter = max_iter
        self.score = score

    def fit(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Train every configuration and keep the best."""
        variance = np.mean([X.var(axis=0, ddof=1) for X in sets], axis=0)
        positive = variance > 0
        # The mean of a squared difference is twice the variance.
        roots = np.sqrt(2 * np.where(positive, variance, 1.0))
        self.scale_ = np.where(positive, 1.0 / roots, 0.0)
        shown = [ShownSet.of(X * self.scale_, y) for X, y in zip(sets, ys, strict=True)]
        best = (-np.inf, -np.inf)
        for strength, step in product(self.strengths, self.steps):
            weights = train(shown, strength, step, self.max_iter)
            worst = [worst_partition(one, weights, one.labels) for one in shown]
            # Among equals, the one that violates its margins least.
            merit = (self._mean_score(shown, weights), -violation(shown, worst, weights))
            if merit > best:
                self.weights_, best = weights, merit
        self.score_ = best[0]
        return self

    def cluster(self, sets: Sequence[Floats]) -> list[Labels]:
        """Partition each set."""
        return [cluster_by_similarity(similarities(X * self.scale_, self.weights_)) for X in sets]

    def _mean_score(self, shown: Sequence[ShownSet], weights: Floats) -> float:
        found = [cluster_by_similarity(similarities(one.rows, weights)) for one in shown]
        scores = [self.score(one.labels, y) for one, y in zip(shown, found, strict=True)]
        return float(np.mean(scores))


def similarities(rows: Floats, weights: Floats) -> Floats:
    """``s(p, q)`` for all pairs: a quadratic form of both signs, and the bias."""
    weighted = rows * weights[:-1]
    squares = (weighted * rows).sum(axis=1)
    return squares[:, None] + squares[None, :] - 2 * weighted @ rows.T + weights[-1]


def joint_features(rows: Floats, labels: Labels) -> Floats:
    """``Psi``: mean over all pairs of the features of those that are together, shape (p + 1,).

    The squared differences within a cluster of m rows sum to ``m sum x^2 - (sum x)^2``.
    """
    members = np.eye(int(labels.max()) + 1)[labels]
    sizes = members.sum(axis=0)
    squares = sizes @ (members.T @ rows**2) - np.square(members.T @ rows).sum(axis=0)
    n_pairs = len(rows) * (len(rows) - 1) / 2
    return np.append(squares, (sizes * (sizes - 1)).sum() / 2) / n_pairs


def start_weights(shown: Sequence[ShownSet]) -> Floats:
    """The plain distance: rows that are nearer than the mean of all pairs are similar."""
    n_columns = shown[0].rows.shape[1]
    mean = np.mean([squared_distances(one.rows).mean() for one in shown]) / n_columns
    return np.append(np.full(n_columns, -1.0 / n_columns), mean)


def train(shown: Sequence[ShownSet], strength: float, step: float, max_iter: int) -> Floats:
    """AdaGrad on the objective of the module, averaged over the second half."""
    weights = start_weights(shown)
    # One step moves a weight by about this: the start has weights of 1 / p.
    unit = step * np.append(np.full(len(weights) - 1, 10.0 / (len(weights) - 1)), 1.0)
    squares = np.full(len(weights), TINY)
    total, counted = np.zeros_like(weights), 0
    last = [one.labels for one in shown]
    for turn in range(max_iter):
        last = [worst_partition(one, weights, y) for one, y in zip(shown, last, strict=True)]
        gradient = strength * weights + subgradient(shown, last)
        squares += gradient**2
        weights = weights - unit * gradient / np.sqrt(squares)
        if 2 * turn >= max_iter:
            total, counted = total + weights, counted + 1
    return total / max(counted, 1)


def worst_partition(one: ShownSet, weights: Floats, last: Labels) -> Labels:
    """The partition that violates its margin most, as far as local moves find it."""
    augmented = similarities(one.rows, weights) + one.margins
    start = max(one.labels, last, key=lambda labels: value_of(augmented, labels))
    return improve(augmented, start)


def subgradient(shown: Sequence[ShownSet], found: Sequence[Labels]) -> Floats:
    """Of the loss part of the objective, the partitions being the maximisers."""
    differences = [
        joint_features(one.rows, y) - one.truth for one, y in zip(shown, found, strict=True)
    ]
    return np.mean(differences, axis=0)


def violation(shown: Sequence[ShownSet], found: Sequence[Labels], weights: Floats) -> float:
    """Value of the loss part of the objective for given partitions."""
    total = 0.0
    for one, y in zip(shown, found, strict=True):
        n_pairs = len(y) * (len(y) - 1) / 2
        together = y[:, None] == y[None, :]
        disagree = (together == (one.margins > 0)).sum() / 2 / n_pairs
        total += float(disagree + weights @ (joint_features(one.rows, y) - one.truth))
    return total / len(shown)
