"""Optimisers of the joint objective against passes and time; and how training grows with the sets.

    python benchmarks/learning.py               both parts
    python benchmarks/learning.py --part methods
    python benchmarks/learning.py --part growth --sizes 125 250 500

Part "methods": one objective (l1, opening cost fixed, as in the experiments of komodakis2011),
features of mean 1 and of mean 0.03, means over several draws. Every method reports its own upper
value of the objective; the last column judges the weights it returns by one and the same function.

Part "growth": `ExemplarLearner` with its defaults on sets of n rows, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from likewise.datasets import make_partitioned_sets
from likewise.decoders.parts import Multipliers
from likewise.decoders.relaxation import relax
from likewise.energies.exemplar import ExemplarEnergy
from likewise.estimators.training import SHAKES
from likewise.geometry.pairs import ColumnPairs, mean_features
from likewise.learners.base import Model, Problem
from likewise.learners.cutting_planes import CuttingPlanes
from likewise.learners.loop import Outcome, run
from likewise.learners.regularisers import L1, Terrain
from likewise.learners.subgradient import Subgradient, parts_gradient
from likewise.learners.violation import complete
from likewise.losses.exemplar import ExemplarLoss
from likewise.partitions import Partition
from likewise.supervision import Example
from reporting import heading, line, write

Floats = NDArray[np.float64]

N_SETS, N_ROWS, N_COLUMNS, NOISY = 10, 80, 100, 0.8
OPENING_COST, TAU = 8.0, 50.0
PASSES = (5, 10, 30, 100, 300)
PAPER_PASSES = 3000
PAPER_STEPS = (1e-3, 1e-2, 1e-1, 3e-1, 1.0, 3.0)
JUDGED_WITH = 5000

METHODS_TABLE = {
    "feature mean": ("mean", "g"),
    "method": ("method", "s"),
    **{f"after {p}": (f"after_{p}", ".1f") for p in PASSES},
    "passes": ("passes", ".0f"),
    "s": ("seconds", ".2f"),
    "objective": ("objective", ".1f"),
    "bound": ("bound", ".1f"),
    "judged": ("judged", ".1f"),
}
GROWTH_TABLE = {
    "n": ("n", "d"),
    "sets": ("sets", "d"),
    "columns": ("columns", "d"),
    "fit s": ("seconds", ".1f"),
    "passes": ("passes", "d"),
    "s per pass": ("pass_seconds", ".3f"),
    "gap": ("gap", ".2%"),
    "peak MiB": ("peak", ".0f"),
    "F on new sets": ("score", ".3f"),
}


def problem_of(mean: float, seed: int = 0) -> Problem:
    """The objective for features whose mean is ``mean``; its minimum does not depend on that."""
    made = make_partitioned_sets(
        n_sets=N_SETS, n_rows=N_ROWS, n_columns=N_COLUMNS, noisy=NOISY, random_state=seed
    )
    pairs = [ColumnPairs(X - X.mean(axis=0)) for X in made.sets]
    factors = mean / mean_features(pairs)
    examples = [
        Example(own.scaled(factors), np.asarray(y), np.full((len(y), 1), OPENING_COST))
        for own, y in zip(pairs, made.labels, strict=True)
    ]
    weight = 4.0 / N_COLUMNS / mean
    lower, upper = np.zeros(N_COLUMNS + 1), np.full(N_COLUMNS + 1, 1e6)
    lower[-1] = upper[-1] = 1.0
    return Problem(
        model=Model(ExemplarEnergy(), ExemplarLoss()),
        examples=examples,
        terrain=Terrain(L1(), TAU * mean, N_COLUMNS, lower, upper),
        start=np.append(np.full(N_COLUMNS, weight), 1.0),
        scale=np.append(np.full(N_COLUMNS, weight), 1.0),
    )


def judged(problem: Problem, weights: Floats) -> float:
    """The objective (27) at weights, exemplars completed there, relaxations solved to the end."""
    total = problem.terrain.value(weights)
    for example in problem.examples:
        served_by = complete(problem.model.energy, example, weights)
        costs = problem.model.energy.potentials(example, weights)
        energy = costs.energy_of(Partition.from_service(served_by))
        augmented = problem.model.loss.augment(costs, example.shown)
        total += energy - relax(augmented, prices=None, upper=energy, steps=JUDGED_WITH).bound
    return total


@dataclass(frozen=True)
class Trained:
    """Weights, and after every pass the best objective so far and the seconds."""

    weights: Floats
    values: list[float]
    seconds: list[float]
    bound: float | None = None

    @classmethod
    def of(cls, outcome: Outcome) -> Trained:
        """From a training of the library."""
        history = outcome.history
        bound = outcome.lower_bound if np.isfinite(outcome.lower_bound) else None
        return cls(outcome.weights, history["objective"], history["seconds"], bound)


def auto(problem: Problem) -> Trained:
    """What `ExemplarLearner` runs, to a smaller gap."""
    return Trained.of(run(CuttingPlanes(tol=0.01, shakes=SHAKES), problem, max_iter=max(PASSES)))


def adagrad(problem: Problem) -> Trained:
    """AdaGrad on the weights beside plain steps on the multipliers of the parts."""
    weights, squares = problem.start.copy(), np.zeros(problem.n_weights)
    multipliers = [Multipliers.zero(example.n_items) for example in problem.examples]
    best, objective = weights, np.inf
    values, seconds = [], []
    started = time.perf_counter()
    for t in range(1, max(PASSES) + 1):
        gradient, value = problem.terrain.gradient(weights), problem.terrain.value(weights)
        for k, example in enumerate(problem.examples):
            served_by = complete(problem.model.energy, example, weights)
            step = 0.5 * (1.0 + OPENING_COST * example.n_shown / example.n_items) / np.sqrt(t)
            found = parts_gradient(problem.model, example, served_by, weights, multipliers[k], step)
            multipliers[k] = Multipliers(found.items, found.clusters)
            gradient = gradient + found.gradient
            value += found.loss
        if value < objective:
            best, objective = weights, value
        squares += gradient**2
        move = problem.scale * gradient / np.sqrt(np.maximum(squares, 1e-300))
        weights = problem.terrain.project(weights - move)
        values.append(objective)
        seconds.append(time.perf_counter() - started)
    return Trained(best, values, seconds)


def paper(problem: Problem) -> Trained:
    """Fig. 1 with the step, of six, that ends lowest; the seconds are those of that step alone."""
    found = [
        run(Subgradient(step_rule=step), problem, max_iter=PAPER_PASSES) for step in PAPER_STEPS
    ]
    return Trained.of(min(found, key=lambda outcome: outcome.objective))


METHODS = {"auto": auto, "AdaGrad": adagrad, "subgradient, best of six steps": paper}


def methods(seeds: int) -> Iterator[dict[str, object]]:
    """One row per method and scale of features: means over problems."""
    for mean in (1.0, 0.03):
        problems = [problem_of(mean, seed) for seed in range(seeds)]
        for name, train in METHODS.items():
            found = [figures_of(problem, train(problem)) for problem in problems]
            means = {
                key: None if found[0][key] is None else float(np.mean([row[key] for row in found]))
                for key in found[0]
            }
            yield {"mean": mean, "method": name, **means}


def figures_of(problem: Problem, trained: Trained) -> dict[str, float | None]:
    """The figures of one training."""
    values = trained.values
    return {
        **{f"after_{p}": values[min(p, len(values)) - 1] for p in PASSES},
        "passes": len(values), "seconds": trained.seconds[-1], "objective": values[-1],
        "bound": trained.bound, "judged": judged(problem, trained.weights),
    }  # fmt: skip


def growth(n: int) -> dict[str, object]:
    """Train with the defaults on sets of n rows, in this process."""
    import likewise as lw

    made = make_partitioned_sets(
        n_sets=2 * N_SETS, n_rows=n, n_columns=N_COLUMNS, n_clusters=10, noisy=0.5, random_state=0
    )
    shown, new = made.split(N_SETS)
    warm = make_partitioned_sets(n_sets=3, n_rows=30, n_columns=5, random_state=1)
    lw.ExemplarLearner().fit(warm.sets, warm.labels)
    started = time.perf_counter()
    learner = lw.ExemplarLearner(n_jobs=2).fit(shown.sets, shown.labels)
    seconds = time.perf_counter() - started
    return {
        "n": n, "sets": N_SETS, "columns": N_COLUMNS, "seconds": seconds,
        "passes": learner.n_iter_,
        "pass_seconds": learner.history_["seconds"][-1] / max(learner.n_iter_, 1),
        "gap": learner.gap_, "score": learner.score(new.sets[:3], new.labels[:3]),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip


def printed(
    table: dict[str, tuple[str, str]], rows: Iterator[dict[str, object]]
) -> list[dict[str, object]]:
    """Show rows as they come."""
    print(heading(table), flush=True)
    kept = []
    for figures in rows:
        print(line(table, figures), flush=True)
        kept.append(figures)
    return kept


def alone(n: int) -> dict[str, object]:
    """`growth` in a process of its own, for its peak memory."""
    command = [sys.executable, __file__, "--one", str(n)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    figures: dict[str, object] = json.loads(answer.splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--part", choices=["methods", "growth", "both"], default="both")
    parser.add_argument("--sizes", type=int, nargs="+", default=[125, 250, 500])
    parser.add_argument("--seeds", type=int, default=3, help="problems of part methods")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/out"))
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(growth(options.one)))
        return
    packages = ["likewise", "numpy", "numba"]
    parts: list[
        tuple[str, dict[str, tuple[str, str]], Callable[[], Iterator[dict[str, object]]]]
    ] = [
        ("methods", METHODS_TABLE, lambda: methods(options.seeds)),
        ("growth", GROWTH_TABLE, lambda: map(alone, options.sizes)),
    ]
    for name, table, made in parts:
        if options.part in (name, "both"):
            rows = printed(table, made())
            write(options.out / f"learning-{name}", table, rows, [], packages)


if __name__ == "__main__":
    main()
