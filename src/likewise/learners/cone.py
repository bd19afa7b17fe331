"""Weights that form a positive semi-definite matrix: their terrain, and their master problem.

The first p * p weights are a symmetric matrix, row after row; the others are bounded. Pulls and
curvatures are one number for all entries of the matrix, so the best matrix for a linear function
and a square is the positive part of another one: one eigendecomposition. The dual of the master
problem is then smooth, and masses are found by accelerated projected ascent with restarts (Beck and
Teboulle 2009; O'Donoghue and Candes 2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.learners.regularisers import Elastic, Terrain

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# How often a step is halved in a row at most.
HALVINGS = 40


@dataclass(frozen=True, eq=False)
class ConeTerrain(Terrain):
    """A terrain whose first ``side * side`` weights are a positive semi-definite matrix."""

    side: int = 0

    def project(self, weights: Floats) -> Floats:
        """The nearest allowed weights."""
        inside = np.clip(weights, self.lower, self.upper)
        entries = self.side**2
        inside[:entries] = positive_part(weights[:entries], self.side)
        return inside

    def lowest(self, direction: Floats, objective: float) -> float:
        """A lower bound of ``direction @ w + quadratic part`` over weights that are that good."""
        entries = self.side**2
        others = direction[entries:]
        edge = np.where(others > 0.0, self.lower[entries:], self.upper[entries:])
        rest = float(others @ np.where(others == 0.0, 0.0, edge))
        curvature = 0.0 if self.quadratic is None else float(self.quadratic[2][0])
        matrix = direction[:entries]
        if curvature > 0.0:
            best = positive_part(-matrix, self.side)
            return rest - 0.5 * float(best @ best) / curvature
        least = float(np.linalg.eigvalsh(_symmetric(matrix, self.side))[0])
        if least >= 0.0:
            return rest
        if isinstance(self.regulariser, Elastic) and self.tau * self.regulariser.linear > 0.0:
            # The trace is at most what it may cost.
            return rest + least * objective / (self.tau * self.regulariser.linear)
        return -np.inf


def positive_part(entries: Floats, side: int) -> Floats:
    """The nearest positive semi-definite matrix, as its entries."""
    values, vectors = np.linalg.eigh(_symmetric(entries, side))
    kept = values > 0.0
    half = vectors[:, kept] * np.sqrt(values[kept])
    found: Floats = (half @ half.T).ravel()
    return found


def _symmetric(entries: Floats, side: int) -> Floats:
    matrix = entries.reshape(side, side)
    found: Floats = 0.5 * (matrix + matrix.T)
    return found


@dataclass(frozen=True, eq=False)
class ConeMaster:
    """Planes on a cone, pulled to a centre: minimise over weights, maximise over masses.

    ``inverse`` and ``middle`` say what the quadratic part is: ``(w - middle)^2 / (2 inverse)`` per
    weight; ``linear`` is added to the slopes of planes.
    """

    terrain: Terrain
    slopes: Floats
    offsets: Floats
    owner: Indices
    linear: Floats
    inverse: Floats
    middle: Floats

    def solve(self, mass: Floats, allowed: float, steps: int) -> Floats:
        """The weights; ``mass`` changes in place until no owner gains more than ``allowed``."""
        simplex = Simplices.of(self.owner)
        ahead, momentum, length = mass.copy(), 1.0, self._first_length()
        value, weights, _ = self._dual(mass)
        for _ in range(steps):
            level, _, heights = self._dual(ahead)
            for _ in range(HALVINGS):
                moved = simplex.nearest(ahead + length * heights)
                change = moved - ahead
                reached, found, above = self._dual(moved)
                expected = level + heights @ change - 0.5 * float(change @ change) / length
                if reached >= expected - 1e-12 * (1.0 + abs(level)):
                    break
                length *= 0.5
            if reached < value:
                # Momentum led downhill: from the best masses once more, without it.
                if momentum == 1.0:
                    break
                ahead, momentum = mass.copy(), 1.0
                continue
            grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            ahead = moved + (momentum - 1.0) / grown * (moved - mass)
            mass[:] = moved
            value, weights, momentum = reached, found, grown
            if simplex.largest_gain(mass, above) <= allowed:
                break
            length *= 1.2
        return weights

    def _dual(self, mass: Floats) -> tuple[float, Floats, Floats]:
        """The dual for some masses, the weights that attain it, and the heights of all planes."""
        slope = self.linear + mass @ self.slopes
        weights = self.terrain.project(self.middle - self.inverse * slope)
        away = weights - self.middle
        heights = self.slopes @ weights + self.offsets
        pulled = 0.5 * float((away * away / self.inverse).sum())
        return float(mass @ heights + self.linear @ weights) + pulled, weights, heights

    def _first_length(self) -> float:
        steepest = float((self.slopes * self.slopes * self.inverse).sum(axis=1).max(initial=0.0))
        return 1.0 / max(steepest, 1e-300)


@dataclass(frozen=True, eq=False)
class Simplices:
    """One unit of mass per owner, as rows of a padded table."""

    owner: Indices
    row: Indices
    column: Indices
    shape: tuple[int, int]

    @classmethod
    def of(cls, owner: Indices) -> Simplices:
        """From the owner of every plane."""
        _, row = np.unique(owner, return_inverse=True)
        order = np.argsort(row, kind="stable")
        starts = np.searchsorted(row[order], np.arange(int(row.max()) + 1))
        column = np.empty(len(row), dtype=np.intp)
        column[order] = np.arange(len(row)) - starts[row[order]]
        return cls(owner, row, column, (int(row.max()) + 1, int(column.max()) + 1))

    def nearest(self, values: Floats) -> Floats:
        """The nearest masses: each owner's are lowered by one amount, those below zero are zero."""
        table = np.full(self.shape, -np.inf)
        table[self.row, self.column] = values
        descending = -np.sort(-table, axis=1)
        counts = np.arange(1, self.shape[1] + 1)
        finite = np.where(np.isfinite(descending), descending, 0.0)
        level = (np.cumsum(finite, axis=1) - 1.0) / counts
        last = np.sum(descending > level, axis=1) - 1
        lowered = level[np.arange(self.shape[0]), last]
        return np.maximum(values - lowered[self.row], 0.0)

    def largest_gain(self, mass: Floats, heights: Floats) -> float:
        """What an owner would gain, at most, from moving all its mass to its highest plane."""
        top = np.full(self.shape[0], -np.inf)
        np.maximum.at(top, self.row, heights)
        here = np.bincount(self.row, mass * heights, minlength=self.shape[0])
        return float((top - here).max())
