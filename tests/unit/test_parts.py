"""The parts of komodakis2011, section 4, against enumeration of all their points."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.decoders._kernels import parts as kernels
from likewise.decoders.parts import Multipliers, Parts
from likewise.energies.exemplar import ExemplarEnergy
from likewise.losses.exemplar import ExemplarLoss
from likewise.partitions import Partition
from likewise.potentials import AssignmentCosts
from naive import learning as naive
from registry import dense_costs, shown_clusters

N_DRAWS = 300
# At most some 15 terms, whose size the tests scale by.
CLOSE = 1e-9


def random_multipliers(rng: np.random.Generator, shown: np.ndarray) -> Multipliers:
    """Any that add up to zero over the parts in which an item may be open."""
    n = len(shown)
    items = rng.normal(size=(n, n)) * rng.choice([0.0, 0.1, 3.0])
    return Multipliers(items, -items.sum(axis=0))


class Draw:
    """Random costs with a loss folded in, and their naive twin."""

    def __init__(self, rng: np.random.Generator, index: int, most: int = 6):
        n = int(rng.integers(1, most + 1))
        self.costs: AssignmentCosts = dense_costs(rng, index, n)
        self.shown = shown_clusters(rng, n)
        self.loss = ExemplarLoss(float(rng.choice([0.0, 0.3, 1.0])), float(rng.choice([0.0, 1.0])))
        self.multipliers = random_multipliers(rng, self.shown)
        self.d = np.array(self.costs.service)
        np.fill_diagonal(self.d, self.costs.opening)
        self.ubar = naive.augmented_costs(self.d, self.shown, self.loss.beta)
        self.theta = naive.shares(self.ubar, self.multipliers.items, self.multipliers.clusters)
        self.augmented = self.loss.augment(self.costs, self.shown)
        self.close = CLOSE * max(1.0, float(np.abs(self.d).max()))


def test_the_part_of_an_item(seed: int):
    rng = np.random.default_rng(seed)
    for index in range(N_DRAWS):
        draw = Draw(rng, index)
        n = len(draw.shown)
        p = int(rng.integers(n))
        is_open = np.ones(n, dtype=np.bool_)
        value, server = kernels.item_part(draw.ubar[p], draw.theta.items[p], p, is_open)
        points = list(naive.item_part(draw.ubar, draw.theta.items[p], p))
        assert value == pytest.approx(min(v for v, _, _ in points), abs=draw.close)
        attained = [v for v, opened, q in points if q == server and np.array_equal(opened, is_open)]
        assert len(attained) == 1, "not a point of the part"
        assert attained[0] == pytest.approx(value, abs=draw.close)


def test_the_part_of_a_cluster(seed: int):
    rng = np.random.default_rng(seed)
    for index in range(N_DRAWS):
        draw = Draw(rng, index)
        members = np.flatnonzero(draw.shown == draw.shown[0])
        is_open = np.ones(len(draw.shown), dtype=np.bool_)
        theta, alpha = draw.theta.clusters, draw.loss.alpha
        value = kernels.cluster_part(theta, members, alpha, is_open)
        points = {opened: v for v, opened in naive.cluster_part(theta[members], alpha)}
        assert value == pytest.approx(min(points.values()), abs=draw.close)
        attained = points[tuple(is_open[members].astype(int).tolist())]
        assert attained == pytest.approx(value, abs=draw.close)
        # Who is not a member is left alone.
        assert is_open[draw.shown != draw.shown[0]].all()


def test_all_parts_of_a_set(seed: int):
    rng = np.random.default_rng(seed)
    for index in range(60):
        draw = Draw(rng, index)
        n = len(draw.shown)
        found = Parts.of(draw.augmented).minimise(draw.multipliers)
        least = naive.least_of_parts(draw.ubar, draw.theta, draw.shown, draw.loss.alpha)
        constant = -draw.loss.beta * n
        assert found.value == pytest.approx(least + constant, abs=10 * draw.close)
        # The minimisers attain it.
        attained = constant
        for p in range(n):
            q = found.server[p]
            assert found.opened[p, q]
            assert found.opened[p, p] == (q == p)
            attained += draw.theta.items[p] @ found.opened[p] + (q != p) * draw.ubar[p, q]
        for members in naive.clusters(draw.shown):
            count = int(found.own[members].sum())
            attained += draw.theta.clusters[members] @ found.own[members]
            attained -= draw.loss.alpha * abs(1 - count)
        assert attained == pytest.approx(found.value, abs=10 * draw.close)
        np.testing.assert_array_equal(
            found.count, [found.opened[:, q].sum() + found.own[q] for q in range(n)]
        )


def test_parts_add_up_to_the_energy_and_bound_it(seed: int):
    """Eq. (25): with multipliers that add up to zero the sum is the energy, for every x."""
    rng = np.random.default_rng(seed)
    for index in range(30):
        draw = Draw(rng, index, most=4)
        constant = -draw.loss.beta * len(draw.shown)
        bound = Parts.of(draw.augmented).minimise(draw.multipliers).value
        for served_by in naive.services(len(draw.shown)):
            x = naive.point_of(served_by)
            energy = naive.energy(x, draw.d)
            energy -= naive.delta(x, draw.shown, draw.loss.alpha, draw.loss.beta)
            parts = naive.sum_of_parts(x, draw.ubar, draw.theta, draw.shown, draw.loss.alpha)
            assert parts + constant == pytest.approx(energy, abs=10 * draw.close)
            assert bound <= energy + 10 * draw.close
            assert draw.augmented.energy_of(Partition.from_service(served_by)) == pytest.approx(
                energy, abs=10 * draw.close
            )


def test_steps_stay_in_the_space_of_multipliers(seed: int):
    rng = np.random.default_rng(seed)
    for index in range(30):
        draw = Draw(rng, index)
        parts, multipliers = Parts.of(draw.augmented), Multipliers.zero(len(draw.shown))
        for t in range(1, 30):
            before = multipliers.items.copy(), multipliers.clusters.copy()
            found = parts.minimise(multipliers)
            moved, count = multipliers.moved(found, 0.5 / t)
            # Nothing changes in place.
            np.testing.assert_array_equal(multipliers.items, before[0])
            np.testing.assert_array_equal(multipliers.clusters, before[1])
            np.testing.assert_array_equal(count, found.count)
            multipliers = moved
        total = multipliers.items.sum(axis=0) + multipliers.clusters
        np.testing.assert_allclose(total, 0.0, atol=1e-12)


def test_many_steps_reach_the_relaxation(seed: int):
    """The best multipliers give the value of the linear relaxation: Polyak steps towards it."""
    rng = np.random.default_rng(seed)
    for index in range(6):
        n = 4
        service = rng.random((n, n))
        costs = AssignmentCosts(service, rng.random(n) + 0.2)
        shown = shown_clusters(rng, n)
        d = service.copy()
        np.fill_diagonal(d, costs.opening)
        goal = naive.relaxation(d, shown, 1.0, 1.0)
        parts = Parts.of(ExemplarLoss().augment(costs, shown))
        multipliers, best = Multipliers.zero(n), -np.inf
        for _ in range(20_000):
            found = parts.minimise(multipliers)
            best = max(best, found.value)
            if best >= goal - 1e-5:
                break
            # The squared length of the projected subgradient.
            norm = (found.opened.sum() + found.own.sum()) - (found.count**2).sum() / (n + 1)
            assert norm > 0.0, "the subgradient vanishes below the maximum"
            multipliers, _ = multipliers.moved(found, (goal - found.value) / norm)
        assert goal - 1e-5 <= best <= goal + 1e-7, index


def test_the_energy_is_that_of_the_model():
    """`Parts.of` reads what `ExemplarLoss` folds into the costs of `ExemplarEnergy`."""
    assert ExemplarEnergy.potentials.__annotations__["return"] == "AssignmentCosts"
