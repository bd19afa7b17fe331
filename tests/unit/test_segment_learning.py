"""Learning of segmentations: against the exact minimum, finite differences and enumeration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from likewise.decoders.augmented import decode_augmented
from likewise.energies.segments import SegmentEnergy
from likewise.estimators.series_training import (
    Candidate,
    SeriesSettings,
    Trained,
    Training,
)
from likewise.learners.base import Model
from likewise.learners.violation import violation
from likewise.losses.segments import ProjectionLoss, RandLoss
from likewise.metrics import projection_loss, rand_loss
from likewise.partitions import Partition
from likewise.potentials import ShownSegments
from likewise.supervision import SegmentedSeries
from naive import margins as naive

N_DRAWS = 2
TOL = 5e-5
# What rounding and the naive solver leave, relatively.
SMALL = 2e-6

DIAGONAL = [
    Candidate("diagonal", "sparse", 0.12),
    Candidate("diagonal", "sparse", 0.004),
    Candidate("diagonal", "near", 3.0),
    Candidate("diagonal", "near", 0.3),
    Candidate("diagonal", "l2", 0.04),
    Candidate("diagonal", "l1", 0.1),
    Candidate("kinds", "near", 0.3),
]
FULL = [
    Candidate("full", "sparse", 0.12),
    Candidate("full", "near", 0.3),
    Candidate("full", "l2", 0.04),
    Candidate("full", "trace", 0.1),
]


def settings(**more: Any) -> SeriesSettings:
    return SeriesSettings(
        **{
            "full": False, "loss": "projection", "known": False, "optimiser": "auto", "step": 1e-3,
            "max_iter": 300, "tol": TOL, "n_jobs": None, "seed": 0, **more,
        }
    )  # fmt: skip


def parts_of(rng: np.random.Generator, p: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Two or three sequences of five to eight rows, with one to three segments."""
    found = []
    for place in range(int(rng.integers(2, 4))):
        n = int(rng.integers(5, 9))
        labels = np.zeros(n, dtype=np.intp)
        cuts = rng.choice(np.arange(1, n), size=1 if not place else int(rng.integers(0, 3)))
        labels[np.unique(cuts)] = 1
        labels = np.cumsum(labels)
        rows = rng.normal(size=(n, p)) + (labels % 2)[:, None] * rng.normal(0.0, 2.0, size=p)
        found.append((rows - rows.mean(axis=0), labels))
    return found


def trained_on(
    rng: np.random.Generator, p: int, candidate: Candidate, **more: Any
) -> tuple[Training, Trained]:
    kinds = np.array([0, 1, 0][:p]) if candidate.shape == "kinds" else None
    full = candidate.shape == "full"
    while True:
        training = Training.of(parts_of(rng, p), settings(full=full, **more), kinds)
        one = training.one_weight()
        # What is near to nothing at all is nothing.
        if candidate.pull != "near" or one.metric[0] / training.unit > 1e-2:
            return training, one


@dataclass(frozen=True)
class Twin:
    """The same problem, all segmentations written out."""

    sequences: list[naive.Planes]
    pull: naive.Pull
    lower: np.ndarray
    upper: np.ndarray
    side: int | None

    @classmethod
    def of(cls, training: Training, candidate: Candidate, one: Trained) -> Twin:
        own, full = training.settings, candidate.shape == "full"
        problem, groups = training._problem_of(candidate, one)
        terrain, side = problem.terrain, training.n_features if full else None
        sequences = []
        for example in training.examples:
            rows = example.rows
            found = naive.planes_of(
                rows, example.shown.labels.tolist(), example.shown.share, own.loss,
                training.loss().weight, own.known, full,
            )  # fmt: skip
            if groups is not None:
                turn = np.zeros((rows.shape[1] + 1, int(groups.max()) + 2))
                turn[np.arange(rows.shape[1]), groups] = turn[-1, -1] = 1.0
                found = naive.Planes(found.slopes @ turn, found.heights)
            sequences.append(found)
        n = problem.n_weights - 1
        least = 0.0 if own.known or own.loss == "rand" else 1.0
        lower, upper = np.zeros(n + 1), np.full(n + 1, 1e5)
        lower[:n] = -1e5 if full else 0.0
        lower[n], upper[n] = least, 0.0 if own.known else 1e5
        pull = naive.pull_of(terrain.regulariser, terrain.tau, n, side)
        return cls(sequences, pull, lower, upper, side)

    def exact(self) -> naive.Exact:
        return naive.train(self.sequences, self.pull, self.lower, self.upper, self.side)

    def objective(self, weights: np.ndarray) -> float:
        return naive.objective(self.sequences, self.pull, weights)


def enclosed(outcome: Any, twin: Twin) -> None:
    """The exact minimum is between the bounds; they are close but for matrices."""
    exact = twin.exact()
    small = SMALL * (1.0 + abs(exact.upper))
    assert exact.upper - exact.lower <= small
    # Where the least objective is zero, gaps relative to it never close.
    is_closed = outcome.objective - outcome.lower_bound <= small + 1e-4 * exact.upper
    is_closed |= twin.side is not None
    assert is_closed, (outcome.status, outcome.gap)
    assert outcome.lower_bound <= exact.upper + small
    assert outcome.objective >= exact.lower - small
    assert outcome.objective <= (1.0 + 1e-4) * exact.upper + small
    assert twin.objective(outcome.weights) == pytest.approx(outcome.objective, abs=small)
    if twin.side is None:
        assert np.all(outcome.weights >= twin.lower)
    else:
        matrix = outcome.weights[:-1].reshape(twin.side, twin.side)
        assert np.linalg.eigvalsh(matrix)[0] >= -1e-9 * np.abs(matrix).max(initial=1.0)


OPTIONS = [
    {},
    {"known": True},
    {"loss": "rand"},
    {"loss": "rand", "known": True},
]
options_of = pytest.mark.parametrize("options", OPTIONS, ids=str)


@options_of
@pytest.mark.parametrize("candidate", DIAGONAL, ids=lambda c: c.name)
def test_the_exact_minimum_of_diagonal_metrics(candidate: Candidate, options: dict, seed: int):
    rng = np.random.default_rng(seed)
    for draw in range(N_DRAWS):
        training, one = trained_on(
            rng, 3 if candidate.shape == "kinds" else 2 + draw % 2, candidate, **options
        )
        trained, _ = training.train(candidate, one)
        enclosed(trained.ended, Twin.of(training, candidate, one))


@pytest.mark.parametrize("options", [OPTIONS[1], OPTIONS[2]], ids=str)
@pytest.mark.parametrize("candidate", FULL, ids=lambda c: c.name)
def test_the_exact_minimum_of_full_metrics(candidate: Candidate, options: dict, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(N_DRAWS):
        training, one = trained_on(rng, 2, candidate, **options)
        trained, _ = training.train(candidate, one)
        enclosed(trained.ended, Twin.of(training, candidate, one))


PATHS = [
    [Candidate("diagonal", "sparse", value) for value in (0.4, 0.12, 0.004)],
    [Candidate("diagonal", "near", value) for value in (3.0, 0.3)],
    [Candidate("diagonal", "l1", value) for value in (0.3, 0.03)],
    [Candidate("full", "sparse", value) for value in (0.4, 0.04)],
]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path[0].shape}, {path[0].pull}")
def test_planes_of_another_strength_lead_to_the_same_minimum(path: list, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(N_DRAWS):
        training, one = trained_on(rng, 2, path[0])
        known = None
        for candidate in path:
            trained, known = training.train(candidate, one, known)
            enclosed(trained.ended, Twin.of(training, candidate, one))


@pytest.mark.parametrize("loss", ["projection", "rand"])
@pytest.mark.parametrize("optimiser", ["subgradient", "stochastic"])
def test_subgradient_methods_come_near(optimiser: str, loss: str, seed: int):
    rng = np.random.default_rng(seed)
    candidate = Candidate("diagonal", "sparse", 0.4)
    for _ in range(2):
        training, one = trained_on(
            rng, 2, candidate, optimiser=optimiser, loss=loss, max_iter=1500,
            step=lambda t: 1.0 / t**0.75,
        )  # fmt: skip
        outcome = training.train(candidate, one)[0].ended
        twin = Twin.of(training, candidate, one)
        least = twin.exact().lower
        start = twin.objective(training._problem_of(candidate, one)[0].start)
        reached = twin.objective(outcome.weights)
        assert outcome.status == "max_iter"
        assert reached >= least - SMALL
        assert reached <= 1.05 * least + (0.0 if optimiser == "subgradient" else 0.05)
        # It had some way to go.
        assert start >= reached


ENERGIES = {
    "diagonal": SegmentEnergy(),
    "groups": SegmentEnergy(groups=np.array([0, 1, 0])),
    "full": SegmentEnergy(full=True),
}
energies = pytest.mark.parametrize("energy", ENERGIES.values(), ids=ENERGIES)


def example_of(rng: np.random.Generator, n: int = 9, p: int = 3) -> SegmentedSeries:
    rows = rng.normal(size=(n, p))
    labels = np.cumsum(rng.random(n) < 0.3)
    shown = ShownSegments(labels - labels[0], float(rng.choice([1.0, 0.3])))
    return SegmentedSeries(rows - rows.mean(axis=0), shown)


def weights_of(rng: np.random.Generator, energy: SegmentEnergy) -> np.ndarray:
    if energy.full:
        half = rng.normal(size=(3, int(rng.integers(1, 4))))
        return np.append((half @ half.T).ravel(), rng.exponential())
    n = 3 if energy.groups is None else 2
    return np.append(rng.exponential(size=n) * (rng.random(n) < 0.7), 1.0 + rng.exponential())


def partition_of(rng: np.random.Generator, n: int) -> Partition:
    cuts = np.flatnonzero(rng.random(n - 1) < 0.4) + 1
    return Partition.from_change_points(cuts, n)


@energies
def test_features_times_weights_are_the_energy(energy: SegmentEnergy, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        example, weights = example_of(rng), weights_of(rng, energy)
        partition = partition_of(rng, len(example.rows))
        product = energy.joint_features(example, partition) @ weights
        potentials = energy.potentials(example, weights)
        assert potentials.energy_of(partition) == pytest.approx(product, rel=1e-9, abs=1e-9)
        cuts = tuple(partition.change_points.tolist())
        own = naive.features(example.rows, cuts, energy.full)
        if energy.groups is not None:
            own = np.append(np.bincount(energy.groups, own[:-1]), own[-1])
        assert example.shown.share * own @ weights == pytest.approx(product, rel=1e-9, abs=1e-9)


@energies
@pytest.mark.parametrize("loss", [ProjectionLoss(), RandLoss(4.0), ProjectionLoss(known=True)])
def test_slopes_of_the_hinge_are_its_finite_differences(energy, loss, seed: int):
    rng = np.random.default_rng(seed)
    model, moved = Model(energy, loss), 0
    for _ in range(12):
        example, weights = example_of(rng), weights_of(rng, energy)
        if energy.full:
            weights[:9] += np.eye(3).ravel()  # both sides of it are matrices that are allowed
        else:
            weights[:-1] += 0.1
        code = example.shown.labels

        def hinge(at: np.ndarray, example=example, code=code) -> float:
            return violation(model, example, code, at, None, 0).hinge

        found = violation(model, example, code, weights, None, 0)
        shown = energy.joint_features(example, Partition(code))
        slope = shown - found.features[0]
        assert len(found.losses) == 1
        assert found.hinge == pytest.approx(slope @ weights + found.losses[0], abs=1e-9)
        direction = rng.normal(size=len(weights))
        if energy.full:
            matrix = direction[:9].reshape(3, 3)
            direction[:9] = (matrix + matrix.T).ravel()
        small = 1e-6
        ahead, behind = hinge(weights + small * direction), hinge(weights - small * direction)
        if abs(ahead - 2.0 * found.hinge + behind) > 1e-9:
            continue  # a kink
        assert (ahead - behind) / (2.0 * small) == pytest.approx(slope @ direction, abs=1e-4)
        moved += found.hinge > 0.0
        # A subgradient: the plane is nowhere above the hinge.
        other = weights_of(rng, energy)
        assert hinge(other) >= slope @ other + found.losses[0] - 1e-9
    assert moved >= 3


def test_losses_are_those_of_the_metrics(seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        shown = example_of(rng).shown
        partition = partition_of(rng, len(shown.labels))
        for loss, metric in ((ProjectionLoss(0.7), projection_loss), (RandLoss(3.0), rand_loss)):
            expected = shown.share * loss.weight * metric(shown.labels, partition.labels)
            assert loss.value(shown, partition) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("ratio", [0.0, 0.5, 0.99, 1.05, 2.0])
def test_below_the_least_penalty_rows_are_alone(ratio: float, seed: int):
    """Why training keeps the penalty above the weight of the loss."""
    rng = np.random.default_rng(seed)
    loss = ProjectionLoss(0.8)
    assert loss.least_penalty == 0.8
    assert ProjectionLoss(0.8, known=True).least_penalty == RandLoss(0.8).least_penalty == 0.0
    labels = np.repeat([0, 1, 2], 20)
    rows = 0.01 * rng.normal(size=(60, 2)) + 5.0 * (labels % 2)[:, None]
    example = SegmentedSeries(rows - rows.mean(axis=0), ShownSegments(labels))
    scores = SegmentEnergy().potentials(example, np.array([1.0, 1.0, 0.8 * ratio]))
    worst = decode_augmented(loss.augment(scores, example.shown))
    assert (worst.n_clusters == 60) == (ratio < 1.0)
