"""What a fitted `ExemplarLearner` says: distances, partitions, explanations, a summary."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from likewise.errors import CertificateWarning, InputError, LikewiseWarning
from likewise.estimators import learner_input as given
from likewise.estimators.exemplar import ExemplarClusterer
from likewise.estimators.exemplar_costs import summed_features
from likewise.estimators.learner_options import is_precomputed
from likewise.geometry import distance_matrix
from likewise.geometry.paths import check_steps, paths_between, paths_from
from likewise.learners.base import HELD_OUT, STATUS_REMEDIES
from likewise.learners.calibration import DIFFERENT, SizeLaw
from likewise.validation import validate_int

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Sets beyond this many times the sizes seen are far away from them.
FAR = 3.0
# A quick search whose answer is not proven to be this close to the best one is followed by a
# thorough one.
LOOSE = 1e-3
# Opening costs are looked for that fit the clusters they lead to, this many times at most.
FITS = 8
# Such a fit is no accident where costs around it lead to as many clusters: in one of these windows.
WINDOWS: tuple[tuple[float, ...], ...] = ((0.7,), (0.84, 1.19), (1.43,))
# Shown in a summary.
MOST_WEIGHTS = 12


@dataclass(frozen=True)
class Explanation:
    """What every feature contributes to one distance, the largest first."""

    contributions: dict[str, float]
    distance: float

    def __str__(self) -> str:
        width = max((len(name) for name in self.contributions), default=0)
        largest = max(map(abs, self.contributions.values()), default=0.0) or 1.0
        lines = [
            f"{name:<{width}}  {value:10.4g}  {'#' * round(40 * abs(value) / largest)}"
            for name, value in self.contributions.items()
        ]
        return "\n".join([*lines, f"{'distance':<{width}}  {self.distance:10.4g}"])


def learnt_distances(learner: Any, X: Any, Y: Any = None) -> Floats:
    """d[p, q] of rows p of X and q of Y, as learnt."""
    if is_precomputed(learner.features) and Y is not None:
        raise InputError("precomputed features have no second set: leave out Y.")
    rows = given.table_of(learner, X)
    if issparse(rows):
        raise InputError(
            "X is sparse, and distances between all pairs were asked for: pass a dense array."
        )
    return _distances(learner, rows, None if Y is None else given.table_of(learner, Y))


def _distances(learner: Any, rows: Floats, others: Floats | None) -> Floats:
    """The same for sets that were checked."""
    power = learner.paths_
    if is_precomputed(learner.features):
        direct: Floats = np.array(summed_features(rows, learner.weights_, is_fit=True))
        # The diagonal of what was given is ignored, whatever it holds.
        np.fill_diagonal(direct, 0.0)
        if power is None:
            return direct
        check_steps(direct, power)
        return paths_between(direct, power)[0]
    features = given.resolved(learner, len(rows if others is None else others))

    def matrix(first: Floats, second: Floats | None) -> Floats:
        return distance_matrix(features, first, learner.weights_, Y=second, n_jobs=learner.n_jobs)

    if power is None:
        return matrix(rows, others)
    steps = matrix(rows if others is None else others, None)
    check_steps(steps, power)
    lengths, unit = paths_between(steps, power)
    if others is None:
        return lengths
    return paths_from(matrix(rows, others), lengths, power, unit)


def explained(learner: Any, X: Any, p: int, q: int) -> Explanation:
    """What every feature contributes to the direct distance of row p from row q."""
    table = given.table_of(learner, X)
    n = table.shape[0]
    first, second = (validate_int(name, row, 0, n - 1) for name, row in (("p", p), ("q", q)))
    if is_precomputed(learner.features):
        values = np.atleast_1d(table[first, second])
    else:
        features = given.resolved(learner, n)
        roots = features.local_scales(table)
        scales = None if roots is None else (roots[[first]], roots[[second]])
        values = features.stack(table[[first]], table[[second]], scales=scales)[0, 0]
    weights = learner.weights_
    parts = weights * values if first != second else np.zeros(len(weights))
    order = np.argsort(-np.abs(parts), kind="stable")
    names = learner.feature_names_
    return Explanation({names[f]: float(parts[f]) for f in order}, float(parts.sum()))


def grouped(learner: Any, table: Any, profile: Floats) -> Indices:
    """The labels of one new set, which was checked."""
    n = table.shape[0]
    if n == 1:
        return np.zeros(1, dtype=np.intp)
    if issparse(table) and learner.paths_ is not None:
        raise InputError(
            "X is sparse, and path distances were learnt, which need all pairs: pass a dense "
            "array, or learn with paths=None."
        )
    distances = table if issparse(table) else _distances(learner, table, None)
    weights = learner.weights_ if issparse(table) else None

    def solve(cost: float) -> Indices:
        clusterer = ExemplarClusterer(
            "precomputed", weights, cost * profile, solver="fast", random_state=0
        )
        if clusterer.fit(distances).gap_ > LOOSE:
            clusterer.set_params(solver="auto").fit(distances)
        labels: Indices = clusterer.labels_
        return labels

    _warn_of_size(learner, n)
    law = SizeLaw(learner.opening_factor_, learner.size_exponent_)
    return self_consistent(solve, law, n, learner.n_clusters_seen_)


def self_consistent(
    solve: Callable[[float], Indices], law: SizeLaw, n: int, expected: float
) -> Indices:
    """Labels for an opening cost that fits the number of clusters to which it leads.

    The first cost is that of the number of clusters that training sets had. With a cost of
    factor * n / k, going on with the k that came out is descent of the total distance plus
    factor * n * log(k), which is concave in k. Where clusters are not well separated, k would
    drift: the first answer stays unless the last one is a fixed point that costs around it share.
    """
    first = labels = solve(law.cost(n, expected))
    if law.exponent == 0.0:
        return first
    k = _count(labels)
    if abs(k - expected) < 0.5:
        return first
    for _ in range(FITS):
        labels = solve(law.cost(n, k))
        found = _count(labels)
        if found == k:
            return labels if _is_shared(solve, law.cost(n, k), k, n) else first
        k = found
    return first


def _is_shared(solve: Callable[[float], Indices], cost: float, k: int, n: int) -> bool:
    """Whether costs around one lead to as many clusters."""
    if k == n:
        # What drifting ends in: every lower cost leads there too.
        return False
    # All higher costs lead to one cluster, which says nothing.
    windows = WINDOWS[:1] if k == 1 else WINDOWS
    return any(all(_count(solve(factor * cost)) == k for factor in window) for window in windows)


def _count(labels: Indices) -> int:
    return int(labels.max()) + 1


def _warn_of_size(learner: Any, n: int) -> None:
    least, most = learner.n_rows_seen_
    smallest, largest = learner.cluster_sizes_seen_
    known = learner.size_exponent != "auto" or largest >= DIFFERENT * smallest
    if known or learner.size_exponent_ == 0.0 or least / FAR <= n <= most * FAR:
        return
    warnings.warn(
        f"a set of {n} rows differs much from the training sets ({least} to {most} rows): the "
        f"opening cost was scaled by (rows per cluster) ** {learner.size_exponent_:g}, which could "
        "not be learnt from clusters of one size. Show sets whose clusters differ in size, or set "
        "size_exponent.",
        LikewiseWarning,
        stacklevel=5,
    )


def warn_of_status(learner: Any) -> None:
    """Say so where the training ended early."""
    if learner.status_ in ("max_iter", "stalled", "interrupted", "nonfinite"):
        warnings.warn(
            f"{type(learner).__name__} stopped with status {learner.status_!r}: "
            f"{STATUS_REMEDIES[learner.status_]}.",
            CertificateWarning,
            stacklevel=3,
        )


def summarised(learner: Any) -> str:
    """What was learnt, as text."""
    meaning = STATUS_REMEDIES[learner.status_]
    if learner.status_ == "converged" and not learner.n_iter_:
        meaning = "the weights chosen need no training"
    lines = [f"{type(learner).__name__}: {learner.status_} ({meaning})"]
    if learner.n_iter_:
        gap = f", duality gap {learner.gap_:.2%}" if np.isfinite(learner.gap_) else ""
        lines.append(f"  {learner.n_iter_} passes, objective {learner.objective_:.6g}{gap}")
    lines.append(f"  chosen: {learner.chosen_}; opening cost {learner.opening_cost_:.4g}")
    table = learner.validation_
    if table:
        lines.append(f"  agreement with {HELD_OUT[learner.held_out_]} (adjusted Rand index):")
        for name, score, error, chosen in zip(
            table["candidate"], table["agreement"], table["standard_error"], table["chosen"],
            strict=True,
        ):  # fmt: skip
            mark = "  <- chosen" if chosen else ""
            lines.append(f"    {name:<52}{score:7.3f} +- {error:.3f}{mark}")
    order = np.argsort(-np.abs(learner.weights_), kind="stable")[:MOST_WEIGHTS]
    lines.append("  weights (largest first):")
    lines += [f"    {learner.feature_names_[f]:<24}{learner.weights_[f]:12.5g}" for f in order]
    left = len(learner.weights_) - len(order)
    return "\n".join(lines + ([f"    ... and {left} more"] if left > 0 else []))
