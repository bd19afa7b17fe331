"""Large-margin regression on intervals: optimality, against slow solvers and known cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from likewise.learners import intervals
from likewise.learners.interval_strength import choose_strength, strength_path
from likewise.learners.intervals import IntervalProblem, Standardised, minimise

INF = np.inf


def problem(seed: int, n: int = 30, f: int = 4, **options: float) -> IntervalProblem:
    """Noisy limits, some infinite, some closer than the margins."""
    rng = np.random.default_rng(seed)
    columns = Standardised.of(rng.normal(size=(n, f))).columns
    middle = columns @ rng.normal(size=f) + rng.normal(scale=0.7, size=n)
    width = rng.exponential(size=n)
    low = np.where(rng.random(n) < 0.3, -INF, middle - width)
    high = np.where(rng.random(n) < 0.3, INF, middle + width)
    return IntervalProblem(columns, low, high, **{"margin": 1.0, **options})


def naive_objective(one: IntervalProblem, solution) -> float:
    """The formula, row by row."""
    total = 0.0
    for z, low, high in zip(one.columns, one.low, one.high, strict=True):
        f = float(z @ solution[:-1] + solution[-1])
        if low > -INF:
            total += max(0.0, low + one.margin - f) ** 2
        if high < INF:
            total += max(0.0, f - high + one.margin) ** 2
    weights = solution[:-1]
    return (
        total / len(one.low) + one.l1 * np.abs(weights).sum() + one.l2 * (weights @ weights) / 2.0
    )


def slow_minimum(one: IntervalProblem) -> float:
    """With the positive and negative parts of the coefficients as variables, l1 is smooth."""
    f = one.columns.shape[1]

    def joined(parts):
        return np.append(parts[:f] - parts[f:-1], parts[-1])

    def value(parts):
        smooth = naive_objective(replace(one, l1=0.0), joined(parts))
        return smooth + one.l1 * parts[:-1].sum()

    def slopes(parts):
        inner = one.gradient(joined(parts))
        return np.concatenate([inner[:-1] + one.l1, -inner[:-1] + one.l1, inner[-1:]])

    bounds = [(0.0, None)] * (2 * f) + [(None, None)]
    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10}
    start = np.zeros(2 * f + 1)
    return float(minimize(value, start, jac=slopes, bounds=bounds, options=options).fun)


STRENGTHS = [(0.0, 0.0), (0.05, 0.0), (0.5, 0.0), (0.0, 0.05), (0.0, 2.0)]


def test_the_objective_is_the_formula_and_the_gradient_its_slope(seed: int):
    one = problem(seed, l2=0.3)
    at = np.random.default_rng(seed).normal(size=5)
    assert one.objective(at) == pytest.approx(naive_objective(one, at), rel=1e-12)
    step = 1e-6
    differences = [
        (naive_objective(one, at + step * unit) - naive_objective(one, at - step * unit)) / step / 2
        for unit in np.eye(5)
    ]
    np.testing.assert_allclose(one.gradient(at), differences, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("l1", "l2"), STRENGTHS)
@pytest.mark.parametrize("margin", [0.0, 0.3, 1.0, 5.0])
def test_the_minimum(seed: int, l1: float, l2: float, margin: float):
    one = problem(seed, l1=l1, l2=l2, margin=margin)
    found = minimise(one)
    assert found.converged
    assert found.residual <= 1e-8
    assert one.residual(found.solution) == found.residual
    slow = slow_minimum(one)
    # The slow solver is the less exact of the two.
    assert naive_objective(one, found.solution) <= slow + 1e-12
    assert naive_objective(one, found.solution) == pytest.approx(slow, abs=1e-7)


@pytest.mark.parametrize(("l1", "l2"), STRENGTHS)
@pytest.mark.parametrize("shape", [(10, 40), (100, 30), (300, 5)])
def test_other_shapes(seed: int, shape: tuple[int, int], l1: float, l2: float):
    assert minimise(problem(seed, *shape, l1=l1, l2=l2)).residual <= 1e-8


def test_copies_of_columns_and_wide_tables(seed: int, monkeypatch):
    one = problem(seed, l1=0.02)
    twice = replace(one, columns=np.hstack([one.columns, one.columns]))
    found = minimise(twice)
    assert found.residual <= 1e-8
    assert twice.objective(found.solution) == pytest.approx(
        one.objective(minimise(one).solution), abs=1e-9
    )
    # Proximal steps alone get there too.
    monkeypatch.setattr(intervals, "WIDEST", 0)
    slowly = minimise(one)
    assert slowly.residual <= 1e-8
    np.testing.assert_allclose(slowly.solution, minimise(one).solution, atol=1e-7)


def test_overlapping_hinges_give_the_middle():
    columns = np.zeros((1, 0))
    found = minimise(IntervalProblem(columns, np.array([1.0]), np.array([1.5]), margin=3.0))
    assert found.solution[-1] == pytest.approx(1.25, abs=1e-12)


def test_infinite_limits_equal_limits_that_are_far():
    one = problem(3, l1=0.05)
    far = replace(
        one,
        low=np.where(np.isfinite(one.low), one.low, -1e3),
        high=np.where(np.isfinite(one.high), one.high, 1e3),
    )
    np.testing.assert_allclose(minimise(one).solution, minimise(far).solution, atol=1e-8)


def test_points_give_the_least_squares_line(seed: int):
    rng = np.random.default_rng(seed)
    columns = Standardised.of(rng.normal(size=(50, 3))).columns
    y = rng.normal(size=50)
    design = np.column_stack([columns, np.ones(50)])
    line = np.linalg.lstsq(design, y, rcond=None)[0]
    # Both hinges act everywhere where the margin is large.
    for margin in (0.0, 10.0):
        found = minimise(IntervalProblem(columns, y, y, margin))
        np.testing.assert_allclose(found.solution, line, atol=1e-8)


def test_a_strong_l1_leaves_the_intercept_and_a_weaker_one_does_not(seed: int):
    one = problem(seed)
    strengths = strength_path(one, is_l1=True)
    assert np.all(np.diff(strengths) < 0.0)
    strong = minimise(replace(one, l1=float(strengths[0]) * 1.000001))
    weaker = minimise(replace(one, l1=float(strengths[0]) * 0.99))
    np.testing.assert_array_equal(strong.solution[:-1], 0.0)
    assert np.any(weaker.solution[:-1] != 0.0)


@pytest.mark.parametrize("is_l1", [True, False])
def test_of_equal_strengths_the_strongest_is_chosen(is_l1: bool):
    rng = np.random.default_rng(0)
    columns = Standardised.of(rng.normal(size=(40, 3))).columns
    # Wide enough for a constant.
    one = IntervalProblem(columns, rng.uniform(-9, -8, 40), rng.uniform(8, 9, 40), margin=1.0)
    chosen = choose_strength(one, is_l1)
    assert chosen == strength_path(one, is_l1)[0]


def test_standardised_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4)) * [1.0, 1e200, 1e-200, 0.0] + [1e6, 0.0, 0.0, 0.1]
    table = Standardised.of(X)
    np.testing.assert_allclose(table.columns.mean(axis=0), 0.0, atol=1e-8)
    np.testing.assert_allclose((table.columns**2).mean(axis=0), [1.0, 1.0, 1.0, 0.0], rtol=1e-9)
    solution = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    coefficients, intercept = table.original(solution)
    wanted = table.columns @ solution[:-1] + 5.0
    np.testing.assert_allclose(X @ coefficients + intercept, wanted, atol=1e-6)
    assert coefficients[3] == 0.0
