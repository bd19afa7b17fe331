"""What ``likewise demo`` compares: the learner, and what one could do without it.

Every method is given a lesson, sets that are shown with their partitions and new sets without, and
answers with labels of the new sets. Those that cannot find the number of clusters are told the true
one, which favours them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from likewise.datasets import LabelledRows, make_nuisance_sets
from likewise.errors import LikewiseWarning
from likewise.estimators.exemplar_learner import ExemplarLearner
from likewise.experiments.baselines import PlainDistance, TunedExemplars
from likewise.learners.base import TrainingProgress
from likewise.metrics import pairwise_f1

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Labels = NDArray[np.intp]

LEARNER = "likewise, learnt"
# Costs of a cluster that are tried for plain distances, in the units of the experiments.
FACTORS = tuple(np.geomspace(3e-3, 0.3, 9).tolist())


@dataclass(frozen=True, eq=False)
class Lesson:
    """Sets that are shown with their partitions, and new ones, whose labels only judge."""

    shown: Sequence[Floats]
    shown_labels: Sequence[Labels]
    new: Sequence[Floats]
    new_labels: Sequence[Labels]


@dataclass(frozen=True, kw_only=True)
class MethodResult:
    """One line of a table: what came out for every new set."""

    method: str
    told_number: bool
    clusters: list[int]
    adjusted_rand: list[float]
    pairwise_f1: list[float]
    seconds: float


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method made of the new sets of a lesson."""

    labels: list[Labels]
    seconds: float


Method = Callable[[Lesson], list["Labels"]]


def noise_lesson(rows: int, shown: Sequence[int], new: Sequence[int]) -> Lesson:
    """Sets with so many clusters each, in 4 columns beside 16 of noise; every set its own centres.

    Examples
    --------
    >>> from likewise.app.demo_methods import noise_lesson
    >>> lesson = noise_lesson(30, shown=(4, 5), new=(3,))
    >>> [len(set(labels)) for labels in (*lesson.shown_labels, *lesson.new_labels)]
    [4, 5, 3]
    """
    made = [
        make_nuisance_sets(1, rows, k, spread=0.4, random_state=seed)
        for seed, k in enumerate((*shown, *new))
    ]
    sets, labels = [one.sets[0] for one in made], [one.labels[0] for one in made]
    n = len(shown)
    return Lesson(sets[:n], labels[:n], sets[n:], labels[n:])


def digits_lesson(
    digits: LabelledRows, shown: Sequence[int], new: Sequence[int], every: int
) -> Lesson:
    """Every so many of the images of some digits, and of others."""

    def part(classes: Sequence[int]) -> tuple[Floats, Labels]:
        rows = np.flatnonzero(np.isin(digits.labels, classes))[::every]
        return digits.rows[rows], digits.labels[rows]

    (X, y), (X_new, y_new) = part(shown), part(new)
    return Lesson([X], [y], [X_new], [y_new])


def learnt(
    lesson: Lesson, on_progress: Callable[[TrainingProgress], object]
) -> tuple[ExemplarLearner, Answer]:
    """The learner with its defaults, and what it makes of the new sets."""
    learner = ExemplarLearner(random_state=0, callbacks=on_progress)
    with warnings.catch_warnings():
        # Pixels at the edge are white in all images; the status is in the report.
        warnings.simplefilter("ignore", LikewiseWarning)
        start = time.perf_counter()
        learner.fit(lesson.shown, lesson.shown_labels)
    if learner.status_ == "interrupted":
        raise KeyboardInterrupt
    labels = learner.cluster(lesson.new)
    return learner, Answer(labels, time.perf_counter() - start)


def answered(method: Method, lesson: Lesson) -> Answer:
    """What a method makes of a lesson, on one thread."""
    with threadpool_limits(1):
        start = time.perf_counter()
        labels = method(lesson)
        return Answer(labels, time.perf_counter() - start)


def judged(
    name: str, told_number: bool, lessons: Sequence[Lesson], answers: Sequence[Answer]
) -> MethodResult:
    """The line of one method, over the new sets of all lessons."""
    truth = [labels for lesson in lessons for labels in lesson.new_labels]
    found = [labels for answer in answers for labels in answer.labels]
    pairs = list(zip(truth, found, strict=True))
    return MethodResult(
        method=name,
        told_number=told_number,
        clusters=[len(np.unique(labels)) for labels in found],
        adjusted_rand=[adjusted_rand(y, labels) for y, labels in pairs],
        pairwise_f1=[float(pairwise_f1(y, labels)) for y, labels in pairs],
        seconds=sum(answer.seconds for answer in answers),
    )


def adjusted_rand(truth: Labels, found: Labels) -> float:
    """The adjusted Rand index: 1 is perfect, 0 is chance."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(truth, found))


def plain(lesson: Lesson) -> list[Labels]:
    """Partition around exemplars with plain distances, the cost that suits the shown sets best."""
    tuned = TunedExemplars(PlainDistance(), score=adjusted_rand, factors=FACTORS)
    return tuned.fit(lesson.shown, lesson.shown_labels).cluster(lesson.new)


def k_means(lesson: Lesson) -> list[Labels]:
    """k-means, told the true number of clusters."""
    return _told(lesson, lesson.new, _k_means_of)


def k_means_standardised(lesson: Lesson) -> list[Labels]:
    """k-means of standardised columns, told the true number of clusters."""
    from sklearn.preprocessing import StandardScaler

    return _told(lesson, [StandardScaler().fit_transform(X) for X in lesson.new], _k_means_of)


def ward(lesson: Lesson) -> list[Labels]:
    """Agglomerative clustering after Ward, told the true number of clusters."""
    from sklearn.cluster import AgglomerativeClustering

    return _told(lesson, lesson.new, AgglomerativeClustering)


def _k_means_of(n_clusters: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, n_init=10, random_state=0)


def _told(lesson: Lesson, sets: Sequence[Floats], make: Callable[[int], Any]) -> list[Labels]:
    return [
        make(len(np.unique(y))).fit(X).labels_ for X, y in zip(sets, lesson.new_labels, strict=True)
    ]


# Name, whether it is told the number of clusters, method.
PLAIN = ("plain distance, tuned", False, plain)
K_MEANS_STANDARDISED = ("k-means, standardised", True, k_means_standardised)
PEERS: tuple[tuple[str, bool, Method], ...] = (
    PLAIN,
    ("k-means", True, k_means),
    K_MEANS_STANDARDISED,
    ("Ward", True, ward),
)
