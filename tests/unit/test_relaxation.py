"""The compact dual of loss-augmented exemplar clustering against the LP that it relaxes to."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.decoders._kernels import relaxation as kernels
from likewise.decoders.relaxation import relax
from likewise.losses.exemplar import ExemplarLoss
from likewise.partitions import Partition
from likewise.potentials import AssignmentCosts
from naive import learning as naive
from registry import dense_costs, shown_clusters


class Draw:
    """Random costs with a loss folded in, the value of their LP, and what was shown."""

    def __init__(self, rng: np.random.Generator, index: int, most: int = 6):
        n = int(rng.integers(1, most + 1))
        costs = dense_costs(rng, index, n)
        # 1e6 and more beside a loss of 1 is not what training meets.
        self.costs = AssignmentCosts(np.clip(costs.service, -10.0, 10.0), costs.opening)
        self.shown = shown_clusters(rng, n)
        self.loss = ExemplarLoss(float(rng.choice([0.0, 0.3, 1.0])), float(rng.choice([0.5, 1.0])))
        self.d = np.array(self.costs.service)
        np.fill_diagonal(self.d, self.costs.opening)
        self.augmented = self.loss.augment(self.costs, self.shown)
        self.value, self.prices = naive.relaxation_and_prices(
            self.d, self.shown, self.loss.alpha, self.loss.beta
        )
        self.upper = min(
            self.costs.energy_of(Partition.from_service(served))
            for served in naive.completions(self.shown)
        )


def lagrangian(augmented, v: np.ndarray) -> float:
    """L(v) as the module writes it."""
    total = float(v.sum())
    for members in naive.clusters(augmented.cluster_of):
        inside = augmented.first_opening
        for q in members:
            offers = sum(max(0.0, v[p] - augmented.serve[q, p]) for p in range(len(v)))
            inside += min(0.0, augmented.opening[q] - v[q] - offers)
        total += min(0.0, inside)
    return total + augmented.constant


def test_bound_and_points_enclose_the_relaxation(seed: int):
    rng = np.random.default_rng(seed)
    for index in range(300):
        draw = Draw(rng, index)
        steps = int(rng.choice([1, 20, 200]))
        prices = rng.normal(size=len(draw.shown)) if index % 2 else None
        found = relax(draw.augmented, prices=prices, upper=draw.upper, steps=steps)
        # HiGHS is feasible to 1e-7 in some 30 rows with costs up to 10.
        assert found.bound <= draw.value + 1e-5
        # The prices that come back prove the bound: at most 40 terms of size 10.
        assert lagrangian(draw.augmented, found.prices) == pytest.approx(found.bound, abs=1e-10)
        assert 1 <= len(found.points) == len(found.energies) <= 2
        for point, energy in zip(found.points, found.energies, strict=True):
            assert energy >= draw.value - 1e-5
            x = naive.point_of_fractional(point)
            np.testing.assert_allclose(x.sum(axis=1), 1.0, atol=1e-11)
            assert np.all(x >= 0.0)
            assert np.all(x <= np.diag(x)[None, :] + 1e-12)
            expected = naive.energy(x, draw.d) - draw.loss.value(draw.shown, point)
            assert energy == pytest.approx(expected, abs=1e-9)


def test_the_best_bound_is_the_relaxation(seed: int):
    """At the multipliers of the LP: so the maximum of the dual is its value."""
    rng = np.random.default_rng(seed)
    for index in range(300):
        draw = Draw(rng, index)
        found = relax(draw.augmented, prices=draw.prices, upper=draw.upper, steps=1)
        assert found.bound == pytest.approx(draw.value, abs=1e-5), index


def test_many_steps_come_close_to_the_relaxation(seed: int):
    """A method of first order: within 3 % of where it starts, most often much closer.

    More steps must not lose what fewer reach.
    """
    rng = np.random.default_rng(seed)
    gaps = []
    for index in range(60):
        draw = Draw(rng, index)
        few, many = (
            draw.value - relax(draw.augmented, prices=None, upper=draw.upper, steps=steps).bound
            for steps in (1, 1500)
        )
        assert many <= few + 1e-9
        gaps.append(many / max(few, 1.0))
    assert max(gaps) <= 0.03
    assert np.median(gaps) <= 1e-4


def test_going_on_never_loses(seed: int):
    rng = np.random.default_rng(seed)
    for index in range(40):
        draw = Draw(rng, index)
        bound, prices = -np.inf, None
        for _ in range(4):
            given = None if prices is None else prices.copy()
            found = relax(draw.augmented, prices=prices, upper=draw.upper, steps=15)
            if prices is not None:
                np.testing.assert_array_equal(prices, given)
                assert found.bound >= bound - 1e-9
            bound, prices = found.bound, found.prices


def test_service_is_the_cheapest(seed: int):
    """Against the LP of one item at a time: fill up from the cheapest."""
    rng = np.random.default_rng(seed)
    for index in range(100):
        draw = Draw(rng, index)
        n = len(draw.shown)
        openness = rng.random(n) * rng.choice([0.0, 1.0], size=n)
        if openness.sum() < 1.0:
            openness[0] = 1.0
        clients, servers, amounts = kernels.cheapest_service(draw.augmented.serve, openness)
        paid = np.zeros(n)
        np.add.at(paid, clients, amounts * draw.augmented.serve[servers, clients])
        for p in range(n):
            left, expected = 1.0 - openness[p], 0.0
            for q in sorted(set(range(n)) - {p}, key=lambda q: draw.augmented.serve[q, p]):
                taken = min(left, openness[q])
                expected += taken * draw.augmented.serve[q, p] if taken else 0.0
                left -= taken
            assert left == pytest.approx(0.0, abs=1e-12)
            # What is left below 1e-12 is not served; costs are up to 11.
            assert paid[p] == pytest.approx(expected, abs=1e-10)


def test_one_item_is_its_own_exemplar():
    augmented = ExemplarLoss().augment(
        AssignmentCosts(np.zeros((1, 1)), np.array([2.0])), np.array([0])
    )
    found = relax(augmented, prices=None, upper=2.0, steps=100)
    assert found.energies == [2.0]
    assert found.bound == pytest.approx(2.0, abs=1e-6)
