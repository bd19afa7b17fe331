"""One set from validated input to labels: units, potentials, decoder, and back to rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from likewise.arrays.blocks import map_blocks, row_blocks
from likewise.arrays.random import draw_seed
from likewise.decoders.base import Progress, Solution
from likewise.decoders.exemplar import decode
from likewise.errors import InputTypeError
from likewise.estimators.candidates import reaches_all_pairs, sparse_costs
from likewise.estimators.exemplar_costs import (
    OpeningCost,
    RowGeometry,
    SetCosts,
    dense_costs,
    precomputed_costs,
    units_for_rows,
)
from likewise.estimators.exemplar_paths import Waypoints, steps_between, validate_paths
from likewise.estimators.row_links import (
    label_linked,
    linked_costs,
    refuse_candidates,
    require_memory_for_links,
)
from likewise.estimators.units import Units
from likewise.geometry import PairFeatures
from likewise.partitions import Partition
from likewise.potentials import AssignmentCosts, LinkedCosts
from likewise.supervision import Links
from likewise.validation import Precomputed, validate_choice, validate_int, validate_number

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

SOLVERS = ("auto", "fast", "exact")


@dataclass(frozen=True)
class SearchOptions:
    """What the estimator passes on to the decoder, checked."""

    solver: str
    gap: float
    time_limit: float | None
    seed: int
    callbacks: Sequence[Callable[[Progress], object]]
    candidates: int | None
    n_jobs: int | None
    paths: float | None = None

    @classmethod
    def of(cls, estimator: Any) -> SearchOptions:
        """The parameters of an estimator, checked."""
        callbacks = estimator.callbacks
        if callbacks is None:
            callbacks = []
        elif callable(callbacks):
            callbacks = [callbacks]
        if not isinstance(callbacks, (list, tuple)) or not all(map(callable, callbacks)):
            raise InputTypeError(
                "callbacks must be None, a callable or a list of callables; got "
                f"{estimator.callbacks!r}. Pass for instance callbacks=print."
            )
        limit, k = estimator.time_limit, estimator.candidates
        k = None if k is None else validate_int("candidates", k, 1)
        return cls(
            solver=validate_choice("solver", estimator.solver, SOLVERS),
            gap=validate_number("gap", estimator.gap, 0.0),
            time_limit=None if limit is None else validate_number("time_limit", limit, 0.0),
            seed=draw_seed(estimator.random_state),
            callbacks=callbacks,
            candidates=k,
            n_jobs=estimator.n_jobs,
            paths=validate_paths(estimator.paths, k),
        )


@dataclass(frozen=True)
class Outcome:
    """The partition of one set: per row, -1 for a row that no exemplar may serve.

    ``waypoints`` is how new rows reach the exemplars, where distances are path distances.
    """

    labels: Indices
    exemplars: Indices
    solution: Solution
    opening_cost: float | Floats
    bound_scope: str
    waypoints: Waypoints | None = None


def partition_rows(
    X: Floats,
    features: PairFeatures,
    weights: Floats,
    opening: OpeningCost,
    sample_weight: Floats | None,
    options: SearchOptions,
    *,
    links: Links | None = None,
) -> Outcome:
    """Partition rows that are compared by features."""
    started = time.perf_counter()
    present = _present(sample_weight, len(X))
    weight = None if sample_weight is None else sample_weight[present]
    own = opening[present] if isinstance(opening, np.ndarray) else opening
    geometry = RowGeometry.of(X[present], features, weights, options.n_jobs)
    within = None if links is None else links.carried_to(_places(present, len(X)), len(present))
    within = within if within is not None and within.bind else None
    units = units_for_rows(geometry, own, weight, within)
    if within is not None:
        refuse_candidates(options.candidates)
        require_memory_for_links(len(units))
    start, reach, interrupted = None, None, False
    if options.candidates is None or len(units) == 1:
        found = dense_costs(geometry, units, own, power=options.paths, rows=present)
    else:
        graph = sparse_costs(
            geometry, units, own, options.candidates, options.seed, lambda: _left(options, started)
        )
        found = SetCosts(graph.costs, units, graph.opening_cost)
        start, reach, interrupted = graph.start, graph.reach, graph.interrupted
    costs = linked_costs(found.potentials, within, units)
    solution = _decoded(costs, options, started, start, interrupted)
    labels, exemplars = _labels_of_rows(solution.partition, units, present, len(X))
    label_linked(labels, links)
    waypoints = _waypoints(found, present, exemplars)
    absent = np.flatnonzero(labels < 0)
    if len(absent):
        to = exemplars if waypoints is None else waypoints.items
        labels[absent] = nearest_exemplar(
            features, weights, X[absent], X[to], _scales(geometry, X, absent, to), options.n_jobs,
            waypoints=waypoints,
        )  # fmt: skip
    return Outcome(
        labels, exemplars, solution, _given(opening, found.opening_cost),
        _scope(solution, reach, len(units)), waypoints,
    )  # fmt: skip


def partition_precomputed(
    given: Precomputed,
    opening: OpeningCost,
    sample_weight: Floats | None,
    options: SearchOptions,
    *,
    links: Links | None = None,
) -> Outcome:
    """Partition items whose costs are given."""
    started = time.perf_counter()
    n = given.costs.shape[0]
    if links is not None:
        require_memory_for_links(n)
    found = precomputed_costs(given, opening, sample_weight, links, power=options.paths)
    costs = linked_costs(found.potentials, links, found.units)
    solution = _decoded(costs, options, started, None, False)
    labels, exemplars = _labels_of_rows(solution.partition, found.units, np.arange(n), n)
    label_linked(labels, links)
    waypoints = _waypoints(found, np.arange(n), exemplars)
    absent = np.flatnonzero(labels < 0)
    if len(absent) and waypoints is None:
        labels[absent] = cheapest_exemplar(given.costs[absent][:, exemplars])
    elif len(absent) and waypoints is not None:
        to = waypoints.items
        labels[absent] = waypoints.labels(
            lambda block: given.costs[np.ix_(absent[block], to)], len(absent), options.n_jobs
        )
    scope = "candidate pairs" if sparse.issparse(given.costs) else "all pairs"
    used = _given(opening, found.opening_cost)
    return Outcome(labels, exemplars, solution, used, scope, waypoints)


def nearest_exemplar(
    features: PairFeatures,
    weights: Floats,
    rows: Floats,
    others: Floats,
    scales: tuple[Floats, Floats] | None,
    n_jobs: int | None,
    *,
    waypoints: Waypoints | None = None,
) -> Indices:
    """The label of the nearest exemplar of every row, in blocks of rows.

    ``others`` are the rows of the exemplars, or of ``waypoints``, where paths lead to them.
    """
    steps = steps_between(features, weights, rows, others, scales)
    threads = 1 if features.has_callables else n_jobs
    if waypoints is not None:
        return waypoints.labels(steps, len(rows), threads)
    blocks = row_blocks(len(rows), 8 * len(others))
    return np.concatenate(map_blocks(lambda block: steps(block).argmin(axis=1), blocks, threads))


def cheapest_exemplar(costs: Floats | sparse.csr_array) -> Indices:
    """The position of the least cost in every row; -1 where a sparse row has none."""
    if not sparse.issparse(costs):
        return costs.argmin(axis=1)
    rows = sparse.csr_array(costs)
    labels = np.full(rows.shape[0], -1, dtype=np.intp)
    for p in np.flatnonzero(np.diff(rows.indptr)):
        stretch = slice(rows.indptr[p], rows.indptr[p + 1])
        labels[p] = rows.indices[stretch][np.argmin(rows.data[stretch])]
    return labels


def _present(sample_weight: Floats | None, n: int) -> Indices:
    return np.arange(n) if sample_weight is None else np.flatnonzero(sample_weight > 0)


def _places(present: Indices, n: int) -> Indices:
    """Where each row is among those present; -1 for the others."""
    places = np.full(n, -1, dtype=np.intp)
    places[present] = np.arange(len(present))
    return places


def _given(opening: OpeningCost, used: float | Floats) -> float | Floats:
    return opening if isinstance(opening, np.ndarray) else used


def _decoded(
    costs: AssignmentCosts | LinkedCosts,
    options: SearchOptions,
    started: float,
    start: Indices | None,
    interrupted: bool,
) -> Solution:
    """Decode in the time that is left: after an interruption, none."""
    left = _left(options, started)
    solution = decode(
        costs,
        solver=options.solver,
        gap=options.gap,
        time_limit=0.0 if interrupted else left,
        random_state=options.seed,
        callbacks=options.callbacks,
        start=start,
        started=started,
    )
    if interrupted and solution.status == "time_limit":
        return replace(solution, status="interrupted")
    return solution


def _left(options: SearchOptions, started: float) -> float:
    limit = np.inf if options.time_limit is None else options.time_limit
    return limit - (time.perf_counter() - started)


def _labels_of_rows(
    partition: Partition, units: Units, present: Indices, n: int
) -> tuple[Indices, Indices]:
    """Labels and exemplars of rows from those of units, heaviest cluster first."""
    numbered = Partition.from_service(partition.served_by, units.weight)
    of_units = np.append(numbered.labels, -1)  # unit -1, no unit, has label -1
    labels = np.full(n, -1, dtype=np.intp)
    labels[present] = of_units[units.unit_of]
    return labels, present[units.row_of[numbered.exemplars]]


def _waypoints(found: SetCosts, present: Indices, exemplars: Indices) -> Waypoints | None:
    """How new rows reach the exemplars on paths, if on paths; ``present`` are the rows there."""
    if found.paths is None:
        return None
    items = present[found.units.row_of]
    columns = found.units.unit_of[np.searchsorted(present, exemplars)]
    lengths = np.empty((len(items), len(columns)))
    for block in row_blocks(len(items), 16 * len(columns)):
        # The costs of a unit are those of all rows it stands for.
        paid = found.potentials.service[block][:, columns]
        lengths[block] = paid / found.units.weight[block, None]
    return Waypoints(items, lengths, found.paths.power, found.paths.step)


def _scales(
    geometry: RowGeometry, X: Floats, absent: Indices, to: Indices
) -> tuple[Floats, Floats] | None:
    rows = geometry.features.local_scales(X[absent], geometry.X, n_jobs=geometry.n_jobs)
    others = geometry.features.local_scales(X[to], geometry.X, n_jobs=geometry.n_jobs)
    return None if rows is None or others is None else (rows, others)


def _scope(solution: Solution, reach: Floats | None, n: int) -> str:
    everywhere = reach is None or (
        solution.prices is not None and reaches_all_pairs(solution.prices, reach)
    )
    return "all pairs" if everywhere else "candidate pairs"
