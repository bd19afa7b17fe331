"""Penalties that depend on the sequence: limits from exact paths, and a regression on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.estimators.penalty_regressor import PenaltyRegressor
from likewise.estimators.series_learning import SeriesLearned
from likewise.estimators.series_output import profile_of
from likewise.estimators.series_penalties import best_interval, curve_of
from likewise.estimators.series_scores import trace_scores

Floats = NDArray[np.float64]

# Limits are looked for among penalties this many times smaller and larger than the constant one.
REACH = 300.0


def fitted_regressor(learned: SeriesLearned) -> PenaltyRegressor | None:
    """How the penalty depends on the sequence; None where every penalty suits every one of them.

    The limits of a sequence are those of the widest interval of penalties at which what is lost on
    it is least.
    """
    pupils, profiles, limits = learned.pupils, [], []
    low, high = learned.penalty / REACH, learned.penalty * REACH
    for part in pupils.viewed:
        if part.source.is_silent:
            continue
        task = pupils.task(part, learned.trained)
        curve = curve_of(task, low, high)
        found = best_interval([curve], sound=False)
        assert found is not None
        below = found.low * task.growth if found.low > low * 1.001 else 0.0
        above = found.high * task.growth if found.high < high / 1.001 else np.inf
        with np.errstate(divide="ignore"):
            limits.append([np.log(below), np.log(above)])
        profiles.append(profile_of(trace_scores(task.rows, None, 0.0).rows))
    y: Floats = np.array(limits)
    if not np.isfinite(y).any():
        return None
    return PenaltyRegressor().fit(np.array(profiles), y)
