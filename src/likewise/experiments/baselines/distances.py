"""Distances that learn little or nothing: plain, standardised, averaged, single, known columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist

from likewise.experiments.baselines.tuned import (
    FACTORS,
    Floats,
    Labels,
    Score,
    TunedExemplars,
    mean_distance,
)
from likewise.geometry import distance_matrix, resolve_features
from likewise.metrics import pairwise_f1


def squared_distances(X: Floats) -> Floats:
    """Squared Euclidean distances between all rows."""
    distances: Floats = cdist(X, X, "sqeuclidean")
    return distances


class PlainDistance:
    """The squared Euclidean distance of the columns as they are."""

    def fit(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Nothing to learn."""
        return self

    def matrix(self, X: Floats) -> Floats:
        """Distances between all rows of one set."""
        return squared_distances(X)


class StandardisedDistance:
    """The squared Euclidean distance of columns of unit variance.

    The variance is the mean of those within the sets that are shown; labels are not used. A column
    that never varies is left out.

    Attributes
    ----------
    scale_ : array of shape (p,)
        What the columns are multiplied by.
    """

    def fit(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Learn the scale of every column."""
        variance = np.mean([X.var(axis=0) for X in sets], axis=0)
        positive = variance > 0
        self.scale_ = np.where(positive, 1.0 / np.sqrt(np.where(positive, variance, 1.0)), 0.0)
        return self

    def matrix(self, X: Floats) -> Floats:
        """Distances between all rows of one set."""
        return squared_distances(X * self.scale_)


class KnownColumns:
    """The squared Euclidean distance of the columns that are known to matter: an upper line.

    Parameters
    ----------
    columns : array of bool of shape (p,)
        True for the columns to compare.
    """

    def __init__(self, columns: Any) -> None:
        self.columns = columns

    def fit(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Nothing to learn: the answer was given."""
        return self

    def matrix(self, X: Floats) -> Floats:
        """Distances between all rows of one set."""
        return squared_distances(X[:, self.columns])


class AverageDistance:
    """The average of several distances, each in units of its own mean over the sets shown.

    With ``features="columns"`` this is `StandardisedDistance` up to a factor.

    Parameters
    ----------
    features : as for ``likewise.ExemplarClusterer``, not "precomputed"
        The distances.

    Attributes
    ----------
    weights_ : array of shape (F,)
        One over F times the mean of every feature; 0 for a feature that is 0 everywhere.
    """

    def __init__(self, features: Any = "columns") -> None:
        self.features = features

    def fit(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Learn the mean of every distance."""
        means = mean_features(self.features, sets)
        positive = means > 0
        self.weights_ = np.where(positive, 1.0 / np.where(positive, means, 1.0), 0.0) / len(means)
        return self

    def matrix(self, X: Floats) -> Floats:
        """Distances between all rows of one set."""
        return weighted_matrix(self.features, X, self.weights_)


class SingleDistance:
    """One of several distances.

    Parameters
    ----------
    features : as for ``likewise.ExemplarClusterer``, not "precomputed"
        The distances.
    place : int
        Which one.
    """

    def __init__(self, features: Any, place: int) -> None:
        self.features = features
        self.place = place

    def fit(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Nothing to learn."""
        return self

    def matrix(self, X: Floats) -> Floats:
        """Distances between all rows of one set."""
        n_features = resolve_features(self.features, X.shape[1]).n_features
        return weighted_matrix(self.features, X, np.eye(n_features)[self.place])


class BestSingleDistance:
    """The single distance, with the opening cost, that scores best on the sets that are shown.

    Parameters
    ----------
    features : as for ``likewise.ExemplarClusterer``, not "precomputed"
        The distances to choose from.
    score : callable, default=pairwise_f1
        As for `TunedExemplars`.
    factors : sequence of float, default=FACTORS
        As for `TunedExemplars`.

    Attributes
    ----------
    best_ : int
        The distance that was chosen.
    """

    def __init__(
        self,
        features: Any = "columns",
        *,
        score: Score = pairwise_f1,
        factors: Sequence[float] = FACTORS,
    ) -> None:
        self.features = features
        self.score = score
        self.factors = factors

    def fit(self, sets: Sequence[Floats], ys: Sequence[Labels]) -> Self:
        """Try them all."""
        n_features = resolve_features(self.features, sets[0].shape[1]).n_features
        tried = [
            TunedExemplars(
                SingleDistance(self.features, place), score=self.score, factors=self.factors
            ).fit(sets, ys)
            for place in range(n_features)
        ]
        self.best_ = int(np.argmax([one.score_ for one in tried]))
        self.chosen_ = tried[self.best_]
        return self

    def cluster(self, sets: Sequence[Floats]) -> list[Labels]:
        """Partition each set by the chosen distance."""
        return self.chosen_.cluster(sets)


def mean_features(features: Any, sets: Sequence[Floats]) -> Floats:
    """Mean of every feature over the pairs of different rows of all sets, shape (F,)."""
    resolved = resolve_features(features, sets[0].shape[1])
    each = np.eye(resolved.n_features)
    return np.array(
        [mean_distance([distance_matrix(resolved, X, weights) for X in sets]) for weights in each]
    )


def weighted_matrix(features: Any, X: Floats, weights: Floats) -> Floats:
    """Weighted sum of the features of all pairs of rows of one set."""
    return distance_matrix(resolve_features(features, X.shape[1]), X, weights)
