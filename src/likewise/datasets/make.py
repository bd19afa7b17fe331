"""Random sets whose partition is known, for learning how to cluster and for testing it.

Every set has centres of its own, so nothing but the way of comparing rows can be carried over from
one set to another. A set depends on the seed and on its own number only: asking for more sets
leaves the first ones as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.arrays.random import draw_seed, stream
from likewise.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PartitionedSets:
    """Sets, their true partitions, and the columns that tell the clusters apart.

    Attributes
    ----------
    sets : list of ndarray of shape (n, p)
        The rows of every set.
    labels : list of ndarray of shape (n,)
        The true cluster of every row, 0..k-1 in each set.
    informative : ndarray of bool of shape (p,)
        False for the columns that are noise.
    """

    sets: list[Floats]
    labels: list[NDArray[np.intp]]
    informative: NDArray[np.bool_]

    def split(self, n_first: int) -> tuple[PartitionedSets, PartitionedSets]:
        """Return the first sets and the rest, for instance to train and to test."""
        first, rest = slice(n_first), slice(n_first, None)
        return (
            PartitionedSets(self.sets[first], self.labels[first], self.informative),
            PartitionedSets(self.sets[rest], self.labels[rest], self.informative),
        )


def make_partitioned_sets(
    n_sets: int = 10,
    n_rows: int | tuple[int, int] = 100,
    n_columns: int = 100,
    n_clusters: int = 5,
    *,
    noisy: float = 0.5,
    noise: float = 10.0,
    spread: float = 0.5,
    random_state: object = None,
) -> PartitionedSets:
    """Sample sets from Gaussian mixtures that share their variances and nothing else.

    The synthetic data of section 6 of [1]_: in every set the centres are standard normal in all
    columns; around them, rows have standard deviation `spread` in the informative columns and
    `noise` in the last ``round(noisy * n_columns)`` ones. Clusters have the same size, or sizes
    that differ by one.

    Parameters
    ----------
    n_sets : int, default=10
        Number of sets.
    n_rows : int or tuple of int, default=100
        Rows of every set; from a pair (low, high), every set draws its own, both ends included.
    n_columns : int, default=100
        Columns.
    n_clusters : int, default=5
        Clusters of every set.
    noisy : float, default=0.5
        Share of the columns that are noise, from 0 to less than 1.
    noise, spread : float, default=10.0, 0.5
        Standard deviations within a cluster, in noise columns and in informative ones.
    random_state : int, RandomState, Generator or None, default=None
        None is the fixed seed of the library.

    Returns
    -------
    PartitionedSets

    References
    ----------
    .. [1] N. Komodakis, "Learning to cluster using high order graphical models with latent
       variables", ICCV 2011.

    Examples
    --------
    >>> from likewise.datasets import make_partitioned_sets
    >>> made = make_partitioned_sets(n_sets=2, n_rows=30, n_columns=4, noisy=0.25, random_state=0)
    >>> [X.shape for X in made.sets], made.informative.tolist()
    ([(30, 4), (30, 4)], [True, True, True, False])
    """
    n_noisy = round(noisy * n_columns)
    if not 0 <= n_noisy < n_columns:
        raise InputError(
            f"noisy={noisy!r} leaves no informative column of {n_columns}; pass a share from 0 to "
            "less than 1."
        )
    deviations = np.repeat([spread, noise], [n_columns - n_noisy, n_noisy])
    seed = draw_seed(random_state)
    sets, labels = [], []
    for place in range(n_sets):
        rng = stream(seed, "partitioned set", place)
        label = _equal_labels(rng, _size(rng, n_rows), n_clusters)
        centres = rng.standard_normal((n_clusters, n_columns))
        sets.append(centres[label] + deviations * rng.standard_normal((len(label), n_columns)))
        labels.append(label)
    return PartitionedSets(sets, labels, np.arange(n_columns) < n_columns - n_noisy)


def make_nuisance_sets(
    n_sets: int = 2,
    n_rows: int = 300,
    n_clusters: int = 8,
    *,
    n_informative: int = 4,
    n_nuisance: int = 16,
    spread: float = 0.6,
    noise: float = 3.0,
    width: float = 4.0,
    random_state: object = None,
) -> PartitionedSets:
    """Sample clusters in a few columns, beside many columns that have nothing to do with them.

    Centres are uniform in ``[-width, width]`` and new in every set. The nuisance columns, the last
    ones, are normal around 0 and so large that they dominate a plain distance.

    Parameters
    ----------
    n_sets, n_rows, n_clusters : int, default=2, 300, 8
        Sets, rows of every set, clusters of every set.
    n_informative, n_nuisance : int, default=4, 16
        Columns of either kind.
    spread, noise : float, default=0.6, 3.0
        Standard deviations within a cluster in informative columns, and in nuisance columns.
    width : float, default=4.0
        Where centres are.
    random_state : int, RandomState, Generator or None, default=None
        None is the fixed seed of the library.

    Returns
    -------
    PartitionedSets

    Examples
    --------
    >>> from likewise.datasets import make_nuisance_sets
    >>> made = make_nuisance_sets(random_state=0)
    >>> [X.shape for X in made.sets], int(made.informative.sum())
    ([(300, 20), (300, 20)], 4)
    """
    seed = draw_seed(random_state)
    sets, labels = [], []
    for place in range(n_sets):
        rng = stream(seed, "nuisance set", place)
        label = _equal_labels(rng, n_rows, n_clusters)
        centres = rng.uniform(-width, width, (n_clusters, n_informative))
        near = centres[label] + spread * rng.standard_normal((n_rows, n_informative))
        sets.append(np.hstack([near, noise * rng.standard_normal((n_rows, n_nuisance))]))
        labels.append(label)
    return PartitionedSets(sets, labels, np.arange(n_informative + n_nuisance) < n_informative)


def _size(rng: np.random.Generator, n_rows: int | tuple[int, int]) -> int:
    if isinstance(n_rows, tuple):
        return int(rng.integers(n_rows[0], n_rows[1], endpoint=True))
    return n_rows


def _equal_labels(rng: np.random.Generator, n_rows: int, n_clusters: int) -> NDArray[np.intp]:
    if not 1 <= n_clusters <= n_rows:
        raise InputError(
            f"n_clusters={n_clusters} must be 1 to {n_rows}, the number of rows of a set."
        )
    return rng.permutation(np.arange(n_rows) % n_clusters)
