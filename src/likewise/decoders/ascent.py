"""Subgradient ascent of the Lagrangian bound.

The bound L(v) of `likewise.decoders.facilities` is concave and piecewise linear in the multipliers
v; its subgradient is one minus how often a client is served. Steps follow Polyak's rule towards the
energy of the best solution, with momentum, and are shortened when they stop paying.
"""

from __future__ import annotations

import numpy as np

from likewise.decoders._kernels.steps import least, subgradient_step
from likewise.decoders.facilities import Candidates, Facilities, Floats

MOMENTUM = 0.7
# Without progress over this many steps the step is multiplied by SHRINK and the ascent returns to
# the best multipliers; below SHORTEST it has converged for all practical purposes.
PATIENCE = 40
SHRINK = 0.7
SHORTEST = 1e-3
# What a better solution lengthens the step to: the target has moved.
RENEWED = 0.3
# All candidates are priced at every eighth step; between, only a share of them, the most promising.
# The share doubles when the steps between were misled by more than MISLED of the gap, and is halved
# when they were not by a tenth of that.
FULL_EVERY = 8
SMALLEST_SHARE, FIRST_SHARE = 1 / 16, 1.0
MISLED = 0.03
# A rise of less than this share of the gap is no progress.
PROGRESS = 1e-4


class Ascent:
    """The state of the ascent: where it stands, and the best bound with its multipliers."""

    def __init__(self, facilities: Facilities, v: Floats) -> None:
        self._facilities = facilities
        self._v = v
        self._direction = np.zeros_like(v)
        self._slack = np.zeros(len(facilities.opening))
        self._served = np.zeros_like(v)
        self._length = 1.0
        self._share = FIRST_SHARE
        # Where the last steps, on a share of the candidates, believed to be.
        self._value = -np.inf
        self._stalled = 0
        self.finished = False
        self.bound = -np.inf
        self.v = v.copy()
        self.slack = self._slack.copy()
        self.steps = 0

    def renew(self) -> None:
        """Go on with longer steps: a better solution was found."""
        self._length = max(self._length, RENEWED)
        self.finished = False

    def climb(self, candidates: Candidates, upper: float, steps: int) -> None:
        """Take ``steps`` steps; the bound is over ``candidates``."""
        for start in range(0, steps, FULL_EVERY):
            if self.finished:
                return
            between = self._value
            value = self._price(candidates)
            self._choose_share(between - value, upper)
            self._remember(value, upper)
            working = promising(candidates, self._slack, self._share)
            for step in range(min(FULL_EVERY, steps - start)):
                length = self._length * max(upper - value, 0.0)
                if not subgradient_step(self._v, self._direction, self._served, MOMENTUM, length):
                    # A maximiser over all candidates, or only over the promising ones.
                    self.finished = step == 0
                    break
                value = self._price(working)
                self.steps += 1
            self._value = value
        self._remember(self._price(candidates), upper)

    def _price(self, candidates: Candidates) -> float:
        return self._facilities.bound(self._v, candidates, self._slack, self._served)

    def _choose_share(self, excess: float, upper: float) -> None:
        gap = upper - self.bound
        if excess > MISLED * gap:
            self._share = min(2 * self._share, 1.0)
        elif excess < 0.1 * MISLED * gap:
            self._share = max(self._share / 2, SMALLEST_SHARE)

    def _remember(self, value: float, upper: float) -> None:
        first = self.bound == -np.inf
        if first or value > self.bound + PROGRESS * (upper - self.bound):
            self._stalled = 0
        else:
            self._stalled += FULL_EVERY
        if value > self.bound:
            self.bound = value
            self.v[:] = self._v
            self.slack[:] = self._slack
            self._best_served = self._served.copy()
        if upper - self.bound <= 1e-13 * abs(upper):
            self.finished = True
        elif self._stalled >= PATIENCE:
            self._return_to_best()

    def _return_to_best(self) -> None:
        self._stalled = 0
        self._length *= SHRINK
        self.finished = self._length < SHORTEST
        self._v[:] = self.v
        self._slack[:] = self.slack
        self._served[:] = self._best_served
        self._direction[:] = 0.0


def promising(
    candidates: Candidates, slack: Floats, share: float, at_least: int = 64
) -> Candidates:
    """The candidates that are nearly paid for: a share of them, or ``at_least`` so many."""
    count = max(at_least, int(share * len(candidates)))
    return least(candidates, slack, count)
