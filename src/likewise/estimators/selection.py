"""Selection: how to weigh, how strongly to pull and how to connect, judged on held-out clusters.

Candidates are trained on a part of what was shown and judged on clusters that they have not seen:
whole sets where there are two or more, otherwise the one set with some of its clusters new to them.
What counts is the agreement over a stretch of opening costs, not at the luckiest one. The obvious
things that one could do without learning weights are candidates too, so what is learnt is never worse
than these as far as the examples can tell.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.arrays.random import stream
from likewise.estimators.examples import TrainingSet
from likewise.estimators.training import COLLAPSED, Centres, Settings, train
from likewise.geometry.paths import paths_between
from likewise.learners.calibration import FACTORS, ShownSet, agreements

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Held-out parts: more of them cost time, fewer leave more to chance.
N_FOLDS = 4
# Rows of a set that selection looks at: enough to tell candidates apart.
MOST_ROWS = 200
# Passes and gap of a training that is only compared.
QUICK_PASSES, QUICK_TOL = 40, 0.05
# A later candidate must agree better than an earlier one by more than this.
CLEARLY = 0.01
# Neighbouring factors over which the agreement is averaged.
STRETCH = 5
# Strengths per shown row that are tried.
STRENGTHS = {"auto": (0.3, 0.03), "l1": (0.3, 0.1, 0.03), "l2": (0.3, 0.1, 0.03)}
# Every other factor of the calibration suffices to compare.
COARSE = FACTORS[::2]
PATHS_POWER = 2.0


@dataclass(frozen=True)
class Candidate:
    """One way to weigh features and to measure distances.

    ``strength`` None takes the centre as it is: only the opening cost is learnt. ``paths`` is the
    power of path distances, ``view`` the index of the geometry (local scales or none).
    """

    centre: str
    strength: float | None
    paths: float | None
    view: int = 0

    @property
    def name(self) -> str:
        """What to call it in tables."""
        weights = {"plain": "plain distance", "within": "within", "contrast": "contrast"}
        parts = [weights[self.centre] if self.strength is None else f"learnt, near {self.centre}"]
        if self.strength is not None:
            parts.append(f"strength {self.strength:g}")
        if self.view:
            parts.append("locally scaled")
        if self.paths is not None:
            parts.append("paths")
        return ", ".join(parts)


@dataclass(frozen=True, eq=False)
class Verdict:
    """How candidates did: the mean agreement with held-out clusters, and its standard error."""

    candidates: list[Candidate]
    scores: Floats
    errors: Floats
    chosen: Candidate
    held_out: str

    def table(self) -> dict[str, list[Any]]:
        """As columns of equal length."""
        return {
            "candidate": [candidate.name for candidate in self.candidates],
            "agreement": self.scores.tolist(),
            "standard_error": self.errors.tolist(),
            "chosen": [candidate == self.chosen for candidate in self.candidates],
        }


def candidates_for(
    regulariser: Any, strengths: Sequence[float], *, paths: Any, views: int, commensurable: bool
) -> list[Candidate]:
    """All candidates, the ones to prefer at a tie first.

    Those whose result does not depend on the units of columns come before those whose result does.
    """
    names: list[tuple[str, float | None]] = [("contrast", s) for s in strengths]
    names.append(("contrast", None))
    for centre in ("within", "plain"):
        if regulariser == "auto":
            names += [(centre, s) for s in strengths[:1]]
        names.append((centre, None))
    powers = [None, PATHS_POWER] if paths == "auto" else [paths]
    return [
        Candidate(centre, strength, power, view)
        for power in powers
        for view in range(views)
        for centre, strength in names
    ]


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on and rows to judge by, as (number of the set, rows)."""

    training: list[tuple[int, Indices]]
    held_out: list[tuple[int, Indices]]


def splits(sets: Sequence[TrainingSet], seed: int) -> tuple[str, list[Split]]:
    """What is held out, and how: new clusters wherever there are enough of them."""
    rng = stream(seed, "splits")
    if len(sets) > 1:
        order = rng.permutation(len(sets))
        n_folds = min(N_FOLDS, len(sets))
        everything = [np.arange(len(part.shown)) for part in sets]
        found = []
        for fold in range(n_folds):
            chosen = set(order[fold::n_folds].tolist())
            found.append(
                Split(
                    [(k, rows) for k, rows in enumerate(everything) if k not in chosen],
                    [(k, rows) for k, rows in enumerate(everything) if k in chosen],
                )
            )
        return "sets", found
    shown, n = sets[0].shown, sets[0].n_clusters
    if n >= 4:
        halves = [np.isin(shown, rng.permutation(n)[: n // 2]) for _ in range(N_FOLDS)]
        everything = np.arange(len(shown))
        return "clusters", [
            Split([(0, np.flatnonzero(~away))], [(0, everything)]) for away in halves
        ]
    # New rows of known clusters: all that is left to hold out.
    halves = []
    for _ in range(2):
        rank = np.empty(len(shown), dtype=np.intp)
        for cluster in range(n):
            members = rng.permutation(np.flatnonzero(shown == cluster))
            rank[members] = np.arange(len(members))
        halves.append(rank % 2 == 1)
    usable = [away for away in halves if 2 <= away.sum() <= len(shown) - 2]
    return "rows", [_halves(away) for away in usable]


def _halves(away: NDArray[np.bool_]) -> Split:
    return Split([(0, np.flatnonzero(~away))], [(0, np.flatnonzero(away))])


def thinned(part: TrainingSet, seed: int, place: int) -> Indices:
    """At most MOST_ROWS rows of a set, the same share of every cluster."""
    n = len(part.shown)
    if n <= MOST_ROWS:
        return np.arange(n)
    rng = stream(seed, "thinned", place)
    kept = []
    for cluster in range(part.n_clusters):
        members = np.flatnonzero(part.shown == cluster)
        count = max(min(2, len(members)), round(len(members) * MOST_ROWS / n))
        kept.append(rng.permutation(members)[:count])
    return np.sort(np.concatenate(kept))


def select(
    views: Sequence[Sequence[TrainingSet]],
    means: Sequence[Floats],
    candidates: Sequence[Candidate],
    settings: Settings,
    regulariser: Any,
    *,
    commensurable: bool,
    told: Callable[[int, int, float], object],
) -> Verdict:
    """Judge all candidates on held-out clusters and choose.

    Parameters
    ----------
    views : sequence of sequence of TrainingSet
        Per geometry, all sets with scaled features.
    means : sequence of array
        Per geometry, what features were divided by.
    candidates : sequence of Candidate
        The ones to prefer at a tie first.
    settings, regulariser
        As for `train`.
    commensurable : bool
        Whether the plain distance adds columns up as they are given.
    told : callable
        Told how many splits are judged, of how many, after how many seconds.
    """
    rows = [thinned(part, settings.seed, k) for k, part in enumerate(views[0])]
    small = [[part.restricted_to(rows[k]) for k, part in enumerate(view)] for view in views]
    held_out, found = splits(small[0], settings.seed)
    judged, started = [], time.perf_counter()
    for number, split in enumerate(found):
        told(number, len(found), time.perf_counter() - started)
        judged.append(_judge(small, means, split, candidates, settings, regulariser, commensurable))
    if not judged:
        return Verdict(
            list(candidates), np.full(len(candidates), np.nan), np.full(len(candidates), np.nan),
            candidates[0], "nothing",
        )  # fmt: skip
    return _verdict(candidates, np.array(judged), held_out)


def _judge(
    views: list[list[TrainingSet]],
    means: Sequence[Floats],
    split: Split,
    candidates: Sequence[Candidate],
    settings: Settings,
    regulariser: Any,
    commensurable: bool,
) -> Floats:
    """Agreement with the held-out part for every candidate and factor."""
    curves = []
    trained: dict[tuple[str, float | None, int], Floats] = {}
    for candidate in candidates:
        view = views[candidate.view]
        key = (candidate.centre, candidate.strength, candidate.view)
        if key not in trained:
            parts = [view[k].restricted_to(rows) for k, rows in split.training]
            centres = Centres.of(parts, means[candidate.view], commensurable=commensurable)
            trained[key] = weights_of(candidate, parts, centres, settings, regulariser, quick=True)
        shown = [view[k].restricted_to(rows) for k, rows in split.held_out]
        curves.append(_agreements(trained[key], candidate, shown, settings))
    return np.array(curves)


def weights_of(
    candidate: Candidate,
    parts: Sequence[TrainingSet],
    centres: Centres,
    settings: Settings,
    regulariser: Any,
    *,
    quick: bool,
) -> Floats:
    """The scaled weights of features that a candidate comes to."""
    centre = centres.named(candidate.centre)
    if candidate.strength is None:
        return centre
    outcome = train(
        parts, settings, regulariser, candidate.strength, centre,
        tol=QUICK_TOL, max_iter=QUICK_PASSES, quick=quick,
    )  # fmt: skip
    return outcome.weights[: len(centre)]


def distances_of(part: TrainingSet, weights: Floats, paths: float | None) -> Floats:
    """The distances of a training set, by candidate."""
    serve = part.pairs.costs(weights)
    if paths is None:
        return serve
    # A path from p to q runs backwards in what is stored by candidate.
    return paths_between(serve, paths)[0]


def _agreements(
    weights: Floats, candidate: Candidate, shown: Sequence[TrainingSet], settings: Settings
) -> Floats:
    total = float(np.abs(weights).sum())
    if total < COLLAPSED:
        return np.full(len(COARSE), -1.0)
    fixed = settings.opening_cost is not None
    if not fixed:
        weights = weights / total
    sets = [ShownSet(distances_of(p, weights, candidate.paths), p.shown) for p in shown]
    if settings.opening_cost is not None:
        return agreements(sets, np.array([settings.opening_cost]), 0.0, settings.n_jobs)
    return agreements(sets, COARSE, 1.0, settings.n_jobs)


def _verdict(candidates: Sequence[Candidate], judged: Floats, held_out: str) -> Verdict:
    """The first candidate that is not clearly worse than the best one."""
    n, _, n_factors = judged.shape
    width = min(STRETCH, n_factors)
    padded = np.pad(judged, ((0, 0), (0, 0), (width // 2, width // 2)), mode="edge")
    curves = np.lib.stride_tricks.sliding_window_view(padded, width, axis=2).mean(axis=3)
    overall = curves.mean(axis=0)
    scores, places = overall.max(axis=1), overall.argmax(axis=1)
    each = curves[:, np.arange(len(candidates)), places]
    errors = each.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(len(candidates))
    chosen = int(np.flatnonzero(scores >= scores.max() - CLEARLY)[0])
    return Verdict(list(candidates), scores, errors, candidates[chosen], held_out)
