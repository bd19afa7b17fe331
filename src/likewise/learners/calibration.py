"""Calibration: which opening cost makes the partitions of shown sets come out as shown.

Opening costs follow a law of size, ``cost = c * (n / k) ** exponent`` for a set of n rows in k
clusters: what a cluster saves grows with the rows that it serves, so a cost learnt on sets of 100
rows is wrong for sets of 1,000. The law is fitted by the agreement (adjusted Rand index) of the
decoded partitions with the shown ones, over a grid of factors c.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.decoders.exemplar import decode
from likewise.parallel.local import map_in_order
from likewise.potentials import AssignmentCosts

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Factors that are tried, in units of the mean distance of the set: from about every row on its own
# to one cluster.
FACTORS = np.geomspace(0.002, 3.0, 36)
# Exponents that are tried where the shown clusters differ in size, the preferred one first.
EXPONENTS = (1.0, 0.75, 1.25, 0.5, 0.25, 0.0)
# Agreements this close are a tie.
TIED = 0.02
# Mean cluster sizes must differ by this factor among sets for an exponent to be learnt.
DIFFERENT = 1.5


@dataclass(frozen=True, eq=False)
class ShownSet:
    """Distances of one set, by candidate, and the clusters that were shown of it.

    ``profile`` is what the opening cost of each row is multiplied with: one unless learnt.
    """

    serve: Floats
    shown: Indices
    profile: Floats | float = 1.0

    @property
    def cluster_size(self) -> float:
        """Rows per shown cluster."""
        return len(self.shown) / (int(self.shown.max()) + 1)


@dataclass(frozen=True)
class SizeLaw:
    """``cost(n, k) = factor * (n / k) ** exponent``."""

    factor: float
    exponent: float

    def cost(self, n: float, k: float) -> float:
        """The opening cost for n rows in k clusters."""
        return self.factor * (n / max(k, 1.0)) ** self.exponent


def adjusted_rand(shown: Indices, found: Indices) -> float:
    """The adjusted Rand index of two labellings 0..k-1, as scikit-learn defines it.

    Calibration asks for it thousands of times; checking the labels every time would take longer
    than the partitions do.
    """
    n, n_found = len(shown), int(found.max()) + 1
    table = np.bincount(shown * n_found + found, minlength=(int(shown.max()) + 1) * n_found)
    table = table.reshape(-1, n_found)
    together = float(np.square(table).sum() - n)
    in_shown = float(np.square(table.sum(axis=1)).sum() - n)
    in_found = float(np.square(table.sum(axis=0)).sum() - n)
    expected = in_shown * in_found / max(n * (n - 1.0), 1.0)
    most = 0.5 * (in_shown + in_found)
    # Both all in one cluster, or both all alone: they are the same.
    return 1.0 if most == expected else (together - expected) / (most - expected)


def agreement(part: ShownSet, costs: Floats) -> Floats:
    """The adjusted Rand index of the partitions for several opening costs with the shown one."""
    scores = np.empty(len(costs))
    for i, cost in enumerate(costs):
        opening = np.full(len(part.shown), cost) * part.profile
        found = decode(AssignmentCosts(part.serve.T, opening), solver="fast").partition
        scores[i] = adjusted_rand(part.shown, found.labels)
    return scores


def agreements(
    sets: Sequence[ShownSet], factors: Floats, exponent: float = 1.0, n_jobs: int | None = None
) -> Floats:
    """The agreement by set and factor."""
    tasks = [(part, factors * part.cluster_size**exponent) for part in sets]
    return np.array(map_in_order(agreement, tasks, n_jobs))


def smoothed(curves: Floats) -> Floats:
    """Curves over the grid, averaged with their neighbours: single lucky factors do not win."""
    first, last = curves[..., :1], curves[..., -1:]
    padded = np.concatenate([first, curves, last], axis=-1)
    return 0.25 * padded[..., :-2] + 0.5 * padded[..., 1:-1] + 0.25 * padded[..., 2:]


def best_factor(curve: Floats) -> int:
    """Where a smoothed curve is best: in the middle of equally good factors."""
    good = np.flatnonzero(curve >= curve.max() - 1e-9)
    # The first stretch of neighbours that are equally good.
    stretch = good[: np.argmax(np.append(np.diff(good) > 1, True)) + 1]
    return int(stretch[len(stretch) // 2])


def fit_law(
    sets: Sequence[ShownSet], exponent: float | None, n_jobs: int | None = None
) -> tuple[SizeLaw, float]:
    """The law of size that suits the sets, and the agreement it reaches.

    Parameters
    ----------
    sets : sequence of ShownSet
        What was shown; a typical distance is 1.
    exponent : float or None
        None learns it where the shown clusters differ in size, and takes 1 where they do not.
    n_jobs : int or None
        Workers for the sets.
    """
    sizes = np.array([part.cluster_size for part in sets])
    varied = len(sets) > 1 and sizes.max() >= DIFFERENT * sizes.min()
    tried = EXPONENTS if exponent is None and varied else (1.0 if exponent is None else exponent,)
    typical = float(np.exp(np.log(sizes).mean()))
    law, reached = SizeLaw(np.nan, np.nan), np.full(len(sets), -np.inf)
    for power in tried:
        # At the typical size every exponent sees the same costs.
        factors = FACTORS * typical ** (1.0 - power)
        curves = smoothed(agreements(sets, factors, power, n_jobs))
        best = best_factor(curves.mean(axis=0))
        if _is_clearly_better(curves[:, best], reached):
            law, reached = SizeLaw(float(factors[best]), power), curves[:, best]
    return law, float(reached.mean())


def _is_clearly_better(scores: Floats, others: Floats) -> bool:
    """Whether scores of the same sets are higher by more than what a few sets leave to chance."""
    gains = scores - others
    if not np.isfinite(gains).all():
        return True
    error = float(gains.std(ddof=1)) / np.sqrt(len(gains))
    return float(gains.mean()) > max(TIED, 0.5 * error)
