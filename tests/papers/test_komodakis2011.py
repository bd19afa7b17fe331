"""Claims about learning to cluster, as numbers, on few seeds.

`likewise reproduce` runs the same with more of them (docs/experiments.md); bars here are those of
the full runs, less what so few seeds leave to chance.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import likewise as lw
from likewise.arrays.random import stream
from likewise.datasets import make_partitioned_sets
from likewise.energies.exemplar import ExemplarEnergy
from likewise.experiments.methods import scaled_weights
from likewise.experiments.unseen_classes import digit_halves, nuisance_halves
from likewise.geometry.pairs import ColumnPairs, mean_features
from likewise.learners.base import Model, Problem
from likewise.learners.cutting_planes import CuttingPlanes
from likewise.learners.loop import run
from likewise.learners.regularisers import L1, Terrain
from likewise.learners.subgradient import Subgradient
from likewise.losses.exemplar import ExemplarLoss
from likewise.supervision import Example


def mean_f(truth, found) -> float:
    return float(
        np.mean([lw.metrics.pairwise_f1(y, own) for y, own in zip(truth, found, strict=True)])
    )


@pytest.mark.parametrize(("noisy", "least"), [(0.3, 0.99), (0.8, 0.99), (0.9, 0.95)])
def test_columns_of_noise_are_found_out(noisy: float, least: float):
    """Figure 2b to 2d: 100 columns, ten sets of 100 rows in 5 clusters, ten new ones."""
    made = make_partitioned_sets(20, 100, 100, 5, noisy=noisy, random_state=100)
    shown, new = made.split(10)
    learner = lw.ExemplarLearner().fit(shown.sets, shown.labels)
    found = learner.cluster(new.sets)
    assert mean_f(new.labels, found) >= least
    assert np.mean([labels.max() + 1 for labels in found]) == pytest.approx(5.0, abs=0.2)
    shares = scaled_weights(learner.weights_, shown.sets)
    assert shares[~shown.informative].sum() <= 0.1
    # The plain distance fails.
    plain = lw.ExemplarClusterer(opening_cost=learner.opening_cost_)
    assert mean_f(new.labels, plain.cluster(new.sets)) <= 0.5


SIZES = ((40, 5), (300, 5), (1000, 5), (200, 10))


@pytest.mark.parametrize(("noisy", "least", "draws"), [(0.5, 0.95, 1), (0.9, 0.93, 3)])
def test_what_was_learnt_holds_for_sets_of_other_sizes(noisy: float, least: float, draws: int):
    """One learner, nothing told: sets smaller and larger, and with more clusters."""
    scores = np.zeros((draws, len(SIZES)))
    for draw in range(draws):
        shown = make_partitioned_sets(10, (60, 140), 100, 5, noisy=noisy, random_state=draw)
        learner = lw.ExemplarLearner().fit(shown.sets, shown.labels)
        for place, (rows, clusters) in enumerate(SIZES):
            rng = stream(draw, "sets of another size", rows, clusters)
            new = make_partitioned_sets(10, rows, 100, clusters, noisy=noisy, random_state=rng)
            scores[draw, place] = mean_f(new.labels, learner.cluster(new.sets))
    assert np.all(scores.mean(axis=0) >= least), scores


@pytest.mark.parametrize(("make", "least"), [(digit_halves, 0.75), (nuisance_halves, 0.9)])
def test_classes_that_were_never_shown(make, least: float):
    """The same default settings for digits, where the plain distance is good, and among noise."""
    scores = []
    for seed in range(5):
        shown, new = make(300, seed)
        learner = lw.ExemplarLearner().fit(shown.sets, shown.labels)
        [found] = learner.cluster(new.sets)
        [truth] = new.labels
        scores.append(adjusted_rand_score(truth, found))
    assert np.mean(scores) >= least


def few_examples(seed: int):
    """Two small sets; 20 columns, half of them noise not much wider than the others."""
    made = make_partitioned_sets(6, 16, 20, 3, noisy=0.5, noise=1.0, spread=0.6, random_state=seed)
    return made.split(2)


def test_few_examples_are_no_reason_to_do_worse_than_the_plain_distance():
    """Beside the plain distance with an opening cost that is fitted, on average over draws."""
    differences = []
    for seed in range(12):
        shown, new = few_examples(seed)
        learner = lw.ExemplarLearner(paths=None).fit(shown.sets, shown.labels)
        costs = np.geomspace(0.5, 300.0, 30)
        scores = [
            mean_f(shown.labels, lw.ExemplarClusterer(opening_cost=cost).cluster(shown.sets))
            for cost in costs
        ]
        plain = lw.ExemplarClusterer(opening_cost=float(costs[int(np.argmax(scores))]))
        differences.append(
            mean_f(new.labels, learner.cluster(new.sets))
            - mean_f(new.labels, plain.cluster(new.sets))
        )
    assert np.mean(differences) >= 0.0


def l1_problem(mean: float, seed: int) -> Problem:
    """Objective (28) with l1 and a fixed opening cost; features of mean one, or less."""
    made = make_partitioned_sets(4, 40, 30, 4, noisy=0.8, random_state=seed)
    pairs = [ColumnPairs(X - X.mean(axis=0)) for X in made.sets]
    factors = mean / mean_features(pairs)
    lower, upper = np.zeros(31), np.full(31, 1e6)
    lower[-1] = upper[-1] = 1.0
    weight = 4.0 / 30 / mean
    return Problem(
        model=Model(ExemplarEnergy(), ExemplarLoss()),
        examples=[
            Example(own.scaled(factors), np.asarray(y), np.full((len(y), 1), 5.0))
            for own, y in zip(pairs, made.labels, strict=True)
        ],
        terrain=Terrain(L1(), 10.0 * mean, 30, lower, upper),
        start=np.append(np.full(30, weight), 1.0),
        scale=np.append(np.full(30, weight), 1.0),
    )


@pytest.mark.parametrize("mean", [1.0, 0.03])
def test_fewer_passes_than_the_method_of_the_paper(mean: float):
    """Fig. 1 with the best of six steps after ten times as many passes has a higher objective."""
    problem = l1_problem(mean, 0)
    ours = run(CuttingPlanes(tol=0.01, shakes=2), problem, max_iter=60)
    theirs = [
        run(Subgradient(step_rule=step), problem, max_iter=600).objective
        for step in (1e-3, 1e-2, 1e-1, 3e-1, 1.0, 3.0)
    ]
    assert ours.objective < min(theirs)
    # And it knows how far it is from the best.
    assert ours.lower_bound <= ours.objective
    assert np.isfinite(ours.lower_bound)
