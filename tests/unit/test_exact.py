"""The exact stage: fixing loses nothing, HiGHS agrees with brute force, and limits are kept."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from likewise.arrays.blocks import MIB
from likewise.decoders import exact
from likewise.decoders.ascent import Ascent
from likewise.decoders.exact import ReducedProblem, run_highs, solve_reduced
from likewise.decoders.facilities import facilities_of
from likewise.errors import LikewiseError
from likewise.potentials import AssignmentCosts
from naive import exemplar as naive
from registry import dense_costs, sparse_costs

N = 8


def whole_problem(costs: AssignmentCosts) -> tuple[ReducedProblem, float]:
    """Every pair, and the constant that the energy is short of."""
    facilities = facilities_of(costs)
    everyone = np.arange(costs.n_items, dtype=np.int32)
    zero = np.zeros(costs.n_items)
    which, client, cost = facilities.useful_pairs(everyone, zero, zero, np.inf)
    problem = ReducedProblem(facilities.opening, which, client, cost, costs.n_items)
    return problem, facilities.constant


def hard_problem(n: int = 60) -> ReducedProblem:
    """Uniform random costs: the relaxation is weak, and a tree of nodes has to be searched."""
    rng = np.random.default_rng(0)
    return whole_problem(AssignmentCosts(rng.random((n, n)), np.full(n, 1.0)))[0]


@pytest.mark.parametrize("make", [dense_costs, sparse_costs])
def test_highs_agrees_with_brute_force(make, seed: int):
    rng = np.random.default_rng(seed)
    for index in range(30):
        costs = make(rng, index, N)
        problem, constant = whole_problem(costs)
        result = run_highs(problem, np.inf)
        assert result.status == "converged"
        assert result.lower_bound == np.inf
        d = naive.dense_of(costs)
        found = naive.energy_of_set(d, costs.opening, np.flatnonzero(result.opened).tolist())
        least = naive.least_energy(d, costs.opening)
        assert found == pytest.approx(least, rel=1e-9, abs=1e-9)
        assert constant <= 0.0


@pytest.mark.parametrize("make", [dense_costs, sparse_costs])
def test_fixing_loses_no_optimal_solution(make, seed: int):
    """Candidates and pairs that leave are in no optimal solution, whatever the multipliers."""
    rng = np.random.default_rng(seed)
    fixed = 0
    for index in range(60):
        costs = make(rng, index, N)
        d = naive.dense_of(costs)
        facilities = facilities_of(costs)
        everyone = np.arange(N, dtype=np.int32)
        best = naive.least_energy(d, costs.opening) - facilities.constant
        ascent = Ascent(facilities, facilities.first_multipliers(facilities.first_solution()))
        ascent.climb(everyone, best, 16)
        allowance = best - ascent.bound + 1e-9 * max(abs(best), 1.0)
        alive = everyone[ascent.slack <= allowance]
        which, client, _ = facilities.useful_pairs(alive, ascent.v, ascent.slack, allowance)
        kept = set(zip(alive[which].tolist(), client.tolist(), strict=True))
        fixed += N - len(alive)
        for exemplars in naive.optimal_sets(d, costs.opening, tolerance=1e-12):
            assert set(exemplars) <= set(alive.tolist())
            for p in set(range(N)) - set(exemplars):
                cheapest = min(d[p, q] for q in exemplars)
                assert any((q, p) in kept for q in exemplars if d[p, q] == cheapest)
    assert fixed > 0


def test_node_limit():
    result = run_highs(hard_problem(), np.inf, node_limit=1)
    assert result.status in ("gap", "time_limit")
    assert np.isfinite(result.lower_bound)


def test_no_time_left():
    result = solve_reduced(hard_problem(10), time_limit=0.0)
    assert (result.opened, result.lower_bound, result.status) == (None, -np.inf, "time_limit")


def test_time_limit_in_this_process():
    result = run_highs(hard_problem(), 0.05)
    assert result.status == "time_limit"
    assert result.lower_bound < np.inf


def test_refused_at_the_budget(monkeypatch: pytest.MonkeyPatch):
    problem = hard_problem(20)
    monkeypatch.setenv("LIKEWISE_MEMORY_BUDGET", str(problem.bytes_needed - 1))

    def nothing(*args):
        raise AssertionError("HiGHS was called")

    monkeypatch.setattr(exact, "run_highs", nothing)
    result = solve_reduced(problem)
    assert (result.opened, result.lower_bound, result.status) == (None, -np.inf, "memory_limit")


def script(folder: Path, command: str) -> str:
    """A program that reads what it is told and then does something else."""
    program = folder / "child"
    program.write_text(f"#!/bin/sh\ncat > /dev/null\n{command}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


class TestChild:
    """Large problems go to a child process, here also small ones."""

    @pytest.fixture(autouse=True)
    def everything_is_large(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(exact, "PAIRS_IN_PROCESS", 0)

    def test_the_same_answer(self):
        problem = hard_problem(20)
        here, there = run_highs(problem, np.inf), solve_reduced(problem)
        np.testing.assert_array_equal(here.opened, there.opened)
        assert (here.lower_bound, here.status) == (there.lower_bound, there.status)

    def test_time_limit(self):
        result = solve_reduced(hard_problem(), time_limit=0.05)
        assert result.status == "time_limit"

    def test_out_of_memory(self, monkeypatch: pytest.MonkeyPatch):
        # Less than Python and NumPy hold already: the first allocation of HiGHS is refused.
        monkeypatch.setattr(exact, "CHILD_BASE", 8 * MIB - exact.memory_budget())
        result = solve_reduced(hard_problem(20))
        assert (result.opened, result.lower_bound, result.status) == (None, -np.inf, "memory_limit")

    def test_a_child_that_is_killed(self, monkeypatch: pytest.MonkeyPatch, tmp_path):
        monkeypatch.setattr(exact.sys, "executable", script(tmp_path, "kill -9 $$"))
        result = solve_reduced(hard_problem(10))
        assert (result.opened, result.lower_bound, result.status) == (None, -np.inf, "memory_limit")

    def test_a_child_that_fails(self, monkeypatch: pytest.MonkeyPatch, tmp_path):
        monkeypatch.setattr(exact.sys, "executable", script(tmp_path, "echo torn >&2; exit 1"))
        with pytest.raises(LikewiseError, match=r"child process \(torn\); use solver='auto'"):
            solve_reduced(hard_problem(10))

    def test_no_child_is_left_behind(self, monkeypatch: pytest.MonkeyPatch):
        children = []

        class Interrupted(exact.subprocess.Popen):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                children.append(self)

            def communicate(self, *args, **kwargs):
                raise KeyboardInterrupt

        monkeypatch.setattr(exact.subprocess, "Popen", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            solve_reduced(hard_problem())
        (child,) = children
        assert child.returncode is not None
        assert child.stdin.closed
        assert child.stdout.closed
