"""What every learner shares: the problem, the progress it reports, and how a state becomes arrays.

The word **learner** of the library: examples in, weights out, as init / step / status. A state is a
value: a frozen dataclass of arrays and numbers, so that it can be kept, compared and written down
between any two passes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.learners.regularisers import Terrain

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# What a status means, and what to do about it.
STATUS_REMEDIES = {
    "converged": "the duality gap asked for is reached",
    "max_iter": "max_iter passes were made; allow more, or a larger tol where there is a gap",
    "stalled": "no step improves the objective any more, with a larger gap than asked for",
    "interrupted": "interrupted; these are the best weights so far",
    "nonfinite": (
        "a feature, regulariser or gradient was not finite; the last good weights are kept"
    ),
    "uninformative": (
        "what is shown is told no better than by one segment for every sequence, which is what is "
        "found now; check that the labels belong to these sequences, or try other features"
    ),
    "collapsed": "all weights shrank to zero; lower strength, or constrain the sum of the weights",
}

# Smaller objectives are zero but for rounding.
NOTHING = 1e-9

# What candidates were judged on, in words.
HELD_OUT = {
    "sets": "sets held out of training",
    "clusters": "the set, half of its clusters held out of training",
    "rows": "held-out rows of known clusters",
    "nothing": "nothing: too little is shown to hold any of it out",
}


@dataclass(frozen=True)
class Model:
    """The pieces that make up the losses; small, so that it travels to workers."""

    energy: Any
    loss: Any


@dataclass(frozen=True, eq=False)
class Problem:
    """What is minimised: terrain(w) + sum over examples of their hinge losses at w.

    Parameters
    ----------
    model : Model
        Energy and loss.
    examples : sequence of Example or SegmentedSeries
        What was shown.
    terrain : Terrain
        Regulariser and constraints.
    start : array
        Weights to begin with.
    scale : array
        How large each weight typically is: the metric in which steps are measured.
    """

    model: Model
    examples: Sequence[Any]
    terrain: Terrain
    start: Floats
    scale: Floats

    @property
    def n_weights(self) -> int:
        """The number of weights."""
        return len(self.start)


@dataclass(frozen=True)
class TrainingProgress:
    """What a callback is told: where the training stands after a pass.

    ``seconds_left`` is an upper estimate, from the passes that may still follow.
    """

    stage: str
    iteration: int
    seconds: float
    objective: float
    lower_bound: float
    seconds_left: float

    @property
    def gap(self) -> float:
        """Relative duality gap so far."""
        return relative_gap(self.objective, self.lower_bound)

    def __str__(self) -> str:
        parts = [f"{self.seconds:8.2f} s", f"{self.stage:<10}", f"pass {self.iteration:4d}"]
        if not np.isnan(self.objective):
            parts.append(f"objective {self.objective:.6g}")
        if np.isfinite(self.lower_bound):
            parts += [f"bound {self.lower_bound:.6g}", f"gap {self.gap:.3%}"]
        if not np.isnan(self.seconds_left):
            parts.append(f"at most {self.seconds_left:.0f} s left")
        return "  ".join(parts)


class State(Protocol):
    """The state of a learner between two passes."""

    @property
    def best(self) -> Floats:
        """The best weights so far."""

    @property
    def objective(self) -> float:
        """The objective there, an upper bound of the minimum."""

    @property
    def lower_bound(self) -> float:
        """A lower bound of the minimum; minus infinity where none is known."""

    @property
    def status(self) -> str:
        """Empty while there is something left to do."""


StateT = TypeVar("StateT")


class Learner(Protocol[StateT]):
    """How weights are improved."""

    def init(self, problem: Problem) -> StateT:
        """The state before the first pass."""

    def step(self, problem: Problem, state: StateT, n_jobs: int | None) -> StateT:
        """The state after one more pass over the examples."""


def relative_gap(objective: float, lower_bound: float) -> float:
    """(objective - lower_bound) / |objective|; infinite without a bound.

    Below ``NOTHING`` objectives are rounding, and no gap is told from it.
    """
    if not np.isfinite(lower_bound):
        return np.inf
    return max(objective - lower_bound, 0.0) / max(abs(objective), NOTHING)


def to_arrays(state: Any) -> dict[str, NDArray[Any]]:
    """A state as named arrays; a tuple of arrays becomes one array for each of them."""
    arrays: dict[str, NDArray[Any]] = {}
    for field in dataclasses.fields(state):
        value = getattr(state, field.name)
        if isinstance(value, tuple):
            arrays[f"{field.name}.length"] = np.array(len(value))
            arrays.update({f"{field.name}.{i}": item for i, item in enumerate(value)})
        else:
            arrays[field.name] = np.asarray(value)
    return arrays


def from_arrays(kind: type[StateT], arrays: Mapping[str, NDArray[Any]]) -> StateT:
    """The state of `to_arrays`."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        if f"{field.name}.length" in arrays:
            length = int(arrays[f"{field.name}.length"])
            values[field.name] = tuple(arrays[f"{field.name}.{i}"] for i in range(length))
        else:
            value = arrays[field.name]
            values[field.name] = value if value.ndim else value.item()
    return kind(**values)
