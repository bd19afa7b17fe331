"""Regularisers and constraints: what keeps weights small, and which weights are allowed.

Both see the *scaled* weights: every feature is divided by its mean over the shown pairs first, so a
weight says how much its feature contributes to a typical distance, whatever its unit.

A regulariser of the user's own is any object with ``value(weights)`` and ``gradient(weights)``, a
convex function and a subgradient of it; a constraint of one's own is any object with
``project(weights)``, the nearest point of a convex set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@runtime_checkable
class Regulariser(Protocol):
    """A convex function of the scaled weights."""

    def value(self, weights: Floats) -> float:
        """The value of the function."""

    def gradient(self, weights: Floats) -> Floats:
        """A subgradient of it."""


@runtime_checkable
class Constraint(Protocol):
    """A convex set of scaled weights."""

    def project(self, weights: Floats) -> Floats:
        """The nearest point of the set."""


@dataclass(frozen=True)
class L1:
    """The sum of absolute weights: many weights become zero."""

    def value(self, weights: Floats) -> float:
        """The sum of absolute weights."""
        return float(np.abs(weights).sum())

    def gradient(self, weights: Floats) -> Floats:
        """The signs; one at zero, where the weight may only grow."""
        return np.where(weights < 0.0, -1.0, 1.0)


@dataclass(frozen=True)
class L2:
    """Half the sum of squared weights."""

    def value(self, weights: Floats) -> float:
        """Half the sum of squares."""
        return 0.5 * float(weights @ weights)

    def gradient(self, weights: Floats) -> Floats:
        """The weights."""
        return weights


@dataclass(frozen=True, eq=False)
class Towards:
    """Half the squared distance from given weights, sum_i (w_i - c_i)^2 / (2 c_i).

    Dividing by c_i makes it a matter of shares: a weight that ought to be small may not grow much.

    Parameters
    ----------
    center : array
        The weights to stay close to, positive.
    """

    center: Floats

    def value(self, weights: Floats) -> float:
        """The squared distance."""
        return 0.5 * float(((weights - self.center) ** 2 / self.center).sum())

    def gradient(self, weights: Floats) -> Floats:
        """Its gradient."""
        return (weights - self.center) / self.center


@dataclass(frozen=True)
class Elastic:
    """A sum of weights that are not negative, and half the sum of their squares.

    Of a matrix the sum is its trace, and the squares are those of all entries.

    Parameters
    ----------
    linear, squared : float
        What the two parts count.
    diagonal : array or None
        Which weights are in the first sum; None is all of them.
    """

    linear: float
    squared: float
    diagonal: Any = None

    @property
    def counted(self) -> Any:
        """One for weights in the first sum, zero for others."""
        return 1.0 if self.diagonal is None else self.diagonal

    def value(self, weights: Floats) -> float:
        """Both parts."""
        total = float((self.counted * weights).sum())
        return self.linear * total + 0.5 * self.squared * float(weights @ weights)

    def gradient(self, weights: Floats) -> Floats:
        """The gradient of both."""
        return self.linear * self.counted + self.squared * weights


@dataclass(frozen=True, eq=False)
class Near:
    """Half the squared distance from given weights, in a unit that is one for all of them.

    Parameters
    ----------
    center : array
        The weights to stay close to.
    unit : float
        Squared distances are divided by it.
    """

    center: Floats
    unit: float

    def value(self, weights: Floats) -> float:
        """The squared distance."""
        away = weights - self.center
        return 0.5 * float(away @ away) / self.unit

    def gradient(self, weights: Floats) -> Floats:
        """Its gradient."""
        return (weights - self.center) / self.unit


@dataclass(frozen=True)
class Nonnegative:
    """Weights that are not negative."""

    def project(self, weights: Floats) -> Floats:
        """Negative weights become zero."""
        return np.maximum(weights, 0.0)


@dataclass(frozen=True)
class SumTo:
    """Weights that are not negative and add up to a total: the scale is fixed.

    Parameters
    ----------
    total : float
        The sum of the scaled weights; 3 to 5 suits a loss with alpha = beta = 1.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.learners.regularisers import SumTo
    >>> SumTo(1.0).project(np.array([2.0, 1.5, 0.0]))
    array([0.75, 0.25, 0.  ])
    """

    total: float = 4.0

    def project(self, weights: Floats) -> Floats:
        """The nearest such weights: all are lowered by one amount, those below zero are zero."""
        descending = np.sort(weights)[::-1]
        excess = np.cumsum(descending) - self.total
        count = np.arange(1, len(weights) + 1)
        last = np.flatnonzero(descending - excess / count > 0.0)[-1]
        return np.maximum(weights - excess[last] / (last + 1), 0.0)


@dataclass(frozen=True, eq=False)
class Terrain:
    """All of the objective but the losses: regulariser, constraint and the box, on all weights.

    The first ``n_features`` weights are of features, the others of opening costs, which are not
    regularised. ``lower`` and ``upper`` bound every weight; what the bounds do not say of the
    constraint is in ``constraint``.
    """

    regulariser: Any
    tau: float
    n_features: int
    lower: Floats
    upper: Floats
    constraint: Any = None

    @property
    def quadratic(self) -> tuple[float, Floats, Floats] | None:
        """The regulariser as e + <b, w> + 1/2 sum_i c_i w_i^2, where it has this form."""
        n, kind = self.n_features, self.regulariser
        linear, curvature = np.zeros(len(self.lower)), np.zeros(len(self.lower))
        if self.tau == 0.0:
            return 0.0, linear, curvature
        match kind:
            case L1() if np.all(self.lower[:n] >= 0.0):
                linear[:n] = self.tau
                return 0.0, linear, curvature
            case L2():
                curvature[:n] = self.tau
                return 0.0, linear, curvature
            case Towards(center=center):
                linear[:n] = -self.tau
                curvature[:n] = self.tau / center
                return 0.5 * self.tau * float(center.sum()), linear, curvature
            case Elastic():
                linear[:n] = self.tau * kind.linear * kind.counted
                curvature[:n] = self.tau * kind.squared
                return 0.0, linear, curvature
            case Near(center=center, unit=unit):
                linear[:n] = -self.tau / unit * center
                curvature[:n] = self.tau / unit
                return 0.5 * self.tau / unit * float(center @ center), linear, curvature
        return None

    def value(self, weights: Floats) -> float:
        """The regulariser, its strength included."""
        return self.tau * float(self.regulariser.value(weights[: self.n_features]))

    def gradient(self, weights: Floats) -> Floats:
        """A subgradient of the regulariser, its strength included."""
        total = np.zeros(len(weights))
        total[: self.n_features] = self.tau * self.regulariser.gradient(weights[: self.n_features])
        return total

    def project(self, weights: Floats) -> Floats:
        """The nearest allowed weights, the constraint and the box seen one after the other."""
        inside = np.clip(weights, self.lower, self.upper)
        if self.constraint is not None:
            inside[: self.n_features] = self.constraint.project(weights[: self.n_features])
        return inside

    def lowest(self, direction: Floats, objective: float) -> float:
        """A lower bound of ``direction @ w + quadratic part`` over weights that are that good.

        Of the constraint, it knows the box; cutting planes have the rest in the direction.
        ``objective`` is a value that the best weights do not exceed. Losses are not negative, so it
        bounds the regulariser, and with l1 every weight.
        """
        n, quadratic = self.n_features, self.quadratic
        with np.errstate(divide="ignore", invalid="ignore"):
            edge = np.where(direction > 0.0, self.lower, self.upper)
            curvature = np.zeros(len(direction)) if quadratic is None else quadratic[2]
            free = np.where(curvature > 0.0, -direction / curvature, edge)
            best = np.clip(free, self.lower, self.upper)
            terms = np.where(direction == 0.0, 0.0, direction * best)
            terms += np.where(curvature > 0.0, 0.5 * curvature * best * best, 0.0)
        if isinstance(self.regulariser, L1) and self.tau > 0.0:
            # All weights together are at most objective / tau.
            steepest = float((-direction[:n]).max(initial=0.0))
            if np.any(self.lower[:n] < 0.0):
                steepest = float(np.abs(direction[:n]).max(initial=0.0))
            return float(terms[n:].sum()) - objective / self.tau * steepest
        return float(terms.sum())
