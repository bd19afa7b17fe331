"""Selection: how to weigh, how strongly to pull and how to connect, judged on held-out clusters.

Candidates are trained on a part of what was shown and judged on clusters that they have not seen:
whole sets where there are two or more, otherwise the one set with some of its clusters new to them.
What counts is the agreement over a stretch of opening costs, not at the luckiest one. The obvious
things that one could do without learning weights are candidates too, so what is learnt is never
worse than these as far as the examples can tell.
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
from likewise.estimators.training import (
    COLLAPSED,
    Centres,
    Settings,
    total_for,
    train,
    typical_size,
)
from likewise.geometry.paths import check_steps, paths_between
from likewise.learners.calibration import FACTORS, ShownSet, agreements, fit_law

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
    """How candidates did: the mean agreement with held-out clusters, and its standard error.

    ``judged`` is what it follows from: agreements by split, candidate and factor.
    """

    candidates: list[Candidate]
    scores: Floats
    errors: Floats
    chosen: Candidate
    held_out: str
    judged: Floats

    @classmethod
    def of(cls, candidates: Sequence[Candidate], judged: Floats, held_out: str) -> Verdict:
        """The first candidate that is not clearly worse than the best one."""
        n, _, n_factors = judged.shape
        if n == 0:
            unknown = np.full(len(candidates), np.nan)
            # Nothing speaks for training weights.
            chosen = next((c for c in candidates if c.strength is None), candidates[0])
            return cls(list(candidates), unknown, unknown, chosen, "nothing", judged)
        width = min(STRETCH, n_factors)
        padded = np.pad(judged, ((0, 0), (0, 0), (width // 2, width // 2)), mode="edge")
        curves = np.lib.stride_tricks.sliding_window_view(padded, width, axis=2).mean(axis=3)
        overall = curves.mean(axis=0)
        scores, places = overall.max(axis=1), overall.argmax(axis=1)
        each = curves[:, np.arange(len(candidates)), places]
        errors = each.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(len(candidates))
        first = int(np.flatnonzero(scores >= scores.max() - CLEARLY)[0])
        return cls(list(candidates), scores, errors, candidates[first], held_out, judged)

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
        whole = [np.arange(len(part.shown)) for part in sets]
        found = []
        for fold in range(n_folds):
            chosen = set(order[fold::n_folds].tolist())
            found.append(
                Split(
                    [(k, rows) for k, rows in enumerate(whole) if k not in chosen],
                    [(k, rows) for k, rows in enumerate(whole) if k in chosen],
                )
            )
        return "sets", found
    shown, n = sets[0].shown, sets[0].n_clusters
    everyone = np.arange(len(shown))
    if n >= 4:
        away = [np.isin(shown, rng.permutation(n)[: n // 2]) for _ in range(N_FOLDS)]
        return "clusters", [Split([(0, np.flatnonzero(~half))], [(0, everyone)]) for half in away]
    # New rows of known clusters: all that is left to hold out.
    away = [_every_other_row(shown, n, rng) for _ in range(2)]
    return "rows", [
        Split([(0, np.flatnonzero(~half))], [(0, np.flatnonzero(half))])
        for half in away
        if 2 <= half.sum() <= len(shown) - 2
    ]


def _every_other_row(shown: Indices, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Half of the rows of every cluster, drawn at random."""
    rank = np.empty(len(shown), dtype=np.intp)
    for cluster in range(n):
        members = rng.permutation(np.flatnonzero(shown == cluster))
        rank[members] = np.arange(len(members))
    return rank % 2 == 1


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


@dataclass(frozen=True, eq=False)
class Judging:
    """Candidates, and what they are judged by.

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
    """

    views: Sequence[Sequence[TrainingSet]]
    means: Sequence[Floats]
    candidates: Sequence[Candidate]
    settings: Settings
    regulariser: Any
    commensurable: bool

    def run(
        self,
        judged: Floats | None,
        told: Callable[[int, int, float], object],
        keep: Callable[[Floats], object] | None,
    ) -> Verdict:
        """Judge all candidates on held-out clusters and choose.

        Parameters
        ----------
        judged : array or None
            What ``keep`` was given last: splits that need not be judged again.
        told : callable
            Told how many splits are judged, of how many, after how many seconds.
        keep : callable or None
            Given the agreements by split, candidate and factor after every split.
        """
        seed = self.settings.seed
        rows = [thinned(part, seed, k) for k, part in enumerate(self.views[0])]
        small = [[part.restricted_to(rows[k]) for k, part in enumerate(v)] for v in self.views]
        held_out, found = splits(small[0], seed)
        width = len(COARSE) if self.settings.opening_cost is None else 1
        curves = np.empty((0, len(self.candidates), width)) if judged is None else judged
        started = time.perf_counter()
        for number in range(len(curves), len(found)):
            told(number, len(found), time.perf_counter() - started)
            curves = np.concatenate([curves, self._judge(small, found[number])[None]])
            if keep is not None:
                keep(curves)
        return Verdict.of(self.candidates, curves, held_out)

    def _judge(self, views: list[list[TrainingSet]], split: Split) -> Floats:
        """Agreement with the held-out part for every candidate and factor."""
        curves = []
        trained: dict[tuple[str, float | None, int], Floats] = {}
        for candidate in self.candidates:
            view = views[candidate.view]
            key = (candidate.centre, candidate.strength, candidate.view)
            if key not in trained:
                parts = [view[k].restricted_to(rows) for k, rows in split.training]
                trained[key] = self._weights(candidate, parts)
            shown = [view[k].restricted_to(rows) for k, rows in split.held_out]
            curves.append(_agreements(trained[key], candidate, shown, self.settings))
        return np.array(curves)

    def _weights(self, candidate: Candidate, parts: Sequence[TrainingSet]) -> Floats:
        """The scaled weights of features that a candidate comes to on some sets."""
        means = self.means[candidate.view]
        centres = Centres.of(parts, means, commensurable=self.commensurable)
        centre = centres.named(candidate.centre)
        if candidate.strength is None:
            return untrained(parts, centre, candidate.paths, self.settings)
        outcome = train(
            parts, self.settings, self.regulariser, candidate.strength, centre,
            tol=QUICK_TOL, max_iter=QUICK_PASSES, quick=True,
        )  # fmt: skip
        return outcome.weights[: len(centre)]


def distances_of(part: TrainingSet, weights: Floats, paths: float | None) -> Floats:
    """The distances of a training set, by candidate."""
    serve = part.pairs.costs(weights)
    if paths is None:
        return serve
    check_steps(serve.T, paths)
    # A path from p to q runs backwards in what is stored by candidate.
    return paths_between(serve, paths)[0]


def untrained(
    parts: Sequence[TrainingSet], centre: Floats, paths: float | None, settings: Settings
) -> Floats:
    """The weights of a candidate that takes its centre as it is.

    Where the opening cost is fixed, what is fitted instead is how large they are.
    """
    cost = settings.opening_cost
    if cost is None or cost <= 0.0:
        return centre
    shown = [ShownSet(distances_of(part, centre, paths), part.shown) for part in parts]
    law, _ = fit_law(shown, 1.0, settings.n_jobs)
    return centre * (cost / law.cost(typical_size(parts), 1.0))


def _agreements(
    weights: Floats, candidate: Candidate, shown: Sequence[TrainingSet], settings: Settings
) -> Floats:
    """The mean agreement over sets for every factor, or for the opening cost that is fixed."""
    cost = settings.opening_cost
    factors, exponent = (COARSE, 1.0) if cost is None else (np.array([cost]), 0.0)
    total = float(np.abs(weights).sum())
    if total < COLLAPSED * total_for(shown, settings):
        return np.full(len(factors), -1.0)
    if cost is None:
        weights = weights / total
    if candidate.paths is not None and any(p.pairs.costs(weights).min() < 0.0 for p in shown):
        # No paths along negative distances.
        return np.full(len(factors), -1.0)
    sets = [ShownSet(distances_of(p, weights, candidate.paths), p.shown) for p in shown]
    return agreements(sets, factors, exponent, settings.n_jobs).mean(axis=0)
