"""Exemplar clustering against AffinityPropagation and FasterPAM, in one process on one thread.

    python benchmarks/exemplar.py [--quick] [--sizes N ...] [--kinds KIND ...] [--out FOLDER]

Prints a Markdown table, then a summary, and writes both to ``exemplar.md`` and all figures to
``exemplar.json``. What is compared, and how: ``benchmarks/README.md``.
"""

from __future__ import annotations

import os

if __name__ == "__main__":
    # Before NumPy and numba, which read them once.
    for _name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{_name}_NUM_THREADS"] = "1"

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import TypeVar

import numpy as np
from sklearn.cluster import AffinityPropagation
from sklearn.exceptions import ConvergenceWarning

import likewise as lw
from instances import SIZES, Instance, energy_of, instances
from reporting import Row, heading, line, write

Result = TypeVar("Result")

QUICK = 1000
WARM_UP = {"digits": [60], "random": [20]}  # they compile the kernels
CERTIFIED_UP_TO = 3000
TIMED_FROM = 1000
DAMPINGS = (0.5, 0.7, 0.9)
TIMED_DAMPING = 0.9
SWEEP = 6  # numbers of clusters to either side of ours
SWEEP_SEEDS = (0, 1)
TOLERANCE = 1e-9  # relative: energies closer than this are equal

# Heading: figure, how it is shown. "excess" is of an energy over ours, in percent.
COLUMNS = {
    "instance": ("kind", ""), "seed": ("seed", ""), "n": ("n", ""), "factor": ("factor", "g"),
    "K": ("clusters", ""), "energy": ("energy", ".8g"), "gap %": ("gap", ".4f"),
    "fast +%": ("fast_excess", ".4f"), "AP +%": ("ap_excess", ".4f"),
    "FasterPAM +%": ("fasterpam_excess", ".4f"), "fast s": ("fast_seconds", ".3f"),
    "auto s": ("auto_seconds", ".3f"), "AP s": ("ap_seconds", ".3f"),
    "FasterPAM s": ("fasterpam_seconds", ".4f"), "AP/fast": ("ap_over_fast", ".1f"),
    "AP/auto": ("ap_over_auto", ".1f"), "remarks": ("remarks", ""),
}  # fmt: skip
PACKAGES = ("likewise", "scikit-learn", "kmedoids", "numpy", "numba")


@dataclass(frozen=True)
class Answer:
    """What a method found, and the seconds of one run; energy inf where it found no exemplar."""

    energy: float
    clusters: int
    seconds: float
    lower_bound: float = -np.inf
    remark: str = ""


def timed(run: Callable[[], Result]) -> tuple[Result, float]:
    """The result of a run and its seconds; below one second, the least of three runs."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < 3 and max(seconds) < 1.0):
        started = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - started)
    return result, min(seconds)


def ours(instance: Instance, solver: str) -> Answer:
    """One fit of ExemplarClusterer."""
    clusterer = lw.ExemplarClusterer("precomputed", opening_cost=instance.cost, solver=solver)
    found, seconds = timed(lambda: clusterer.fit(instance.distances))
    energy = energy_of(instance, found.exemplars_)
    return Answer(energy, found.n_clusters_, seconds, found.lower_bound_)


def affinity_propagation(instance: Instance, damping: float) -> Answer:
    """One fit of AffinityPropagation, and what it complained about."""
    similarities = -instance.distances
    clusterer = AffinityPropagation(
        affinity="precomputed", preference=-instance.cost, damping=damping, max_iter=1000,
        convergence_iter=30, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        found, seconds = timed(lambda: clusterer.fit(similarities))
    exemplars = found.cluster_centers_indices_
    remark = ""
    if len(exemplars) == 0:
        remark = f"AP {damping}: no exemplar"
    elif any(issubclass(complaint.category, ConvergenceWarning) for complaint in complaints):
        remark = f"AP {damping}: not converged"
    return Answer(energy_of(instance, exemplars), len(exemplars), seconds, remark=remark)


def fasterpam(instance: Instance, clusters: int, seed: int) -> Answer:
    """One run of FasterPAM with the number of clusters given."""
    import kmedoids

    found, seconds = timed(
        lambda: kmedoids.fasterpam(instance.distances, clusters, random_state=seed, n_cpu=1)
    )
    medoids = np.asarray(found.medoids, dtype=np.intp)
    return Answer(energy_of(instance, medoids), clusters, seconds)


def fasterpam_sweep(instance: Instance, clusters: int) -> list[Answer]:
    """Runs around our number of clusters; the first is the one that counts for time."""
    n = len(instance.distances)
    around = range(max(1, clusters - SWEEP), min(n, clusters + SWEEP) + 1)
    others = [(k, seed) for k in around for seed in SWEEP_SEEDS if (k, seed) != (clusters, 0)]
    return [fasterpam(instance, k, seed) for k, seed in [(clusters, 0), *others]]


def compare(instance: Instance) -> Row:
    """All methods on one instance."""
    fast, auto = ours(instance, "fast"), ours(instance, "auto")
    ap = {damping: affinity_propagation(instance, damping) for damping in DAMPINGS}
    sweep = fasterpam_sweep(instance, auto.clusters)

    def excess(*answers: Answer) -> float | None:
        best = min(answer.energy for answer in answers)
        return 100 * (best - auto.energy) / abs(auto.energy) if np.isfinite(best) else None

    return {
        "kind": instance.kind,
        "seed": instance.seed,
        "n": len(instance.distances),
        "factor": instance.factor,
        "clusters": auto.clusters,
        "energy": auto.energy,
        "gap": 100 * max(auto.energy - auto.lower_bound, 0.0) / abs(auto.energy),
        "fast_excess": excess(fast),
        "ap_excess": excess(*ap.values()),
        "fasterpam_excess": excess(*sweep),
        "fast_seconds": fast.seconds,
        "auto_seconds": auto.seconds,
        "ap_seconds": ap[TIMED_DAMPING].seconds,
        "fasterpam_seconds": sweep[0].seconds,
        "ap_over_fast": ap[TIMED_DAMPING].seconds / fast.seconds,
        "ap_over_auto": ap[TIMED_DAMPING].seconds / auto.seconds,
        "remarks": "; ".join(answer.remark for answer in ap.values() if answer.remark),
    }


def at_least_as_good(row: Row) -> bool:
    """Whether our energy is no worse than that of either peer; a peer may have found nothing."""
    return all(
        e is None or e >= -100 * TOLERANCE for e in (row["ap_excess"], row["fasterpam_excess"])
    )


def summary(rows: Sequence[Row]) -> list[str]:
    """The figures that matter, a line each."""
    lines = []
    structured = [row for row in rows if row["kind"] != "random"]
    random = [row for row in rows if row["kind"] == "random"]
    parts = {name: some for name, some in (("structured", structured), ("random", random)) if some}
    for name, some in parts.items():
        good = sum(map(at_least_as_good, some))
        share = f"{good} of {len(some)} ({good / len(some):.0%})"
        lines.append(f"- {name}: energy at least as good as both peers on {share}")
    certified = [row for row in structured if row["n"] <= CERTIFIED_UP_TO]
    if certified:
        worst = max(certified, key=lambda row: row["gap"])
        what = f"largest certified gap on digits and blobs up to {CERTIFIED_UP_TO}"
        lines.append(f"- {what}: {worst['gap']:.4f} % ({place(worst)})")
    for name, some in parts.items():
        large = [row for row in some if row["n"] >= TIMED_FROM]
        if large:
            worst = min(large, key=lambda row: row["ap_over_fast"])
            what = f"{name}: smallest ratio of times AP/fast from {TIMED_FROM} on"
            lines.append(f"- {what}: {worst['ap_over_fast']:.1f} ({place(worst)})")
    return lines


def place(row: Row) -> str:
    """Which instance a row is about."""
    return f"{row['kind']} {row['n']}, factor {row['factor']:g}, seed {row['seed']}"


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line; ends the program where it cannot be obeyed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help=f"only n <= {QUICK}")
    parser.add_argument("--sizes", type=int, nargs="+", help="these n instead, for every kind")
    parser.add_argument("--kinds", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    if util.find_spec("kmedoids") is None:
        parser.error(
            "FasterPAM is missing: the package kmedoids (GPL) is a comparator of the benchmarks "
            "only, in the extra `bench`. Install it with: pip install -e '.[bench]'"
        )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    asked = parsed(arguments)
    largest = QUICK if asked.quick else np.inf
    sizes = {kind: [n for n in asked.sizes or SIZES[kind] if n <= largest] for kind in asked.kinds}
    for instance in instances(WARM_UP):
        for solver in ("fast", "auto"):
            ours(instance, solver)
    print(heading(COLUMNS), flush=True)
    rows: list[Row] = []
    for instance in instances(sizes):
        rows.append(compare(instance))
        print(line(COLUMNS, rows[-1]), flush=True)
        # Every time: an interrupted run keeps what it has.
        write(asked.out / "exemplar", COLUMNS, rows, summary(rows), PACKAGES)
    print("", *summary(rows), sep="\n")


if __name__ == "__main__":
    main()
