"""Baselines of the experiments, against their definitions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.linalg import eig

from likewise.datasets import PartitionedSets, make_nuisance_sets, make_partitioned_sets
from likewise.experiments.baselines import (
    AverageDistance,
    BestSingleDistance,
    KnownColumns,
    LocalFisher,
    PlainDistance,
    RelevantComponents,
    SingleDistance,
    StandardisedDistance,
    SVMCluster,
    TunedExemplars,
    correlation,
    svm_cluster,
    tuned,
)
from likewise.experiments.baselines.distances import mean_features, squared_distances
from likewise.experiments.baselines.linear import affinities, local_scatters, within_covariance
from likewise.geometry import Compare
from likewise.metrics import pairwise_f1


@pytest.fixture
def made(seed: int) -> PartitionedSets:
    """Three sets of two noise columns among six."""
    return make_partitioned_sets(3, 24, 6, 3, noisy=1 / 3, noise=5.0, random_state=seed)


def partitions(n: int) -> Iterator[np.ndarray]:
    """Every partition of n items, as restricted growth strings."""

    def grow(labels: list[int]) -> Iterator[list[int]]:
        if len(labels) == n:
            yield labels
            return
        for label in range(max(labels, default=-1) + 2):
            yield from grow([*labels, label])

    yield from map(np.array, grow([]))


def symmetric(rng: np.random.Generator, n: int) -> np.ndarray:
    noise = rng.normal(size=(n, n))
    return noise + noise.T


class TestTuned:
    def test_cost_is_the_best_of_the_grid(self, made: PartitionedSets):
        model = TunedExemplars(StandardisedDistance()).fit(made.sets, made.labels)
        matrices = [model.distance.matrix(X) for X in made.sets]
        unit = tuned.mean_distance(matrices)
        means = [matrix[~np.eye(24, dtype=bool)].mean() for matrix in matrices]
        assert unit == pytest.approx(np.mean(means))
        scores = [
            np.mean([
                pairwise_f1(y, tuned.partition(matrix, (factor * unit) * 24))
                for matrix, y in zip(matrices, made.labels, strict=True)
            ])
            for factor in tuned.FACTORS
        ]  # fmt: skip
        assert model.score_ == pytest.approx(max(scores))
        found = model.cluster(made.sets)
        scores = [pairwise_f1(y, labels) for y, labels in zip(made.labels, found, strict=True)]
        assert np.mean(scores) == pytest.approx(model.score_)

    def test_among_equals_the_middle_is_taken(self, made: PartitionedSets):
        model = TunedExemplars(PlainDistance(), score=lambda truth, found: 1.0)
        model.fit(made.sets, made.labels)
        unit = tuned.mean_distance([squared_distances(X) for X in made.sets])
        assert model.cost_per_row_ == pytest.approx(tuned.FACTORS[8] * unit)

    def test_the_ends_of_the_grid_are_far_apart(self, made: PartitionedSets):
        matrix = squared_distances(made.sets[0])
        unit = tuned.mean_distance([matrix]) * len(matrix)
        numbers = [len(set(tuned.partition(matrix, f * unit))) for f in tuned.FACTORS]
        assert numbers[0] > 12
        assert numbers[-1] <= 2

    def test_tuning_on_other_sets_keeps_the_distance(self, made: PartitionedSets, seed: int):
        other = make_partitioned_sets(2, 40, 6, 2, noisy=1 / 3, random_state=seed + 1)
        model = TunedExemplars(StandardisedDistance()).fit(made.sets, made.labels)
        scale = model.distance.scale_

        def mean_score() -> float:
            found = model.cluster(other.sets)
            pairs = zip(other.labels, found, strict=True)
            return float(np.mean([pairwise_f1(y, labels) for y, labels in pairs]))

        before = mean_score()
        model.tune(other.sets, other.labels)
        assert model.distance.scale_ is scale
        assert mean_score() == pytest.approx(model.score_)
        # The grids of both differ in their unit, by less than one step of it.
        assert model.score_ >= before - 0.05


class TestDistances:
    def test_average_of_columns_is_the_standardised_distance(self, made: PartitionedSets):
        average = AverageDistance("columns").fit(made.sets, made.labels)
        standard = StandardisedDistance().fit(made.sets, made.labels)
        X = made.sets[0]
        ratio = average.matrix(X)[0, 1:] / standard.matrix(X)[0, 1:]
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)

    def test_each_distance_counts_in_units_of_its_mean(self, made: PartitionedSets):
        features = [Compare("first", "manhattan", [0]), Compare("rest", "sqeuclidean", [1, 4])]
        average = AverageDistance(features).fit(made.sets, made.labels)
        np.testing.assert_allclose(
            average.weights_, 0.5 / mean_features(features, made.sets), rtol=1e-12
        )
        pairs = [
            [abs(X[p, 0] - X[q, 0]), np.square(X[p, [1, 4]] - X[q, [1, 4]]).sum()]
            for X in made.sets
            for p in range(len(X))
            for q in range(len(X))
            if p != q
        ]
        np.testing.assert_allclose(mean_features(features, made.sets), np.mean(pairs, axis=0))

    def test_a_constant_column_is_left_out(self, made: PartitionedSets):
        sets = [np.column_stack([X, np.full(len(X), 3.0)]) for X in made.sets]
        for distance in (StandardisedDistance(), AverageDistance()):
            whole = distance.fit(sets, made.labels).matrix(sets[0])
            assert np.isfinite(whole).all()
            narrow = distance.fit(made.sets, made.labels).matrix(made.sets[0])
            ratio = whole[0, 1:] / narrow[0, 1:]
            np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)

    def test_the_best_single_column_is_found(self, seed: int):
        rng = np.random.default_rng(seed)
        labels = [np.arange(30) % 3 for _ in range(2)]
        sets = [
            np.column_stack(
                [rng.normal(size=30), 20.0 * y + rng.normal(size=30), rng.normal(size=30)]
            )
            for y in labels
        ]
        model = BestSingleDistance("columns").fit(sets, labels)
        assert model.best_ == 1
        alone = SingleDistance("columns", 1).matrix(sets[0])
        np.testing.assert_allclose(alone, squared_distances(sets[0][:, [1]]), atol=1e-9)
        assert pairwise_f1(labels[0], model.cluster(sets)[0]) == 1.0

    def test_known_columns(self, made: PartitionedSets):
        model = KnownColumns(made.informative).fit(made.sets, made.labels)
        expected = squared_distances(made.sets[0][:, :4])
        np.testing.assert_array_equal(model.matrix(made.sets[0]), expected)


class TestRCA:
    def test_whitens_what_varies_within_clusters(self, made: PartitionedSets):
        model = RelevantComponents().fit(made.sets, made.labels)
        mapped = [X @ model.map_ for X in made.sets]
        np.testing.assert_allclose(within_covariance(mapped, made.labels), np.eye(6), atol=1e-9)

    def test_is_the_mahalanobis_distance(self, made: PartitionedSets):
        model = RelevantComponents().fit(made.sets, made.labels)
        rows = [
            X[p] - X[y == y[p]].mean(axis=0)
            for X, y in zip(made.sets, made.labels, strict=True)
            for p in range(len(X))
        ]
        inverse = np.linalg.inv(np.cov(np.array(rows).T, bias=True))
        X = made.sets[1]
        difference = X[3] - X[8]
        expected = difference @ inverse @ difference
        assert model.matrix(X)[3, 8] == pytest.approx(expected, rel=1e-9)

    def test_a_direction_without_variation_is_left_out(self, made: PartitionedSets):
        sets = [np.column_stack([X, X[:, 0]]) for X in made.sets]
        model = RelevantComponents().fit(sets, made.labels)
        narrow = RelevantComponents().fit(made.sets, made.labels)
        np.testing.assert_allclose(model.matrix(sets[0]), narrow.matrix(made.sets[0]), rtol=1e-6)


class TestLFDA:
    def test_scatters_are_those_of_the_definition(self, made: PartitionedSets):
        X, y = made.sets[0], made.labels[0]
        n = len(X)
        between, within = np.zeros((6, 6)), np.zeros((6, 6))
        for p in range(n):
            for q in range(n):
                outer = np.outer(X[p] - X[q], X[p] - X[q]) / 2
                if y[p] != y[q]:
                    between += outer / n
                    continue
                own = X[y == y[p]]
                scale = [
                    np.sort(np.linalg.norm(own - X[row], axis=1))[min(4, len(own) - 1)]
                    for row in (p, q)
                ]
                near = np.exp(-np.square(X[p] - X[q]).sum() / (scale[0] * scale[1]))
                between += near * (1 / n - 1 / len(own)) * outer
                within += near / len(own) * outer
        found = local_scatters(X, y, 4)
        np.testing.assert_allclose(found[0], between, atol=1e-9)
        np.testing.assert_allclose(found[1], within, atol=1e-9)

    def test_map_is_that_of_the_plain_eigenproblem(self, made: PartitionedSets):
        model = LocalFisher().fit(made.sets, made.labels)
        pairs = [local_scatters(X, y, 7) for X, y in zip(made.sets, made.labels, strict=True)]
        between, within = (sum(pair[side] for pair in pairs) for side in (0, 1))
        values, vectors = eig(np.linalg.solve(within, between))
        order = np.argsort(values.real)[::-1]
        vectors = vectors.real[:, order]
        # Scaled such that v^T within v = 1, and then by the root of the eigenvalue.
        norms = np.sqrt(np.einsum("ij,ik,kj->j", vectors, within, vectors))
        naive = vectors / norms * np.sqrt(np.maximum(values.real[order], 0.0))
        X = made.sets[2]
        np.testing.assert_allclose(model.matrix(X), squared_distances(X @ naive), rtol=1e-6)

    def test_components_are_the_leading_ones(self, made: PartitionedSets):
        whole = LocalFisher().fit(made.sets, made.labels)
        two = LocalFisher(n_components=2).fit(made.sets, made.labels)
        np.testing.assert_array_equal(two.map_, whole.map_[:, :2])

    def test_rows_that_coincide(self):
        squared = squared_distances(np.array([[0.0], [0.0], [0.0], [5.0]]))
        near = affinities(squared, 2)
        assert near[0].tolist() == [1.0, 1.0, 1.0, 0.0]


class TestCorrelation:
    def test_against_all_partitions(self, seed: int):
        rng = np.random.default_rng(seed)
        reached = 0
        for _ in range(20):
            scores = symmetric(rng, 6)
            best = max(correlation.value_of(scores, y) for y in partitions(6))
            found = correlation.value_of(scores, correlation.cluster_by_similarity(scores))
            assert found <= best + 1e-9
            reached += found > best - 1e-9
        assert reached >= 14

    def test_value_is_the_sum_over_pairs(self, seed: int):
        rng = np.random.default_rng(seed)
        scores, labels = symmetric(rng, 9), rng.integers(0, 3, 9)
        expected = sum(scores[p, q] for q in range(9) for p in range(q) if labels[p] == labels[q])
        assert correlation.value_of(scores, labels) == pytest.approx(expected)

    def test_no_move_and_no_merger_gains(self, seed: int):
        rng = np.random.default_rng(seed)
        scores = symmetric(rng, 15)
        found = correlation.improve(scores, rng.integers(0, 4, 15))
        value = correlation.value_of(scores, found)
        neighbours = []
        for row in range(15):
            for label in range(found.max() + 2):
                moved = found.copy()
                moved[row] = label
                neighbours.append(moved)
        for first in range(found.max() + 1):
            neighbours += [np.where(found == other, first, found) for other in range(first)]
        assert max(correlation.value_of(scores, y) for y in neighbours) <= value + 1e-9

    def test_improving_never_loses(self, seed: int):
        rng = np.random.default_rng(seed)
        scores, start = symmetric(rng, 20), rng.integers(0, 5, 20)
        before = correlation.value_of(scores, start)
        assert correlation.value_of(scores, correlation.improve(scores, start)) >= before
        greedy = correlation.merge_greedily(scores)
        assert correlation.value_of(scores, greedy) >= 0.0

    def test_clear_clusters(self, seed: int):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 4, 40)
        scores = np.where(truth[:, None] == truth, 1.0, -1.0) + 0.1 * symmetric(rng, 40)
        for start in ([], [np.arange(40)], [np.zeros(40, dtype=int)]):
            assert pairwise_f1(truth, correlation.cluster_by_similarity(scores, *start)) == 1.0


class TestSVMCluster:
    @pytest.fixture
    def shown(self, made: PartitionedSets) -> list[svm_cluster.ShownSet]:
        return [svm_cluster.ShownSet.of(X, y) for X, y in zip(made.sets, made.labels, strict=True)]

    def test_joint_features_are_means_over_pairs(self, made: PartitionedSets, seed: int):
        X, y = made.sets[0], np.random.default_rng(seed).integers(0, 5, 24)
        total = np.zeros(7)
        for q in range(24):
            for p in range(q):
                if y[p] == y[q]:
                    total += np.append(np.square(X[p] - X[q]), 1.0)
        np.testing.assert_allclose(svm_cluster.joint_features(X, y), total / (24 * 23 / 2))

    def test_score_is_linear_in_the_weights(self, made: PartitionedSets, seed: int):
        rng = np.random.default_rng(seed)
        X, y, weights = made.sets[0], rng.integers(0, 4, 24), rng.normal(size=7)
        scores = svm_cluster.similarities(X, weights)
        pair = np.append(np.square(X[2] - X[9]), 1.0)
        assert scores[2, 9] == pytest.approx(weights @ pair)
        linear = weights @ svm_cluster.joint_features(X, y) * 24 * 23 / 2
        assert correlation.value_of(scores, y) == pytest.approx(linear)

    def test_margins_fold_the_loss_into_the_similarities(
        self, shown: list[svm_cluster.ShownSet], seed: int
    ):
        rng = np.random.default_rng(seed)
        one, weights = shown[0], rng.normal(size=7)
        augmented = svm_cluster.similarities(one.rows, weights) + one.margins
        worst = []
        for _ in range(3):
            y = rng.integers(0, 4, 24)
            objective = svm_cluster.violation([one], [y], weights) * 24 * 23 / 2
            worst.append(correlation.value_of(augmented, y) - objective)
        np.testing.assert_allclose(worst, worst[0], atol=1e-8)

    def test_subgradient_against_differences(self, shown: list[svm_cluster.ShownSet], seed: int):
        rng = np.random.default_rng(seed)
        weights = rng.normal(size=7)
        frozen = [svm_cluster.worst_partition(one, weights, one.labels) for one in shown]
        gradient = svm_cluster.subgradient(shown, frozen)
        for place, direction in enumerate(1e-4 * np.eye(7)):
            ahead = svm_cluster.violation(shown, frozen, weights + direction)
            behind = svm_cluster.violation(shown, frozen, weights - direction)
            assert (ahead - behind) / 2e-4 == pytest.approx(gradient[place], abs=1e-7)

    def test_the_truth_bounds_the_violation_from_below(
        self, shown: list[svm_cluster.ShownSet], seed: int
    ):
        weights = np.random.default_rng(seed).normal(size=7)
        frozen = [svm_cluster.worst_partition(one, weights, one.labels) for one in shown]
        assert svm_cluster.violation(shown, frozen, weights) >= -1e-12
        truth = [one.labels for one in shown]
        assert svm_cluster.violation(shown, truth, weights) == pytest.approx(0.0)

    def test_training_lowers_the_objective(self, made: PartitionedSets):
        scale = 1 / np.sqrt(2 * np.mean([X.var(axis=0, ddof=1) for X in made.sets], axis=0))
        shown = [
            svm_cluster.ShownSet.of(X * scale, y)
            for X, y in zip(made.sets, made.labels, strict=True)
        ]

        def objective(weights: np.ndarray) -> float:
            worst = [svm_cluster.worst_partition(one, weights, one.labels) for one in shown]
            return svm_cluster.violation(shown, worst, weights)

        trained = svm_cluster.train(shown, 1e-4, 1.0, 60)
        assert objective(trained) < objective(svm_cluster.start_weights(shown))

    def test_learns_which_columns_matter(self, seed: int):
        made = make_partitioned_sets(8, 40, 20, 4, noisy=0.5, spread=0.25, random_state=seed)
        train, test = made.split(5)
        model = SVMCluster(strengths=(1e-2,), steps=(0.5, 1.0)).fit(train.sets, train.labels)
        plain = TunedExemplars(PlainDistance()).fit(train.sets, train.labels)
        plain.tune(test.sets, test.labels)
        found = model.cluster(test.sets)
        scores = [pairwise_f1(y, labels) for y, labels in zip(test.labels, found, strict=True)]
        assert np.mean(scores) > 1.5 * plain.score_
        assert model.score_ > 0.8


def test_learnt_distances_see_through_nuisance(seed: int):
    train, test = make_nuisance_sets(2, 200, 4, random_state=seed).split(1)
    scores = {}
    for distance in (PlainDistance(), RelevantComponents(), LocalFisher()):
        model = TunedExemplars(distance).fit(train.sets, train.labels)
        found = model.cluster(test.sets)[0]
        scores[type(distance)] = pairwise_f1(test.labels[0], found)
    assert min(scores[RelevantComponents], scores[LocalFisher]) > scores[PlainDistance]
