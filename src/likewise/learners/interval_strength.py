"""How strong the regulariser of an interval regression is to be: cross-validation along a path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.learners.intervals import IntervalProblem, minimise

__all__ = ["choose_strength", "strength_path"]

Floats = NDArray[np.float64]

# For models that are only compared with each other on held-out rows.
ROUGH = 1e-6
FOLDS = 5
# Strengths that are tried, the strongest first: for l1 as shares of the least one that leaves only
# the intercept, for l2 as they are, for the curvature of the loss is at most two per column.
L1_SHARES = np.geomspace(1.0, 1e-3, 25)
L2_STRENGTHS = np.geomspace(1e2, 1e-4, 25)


def choose_strength(problem: IntervalProblem, is_l1: bool) -> float:
    """The strength that does best on held-out rows; of equal ones the strongest.

    What counts is the number of predictions outside their limits. Where half of the intervals are
    no wider than the margin hardly any prediction is inside, whatever the strength: there it is
    the squared distance from the interval.

    Parameters
    ----------
    problem : IntervalProblem
        Its own strengths are not looked at.
    is_l1 : bool
        Which regulariser.

    Returns
    -------
    float
        One of the strengths of the path.
    """
    strengths = strength_path(problem, is_l1)
    n = len(problem.low)
    folds = min(FOLDS, n)
    if len(strengths) == 1 or folds < 2:
        return float(strengths[0])
    # Rows are dealt out in the order of their limits, so that all kinds are in all folds, and the
    # order of the rows does not matter.
    order = np.lexsort([problem.low, problem.high])
    fold_of = np.empty(n, dtype=np.intp)
    fold_of[order] = np.arange(n) % folds
    narrow = np.mean(problem.high - problem.low <= problem.margin) >= 0.5
    missed = np.zeros(len(strengths))
    for fold in range(folds):
        shown, held = fold_of != fold, fold_of == fold
        part = IntervalProblem(
            problem.columns[shown], problem.low[shown], problem.high[shown], problem.margin
        )
        for k, solution in enumerate(_solutions(part, strengths, is_l1)):
            predicted = problem.columns[held] @ solution[:-1] + solution[-1]
            nearest = np.clip(predicted, problem.low[held], problem.high[held])
            missed[k] += (
                np.sum((predicted - nearest) ** 2) if narrow else np.sum(predicted != nearest)
            )
    return float(strengths[np.argmin(missed)])


def strength_path(problem: IntervalProblem, is_l1: bool) -> Floats:
    """Strengths from the strongest, which leaves (next to) nothing but the intercept."""
    if not is_l1:
        return L2_STRENGTHS
    empty = np.zeros((len(problem.low), 0))
    constant = IntervalProblem(empty, problem.low, problem.high, problem.margin)
    slopes = constant.piece(minimise(constant).solution).slopes
    top = float(np.abs(problem.columns.T @ slopes).max(initial=0.0))
    # A constant passes between all limits, or no column tells rows apart: nothing to choose.
    return L1_SHARES * top if top > 0.0 else np.zeros(1)


def _solutions(problem: IntervalProblem, strengths: Floats, is_l1: bool) -> list[Floats]:
    """Rough minima for all strengths, each begun where the stronger one ended."""
    found: list[Floats] = []
    point = problem.start()
    curvature = problem.steepest()
    for strength in strengths:
        l1, l2 = (strength, 0.0) if is_l1 else (0.0, strength)
        one = IntervalProblem(
            problem.columns, problem.low, problem.high, problem.margin, float(l1), float(l2)
        )
        fit = minimise(one, point, tolerance=ROUGH, rounds=50, steepest=curvature + float(l2))
        point = fit.solution
        found.append(point)
    return found
