"""Metrics for change points: what the learner of segmentations is compared with.

Each has ``fit(series, labels)`` and then ``metric_``, as `likewise.ChangePointDetector` takes it:
None, weights (p,) or a matrix (p, p). Labels are segments, -1 for rows whose segment is not shown;
they only compare rows of one series, so scatters are summed over the series.

- RCA: A. Bar-Hillel, T. Hertz, N. Shental, D. Weinshall, "Learning a Mahalanobis metric from
  equivalence constraints", Journal of Machine Learning Research 6, 2005. With fewer components than
  columns, those are kept, as there, that differ most in total from what they do within segments.
- MMC: E. Xing, A. Ng, M. Jordan, S. Russell, "Distance metric learning with application to
  clustering with side-information", NIPS 2002, in its diagonal form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize

from likewise.arrays.random import stream
from likewise.experiments.baselines.linear import within_covariance

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

# Of the mean variance within segments: added to all, so that the inverse exists.
RIDGE = 1e-3
# Pairs of either kind that MMC sees.
PAIRS = 1500


class EuclideanMetric:
    """All columns alike."""

    metric_: Floats | None = None

    def fit(self, series: Sequence[Floats], labels: Sequence[Labels]) -> Self:
        """Nothing to learn."""
        return self


class KnownSubspace:
    """The directions that are known to matter, all alike: an upper line.

    Parameters
    ----------
    relevant : array of bool of shape (p,)
        The columns to compare.
    rotation : array of shape (p, p) or None
        They are columns of ``X @ rotation.T``.
    """

    def __init__(self, relevant: NDArray[np.bool_], rotation: Floats | None = None) -> None:
        self.relevant = relevant
        self.rotation = rotation

    def fit(self, series: Sequence[Floats], labels: Sequence[Labels]) -> Self:
        """Nothing to learn: the answer was given."""
        weights = self.relevant.astype(np.float64)
        self.metric_: Floats = weights
        if self.rotation is not None:
            self.metric_ = (self.rotation.T * weights) @ self.rotation
        return self


class PrincipalMetric:
    """PCA: the directions in which the rows vary most around the mean of their series.

    Parameters
    ----------
    n_components : int, default=3
        How many.
    """

    def __init__(self, n_components: int = 3) -> None:
        self.n_components = n_components

    def fit(self, series: Sequence[Floats], labels: Sequence[Labels]) -> Self:
        """Learn the directions; labels are not used."""
        vectors = np.linalg.eigh(total_covariance(series))[1][:, -self.n_components :]
        self.metric_: Floats = vectors @ vectors.T
        return self


class RelevantMetric:
    """RCA: whiten what varies within segments.

    Parameters
    ----------
    n_components : int, default=None
        Directions to keep; None keeps all.
    """

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def fit(self, series: Sequence[Floats], labels: Sequence[Labels]) -> Self:
        """Learn the map from the rows that are shown; the total is that of all rows."""
        within = within_covariance(*shown(series, labels))
        n = len(within)
        within += RIDGE * np.trace(within) / n * np.eye(n)
        # Of variance 1 within segments.
        first = 0 if self.n_components is None else n - self.n_components
        vectors = eigh(total_covariance(series), within, subset_by_index=[first, n - 1])[1]
        self.metric_: Floats = vectors @ vectors.T
        return self


class PairMetric:
    """MMC: pairs within segments near each other, pairs across segments far apart.

    Where no two segments of a series are shown, columns count by their scatter within segments.

    Weights ``a >= 0`` minimise ``mean over pairs within of a . d^2 - log mean over pairs across of
    sqrt(a . d^2)``, d the differences of the columns. It is convex; L-BFGS-B solves it. (The paper
    has sums, which changes the weights by one factor.)

    Parameters
    ----------
    n_pairs : int, default=1500
        Pairs of either kind, drawn at random: first a series, then rows of it.
    random_state : int, default=0
        Of the pairs.
    """

    def __init__(self, n_pairs: int = PAIRS, random_state: int = 0) -> None:
        self.n_pairs = n_pairs
        self.random_state = random_state

    def fit(self, series: Sequence[Floats], labels: Sequence[Labels]) -> Self:
        """Learn the weights."""
        near, far = self.pairs(*shown(series, labels))
        scatter = near.mean(axis=0)
        # In columns of unit scatter within segments the problem is well scaled.
        unit = np.where(scatter > 0.0, scatter, 1.0)
        weights = np.full(len(unit), 0.5 / len(unit))
        if len(far):
            weights = minimize(
                _pair_objective, weights, args=(scatter / unit, far / unit), jac=True,
                method="L-BFGS-B", bounds=[(0.0, None)] * len(unit), options={"maxiter": 1000},
            ).x  # fmt: skip
        self.metric_: Floats = weights / unit
        return self

    def pairs(self, series: Sequence[Floats], labels: Sequence[Labels]) -> tuple[Floats, Floats]:
        """Squared differences of pairs within segments, and of pairs across."""
        rng = stream(self.random_state, "pairs of rows")
        found: dict[bool, list[Floats]] = {True: [], False: []}
        divided = [place for place, y in enumerate(labels) if len(np.unique(y)) > 1]
        for together in (True, False):
            eligible = range(len(series)) if together else divided
            if not len(eligible):
                continue
            while len(found[together]) < self.n_pairs:
                place = int(rng.choice(eligible))
                y = labels[place]
                first = int(rng.integers(len(y)))
                second = int(rng.choice(np.flatnonzero((y == y[first]) == together)))
                pair = series[place][first] - series[place][second]
                found[together].append(np.square(pair))
        p = series[0].shape[1]
        near, far = (np.reshape(found[kind], (-1, p)) for kind in (True, False))
        return near, far


def _pair_objective(weights: Floats, near: Floats, far: Floats) -> tuple[float, Floats]:
    distances = np.sqrt(np.maximum(far @ weights, 1e-12))
    total = float(distances.mean())
    gradient = near - (far / distances[:, None]).mean(axis=0) / (2.0 * total)
    return float(near @ weights - np.log(total)), gradient


def shown(series: Sequence[Floats], labels: Sequence[Labels]) -> tuple[list[Floats], list[Labels]]:
    """The rows whose segment is shown; series without any are left out."""
    kept = [(X[y >= 0], y[y >= 0]) for X, y in zip(series, labels, strict=True) if (y >= 0).any()]
    return [X for X, _ in kept], [y for _, y in kept]


def total_covariance(series: Sequence[Floats]) -> Floats:
    """Covariance of the rows around the mean of their series, over all series."""
    n_rows = sum(len(X) for X in series)
    centred = [X - X.mean(axis=0) for X in series]
    covariance: Floats = np.sum([X.T @ X for X in centred], axis=0) / n_rows
    return covariance
