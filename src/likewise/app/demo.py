"""What ``likewise demo`` does: shows partitioned sets, learns, and groups new sets likewise.

Two chapters: made sets whose clusters plain distances cannot see, and images of digits that were
never shown. Each is a table, beside what one could do without learning, and a picture.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from likewise.app import demo_methods as methods
from likewise.app.demo_methods import Answer, Lesson, MethodResult
from likewise.app.targets import write_figure
from likewise.datasets.load import LabelledRows, load_digits_demo
from likewise.errors import InputError
from likewise.estimators.exemplar_learner import ExemplarLearner
from likewise.learners.base import TrainingProgress
from likewise.plots import story
from likewise.plots.canvas import require_matplotlib
from likewise.plots.weights import shares_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Clusters of the sets that are shown, and of the new ones: none of these numbers is given.
SHOWN_CLUSTERS, NEW_CLUSTERS = (4, 5, 6, 7), (3, 5, 8)
# The columns that tell clusters apart come first.
INFORMATIVE = 4
HALVES = ((0, 1, 2, 3, 4), (5, 6, 7, 8, 9))
HALVES_IN_WORDS = ("0 to 4", "5 to 9")
# What the picture of the first chapter shows, and how it calls it: plain distances, the best that
# one could do without learning, and the learner.
DRAWN = {
    methods.PLAIN[0]: "plain distance",
    methods.K_MEANS_STANDARDISED[0]: "k-means, standardised,\ntold the number",
    methods.LEARNER: "learnt,\nnumber not told",
}
# Weights that the table shows.
MOST_WEIGHTS = 6
ON_TRAINING = Callable[[TrainingProgress], object]


@dataclass(frozen=True)
class Effort:
    """How much data: rows of every made set, and the share of the images, one in so many."""

    rows: int = 150
    every: int = 3


EFFORT = Effort()


@dataclass(frozen=True, kw_only=True)
class Learnt:
    """What a learner has learnt; weights as shares of a typical learnt distance."""

    chosen: str
    status: str
    passes: int
    weights: dict[str, float]
    noise_share: float | None


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """One story: what was shown, what was learnt, what came out."""

    title: str
    shown: str
    new: str
    true_clusters: list[int]
    learnt: list[Learnt]
    results: list[MethodResult]
    picture: str


@dataclass(frozen=True, kw_only=True)
class DemoReport:
    """The chapters, and how long it took."""

    chapters: list[Chapter]
    source: str
    seconds: float


def run_demo(out: Path, on_progress: ON_TRAINING, on_stage: Callable[[str], None]) -> DemoReport:
    """Show, learn, group; compare and draw.

    Parameters
    ----------
    out : Path
        Folder for the pictures; made if it does not exist.
    on_progress : callable
        Given the progress records of the learner.
    on_stage : callable
        Given the name of each other stage.

    Returns
    -------
    DemoReport
    """
    start = time.perf_counter()
    require_matplotlib()
    folder = _checked_folder(out)
    on_stage("compiling (once)")
    _warm_up()
    noise = tell_noise(folder / "noise.png", on_progress, on_stage)
    digits = load_digits_demo()
    images = tell_digits(digits, folder / "digits.png", on_progress, on_stage)
    return DemoReport(
        chapters=[noise, images], source=digits.source, seconds=time.perf_counter() - start
    )


def tell_noise(picture: Path, on_progress: ON_TRAINING, on_stage: Callable[[str], None]) -> Chapter:
    """Chapter 1: clusters in a few columns, beside many columns of noise."""
    lesson = methods.noise_lesson(EFFORT.rows, SHOWN_CLUSTERS, NEW_CLUSTERS)
    learners, answers, results = _compared([lesson], methods.PEERS, on_progress, on_stage)
    columns = lesson.shown[0].shape[1]
    shares = shares_of(learners[0], lesson.new)
    on_stage("drawing")
    _draw_noise(picture, lesson, shares, answers, results)
    return Chapter(
        title="Which columns count",
        shown=f"{len(lesson.shown)} sets of {EFFORT.rows} rows, grouped into "
        f"{_listed(SHOWN_CLUSTERS)} clusters. {INFORMATIVE} columns tell clusters apart, "
        f"{columns - INFORMATIVE} are noise; which, nobody says",
        new=f"{len(lesson.new)} sets of {_listed(NEW_CLUSTERS)} clusters, which are elsewhere",
        true_clusters=list(NEW_CLUSTERS),
        learnt=[_learnt(learners[0], shares, float(shares[INFORMATIVE:].sum()))],
        results=results,
        picture=str(picture),
    )  # fmt: skip


def tell_digits(
    digits: LabelledRows, picture: Path, on_progress: ON_TRAINING, on_stage: Callable[[str], None]
) -> Chapter:
    """Chapter 2: images of five digits are shown, the five others are grouped; and vice versa."""
    first, second = HALVES
    lessons = [
        methods.digits_lesson(digits, shown, new, EFFORT.every)
        for shown, new in ((first, second), (second, first))
    ]
    # Pixels have one unit: there is nothing to standardise.
    peers = [peer for peer in methods.PEERS if peer[2] is not methods.k_means_standardised]
    learners, answers, results = _compared(lessons, peers, on_progress, on_stage)
    on_stage("drawing")
    # The direction in which weights were trained, the first one at a tie.
    drawn = int(np.argmax([learner.n_iter_ > 0 for learner in learners]))
    _draw_digits(
        picture, digits, lessons[drawn], answers, results,
        drawn=drawn, chosen=learners[drawn].chosen_,
    )  # fmt: skip
    sizes = [len(lesson.shown[0]) for lesson in lessons]
    return Chapter(
        title="Digits it has never seen",
        shown=f"{sizes[0]} handwritten digits, 0 to 4, each with its {digits.rows.shape[1]} grey "
        "values",
        new=f"{len(lessons[0].new[0])} images of 5 to 9. Then the other way round: {sizes[1]} of "
        "5 to 9 are shown, 0 to 4 are new: five clusters both times",
        true_clusters=[len(first), len(second)],
        learnt=[
            _learnt(learner, shares_of(learner, lesson.shown), None)
            for learner, lesson in zip(learners, lessons, strict=True)
        ],
        results=results,
        picture=str(picture),
    )  # fmt: skip


def _compared(
    lessons: Sequence[Lesson],
    peers: Sequence[tuple[str, bool, methods.Method]],
    on_progress: ON_TRAINING,
    on_stage: Callable[[str], None],
) -> tuple[list[ExemplarLearner], dict[str, list[Answer]], list[MethodResult]]:
    """The learners, and what every method answered, the learner first."""
    on_stage("learning")
    pairs = [methods.learnt(lesson, on_progress) for lesson in lessons]
    answers = {methods.LEARNER: [answer for _, answer in pairs]}
    results = [methods.judged(methods.LEARNER, False, lessons, answers[methods.LEARNER])]
    for name, told, method in peers:
        on_stage(f"comparing with {name}")
        answers[name] = [methods.answered(method, lesson) for lesson in lessons]
        results.append(methods.judged(name, told, lessons, answers[name]))
    return [learner for learner, _ in pairs], answers, results


def _learnt(learner: ExemplarLearner, shares: Floats, noise_share: float | None) -> Learnt:
    largest = np.argsort(-shares, kind="stable")[:MOST_WEIGHTS]
    return Learnt(
        chosen=learner.chosen_,
        status=learner.status_,
        passes=learner.n_iter_,
        weights={learner.feature_names_[f]: float(shares[f]) for f in largest},
        noise_share=noise_share,
    )


def _draw_noise(
    path: Path,
    lesson: Lesson,
    shares: Floats,
    answers: dict[str, list[Answer]],
    results: list[MethodResult],
) -> None:
    lines = {line.method: line for line in results}
    truth = [len(np.unique(labels)) for labels in lesson.new_labels]
    attempts = []
    for name, caption in DRAWN.items():
        line = lines[name]
        said = [
            f"{'told' if line.told_number else f'found {found} of'} {k}: ARI {score:.2f}"
            for k, found, score in zip(truth, line.clusters, line.adjusted_rand, strict=True)
        ]
        attempts.append(story.Attempt(caption, answers[name][0].labels, said))
    figure = story.draw_learning(
        "Shown how some sets are grouped, it groups new sets likewise, in spite of the noise",
        [_island(X, y) for X, y in zip(lesson.shown, lesson.shown_labels, strict=True)],
        story.Weights(shares, INFORMATIVE),
        [_island(X, y) for X, y in zip(lesson.new, lesson.new_labels, strict=True)],
        attempts,
    )
    write_figure(path, figure)


def _draw_digits(
    path: Path,
    digits: LabelledRows,
    lesson: Lesson,
    answers: dict[str, list[Answer]],
    results: list[MethodResult],
    *,
    drawn: int,
    chosen: str,
) -> None:
    scores = {line.method: line for line in results}

    def block(title: str, text: str, X: Floats, y: Any, labels: Any) -> story.ImageBlock:
        images = X.reshape(len(X), *(digits.image_shape or ()))
        return story.ImageBlock(title, text, images, y, labels, judged=labels is not y)

    def found(title: str, name: str) -> story.ImageBlock:
        line = scores[name]
        text = (
            f"{line.clusters[drawn]} clusters found, 5 are true; ARI "
            f"{line.adjusted_rand[drawn]:.2f}"
        )
        labels = answers[name][drawn].labels[0]
        return block(title, text, lesson.new[0], lesson.new_labels[0], labels)

    X, y = lesson.shown[0], lesson.shown_labels[0]
    figure = story.draw_images(
        f"Shown how the digits {HALVES_IN_WORDS[drawn]} are grouped, it groups "
        f"{HALVES_IN_WORDS[1 - drawn]}, which it has never seen",
        [
            block("shown: five digits, grouped", f"{len(X)} images", X, y, y),
            found("five new digits, plain distance", methods.PLAIN[0]),
            found("the same, after learning", methods.LEARNER),
        ],
        "A line is a cluster, with its size. Framed: images of another digit than most of their "
        f"cluster. After learning: {chosen}, chosen on what was shown.",
    )
    write_figure(path, figure)


def _island(X: Floats, y: Any) -> story.Island:
    """A set in the plane, by the columns that tell its clusters apart: the same for all methods."""
    from sklearn.manifold import TSNE

    # Half a cluster: islands are then neither dots nor torn. More threads wait for each other
    # longer than they work, at this size.
    tsne = TSNE(
        perplexity=len(X) / (2 * len(np.unique(y))), init="pca", random_state=0, max_iter=500
    )
    with threadpool_limits(1):
        places = tsne.fit_transform(X[:, :INFORMATIVE])
    return story.Island(places, y)


def _warm_up() -> None:
    """Compile what the learner runs, on a set that takes no time, before anything is timed."""
    tiny = methods.noise_lesson(24, (2, 3), (2,))
    methods.learnt(tiny, lambda _: None)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:-1])) + f" and {numbers[-1]}"


def _checked_folder(out: Path) -> Path:
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; name a folder for the pictures.")
    out.mkdir(parents=True, exist_ok=True)
    return out
