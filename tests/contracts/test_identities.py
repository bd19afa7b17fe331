"""Identities I1, I2 and I3 for every registered energy, loss and relaxation.

I1  energy.potentials(x, w).energy_of(p) == <w, energy.joint_features(x, p)>
I2  loss.augment(pot, t).energy_of(p) == pot.energy_of(p) - loss(t, p)
I3  bound <= value of the relaxation <= minimum <= energy of what was shown
"""

from __future__ import annotations

import numpy as np
import pytest

from likewise.partitions import FractionalPartition, Partition
from naive import learning as naive
from registry import ENERGIES, LOSSES, RELAXATIONS, EnergyCase, weights_for

# Sums of at most 50 terms: some 1e-16 of the largest of them, which stays below 1e5.
CLOSE = {"rel": 1e-10, "abs": 1e-10}

energies = pytest.mark.parametrize("case", ENERGIES.values(), ids=ENERGIES)
losses = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def size_of(example) -> float:
    """The largest number that is added up, for tolerances."""
    return float(np.abs(naive.pair_features(example.pairs)).max(initial=1.0))


def random_point(rng: np.random.Generator, n: int) -> FractionalPartition:
    """A convex combination of three services."""
    x = np.zeros((n, n))
    for share in rng.dirichlet([1.0, 1.0, 1.0]):
        x += share * naive.point_of(random_service(rng, n))
    clients, servers = np.nonzero(x * (1.0 - np.eye(n)))
    return FractionalPartition(np.diag(x).copy(), clients, servers, x[clients, servers])


def random_service(rng: np.random.Generator, n: int) -> np.ndarray:
    exemplars = rng.choice(n, size=rng.integers(1, n + 1), replace=False)
    served = rng.choice(exemplars, size=n)
    served[exemplars] = exemplars
    return served


@energies
def test_i1_energy_is_the_product_of_weights_and_features(case: EnergyCase, seed: int):
    rng = np.random.default_rng(seed)
    for index in range(150):
        example = case.make(rng, index)
        weights = weights_for(rng, example, index)
        costs = case.energy.potentials(example, weights)
        partition = Partition.from_service(random_service(rng, example.n_items))
        features = case.energy.joint_features(example, partition)
        assert features.shape == weights.shape
        close = pytest.approx(float(weights @ features), abs=1e-11 * size_of(example), rel=1e-11)
        assert costs.energy_of(partition) == close
        # Both are what the definition says.
        twin = naive.shown_of(example, partition.served_by)
        x = naive.point_of(partition.served_by)
        assert costs.energy_of(partition) == pytest.approx(
            naive.energy(x, twin.costs(weights)), abs=1e-11 * size_of(example), rel=1e-11
        )
        np.testing.assert_allclose(
            features, twin.features(x), rtol=1e-11, atol=1e-11 * size_of(example)
        )


@energies
def test_i1_between_partitions(case: EnergyCase, seed: int):
    rng = np.random.default_rng(seed)
    for index in range(60):
        example = case.make(rng, index)
        point = random_point(rng, example.n_items)
        twin = naive.shown_of(example, np.arange(example.n_items))
        np.testing.assert_allclose(
            case.energy.joint_features(example, point),
            twin.features(naive.point_of_fractional(point)),
            rtol=1e-11, atol=1e-11 * size_of(example),
        )  # fmt: skip


@energies
@losses
def test_i2_folding_a_loss_lowers_every_energy_by_it(case: EnergyCase, loss, seed: int):
    rng = np.random.default_rng(seed)
    for index in range(60):
        example = case.make(rng, index)
        costs = case.energy.potentials(example, weights_for(rng, example, index))
        before = costs.service.copy(), costs.opening.copy()
        augmented = loss.augment(costs, example.shown)
        close = {"rel": 1e-11, "abs": 1e-11 * size_of(example)}
        for _ in range(3):
            partition = Partition.from_service(random_service(rng, example.n_items))
            assert augmented.energy_of(partition) == pytest.approx(
                costs.energy_of(partition) - loss.value(example.shown, partition), **close
            )
        point = random_point(rng, example.n_items)
        d = np.array(costs.service)
        np.fill_diagonal(d, costs.opening)
        assert augmented.energy_of_fractional(point) == pytest.approx(
            naive.energy(naive.point_of_fractional(point), d) - loss.value(example.shown, point),
            **close,
        )
        np.testing.assert_array_equal(costs.service, before[0])
        np.testing.assert_array_equal(costs.opening, before[1])


@energies
@losses
@pytest.mark.parametrize("bounded", RELAXATIONS.values(), ids=RELAXATIONS)
def test_i3_bounds_stay_below_the_relaxation_and_points_above(
    case: EnergyCase, loss, bounded, seed: int
):
    rng = np.random.default_rng(seed)
    for index in range(20):
        example = case.make(rng, index, int(rng.integers(1, 6)))
        n, shown = example.n_items, example.shown
        costs = case.energy.potentials(example, weights_for(rng, example, index))
        completed = case.energy.complete(example, costs)
        augmented = loss.augment(costs, shown)
        bound, points = bounded(augmented, costs.energy_of(completed))
        d = np.array(costs.service)
        np.fill_diagonal(d, costs.opening)
        least_fractional = naive.relaxation(d, shown, loss.alpha, loss.beta)
        least = min(
            naive.energy(x, d) - naive.delta(x, shown, loss.alpha, loss.beta)
            for x in map(naive.point_of, naive.services(n))
        )
        # HiGHS is feasible to 1e-7 in every one of some 30 rows.
        slack = 1e-6 * (1.0 + float(np.abs(d).max()))
        assert bound <= least_fractional + slack
        assert least_fractional <= least + slack
        assert least <= costs.energy_of(completed) + slack
        for point in points:
            assert_feasible(point, n)
            assert augmented.energy_of_fractional(point) >= least_fractional - slack


def assert_feasible(point: FractionalPartition, n: int) -> None:
    x = naive.point_of_fractional(point)
    # Amounts below 1e-12 are left out by the kernel.
    np.testing.assert_allclose(x.sum(axis=1), np.ones(n), atol=1e-11)
    assert np.all(x >= 0.0)
    assert np.all(x <= np.diag(x)[None, :] + 1e-12)
