"""Which penalty suits labelled sequences under a metric, from their exact paths of segmentations.

A path says which segmentation is best for every penalty, so the mean loss over sequences is known
as a function of the penalty: constant on intervals. The penalty is the middle, by logarithms, of
the widest interval where it is least, among penalties at which segmentations are no worse than no
changes at all: some losses, such as that of coverings, are lower where noise is cut at random.

What chance offers to a segmentation grows with the logarithm of the number of rows, so penalties
are those of a typical length, and scaled by the ratio of logarithms for others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.decoders.segments import decode_segments, penalty_path
from likewise.potentials import TraceScores

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Penalties around the one that was learnt which are looked at first, and by how much more where
# the best one is at the edge.
LOWEST, HIGHEST, FARTHER = 0.15, 3.0, 8.0
EXTENSIONS = 12
# Losses closer than this are the same, and so are those closer than this share of the standard
# error of their mean: which one is the least is chance.
SAME, PLATEAU = 1e-9, 0.5
# Shorter sequences are taken to have this many rows.
SHORTEST = 8.0


def growth(n_rows: float, typical: float) -> float:
    """What the penalty of a sequence of n rows is, as a share of that of a typical one."""
    return float(np.log(max(n_rows, SHORTEST)) / np.log(max(typical, SHORTEST)))


@dataclass(frozen=True, eq=False)
class Curve:
    """The loss of one sequence by penalty: ``losses[k]`` from ``edges[k]`` to ``edges[k + 1]``.

    ``invented`` is how much worse than no changes the segmentations are; ``ends`` says whether the
    path goes on with other ones below and above.
    """

    edges: Floats
    losses: Floats
    invented: Floats
    ends: tuple[bool, bool]

    def places(self, penalties: Floats) -> Indices:
        """The intervals in which penalties are."""
        return np.searchsorted(self.edges[1:-1], penalties, side="right")


@dataclass(frozen=True, eq=False)
class Task:
    """A sequence whose segmentations can be judged.

    ``rows`` are in the factor space of the metric, ``growth`` is what its penalty is multiplied by,
    ``most`` how many segments are of interest, ``judge`` is the loss of change points, and
    ``invented`` how much worse than none they are.
    """

    rows: Floats
    growth: float
    most: int
    judge: Callable[[Indices], float]
    invented: Callable[[Indices], float]


def curve_of(task: Task, low: float, high: float) -> Curve:
    """The losses for penalties, of typical sequences, from low to high."""
    begins, end = low * task.growth, high * task.growth
    factor, is_cut = (high / low) ** (1.0 / EXTENSIONS), False
    # Below, there are more segments than anybody wants to hear of.
    while begins * factor < end and _count(task.rows, begins) > task.most:
        begins, is_cut = begins * factor, True
    path = penalty_path(TraceScores(task.rows, begins), begins, end)
    scatter = np.array([part.scatter for part in path])
    counts = np.array([part.n_segments for part in path])
    meet = np.clip(np.diff(scatter) / -np.diff(counts), begins, end)
    cuts = [part.partition.change_points for part in path]
    # What has too many segments, or was not looked at, is no answer.
    losses = np.array([task.judge(own) for own in cuts])
    losses[counts > task.most] = np.inf
    invented = np.array([task.invented(own) for own in cuts])
    edges = np.concatenate([[begins / task.growth], meet / task.growth, [high]])
    if is_cut:
        edges = np.append(low, edges)
        losses, invented = np.append(np.inf, losses), np.append(0.0, invented)
    ends = (bool(not is_cut and counts[0] < len(task.rows)), bool(counts[-1] > 1))
    return Curve(edges, losses, invented, ends)


def _count(rows: Floats, penalty: float) -> int:
    found = decode_segments(TraceScores(rows, penalty))
    return 1 if found is None else found.n_segments


@dataclass(frozen=True, eq=False)
class Fitted:
    """A penalty, the mean loss there, the interval that is as good, and the losses one by one.

    Means that differ by no more than ``chance`` are the same.
    """

    penalty: float
    loss: float
    low: float
    high: float
    losses: Floats

    @property
    def chance(self) -> float:
        """A share of the standard error of the mean loss."""
        return PLATEAU * float(self.losses.std()) / np.sqrt(len(self.losses))


def fit_penalty(tasks: Sequence[Task], around: float) -> Fitted:
    """The penalty of least mean loss; what was learnt says where to look first."""
    low, high = LOWEST * around, HIGHEST * around
    curves = [curve_of(task, low, high) for task in tasks]
    for _ in range(EXTENSIONS):
        best = best_interval(curves)
        at_low = best is not None and best.low <= low * (1.0 + SAME)
        at_high = best is None or best.high >= high * (1.0 - SAME)
        below = at_low and any(curve.ends[0] for curve in curves)
        above = at_high and any(curve.ends[1] for curve in curves)
        if not below and not above:
            break
        if below:
            more = [curve_of(task, low / FARTHER, low) for task in tasks]
            curves = [_joined(first, then) for first, then in zip(more, curves, strict=True)]
            low /= FARTHER
        if above:
            more = [curve_of(task, high, high * FARTHER) for task in tasks]
            curves = [_joined(first, then) for first, then in zip(curves, more, strict=True)]
            high *= FARTHER
    found = best_interval(curves) or best_interval(curves, sound=False)
    assert found is not None
    return found


def best_interval(curves: Sequence[Curve], *, sound: bool = True) -> Fitted | None:
    """Where the mean of the losses is least; of several such intervals the widest.

    ``sound`` leaves out penalties at which more changes are wrong than right.
    """
    edges = np.unique(np.concatenate([curve.edges for curve in curves]))
    middles = np.sqrt(edges[:-1] * edges[1:])
    places = [curve.places(middles) for curve in curves]
    each = np.array([curve.losses[own] for curve, own in zip(curves, places, strict=True)])
    total = each.mean(axis=0)
    if sound:
        excess = [curve.invented[own] for curve, own in zip(curves, places, strict=True)]
        total = np.where(np.mean(excess, axis=0) <= SAME, total, np.inf)
    if not np.isfinite(total).any():
        return None
    lowest = each[:, int(np.argmin(total))]
    chance = PLATEAU * float(lowest.std()) / np.sqrt(len(curves))
    least = total <= total.min() + SAME + chance
    starts = np.flatnonzero(least & ~np.concatenate([[False], least[:-1]]))
    stops = np.flatnonzero(least & ~np.concatenate([least[1:], [False]]))
    widths = np.log(edges[stops + 1] / edges[starts])
    widest = int(np.argmax(widths))
    low, high = float(edges[starts[widest]]), float(edges[stops[widest] + 1])
    return Fitted(
        penalty=float(np.sqrt(low * high)), loss=float(total.min()), low=low, high=high,
        losses=lowest,
    )  # fmt: skip


def _joined(first: Curve, then: Curve) -> Curve:
    return Curve(
        np.concatenate([first.edges, then.edges[1:]]),
        np.concatenate([first.losses, then.losses]),
        np.concatenate([first.invented, then.invented]),
        (first.ends[0], then.ends[1]),
    )
