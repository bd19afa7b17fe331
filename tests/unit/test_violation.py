"""Subgradients of one example against differences of its loss, the loss by a naive twin.

The losses are convex and piecewise linear in the weights. A vector g is a subgradient at w exactly
if it lies between the slopes on both sides in every direction; where both sides agree, which is
almost everywhere, that is the central difference.
"""

from __future__ import annotations

import numpy as np
import pytest

from likewise.decoders.parts import Multipliers, Parts
from likewise.energies.exemplar import ExemplarEnergy
from likewise.learners.base import Model
from likewise.learners.subgradient import descent
from likewise.learners.violation import complete, violation
from likewise.losses.exemplar import ExemplarLoss
from likewise.partitions import Partition
from likewise.supervision import Example
from naive import learning as naive
from registry import ENERGIES, LOSSES, weights_for

CLOSE = 1e-6
# Sums of some 40 terms up to 1e4 ("wide" features) lose 1e-11 at most, a difference 1e-7 of it.
STEP = 1e-4

energies = pytest.mark.parametrize("case", ENERGIES.values(), ids=ENERGIES)


def random_multipliers(rng: np.random.Generator, n: int) -> Multipliers:
    """Any that add up to zero over the parts."""
    items = rng.normal(size=(n, n))
    return Multipliers(items, -items.sum(axis=0))


def directions(rng: np.random.Generator, n: int) -> np.ndarray:
    """Every weight alone, and all of them together."""
    return np.vstack([np.eye(n), rng.normal(size=(2, n))])


def draw(rng: np.random.Generator, case, index: int) -> tuple[Example, np.ndarray]:
    example = case.make(rng, index)
    return example, weights_for(rng, example, index)


def memory_of(multipliers: Multipliers) -> np.ndarray:
    return np.vstack([multipliers.items, multipliers.clusters])


def twin_of_parts(
    twin: naive.Shown, weights: np.ndarray, multipliers: Multipliers, loss: ExemplarLoss
) -> float:
    """Eq. (28) for one example, by enumeration of all points of all parts."""
    d = twin.costs(weights)
    ubar = naive.augmented_costs(d, twin.shown, loss.beta)
    theta = naive.shares(ubar, multipliers.items, multipliers.clusters)
    least = naive.least_of_parts(ubar, theta, twin.shown, loss.alpha)
    shown_energy = naive.energy(naive.point_of(twin.served_by), d)
    return shown_energy - (least - loss.beta * len(twin.shown))


@energies
def test_the_gradient_of_the_parts_in_the_weights(case, seed: int):
    """Of all weights: those of pair features, and those of one to three opening features."""
    rng = np.random.default_rng(seed)
    smooth = total = 0
    for index in range(30):
        example, weights = draw(rng, case, index)
        model = Model(case.energy, list(LOSSES.values())[index % len(LOSSES)])
        served_by = complete(case.energy, example, weights)
        multipliers = random_multipliers(rng, example.n_items)
        twin = naive.shown_of(example, served_by)

        found = descent(model, example, served_by, weights, memory_of(multipliers), 0.1)
        value = twin_of_parts(twin, weights, multipliers, model.loss)
        size = max(1.0, float(np.abs(twin.f).max(initial=0.0)))
        assert found.loss == pytest.approx(value, abs=1e-9 * size)
        for direction in directions(rng, len(weights)):
            after, before = (
                twin_of_parts(twin, weights + h * direction, multipliers, model.loss)
                for h in (STEP, -STEP)
            )
            slope = float(found.gradient @ direction)
            assert (value - before) / STEP - CLOSE * size <= slope
            assert slope <= (after - value) / STEP + CLOSE * size
            total += 1
            if after - 2.0 * value + before <= STEP * CLOSE:
                smooth += 1
                assert slope == pytest.approx((after - before) / (2.0 * STEP), abs=CLOSE * size)
    assert smooth >= 0.9 * total


@energies
def test_the_gradient_of_the_parts_in_the_multipliers(case, seed: int):
    """Along directions that add up to zero, the only ones that multipliers may take."""
    rng = np.random.default_rng(seed)
    smooth = total = 0
    for index in range(30):
        example, weights = draw(rng, case, index)
        loss, n, step = ExemplarLoss(), example.n_items, 0.1
        multipliers = random_multipliers(rng, n)
        served_by = complete(case.energy, example, weights)
        found = descent(Model(case.energy, loss), example, served_by, weights,
                        memory_of(multipliers), step)  # fmt: skip
        augmented = loss.augment(case.energy.potentials(example, weights), example.shown)
        parts = Parts.of(augmented)

        def least(moved: Multipliers, parts=parts) -> float:
            return parts.minimise(moved).value

        # The multipliers went up along the gradient of the sum of the minima.
        items = (found.memory[:-1] - multipliers.items) / step
        clusters = (found.memory[-1] - multipliers.clusters) / step
        np.testing.assert_allclose(items.sum(axis=0) + clusters, 0.0, atol=1e-10)
        size = max(1.0, float(np.abs(augmented.serve[np.isfinite(augmented.serve)]).max(initial=0)))
        for _ in range(5):
            other = random_multipliers(rng, n)
            ahead, back = (
                least(
                    Multipliers(
                        multipliers.items + h * other.items,
                        multipliers.clusters + h * other.clusters,
                    )
                )
                for h in (STEP, -STEP)
            )
            here = least(multipliers)
            slope = float((items * other.items).sum() + clusters @ other.clusters)
            # Concave: the slopes on both sides, the other way round.
            assert (ahead - here) / STEP - CLOSE * size <= slope
            assert slope <= (here - back) / STEP + CLOSE * size
            total += 1
            smooth += 2.0 * here - ahead - back <= STEP * CLOSE
    assert smooth >= 0.8 * total


def hinge(twin: naive.Shown, weights: np.ndarray, loss: ExemplarLoss) -> float:
    """Eq. (27) for one example: the exact value of the linear relaxation."""
    d = twin.costs(weights)
    least = naive.relaxation(d, twin.shown, loss.alpha, loss.beta)
    return naive.energy(naive.point_of(twin.served_by), d) - least


@energies
def test_planes_and_bound_of_a_violation(case, seed: int):
    """Planes are below the loss for all weights; one that touches it has its gradient."""
    rng = np.random.default_rng(seed)
    # HiGHS is exact to about 1e-9 here; with this step it leaves 1e-7 of a difference.
    step, exact = 0.02, 1e-8
    touched = 0
    for index in range(24):
        example, weights = draw(rng, case, index)
        weights = np.clip(weights, -2.0, 2.0)
        twin = naive.shown_of(example, complete(case.energy, example, weights))
        size = max(1.0, float(np.abs(twin.f).max(initial=0.0)))
        if size > 50.0:
            continue  # beyond what the LP resolves to 1e-8
        loss = list(LOSSES.values())[index % len(LOSSES)]
        model = Model(ExemplarEnergy(), loss)
        found = violation(model, example, np.array(twin.served_by), weights, None, 1500)
        value = hinge(twin, weights, loss)
        assert found.hinge >= max(value, 0.0) - 1e-6
        planes = naive_joint(twin) - found.features
        for plane, offset in zip(planes, found.losses, strict=True):
            for other in (weights, weights + rng.normal(size=len(weights))):
                assert plane @ other + offset <= hinge(twin, other, loss) + 1e-6 * size
        best = int(np.argmax(planes @ weights + found.losses))
        if planes[best] @ weights + found.losses[best] < value - exact:
            continue
        touched += 1
        for direction in np.eye(len(weights)):
            after, before = (hinge(twin, weights + h * direction, loss) for h in (step, -step))
            slope = planes[best] @ direction
            assert (value - before) / step - CLOSE * size <= slope
            assert slope <= (after - value) / step + CLOSE * size
    assert touched >= 6


def naive_joint(twin: naive.Shown) -> np.ndarray:
    return twin.features(naive.point_of(twin.served_by))


@energies
def test_completion_is_the_best_partition_that_shows_the_clusters(case, seed: int):
    """Eq. (29), by enumeration of one exemplar for every cluster."""
    rng = np.random.default_rng(seed)
    for index in range(40):
        example, weights = draw(rng, case, index)
        costs = case.energy.potentials(example, weights)
        served_by = complete(case.energy, example, weights)
        others = [
            costs.energy_of(Partition.from_service(np.array(other)))
            for other in naive.completions(example.shown)
        ]
        scale = max(1.0, max(map(abs, others)))
        found = costs.energy_of(Partition.from_service(served_by))
        assert found == pytest.approx(min(others), abs=1e-12 * scale)
        for label in range(example.n_shown):
            members = np.flatnonzero(example.shown == label)
            assert len(set(served_by[members])) == 1
            assert example.shown[served_by[members[0]]] == label
