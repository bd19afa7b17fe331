"""The master problem of cutting planes: the weights that are best under all planes seen.

    minimise  quadratic part of the regulariser + sum over owners of the highest of their planes

over the box. Owners are the examples, then the regulariser where it is not quadratic (its planes
are tangents), then the constraint where it is no box: its planes are half-spaces that hold the
allowed set, times more than the rest can fall (an exact penalty), and zero inside.

Mass that every owner spreads over its planes, one unit each, proves a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from likewise.learners._kernels import planes as kernels
from likewise.learners.base import Problem
from likewise.learners.cone import ConeMaster, ConeTerrain
from likewise.learners.regularisers import Terrain

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Sweeps over all owners at most; where weights form a matrix, half as many steps over all masses.
SWEEPS, SWEEPS_PER_STEP = 400, 2
# The least curvature of any weight, as a share of that of a matrix.
CONE_SPREAD = 0.005
# The first pull at least, as a share of the objective per typical weight.
LEAST_PULL = 1e-3
# Where a parabola is touched, in shares of a weight.
TANGENTS = np.geomspace(0.003, 1.0, 6)


@dataclass(frozen=True, eq=False)
class Master:
    """Planes ``<slopes[j], w> + offsets[j]`` of owners, on a terrain.

    ``scale`` is the metric in which weights are pulled to a centre; ``sweeps`` are made over all
    owners at most.
    """

    terrain: Terrain
    scale: Floats
    slopes: Floats
    offsets: Floats
    owner: Indices
    sweeps: int = SWEEPS

    @classmethod
    def of(
        cls, problem: Problem, shown: Floats, features: Floats, losses: Floats, owner: Indices
    ) -> Master:
        """From what planes are kept as: joint features and losses of the points that made them.

        ``shown`` are the joint features of the completed partitions, one row per example; planes of
        other owners have none.
        """
        n_examples = len(problem.examples)
        none = np.zeros((2, problem.n_weights))
        slopes: Floats = np.vstack([shown, none])[owner] - features
        offsets, cuts = losses.copy(), owner > n_examples
        if cuts.any():
            steepest = np.zeros(n_examples + 1)
            np.maximum.at(steepest, owner[~cuts], np.linalg.norm(slopes[~cuts], axis=1))
            _, linear, curvature = quadratic_part(problem.terrain)
            own = np.abs(linear) + curvature * np.abs(problem.scale)
            factor = 2.0 * float(steepest.sum() + np.linalg.norm(own))
            slopes[cuts] *= factor
            offsets[cuts] *= factor
        return cls(problem.terrain, problem.scale, slopes, offsets, owner)

    def solve(self, centre: Floats, proximity: float, mass: Floats, allowed: float) -> Floats:
        """The weights, pulled to the centre; ``mass`` changes in place.

        No owner would gain more than ``allowed`` from other mass.
        """
        pull = proximity / self.scale
        _, linear, curvature = quadratic_part(self.terrain)
        if isinstance(self.terrain, ConeTerrain):
            # Weights that are pulled much less than the matrix make the dual ill-conditioned.
            pull = np.maximum(pull, CONE_SPREAD * (curvature[0] + pull[0]))
        inverse = 1.0 / (curvature + pull)
        if isinstance(self.terrain, ConeTerrain):
            return ConeMaster(
                self.terrain, self.slopes, self.offsets, self.owner, linear, inverse,
                inverse * pull * centre,
            ).solve(mass, allowed, self.sweeps // SWEEPS_PER_STEP)  # fmt: skip
        order = np.argsort(self.owner, kind="stable")
        starts = np.searchsorted(self.owner[order], np.arange(int(self.owner.max()) + 2))
        box = (inverse, inverse * pull * centre, self.terrain.lower, self.terrain.upper)
        slope = linear + mass @ self.slopes
        weights: Floats = kernels.balance(
            self.slopes, self.offsets, order, starts, mass, slope, box, allowed, self.sweeps
        )
        return weights

    def value(self, weights: Floats) -> float:
        """What the planes say of some weights."""
        constant, linear, curvature = quadratic_part(self.terrain)
        heights = self.slopes @ weights + self.offsets
        total = constant + float(linear @ weights + 0.5 * curvature @ weights**2)
        return total + sum(float(heights[self.owner == k].max()) for k in np.unique(self.owner))

    def bound(self, mass: Floats, objective: float) -> float:
        """What no weights are below, if the best ones are no worse than an objective."""
        constant, linear, _ = quadratic_part(self.terrain)
        slope = linear + mass @ self.slopes
        return constant + self.terrain.lowest(slope, objective) + float(mass @ self.offsets)

    def sharpest(self, centre: Floats) -> Floats | None:
        """The mass that proves most, by a linear program; None where that has no answer.

        In the place of the quadratic part are tangents of every coordinate, near the centre.
        """
        if isinstance(self.terrain, ConeTerrain):
            return None
        _, linear, curvature = quadratic_part(self.terrain)
        names, which = np.unique(self.owner, return_inverse=True)
        curved = np.flatnonzero(curvature)
        n, n_owners, n_curved = len(linear), len(names), len(curved)
        heights = sparse.csr_array(-np.eye(n_owners)[which])
        blocks, limits = [[sparse.csr_array(self.slopes), heights, None]], [-self.offsets]
        if n_curved:
            pick, minus = sparse.eye_array(n, format="csr")[curved], -sparse.eye_array(n_curved)
            for offset in (*TANGENTS, 0.0, *(-TANGENTS)):
                touched = centre[curved] + offset * self.scale[curved]
                steep = curvature[curved] * touched
                blocks.append([sparse.diags_array(steep) @ pick, None, minus])
                limits.append(0.5 * steep * touched)
        free = [(None, None)] * (n_owners + n_curved)
        found = linprog(
            np.concatenate([linear, np.ones(n_owners + n_curved)]),
            A_ub=sparse.block_array(blocks if n_curved else [blocks[0][:2]], format="csr"),
            b_ub=np.concatenate(limits),
            bounds=[*zip(self.terrain.lower, self.terrain.upper, strict=True), *free],
        )
        if found.status != 0:
            return None
        mass = np.maximum(-np.asarray(found.ineqlin.marginals[: len(which)]), 0.0)
        total = np.bincount(which, mass)
        return None if np.any(total == 0.0) else mass / total[which]

    def first_proximity(self, mass: Floats, objective: float) -> float:
        """A pull under which the first step changes the weights by about half of what they are.

        Planes of two examples may cancel; then it is the objective that says what is much.
        """
        slope = quadratic_part(self.terrain)[1] + mass @ self.slopes
        typical = 2.0 * float(self.scale @ np.abs(slope))
        return max(typical, LEAST_PULL * objective, 1e-12) / float(self.scale.sum())


def quadratic_part(terrain: Terrain) -> tuple[float, Floats, Floats]:
    """The part of the regulariser that is taken as it is; the rest is in planes."""
    nothing = np.zeros(len(terrain.lower))
    return terrain.quadratic or (0.0, nothing, nothing)
