"""Segments with a loss folded in: against enumeration, and pruned against unpruned."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from likewise.decoders._kernels import augmented as kernels
from likewise.decoders._kernels.segments import cumulative
from likewise.decoders.augmented import decode_augmented
from likewise.losses.segments import ProjectionLoss, RandLoss
from likewise.partitions import Partition
from likewise.potentials import AugmentedScores, ShownSegments, TraceScores

LOSSES = [
    ProjectionLoss(1.0),
    ProjectionLoss(0.3, known=True),
    RandLoss(3.0),
    RandLoss(2.0, known=True),
]
losses = pytest.mark.parametrize("loss", LOSSES, ids=str)


def segmentations(n: int, n_segments: int | None):
    counts = range(1, n + 1) if n_segments is None else [n_segments]
    for count in counts:
        for cuts in combinations(range(1, n), count - 1):
            yield Partition.from_change_points(list(cuts), n)


def random_problem(rng: np.random.Generator, n: int, p: int) -> tuple[TraceScores, ShownSegments]:
    labels = np.cumsum(rng.random(n) < 0.3)
    labels -= labels[0]
    rows = rng.normal(size=(n, p)) + (labels % 2)[:, None] * rng.normal(size=p)
    rows = (rows - rows.mean(axis=0)) * np.sqrt(rng.choice([0.05, 0.3, 1.0]))
    penalty = float(rng.choice([0.0, 0.3, 1.0, 1.2, 3.0]))
    return TraceScores(rows, penalty), ShownSegments(labels, float(rng.choice([1.0, 0.4])))


@losses
def test_the_worst_segmentation_by_enumeration(loss, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(30):
        scores, shown = random_problem(rng, int(rng.integers(1, 10)), int(rng.integers(1, 4)))
        augmented = loss.augment(scores, shown)
        least = np.inf
        for partition in segmentations(scores.n_items, augmented.n_segments):
            energy = scores.energy_of(partition) - loss.value(shown, partition)
            assert augmented.energy_of(partition) == pytest.approx(energy, abs=1e-9)
            least = min(least, energy)
        found = decode_augmented(augmented)
        assert augmented.energy_of(found) == pytest.approx(least, abs=1e-9)


def searched(augmented: AugmentedScores, slack: float = np.inf) -> tuple[float, int]:
    """The best gain, and how many gains of segments were computed."""
    constant = -augmented.scores.penalty
    numbers = (augmented.pairs, augmented.overlap, constant, float(augmented.divided))
    terms = (*augmented.shown.terms(augmented.divided), numbers)
    best, _, computed = kernels.penalised(cumulative(augmented.scores.rows), terms, slack)
    return float(best[-1]), int(computed)


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5, 0.9, 1.0, 1.1, 2.0, 10.0])
def test_pruning_loses_nothing(ratio: float, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        scores, shown = random_problem(rng, int(rng.integers(100, 301)), int(rng.integers(1, 5)))
        penalty = float(rng.choice([0.5, 3.0, 20.0]))
        scores = TraceScores(scores.rows, penalty)
        augmented = ProjectionLoss(ratio * penalty).augment(scores, shown)
        found = decode_augmented(augmented)
        scatter = float(np.square(scores.rows).sum())
        best = scatter - searched(augmented)[0] + augmented.constant
        assert augmented.energy_of(found) == pytest.approx(best, rel=1e-8, abs=1e-8)


def test_pruning_leaves_few_candidates():
    """Where there are changes, work grows with the rows, not with their square."""
    rng = np.random.default_rng(0)
    n = 20_000
    labels = np.arange(n) // 50
    rows = rng.normal(size=(n, 1)) + 4.0 * (labels % 2)[:, None]
    scores = TraceScores(rows - rows.mean(), 20.0)
    augmented = ProjectionLoss().augment(scores, ShownSegments(labels))
    slack = augmented.overlap + augmented.scores.penalty
    assert searched(augmented, slack)[1] < 200 * n
