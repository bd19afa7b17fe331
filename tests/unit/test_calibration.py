"""The law of opening costs: fitted to sets whose right costs are known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from likewise.learners import calibration
from likewise.learners.calibration import (
    ShownSet,
    SizeLaw,
    adjusted_rand,
    best_factor,
    fit_law,
    smoothed,
)


def labelling(rng: np.random.Generator, n: int) -> np.ndarray:
    """Labels 0..k-1, k from one to n."""
    drawn = rng.integers(rng.integers(1, n + 1), size=n)
    return np.unique(drawn, return_inverse=True)[1].astype(np.intp)


def test_the_adjusted_rand_index_is_that_of_scikit_learn(seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(300):
        n = int(rng.integers(1, 30))
        shown, found = labelling(rng, n), labelling(rng, n)
        # Quotients of integers below 1,000, whose order of operations differs.
        expected = adjusted_rand_score(shown, found)
        assert adjusted_rand(shown, found) == pytest.approx(expected, abs=1e-12)


def separated(rng: np.random.Generator, size: int, n_clusters: int) -> ShownSet:
    """Points of a line: clusters of one size, a hundred times wider apart than they are wide."""
    shown = np.repeat(np.arange(n_clusters), size)
    places = 100.0 * shown + rng.uniform(size=len(shown))
    serve = np.abs(places[:, None] - places[None, :])
    return ShownSet(serve / serve.mean(), shown)


def test_a_law_fits_what_it_was_fitted_to(seed: int):
    rng = np.random.default_rng(seed)
    sets = [separated(rng, size, 4) for size in (5, 10, 30)]
    law, agreement = fit_law(sets, None)
    assert agreement == 1.0
    for part in sets:
        cost = law.cost(len(part.shown), 4)
        assert calibration.agreement(part, np.array([cost])) == 1.0


def test_the_exponent_is_learnt_where_clusters_differ_in_size():
    law, agreement = fit_law([worth_the_same(6), worth_the_same(60)], None)
    assert agreement == pytest.approx(1.0)
    assert law.exponent < 1.0
    alone, _ = fit_law([worth_the_same(6), worth_the_same(6)], None)
    assert alone.exponent == 1.0, "with clusters of one size nothing speaks against 1"
    given, _ = fit_law([worth_the_same(6), worth_the_same(60)], 0.5)
    assert given.exponent == 0.5


def worth_the_same(size: int) -> ShownSet:
    """Two clusters whose right opening costs, from 0.2 to 1, are the same for every size.

    Three rows of each cluster, all but its exemplar, save 0.2 each on their own; all rows of a
    cluster together save 1.
    """
    shown = np.repeat([0, 1], size)
    serve = np.where(shown[:, None] == shown[None, :], 0.0, 1.0 / size)
    serve[:, [0, 1, 2, size, size + 1, size + 2]] += 0.2
    return ShownSet(serve, shown)


def test_the_middle_of_equally_good_factors_is_taken():
    assert best_factor(np.array([0.0, 0.1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.2, 0.9, 0.0])) == 4


def test_a_lucky_factor_does_not_win():
    assert best_factor(smoothed(np.array([0.0, 1.0, 0.0, 0.8, 0.8, 0.8, 0.0]))) == 4


def test_an_exponent_is_not_learnt_from_noise(seed: int):
    """Where clusters overlap, single sets prefer this or that exponent by chance."""
    rng = np.random.default_rng(seed)
    sets = []
    for size in (9, 12, 15, 19):
        shown = np.repeat(np.arange(3), size)
        rows = rng.normal(size=(3, 3))[shown] + 0.7 * rng.normal(size=(3 * size, 3))
        sets.append(ShownSet(((rows[:, None] - rows) ** 2).mean(axis=2), shown))
    law, _ = fit_law(sets, None)
    assert law.exponent >= 0.5


def test_cost_by_size():
    assert SizeLaw(2.0, 1.0).cost(100, 5) == pytest.approx(40.0)
    assert SizeLaw(2.0, 0.0).cost(100, 5) == 2.0
    # Not even one cluster is expected: as with one.
    assert SizeLaw(2.0, 1.0).cost(10, 0.2) == pytest.approx(20.0)


def test_profiles_multiply_opening_costs():
    """Where one row costs nothing to open, and the others too much, it is the only exemplar."""
    serve = np.ones((4, 4))
    shown = np.zeros(4, dtype=np.intp)
    cheap = ShownSet(serve, shown, np.array([0.0, 1.0, 1.0, 1.0]))
    assert calibration.agreement(cheap, np.array([1e3])).tolist() == [1.0]
    split = ShownSet(serve, np.arange(4), np.zeros(4))
    assert calibration.agreement(split, np.array([1e3])).tolist() == [1.0]
