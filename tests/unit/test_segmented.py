"""Segmented series that are made: where they change, by how much, and that seeds decide."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from likewise.datasets import (
    make_copy_number_profiles,
    make_distribution_changes,
    make_segmented_series,
)
from likewise.datasets.segmented import draw_change_points
from likewise.errors import InputError


def cuts_of(labels: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.diff(labels)) + 1


def jumps(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Differences of the means of neighbouring segments."""
    means = np.array([X[labels == k].mean(axis=0) for k in range(labels.max() + 1)])
    return np.diff(means, axis=0)


def test_change_points_are_uniform_among_those_with_long_segments(seed: int):
    rng = np.random.default_rng(seed)
    found = [tuple(draw_change_points(rng, 12, 2, 0.75)) for _ in range(9000)]
    # Segments of three rows and more.
    expected = [
        cuts for cuts in combinations(range(1, 12), 2)
        if min(np.diff([0, *cuts, 12])) >= 3
    ]  # fmt: skip
    assert set(found) == set(expected)
    counts = np.array([found.count(cuts) for cuts in expected])
    # Six standard deviations of a count.
    assert np.abs(counts - 9000 / len(expected)).max() < 6 * (9000 / len(expected)) ** 0.5


def test_relevant_columns_jump_together_and_others_on_their_own(seed: int):
    made = make_segmented_series(
        8, 4000, 12, 4, jump=2.0, nuisance=3.0, n_misaligned=5, random_state=seed
    )
    assert made.relevant.tolist() == [True] * 4 + [False] * 8
    assert made.rotation is None
    for X, y in zip(made.series, made.labels, strict=True):
        assert X.shape == (4000, 12)
        assert np.bincount(y).min() >= 250
        assert len(cuts_of(y)) == 3
        # Segments have 250 rows or more: jumps of 1 to 3 within six standard errors.
        sizes = np.abs(jumps(X, y)[:, :4])
        assert sizes.min() > 1.0 - 6 * (2 / 250) ** 0.5
        assert sizes.max() < 3.0 + 6 * (2 / 250) ** 0.5
        # Noise is what differences of neighbouring rows show, but for three of them.
        np.testing.assert_allclose(np.diff(X, axis=0).std(axis=0), 2**0.5, rtol=0.1)
        np.testing.assert_allclose(X[:, 9:].std(axis=0), 1.0, rtol=0.1)
        assert X[:, 4:9].std(axis=0).min() > 1.1
    around = [
        np.abs(X[cut : cut + 40].mean(axis=0) - X[cut - 40 : cut].mean(axis=0))
        for X, y in zip(made.series, made.labels, strict=True)
        for cut in cuts_of(y)
    ]
    assert np.mean(around, axis=0)[:4].min() > 2 * np.mean(around, axis=0)[4:].max()


def test_half_of_the_other_columns_are_misaligned_unless_said():
    X = make_segmented_series(1, 4000, 21, 1, nuisance=5.0, random_state=0).series[0]
    assert (X.std(axis=0) > 1.5).sum() == 10


def test_a_rotation_is_one_for_all_series(seed: int):
    plain = make_segmented_series(3, 50, 6, 2, random_state=seed)
    made = make_segmented_series(3, 50, 6, 2, rotated=True, random_state=seed)
    np.testing.assert_allclose(made.rotation @ made.rotation.T, np.eye(6), atol=1e-12)
    for X, Z, y, z in zip(made.series, plain.series, made.labels, plain.labels, strict=True):
        np.testing.assert_allclose(X @ made.rotation.T, Z, atol=1e-10)
        np.testing.assert_array_equal(y, z)


def moments(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Mean, standard deviation and fourth standardised moment of every segment."""
    parts = [X[labels == k, 0] for k in range(labels.max() + 1)]
    return np.array([(x.mean(), x.std(), np.mean(((x - x.mean()) / x.std()) ** 4)) for x in parts])


@pytest.mark.parametrize(
    ("kind", "other"),
    # The fourth moment of m s + sqrt(1 - m^2) z, s a sign: m^4 + 6 m^2 v + 3 v^2, v = 1 - m^2.
    [("mean", (1, 1, 3)), ("variance", (0, 2, 3)), ("bimodal", (0, 1, 1.371))],
)
def test_distributions_alternate(kind: str, other: tuple[float, float, float], seed: int):
    made = make_distribution_changes(kind, 6, 60_000, random_state=seed)
    for X, y in zip(made.series, made.labels, strict=True):
        assert 1 <= len(cuts_of(y)) <= 5
        found = moments(X, y)
        expected = [(0, 1, 3), other]
        near = [np.abs(found - row).max(axis=1) < 0.35 for row in expected]
        # One of the two, and never the same twice.
        assert (near[0] ^ near[1]).all()
        assert (near[0][1:] != near[0][:-1]).all()


def test_numbers_of_changes_are_all_drawn():
    made = make_distribution_changes("mean", 60, 40, n_changes=(0, 2), random_state=0)
    assert {int(y.max()) for y in made.labels} == {0, 1, 2}


def test_profiles(seed: int):
    made = make_copy_number_profiles(80, random_state=seed)
    scales, gross = [], []
    for X, y, regions in zip(made.series, made.labels, made.regions, strict=True):
        cuts = cuts_of(y)
        assert 1 <= len(cuts) <= 4
        assert regions.errors(cuts) == 0
        # One around every change, and none in the middle of a segment: both are errors without.
        kinds = [kind for _, _, kind in regions.rows]
        assert kinds.count("1") == len(cuts)
        assert kinds.count("0") == len(cuts) + 1
        assert regions.errors([]) == len(cuts)
        regions.windows(len(X))
        steps = np.abs(np.diff(X[:, 0]))
        scales.append(np.median(steps))
        gross.append(np.mean(steps > 5 * np.median(steps)))
    assert 0.3 < np.std(np.log(scales)) < 0.8
    # Two steps per outlier.
    assert 0.02 < np.mean(gross) < 0.06


def test_profiles_without_outliers():
    X = make_copy_number_profiles(1, 400, outliers=0.0, random_state=0).series[0]
    assert np.abs(np.diff(X[:, 0])).max() < 8 * np.abs(np.diff(X[:, 0])).mean()


MAKERS = {
    "series": lambda n, seed: make_segmented_series(n, 40, 5, 2, random_state=seed),
    "rotated": lambda n, seed: make_segmented_series(n, 40, 5, 2, rotated=True, random_state=seed),
    "variance": lambda n, seed: make_distribution_changes("variance", n, 60, random_state=seed),
    "profiles": lambda n, seed: make_copy_number_profiles(n, 60, random_state=seed),
}


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_series_depends_on_the_seed_and_its_number(name: str, seed: int):
    make = MAKERS[name]
    few, many, other = make(2, seed), make(5, seed), make(2, seed + 1)
    for place in range(2):
        np.testing.assert_array_equal(few.series[place], many.series[place])
        np.testing.assert_array_equal(few.labels[place], many.labels[place])
        assert not np.array_equal(few.series[place], other.series[place])
    first, rest = many.split(2)
    assert (len(first.series), len(rest.labels)) == (2, 3)
    assert rest.series[0] is many.series[2]
    assert rest.rotation is many.rotation
    if name == "profiles":
        assert rest.regions[0] is many.regions[2]
    else:
        assert rest.regions is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_segmented_series(n_columns=10, n_relevant=8, n_misaligned=3), "do not fit"),
        (lambda: make_segmented_series(n_relevant=0), "at least one relevant"),
        (lambda: make_segmented_series(n_rows=3), "must be 0 to 2"),
        (lambda: make_distribution_changes("colour"), "one of mean, variance, bimodal"),
        (lambda: make_copy_number_profiles(outliers=1.0), "share from 0"),
    ],
)
def test_refusals(make, message: str):
    with pytest.raises(InputError, match=message):
        make()
