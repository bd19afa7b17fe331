"""Choosing how to look at sequences, and what metric to learn, on sequences that are held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likewise.decoders.segments import decode_segments
from likewise.errors import InputError
from likewise.estimators.series_features import Units, Viewed
from likewise.estimators.series_input import loss_between
from likewise.estimators.series_penalties import (
    PLATEAU,
    Fitted,
    Task,
    fit_penalty,
    growth,
)
from likewise.estimators.series_training import (
    ROUGH,
    Candidate,
    Part,
    SeriesSettings,
    Trained,
    Training,
    path_of,
)
from likewise.potentials import TraceScores

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Up to FEW sequences every one is held out once; up to SOME there are FEW folds, then LEAST.
FEW, SOME, LEAST = 5, 20, 3
# What is learnt must lower the loss by so many standard errors of the difference, and by this share
# of it, against the candidate that can go least wrong.
ERRORS, SHARE = 1.0, 0.02
# Another way to look at sequences must lower the loss by this share of what there is to lose.
OTHER_LOOK = 0.1
# Principal components to start from.
COMPONENTS = 3


@dataclass(frozen=True, eq=False)
class Pupils:
    """Sequences, seen in one way, of which some are learnt from.

    Attributes
    ----------
    viewed : list of Viewed
        The sequences, in comparable units.
    typical : float
        Blocks of a typical one.
    settings : SeriesSettings
        The choices of the user.
    criterion : str
        What segmentations are judged by.
    kinds : array or None
        The kind of every feature.
    """

    viewed: list[Viewed]
    typical: float
    settings: SeriesSettings
    criterion: str
    kinds: Indices | None

    @classmethod
    def of(
        cls, viewed: Sequence[Viewed], units: Units, settings: SeriesSettings, criterion: str,
        kinds: Indices | None,
    ) -> Pupils:  # fmt: skip
        """In the units given."""
        scaled = [replace(part, rows=units.applied_to(part.rows)) for part in viewed]
        typical = float(np.exp(np.mean([np.log(len(part.rows)) for part in scaled])))
        return cls(scaled, typical, settings, criterion, kinds)

    def restricted_to(self, chosen: Sequence[int]) -> Pupils:
        """Some of the sequences."""
        return replace(self, viewed=[self.viewed[k] for k in chosen])

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.viewed[0].rows.shape[1])

    def training(self, parts: Sequence[Part]) -> Training:
        """What a training needs, for stretches that are wholly labelled."""
        return Training.of(parts, self.settings, self.kinds)

    def fitted(self, trained: Trained) -> Fitted:
        """The penalty that suits what is shown of the sequences."""
        tasks = [self.task(part, trained) for part in self.viewed if not part.source.is_silent]
        return fit_penalty(tasks, max(trained.penalty, 1e-3))

    def task(self, part: Viewed, trained: Trained) -> Task:
        """One sequence, to be judged by penalties."""
        return Task(
            trained.factored(part.rows), growth(len(part.rows), self.typical),
            part.source.most_segments,
            lambda cuts: part.loss(cuts, self.criterion), part.invented,
        )  # fmt: skip

    def segmented(self, part: Viewed, trained: Trained, penalty: float) -> Indices:
        """The change points of one sequence, as learnt."""
        known = int(part.labels.max()) + 1 if self.settings.known else None
        scores = TraceScores(
            trained.factored(part.rows), penalty * growth(len(part.rows), self.typical)
        )
        found = decode_segments(scores, n_segments=known)
        return np.empty(0, dtype=np.intp) if found is None else found.partition.change_points

    def losses(self, trained: Trained, penalty: float) -> Floats:
        """What is lost on every sequence that shows something."""
        return np.array(
            [
                part.loss(self.segmented(part, trained, penalty), self.criterion)
                for part in self.viewed
                if not part.source.is_silent
            ]
        )

    def disagreements(self, trained: Trained, penalty: float, truths: Sequence[Indices]) -> Floats:
        """What is lost against other segmentations of all blocks."""
        pairs = [
            (
                truth,
                np.searchsorted(
                    self.segmented(part, trained, penalty), np.arange(len(truth)), side="right"
                ),
            )
            for part, truth in zip(self.viewed, truths, strict=True)
        ]
        return np.array([loss_between(truth, found, "projection") for truth, found in pairs])

    def one_segment_losses(self) -> Floats:
        """What is lost by no changes at all, on every sequence."""
        nothing = np.empty(0, dtype=np.intp)
        return np.array([part.loss(nothing, self.criterion) for part in self.viewed])

    def completed(self, trained: Trained, penalty: float) -> list[Part]:
        """The sequences with the best segmentations that keep to what is shown of them."""
        parts = []
        for part in self.viewed:
            labels = part.labels
            if not part.is_complete:
                scores = TraceScores(
                    trained.factored(part.rows), penalty * growth(len(part.rows), self.typical)
                )
                windows = part.regions.windows(len(part.rows))
                found = decode_segments(scores, windows=windows)
                if found is None:
                    raise InputError(
                        f"no segmentation of {part.source.n_rows} rows keeps to the labels "
                        f"{part.source.regions.rows}: change one of them."
                    )
                labels = found.partition.labels
            parts.append((part.rows, labels))
        return parts

    def equal(self) -> Trained:
        """All features count the same."""
        return Trained(np.ones(self.n_features), float(self.n_features), None)

    def projected(self) -> list[Part]:
        """The sequences as their first principal components segment them.

        Where lajugie2014 starts from when not all is labelled, section 5.2.
        """
        rows = np.concatenate([part.rows for part in self.viewed])
        _, vectors = np.linalg.eigh(rows.T @ rows)
        first = vectors[:, -COMPONENTS:]
        start = Trained(first @ first.T, float(first.shape[1]), None)
        return self.completed(start, self.fitted(start).penalty)

    def shown_parts(self) -> list[Part]:
        """What is labelled; where no two rows in a row are, completed under equal weights."""
        stretches = [stretch for part in self.viewed for stretch in part.parts()]
        if stretches and not any(part.source.annotated for part in self.viewed):
            return stretches
        equal = self.equal()
        return self.completed(equal, self.fitted(equal).penalty)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What candidates lost on every sequence that was held out."""

    candidates: list[Candidate]
    losses: Floats

    @property
    def chosen(self) -> int:
        """The best candidate, if it is clearly better than the first; else the first.

        A stronger regulariser of its kind takes its place where that may be chance.
        """
        means, n = self.losses.mean(axis=1), self.losses.shape[1]
        gains = self.losses[0] - self.losses
        errors = gains.std(axis=1, ddof=1) / np.sqrt(n)
        clear = gains.mean(axis=1) > np.maximum(ERRORS * errors, SHARE * means[0])
        if not clear.any():
            return 0
        best = int(np.argmin(np.where(clear, means, np.inf)))
        behind = self.losses - self.losses[best]
        chance = PLATEAU * behind.std(axis=1, ddof=1) / np.sqrt(n)
        found = self.candidates[best]
        alike = [
            k
            for k, other in enumerate(self.candidates)
            if (other.shape, other.pull) == (found.shape, found.pull)
            and other.strength >= found.strength
            and clear[k]
            and behind[k].mean() <= chance[k]
        ]
        return max(alike, key=lambda k: self.candidates[k].strength)

    def gains_on(self, others: Floats) -> bool:
        """Whether the candidate that was chosen clearly loses less than something else."""
        gains = others - self.losses[self.chosen]
        n = len(gains)
        error = float(gains.std(ddof=1)) / np.sqrt(n) if n > 1 else 0.0
        return bool(gains.mean() > max(ERRORS * error, SHARE * others.mean()))

    def table(self) -> dict[str, list[object]]:
        """One line per candidate."""
        n = self.losses.shape[1]
        errors = (
            self.losses.std(axis=1, ddof=1) / np.sqrt(n)
            if n > 1
            else np.full(len(self.losses), np.nan)
        )
        return {
            "candidate": [candidate.name for candidate in self.candidates],
            "loss": self.losses.mean(axis=1).tolist(),
            "standard_error": errors.tolist(),
            "chosen": [k == self.chosen for k in range(len(self.candidates))],
        }


def folds_of(n: int) -> list[list[int]]:
    """Which sequences are held out together."""
    count = n if n <= FEW else FEW if n < SOME else LEAST
    return [list(range(fold, n, count)) for fold in range(count)]


def judge_fold(
    pupils: Pupils, held: Sequence[int], candidates: Sequence[Candidate],
    parts: Sequence[Part] | None = None,
) -> Floats:  # fmt: skip
    """The losses of all candidates on held-out sequences, trained on the others.

    ``parts`` are completions of all the sequences; without them, candidates are trained on what is
    shown.
    """
    others = [k for k in range(len(pupils.viewed)) if k not in set(held)]
    shown, rest = pupils.restricted_to(others), pupils.restricted_to(held)
    known_parts = shown.shown_parts() if parts is None else [parts[k] for k in others]
    training = shown.training(known_parts)
    one = _unbroken(training.one_weight())
    losses: dict[Candidate, Floats] = {}
    for path in path_of(candidates):
        known = None
        for candidate in path:
            trained, known = training.train(candidate, one, known, tol=ROUGH)
            _unbroken(trained)
            penalty = 1.0 if pupils.settings.known else shown.fitted(trained).penalty
            if parts is None:
                losses[candidate] = rest.losses(trained, penalty)
            else:
                truths = [parts[k][1] for k in held]
                losses[candidate] = rest.disagreements(trained, penalty, truths)
    return np.array([losses[candidate] for candidate in candidates])


def _unbroken(trained: Trained) -> Trained:
    """A training that Ctrl-C ended says nothing about its candidate."""
    if trained.ended.status == "interrupted":
        raise KeyboardInterrupt
    return trained
