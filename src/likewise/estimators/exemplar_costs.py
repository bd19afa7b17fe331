"""From rows or precomputed costs to the potentials of exemplar clustering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.arrays.blocks import require_memory, row_blocks
from likewise.arrays.finite import first_nonfinite
from likewise.arrays.random import stream
from likewise.errors import InputError
from likewise.estimators.exemplar_paths import PathUnit, refuse_sparse, replace_by_paths
from likewise.estimators.medians import pair_median, weighted_median
from likewise.estimators.units import Units, units_of_costs, units_of_rows
from likewise.geometry import PairFeatures, combine_stack, distance_matrix
from likewise.geometry.features import resolve_weights
from likewise.potentials import AssignmentCosts
from likewise.supervision import Links
from likewise.validation import Precomputed

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
OpeningCost = Literal["median"] | float | Floats

# Beyond this many units the median distance is estimated from this many of them, drawn at random.
MEDIAN_SAMPLE = 2000


@dataclass(frozen=True)
class RowGeometry:
    """Rows with the features that compare them, their weights, and local scales if any."""

    X: Floats
    features: PairFeatures
    weights: Floats
    scales: Floats | None
    n_jobs: int | None

    @classmethod
    def of(
        cls, X: Floats, features: PairFeatures, weights: Floats, n_jobs: int | None
    ) -> RowGeometry:
        """With the local scales that the features need, taken within X."""
        features.check(X)
        return cls(X, features, weights, features.local_scales(X, n_jobs=n_jobs), n_jobs)

    def restricted_to(self, rows: Indices) -> RowGeometry:
        """Some of the rows, with the scales that they have among all."""
        scales = None if self.scales is None else self.scales[rows]
        return RowGeometry(self.X[rows], self.features, self.weights, scales, self.n_jobs)

    def distances(self) -> Floats:
        """The matrix of d[p, q]."""
        scales = None if self.scales is None else (self.scales, self.scales)
        return distance_matrix(
            self.features, self.X, self.weights, scales=scales, n_jobs=self.n_jobs
        )

    @property
    def merges(self) -> bool:
        """Whether equal rows always share a cluster: at distance zero, no distance below."""
        return self.features.zero_on_identical and self.features.nonnegative(self.weights)


@dataclass(frozen=True)
class SetCosts:
    """The potentials of one set, what they are about, and the opening cost that was used.

    Attributes
    ----------
    potentials : AssignmentCosts
        Of the units.
    units : Units
        Which rows they stand for.
    opening_cost : float or array
        In numbers.
    paths : PathUnit or None, default=None
        The unit of path distances, where the distances are such.
    """

    potentials: AssignmentCosts
    units: Units
    opening_cost: float | Floats
    paths: PathUnit | None = None


def units_for_rows(
    geometry: RowGeometry,
    opening: OpeningCost,
    sample_weight: Floats | None,
    links: Links | None = None,
) -> Units:
    """The units of a set of rows."""
    per_row = opening if isinstance(opening, np.ndarray) else None
    # Of equal rows one at most is an exemplar, unless exemplars are paid for.
    paid = not isinstance(opening, str) and bool(np.min(opening) < 0)
    merge = geometry.merges and not paid
    return units_of_rows(geometry.X, sample_weight, per_row, merge=merge, links=links)


def dense_costs(
    geometry: RowGeometry,
    units: Units,
    opening: OpeningCost,
    *,
    power: float | None = None,
    rows: Indices | None = None,
) -> SetCosts:
    """Potentials over all pairs of units; with ``power``, of path distances.

    ``rows`` says what messages call the rows of the geometry.
    """
    n = len(units)
    # The distances, and the copy that the search reads candidate by candidate; the median needs a
    # copy too. Costs below zero are shifted in one more; path distances never are.
    may_shift = power is None and not geometry.features.nonnegative(geometry.weights)
    require_memory(
        (24 if may_shift else 16) * n * n,
        f"Exemplar clustering of {n} distinct rows over all pairs",
        "pass candidates=20 to keep the 20 nearest neighbours of every row instead"
        if power is None
        else "pass fewer rows, because paths needs all pairs",
    )
    distances = geometry.restricted_to(units.row_of).distances()
    named = units.row_of if rows is None else rows[units.row_of]
    paths = None if power is None else replace_by_paths(distances, units.weight, power, named)
    used = _settled(opening, distances, units, paths)
    if geometry.features.symmetric:
        # The transpose of the transpose: the search reads this memory as it is.
        if units.weighted:
            distances *= units.weight
        return SetCosts(AssignmentCosts(distances.T, opening_of(used, units)), units, used, paths)
    if units.weighted:
        distances *= units.weight[:, None]
    return SetCosts(AssignmentCosts(distances, opening_of(used, units)), units, used, paths)


def precomputed_costs(
    given: Precomputed,
    opening: OpeningCost,
    sample_weight: Floats | None,
    links: Links | None = None,
    *,
    power: float | None = None,
) -> SetCosts:
    """Potentials of costs that the user computed; with ``power``, of path distances."""
    per_row = opening if isinstance(opening, np.ndarray) else None
    if power is not None and sparse.issparse(given.costs):
        refuse_sparse(power)
    units = units_of_costs(given.costs, per_row, sample_weight, links)
    rows = units.row_of
    if sparse.issparse(given.costs):
        service = sparse.csr_array(given.costs[rows][:, rows])
        service.sort_indices()
        _refuse_abandoned(service, given, units)
        used = settled(opening, lambda: _stored_median(service, units))
        service.data *= np.repeat(units.weight, np.diff(service.indptr))
        return SetCosts(AssignmentCosts(service, opening_of(used, units)), units, used)
    n = len(units)
    # As for rows: a copy in the order of units, and one for the median or the search.
    _require_copies(2, n)
    by_candidate = np.empty((n, n))
    for block in row_blocks(n, 16 * n):
        by_candidate[block] = given.costs[np.ix_(rows, rows[block])].T
    np.fill_diagonal(by_candidate, 0.0)
    paths = None if power is None else replace_by_paths(by_candidate, units.weight, power, rows)
    if by_candidate.min() < 0.0:
        # The search shifts a copy of its own.
        _require_copies(3, n)
    used = _settled(opening, by_candidate, units, paths)
    if units.weighted:
        by_candidate *= units.weight
    return SetCosts(AssignmentCosts(by_candidate.T, opening_of(used, units)), units, used, paths)


def _require_copies(copies: int, n: int) -> None:
    require_memory(
        8 * copies * n * n,
        f"Exemplar clustering of {n} items over all pairs",
        "pass X as a SciPy sparse array of the pairs that matter",
    )


def settled(opening: OpeningCost, median: Callable[[], float]) -> float | Floats:
    """The opening cost as numbers."""
    return median() if isinstance(opening, str) else opening


def _settled(
    opening: OpeningCost, distances: Floats, units: Units, paths: PathUnit | None
) -> float | Floats:
    if paths is not None:
        return settled(opening, lambda: paths.median)
    return settled(opening, lambda: pair_median(distances, units.weight))


def summed_features(costs: Any, weights: Any, *, is_fit: bool) -> Any:
    """The weighted sum of given pair features; one given feature without weight is taken as is.

    The diagonal is ignored in ``fit``. From new items to old ones every entry counts.
    """
    if costs.ndim == 2 and weights is None:
        return costs
    n_features = costs.shape[2] if costs.ndim == 3 else 1
    resolved = resolve_weights(weights, [f"feature {f}" for f in range(n_features)])
    if costs.ndim == 3 and is_fit:
        return combine_stack(costs, resolved)
    with np.errstate(over="ignore", invalid="ignore"):
        if costs.ndim == 2:
            total = costs * resolved[0]
        else:
            total = sum(weight * costs[:, :, f] for f, weight in enumerate(resolved))
    values = total.data if sparse.issparse(total) else total
    if first_nonfinite(values, skip_diagonal=is_fit and values.ndim == 2) is not None:
        raise InputError(
            "a weighted sum of the features of X is not finite: values or weights are too large. "
            "Scale them down."
        )
    return total


def opening_of(opening: float | Floats, units: Units) -> Floats:
    """The opening cost of every unit."""
    if isinstance(opening, np.ndarray):
        return np.asarray(opening[units.row_of])
    return np.full(len(units), float(opening))


def estimated_median(geometry: RowGeometry, units: Units, seed: int) -> float:
    """The median distance, from all pairs of units or of a random sample of them."""
    chosen, times = np.arange(len(units)), units.weight
    if len(units) > MEDIAN_SAMPLE:
        # Rows are drawn, not units: one that stands for many rows comes up that often.
        share = units.weight / units.weight.sum() if units.weighted else None
        rng = stream(seed, "median")
        drawn = rng.choice(len(units), size=MEDIAN_SAMPLE, replace=units.weighted, p=share)
        chosen, counts = np.unique(drawn, return_counts=True)
        times = counts.astype(float)
    return pair_median(geometry.restricted_to(units.row_of[chosen]).distances(), times)


def _stored_median(service: sparse.csr_array, units: Units) -> float:
    if service.nnz == 0:
        return 0.0
    rows = np.repeat(np.arange(len(units)), np.diff(service.indptr))
    return weighted_median(service.data, units.weight[rows] * units.weight[service.indices])


def _refuse_abandoned(service: sparse.csr_array, given: Precomputed, units: Units) -> None:
    """Rows whose only candidates have weight zero have lost them."""
    alone = np.zeros(len(units), bool) if given.alone is None else given.alone[units.row_of]
    lost = np.flatnonzero((np.diff(service.indptr) == 0) & ~alone)
    if len(lost):
        row = units.row_of[lost[0]]
        raise InputError(
            f"all candidates of row {row} of the sparse X have sample_weight 0 ({len(lost)} such "
            "rows); add a candidate of positive weight, or store an explicit diagonal entry for a "
            "row that may only stand alone."
        )
