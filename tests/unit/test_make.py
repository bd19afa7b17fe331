"""Sets that are made: what they are distributed like, and that seeds decide."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.datasets import make_nuisance_sets, make_partitioned_sets
from likewise.errors import InputError


def within(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Standard deviation of every column around the means of the clusters."""
    means = np.array([X[y == label].mean(axis=0) for label in np.unique(y)])
    degrees = len(X) - len(means)
    return np.sqrt(np.square(X - means[y]).sum(axis=0) / degrees)


def test_noise_is_in_the_last_columns(seed: int):
    made = make_partitioned_sets(
        3, 2000, 10, 4, noisy=0.3, noise=7.0, spread=0.25, random_state=seed
    )
    assert made.informative.tolist() == [True] * 7 + [False] * 3
    for X, y in zip(made.sets, made.labels, strict=True):
        assert X.shape == (2000, 10)
        # The relative error of a standard deviation of 2000 values is about 1 / sqrt(4000).
        np.testing.assert_allclose(within(X, y)[:7], 0.25, rtol=0.1)
        np.testing.assert_allclose(within(X, y)[7:], 7.0, rtol=0.1)


def test_centres_are_standard_normal_and_new_in_every_set(seed: int):
    made = make_partitioned_sets(60, 40, 20, 4, noisy=0.0, spread=0.0, random_state=seed)
    centres = np.array(
        [
            X[y == label][0]
            for X, y in zip(made.sets, made.labels, strict=True)
            for label in range(4)
        ]
    )
    assert len(np.unique(centres[:, 0])) == 240
    # 4800 values: six standard errors.
    assert abs(centres.mean()) < 6 / 4800**0.5
    assert abs(centres.std() - 1) < 6 / 9600**0.5


@pytest.mark.parametrize(("rows", "clusters"), [(100, 5), (103, 5), (7, 7), (9, 1)])
def test_sizes_differ_by_one_at_most(rows: int, clusters: int, seed: int):
    (labels,) = make_partitioned_sets(1, rows, 3, clusters, noisy=0.4, random_state=seed).labels
    sizes = np.bincount(labels)
    assert len(sizes) == clusters
    assert sizes.max() - sizes.min() <= 1


def test_a_range_of_sizes(seed: int):
    made = make_partitioned_sets(50, (6, 9), 2, 2, noisy=0.0, random_state=seed)
    assert {len(X) for X in made.sets} == {6, 7, 8, 9}


@pytest.mark.parametrize("make", [make_partitioned_sets, make_nuisance_sets])
def test_a_set_depends_on_the_seed_and_its_number(make, seed: int):
    few, many = make(2, random_state=seed), make(5, random_state=seed)
    other = make(2, random_state=seed + 1)
    for place in range(2):
        np.testing.assert_array_equal(few.sets[place], many.sets[place])
        np.testing.assert_array_equal(few.labels[place], many.labels[place])
        assert not np.array_equal(few.sets[place], other.sets[place])
    first, rest = many.split(2)
    assert (len(first.sets), len(rest.labels)) == (2, 3)
    assert rest.sets[0] is many.sets[2]


def test_nuisance_has_nothing_to_do_with_the_clusters(seed: int):
    made = make_nuisance_sets(1, 4000, random_state=seed)
    (X,), (y,) = made.sets, made.labels
    np.testing.assert_allclose(within(X, y)[:4], 0.6, rtol=0.1)
    np.testing.assert_allclose(X[:, 4:].std(axis=0), 3.0, rtol=0.1)
    means = np.array([X[y == label].mean(axis=0) for label in range(8)])
    assert np.abs(means[:, :4]).max() < 4.2
    # 500 rows of standard deviation 3, six standard errors.
    assert np.abs(means[:, 4:]).max() < 6 * 3 / 500**0.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"noisy": 1.0}, "no informative column"), ({"n_clusters": 101}, "1 to 100")],
)
def test_refusals(arguments: dict[str, float], message: str):
    with pytest.raises(InputError, match=message):
        make_partitioned_sets(**arguments)
