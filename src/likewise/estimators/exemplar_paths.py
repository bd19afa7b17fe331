"""Path distances in exemplar clustering: within a set, and from new rows through it.

    path(p, q) = min over paths p = i_0, ..., i_m = q of sum_j (d(i_{j-1}, i_j) / unit)^power

with the unit such that the median over pairs of rows is 1. The items of a path are *waypoints*: the
units of the set, which are its rows but for those of weight zero and repetitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.blocks import map_blocks, require_memory, row_blocks
from likewise.arrays.finite import first_nonfinite
from likewise.errors import InputError
from likewise.estimators.medians import pair_median
from likewise.geometry import PairFeatures
from likewise.geometry.paths import path_lengths, paths_through
from likewise.validation import validate_number

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Distances from a block of new rows to all waypoints.
Steps = Callable[[slice], Floats]


def validate_paths(value: Any, candidates: int | None) -> float | None:
    """The power of path distances, checked; None for none."""
    if value is None:
        return None
    power = validate_number("paths", value, 1.0)
    if candidates is not None:
        raise InputError(
            f"paths={value} needs the distances of all pairs, but candidates={candidates} keeps "
            "the nearest neighbours of every row only. Leave one of them out."
        )
    return power


def refuse_sparse(power: float) -> None:
    """Paths are found over all pairs."""
    raise InputError(
        f"paths={power:g} needs the distances of all pairs, but X is sparse. Pass an array of all "
        "distances, or leave paths out and pass the shortest paths over your pairs, for instance "
        "those of scipy.sparse.csgraph.shortest_path."
    )


@dataclass(frozen=True)
class PathUnit:
    """The unit of the path distances of a set.

    Attributes
    ----------
    power : float
        Of the steps.
    step : float
        The distance whose power is the unit.
    median : float
        The median path distance in the unit: 1, or 0 where more than half of the pairs are at 0.
    """

    power: float
    step: float
    median: float


def replace_by_paths(distances: Floats, weight: Floats, power: float, rows: Indices) -> PathUnit:
    """Replace the distances between units by path distances, in place.

    ``distances[p, q]`` may be the step from p to q or, for all pairs, that from q to p: a shortest
    path is as long when it is read backwards. ``weight`` counts the rows that a unit stands for and
    ``rows`` says what to call it in messages.
    """
    np.fill_diagonal(distances, 0.0)
    least = float(distances.min(initial=0.0))
    if least < 0.0:
        place = np.sort(rows[list(divmod(int(distances.argmin()), len(distances)))])
        raise InputError(
            f"paths={power:g} needs distances >= 0, but that between rows {place[0]} and "
            f"{place[1]} is {least:g} ({np.count_nonzero(distances < 0.0)} such in total). Shift "
            "the distances, change the weights, or leave paths out."
        )
    found = path_lengths(distances, power, overwrite=True)
    median = pair_median(distances, weight)
    if median == 0.0 and found.vanished:
        raise InputError(
            f"paths={power:g} is too large for these distances: beside the power of the largest, "
            f"{found.longest:g}, those of most others are too small for floating-point numbers. "
            "Choose a lower power, such as 2."
        )
    distances /= median or 1.0
    return PathUnit(power, found.step_of(median or 1.0), 1.0 if median else 0.0)


@dataclass(frozen=True)
class Waypoints:
    """What path distances from new rows to exemplars are made of.

    Attributes
    ----------
    items : array of shape (m,)
        The rows of the fitted set that paths go through.
    lengths : array of shape (m, k)
        Their path distances to the exemplars.
    power, step : float
        Those of `PathUnit`.
    """

    items: Indices
    lengths: Floats
    power: float
    step: float

    def labels(self, steps: Steps, n_rows: int, n_jobs: int | None) -> Indices:
        """The exemplar that is nearest to every new row."""
        found = map_blocks(
            lambda block: self._through(steps, block).argmin(axis=1), self._blocks(n_rows), n_jobs
        )
        return np.concatenate(found)

    def distances(self, steps: Steps, n_rows: int, n_jobs: int | None) -> Floats:
        """The path distances from every new row to every exemplar."""
        k = self.lengths.shape[1]
        require_memory(
            8 * n_rows * k, f"the path distances of {n_rows} x {k} rows", "pass fewer rows"
        )
        result = np.empty((n_rows, k))

        def fill(block: slice) -> None:
            result[block] = self._through(steps, block)

        map_blocks(fill, self._blocks(n_rows), n_jobs)
        return result

    def _blocks(self, n_rows: int) -> list[slice]:
        m, k = self.lengths.shape
        # Distances, their powers, and the result.
        return list(row_blocks(n_rows, 8 * (2 * m + k)))

    def _through(self, steps: Steps, block: slice) -> Floats:
        first = steps(block)
        if first.min(initial=0.0) < 0.0:
            row, to = divmod(int(first.argmin()), first.shape[1])
            raise InputError(
                f"paths={self.power:g} needs distances >= 0, but that of row {block.start + row} "
                f"from fitted row {self.items[to]} is {first[row, to]:g}. Shift the distances."
            )
        result = paths_through(first, self.lengths, self.power, self.step)
        far = first_nonfinite(result)
        if far is not None:
            raise InputError(
                f"the path distance of row {block.start + far.position[0]} is {far.value}: it is "
                f"too far from all fitted rows for paths={self.power:g}. Leave such rows out, or "
                "choose a lower power."
            )
        return result


def steps_between(
    features: PairFeatures,
    weights: Floats,
    rows: Floats,
    others: Floats,
    scales: tuple[Floats, Floats] | None,
) -> Steps:
    """The distances from blocks of rows to other rows."""

    def steps(block: slice) -> Floats:
        own = None if scales is None else (scales[0][block], scales[1])
        return features.distance(rows[block], others, weights, scales=own, first_row=block.start)

    return steps
