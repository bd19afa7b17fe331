"""Large-margin regression on intervals: a linear function that passes between two limits per row.

Row i wants a value between low_i and high_i, either of which may be infinite. Minimised is, over
the coefficients w of standardised columns z and the intercept b, with f_i = w . z_i + b,

    mean_i [ max(0, low_i + margin - f_i)^2 + max(0, f_i - high_i + margin)^2 ]
      + l1 * |w|_1 + l2 * |w|^2 / 2

(Rigaill, Hocking, Vert and Bach, "Learning sparse penalties for change-point detection using max
margin interval regression", ICML 2013). Where the limits are closer than two margins both hinges
act and the middle is best; a point is an interval of no width, and the loss is then twice the
squared distance plus a constant (as far as the margin). An infinite limit never acts: no infinity
reaches a sum.

The objective is a quadratic on pieces, so two kinds of steps alternate: accelerated proximal
gradient steps with restart (Beck and Teboulle 2009; O'Donoghue and Candes 2015), which find the
columns and hinges that act, and Newton steps on those, which are exact once they are right. The
loop ends by the residual of the optimality conditions, see `residual`. Everything is deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Fit", "IntervalProblem", "Standardised", "minimise"]

Floats = NDArray[np.float64]

# Of the residual of the optimality conditions, in units of `IntervalProblem.scale`.
TOLERANCE = 1e-10
# Proximal steps between two attempts at Newton steps, and how often that is repeated.
BLOCK = 20
ROUNDS = 2000
# A coefficient this much smaller than it was is zero but for rounding.
ROUNDED = 1e-12
NEWTON_STEPS = 200
# Newton steps solve dense systems; above this many columns at once proximal steps do the work.
WIDEST = 1500
# Below this share of its largest entry the spread of a column is rounding.
CONSTANT = 16 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Standardised:
    """Columns with mean 0 and mean square 1, and the way back.

    Attributes
    ----------
    columns : array of shape (n, f)
        The columns; a constant one is zero.
    means, scales : array of shape (f,)
        Of the columns as they were; the scale of a constant one is 0.
    """

    columns: Floats
    means: Floats
    scales: Floats

    @classmethod
    def of(cls, X: Floats) -> Standardised:
        """Standardise the columns of a table."""
        # In units of the largest entry, for squares of very large or small numbers leave the range.
        units = np.abs(X).max(axis=0)
        units[units < np.finfo(np.float64).tiny] = 1.0
        shares = X / units
        means = shares.mean(axis=0)
        shares -= means
        spreads = np.sqrt(np.mean(shares**2, axis=0))
        spreads[spreads <= CONSTANT] = 0.0
        columns = np.divide(shares, spreads, out=np.zeros_like(shares), where=spreads > 0.0)
        return cls(columns, means * units, spreads * units)

    def original(self, solution: Floats) -> tuple[Floats, float]:
        """Coefficients and intercept in the units of the table."""
        weights, intercept = solution[:-1], solution[-1]
        acts = self.scales > 0.0
        coefficients = np.divide(weights, self.scales, out=np.zeros_like(weights), where=acts)
        return coefficients, float(intercept - coefficients @ self.means)


class Piece(NamedTuple):
    """The loss at a point: its value, and first and second derivative by each prediction."""

    value: float
    slopes: Floats
    curvatures: Floats


@dataclass(frozen=True, eq=False)
class IntervalProblem:
    """The objective above, as a function of ``[w, b]``.

    Attributes
    ----------
    columns : array of shape (n, f)
        Standardised columns.
    low, high : array of shape (n,)
        The limits, ``low <= high``; at least one of all of them is finite.
    margin, l1, l2 : float
        As in the formula, >= 0.
    """

    columns: Floats
    low: Floats
    high: Floats
    margin: float
    l1: float = 0.0
    l2: float = 0.0

    @property
    def scale(self) -> float:
        """The size of slopes: the spread of the finite limits, and the margin."""
        limits = self._finite()
        return float(max(1.0, self.margin, np.ptp(limits)))

    def start(self) -> Floats:
        """No coefficients, and an intercept that is best where all rows have the same one limit."""
        solution = np.zeros(self.columns.shape[1] + 1)
        if np.isneginf(self.low).all():
            solution[-1] = self.high.min() - self.margin
        elif np.isposinf(self.high).all():
            solution[-1] = self.low.max() + self.margin
        else:
            solution[-1] = np.median(self._finite())
        return solution

    def predictions(self, solution: Floats) -> Floats:
        """f of every row."""
        return self.columns @ solution[:-1] + solution[-1]

    def piece(self, solution: Floats) -> Piece:
        """The loss without the regulariser."""
        predicted = self.predictions(solution)
        below = np.maximum(self.low + self.margin - predicted, 0.0)
        above = np.maximum(predicted - (self.high - self.margin), 0.0)
        n = len(predicted)
        value = float(below @ below + above @ above) / n
        curvatures = 2.0 * ((below > 0.0).astype(float) + (above > 0.0)) / n
        return Piece(value, 2.0 * (above - below) / n, curvatures)

    def objective(self, solution: Floats) -> float:
        """The formula above."""
        weights = solution[:-1]
        return (
            self.piece(solution).value
            + self.l1 * float(np.abs(weights).sum())
            + 0.5 * self.l2 * float(weights @ weights)
        )

    def gradient(self, solution: Floats) -> Floats:
        """Of all but the l1 term, which has none at zero."""
        slopes = self.piece(solution).slopes
        return np.append(self.columns.T @ slopes + self.l2 * solution[:-1], slopes.sum())

    def residual(self, solution: Floats) -> float:
        """How far the optimality conditions are missed: the largest entry of the least subgradient.

        Zero exactly at the minimum: slope 0 for the intercept, slope -l1 * sign(w_j) where w_j is
        not zero, and between -l1 and l1 where it is.
        """
        slopes = self.gradient(solution)
        weights, inner = solution[:-1], slopes[:-1]
        missed = np.where(
            weights != 0.0,
            np.abs(inner + self.l1 * np.sign(weights)),
            np.maximum(np.abs(inner) - self.l1, 0.0),
        )
        return float(max(missed.max(initial=0.0), abs(slopes[-1])))

    def steepest(self) -> float:
        """A bound on the curvature in any direction."""
        design = np.column_stack([self.columns, np.ones(len(self.low))])
        n, f = design.shape
        gram = design.T @ design if f <= n else design @ design.T
        overlap = bool(np.any(self.high - self.low < 2.0 * self.margin)) or self.margin == 0.0
        # Rounding of the eigenvalue may not make the bound too small.
        top = float(np.linalg.eigvalsh(gram)[-1]) * (1.0 + 1e-9)
        return 2.0 * (1.0 + overlap) * top / n + self.l2

    def _finite(self) -> Floats:
        limits = np.concatenate([self.low, self.high])
        return limits[np.isfinite(limits)]


@dataclass(frozen=True, eq=False)
class Fit:
    """Where `minimise` ended.

    Attributes
    ----------
    solution : array of shape (f + 1,)
        Coefficients of the standardised columns, then the intercept.
    residual : float
        Of the optimality conditions.
    n_iter : int
        Proximal and Newton steps.
    converged : bool
        Whether the residual is below the tolerance.
    """

    solution: Floats
    residual: float
    n_iter: int
    converged: bool


def minimise(
    problem: IntervalProblem,
    start: Floats | None = None,
    *,
    tolerance: float = TOLERANCE,
    rounds: int = ROUNDS,
    steepest: float | None = None,
) -> Fit:
    """Find the minimum.

    Parameters
    ----------
    problem : IntervalProblem
        What is minimised.
    start : array of shape (f + 1,), default=None
        Where to begin.
    tolerance : float
        On the residual, times the scale of the problem.
    rounds : int
        Blocks of steps at most.
    steepest : float, default=None
        A bound on the curvature, where it is known.

    Returns
    -------
    Fit
        The last point, whether or not it is good enough.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.learners.intervals import IntervalProblem, minimise
    >>> limits = np.array([-np.inf, 1.0]), np.array([-1.0, np.inf])
    >>> problem = IntervalProblem(np.array([[-1.0], [1.0]]), *limits, margin=1.0)
    >>> minimise(problem).solution
    array([2., 0.])
    """
    point = problem.start() if start is None else start
    enough = tolerance * problem.scale
    bound = problem.steepest() if steepest is None else steepest
    residual = problem.residual(point)
    n_iter = 0
    for _ in range(rounds):
        if residual <= enough:
            break
        point = _proximal_steps(problem, point, bound)
        n_iter += BLOCK
        residual = problem.residual(point)
        # Every step fixes a sign or the hinges that act, so that this many are plenty.
        for _ in range(NEWTON_STEPS):
            moved = _newton_step(problem, point, residual) if residual > enough else None
            if moved is None:
                break
            point, residual = moved
            n_iter += 1
    return Fit(point, residual, n_iter, residual <= enough)


def _proximal_steps(problem: IntervalProblem, point: Floats, steepest: float) -> Floats:
    """A block of accelerated steps; the momentum is dropped where it points uphill."""
    step = 1.0 / steepest
    ahead, momentum = point, 1.0
    for _ in range(BLOCK):
        moved = ahead - step * problem.gradient(ahead)
        weights = moved[:-1]
        moved[:-1] = np.sign(weights) * np.maximum(np.abs(weights) - step * problem.l1, 0.0)
        if (ahead - moved) @ (moved - point) > 0.0:
            momentum = 1.0
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = moved + (momentum - 1.0) / grown * (moved - point)
        point, momentum = moved, grown
    return point


def _newton_step(
    problem: IntervalProblem, point: Floats, residual: float
) -> tuple[Floats, float] | None:
    """A Newton step on the columns and hinges that act, and its residual; None if it is no gain."""
    acts = point != 0.0 if problem.l1 > 0.0 else np.ones(len(point), dtype=bool)
    acts[-1] = True
    if acts.sum() > WIDEST:
        return None
    direction = np.zeros(len(point))
    direction[acts] = _newton_direction(problem, point, acts)
    before = problem.objective(point)
    for share in _shares(problem, point, direction):
        moved = point + share * direction
        if problem.l1 > 0.0:
            # A column whose sign would change leaves; the next proximal steps may take it back.
            crossed = moved[:-1] * point[:-1] <= ROUNDED * point[:-1] ** 2
            moved[:-1][crossed] = 0.0
        after = problem.objective(moved)
        missed = problem.residual(moved)
        # Next to the minimum the objective is all rounding, and the residual still tells.
        close = after <= before * (1.0 + 1e-12) and missed <= 0.5 * residual
        if close or after < before * (1.0 - 1e-12):
            return moved, missed
    return None


def _newton_direction(problem: IntervalProblem, point: Floats, acts: NDArray[np.bool_]) -> Floats:
    """To the minimum of the quadratic on which the point lies, signs kept."""
    piece = problem.piece(point)
    rows = piece.curvatures > 0.0
    design = np.column_stack([problem.columns[np.ix_(rows, acts[:-1])], np.ones(rows.sum())])
    hessian = design.T @ (piece.curvatures[rows, None] * design)
    inner = np.arange(len(hessian) - 1)
    hessian[inner, inner] += problem.l2
    signs = np.sign(point[acts])
    signs[-1] = 0.0
    slopes = problem.gradient(point)[acts] + problem.l1 * signs
    # The least step where columns are copies of each other, or fewer rows act than columns.
    direction: Floats = -np.linalg.lstsq(hessian, slopes, rcond=1e-13)[0]
    left = slopes + hessian @ direction
    if np.abs(left).max() > 1e-3 * np.abs(slopes).max():
        # Flat but for l1, which falls this way until a coefficient is zero: far enough for one.
        reach = np.abs(point).max() / np.abs(left).max()
        direction = direction - reach * left
    return direction


def _shares(problem: IntervalProblem, point: Floats, direction: Floats) -> Floats:
    """Steps that are tried, as shares of the direction.

    Long ones first. Up to the first change of a sign the objective is smooth, so a short one is a
    gain unless all is rounding.
    """
    halves = 0.5 ** np.arange(12.0)
    if problem.l1 == 0.0:
        return halves
    falls = point[:-1] * direction[:-1] < 0.0
    first = np.min(-point[:-1][falls] / direction[:-1][falls], initial=1.0)
    return np.concatenate([halves[:4], first * halves])
