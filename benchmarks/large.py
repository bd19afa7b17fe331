"""Exemplar clustering of many points through a graph of candidates: time, memory, certificate.

    python benchmarks/large.py [--sizes N ...] [--points uniform blobs] [--costs median small]
                               [--solver fast|auto] [--out FOLDER]

Every case runs in a process of its own, on one thread, so that its peak memory is its own. Prints a
Markdown table, then how time grows with n, and writes both to ``large.md`` and all figures to
``large.json``. What is measured, and how: ``benchmarks/README.md``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import linear_regression
from typing import TYPE_CHECKING

from reporting import Row, heading, line, write

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# NumPy and likewise are imported by the children only: a child counts the peak memory of the
# process it was started from as its own.
SIZES = (100_000, 200_000, 500_000, 1_000_000)
POINTS = ("uniform", "blobs")
COSTS = ("median", "small")
CANDIDATES = 20
WARM_UP = 2000
GROWTH_FROM = 100_000
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}

# Heading: figure, how it is shown.
COLUMNS = {
    "points": ("points", ""), "opening cost": ("cost", ""), "solver": ("solver", ""),
    "n": ("n", ","), "seconds": ("seconds", ".1f"), "clusters": ("clusters", ","),
    "energy": ("energy", ".8g"), "gap %": ("gap", ".3f"), "bounds": ("bounds", ""),
    "peak GiB": ("peak_gib", ".2f"), "status": ("status", ""),
}  # fmt: skip
PACKAGES = ("likewise", "scikit-learn", "numpy", "numba")


def points_of(kind: str, n: int) -> NDArray[np.float64]:
    """Points of the unit square: anywhere, or in 20 round blobs around random centres."""
    import numpy as np

    rng = np.random.default_rng(0)
    if kind == "uniform":
        return rng.random((n, 2))
    centres = rng.random((20, 2))
    return centres[rng.integers(20, size=n)] + 0.05 * rng.standard_normal((n, 2))


def measure(points: str, cost: str, solver: str, n: int) -> Row:
    """One fit in this process: what it found, its seconds, and the peak memory of the process."""
    import likewise as lw

    def fit(X: NDArray[np.float64]) -> lw.ExemplarClusterer:
        # 8 / n: clusters of about 7 points, whatever n.
        opening_cost = "median" if cost == "median" else 8.0 / len(X)
        return lw.ExemplarClusterer(
            opening_cost=opening_cost, candidates=CANDIDATES, solver=solver
        ).fit(X)

    fit(points_of(points, min(n, WARM_UP)))
    X = points_of(points, n)
    started = time.perf_counter()
    found = fit(X)
    seconds = time.perf_counter() - started
    return {
        "points": points,
        "cost": cost,
        "solver": solver,
        "n": n,
        "seconds": seconds,
        "clusters": found.n_clusters_,
        "energy": found.energy_,
        "gap": 100 * found.gap_,
        "bounds": found.bound_scope_,
        "peak_gib": peak_bytes() / 2**30,
        "status": found.status_,
    }


def peak_bytes() -> int:
    """The most memory that this process ever had resident."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def measured_apart(points: str, cost: str, solver: str, n: int) -> Row:
    """The same in a fresh process with one thread."""
    command = [sys.executable, __file__, "--child", "--points", points, "--costs", cost]
    command += ["--solver", solver, "--sizes", str(n)]
    done = subprocess.run(
        command, env={**os.environ, **THREADS}, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(
            f"{points}, {cost}, n = {n}: the process ended with {done.returncode} (-9: killed, for "
            "instance because memory ran out); pass smaller --sizes."
        )
    row: Row = json.loads(done.stdout)
    return row


def growth(rows: Sequence[Row]) -> list[str]:
    """The exponent a of seconds = c n^a, fitted on a log scale to every series of sizes."""
    lines = []
    series: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["n"] >= GROWTH_FROM:
            series.setdefault((row["points"], row["cost"]), []).append(row)
    for (points, cost), some in series.items():
        if len({row["n"] for row in some}) > 1:
            logs = [(math.log(row["n"]), math.log(row["seconds"])) for row in some]
            slope = linear_regression(*zip(*logs, strict=True)).slope
            lines.append(f"- {points}, opening cost {cost}: seconds grow as n^{slope:.2f}")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--points", nargs="+", choices=POINTS, default=list(POINTS))
    parser.add_argument(
        "--costs", nargs="+", choices=COSTS, default=list(COSTS),
        help="the default opening cost, and 8/n, which leaves many clusters",
    )  # fmt: skip
    parser.add_argument("--solver", choices=("fast", "auto"), default="fast")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    cases = [
        (p, c, asked.solver, n) for p in asked.points for c in asked.costs for n in asked.sizes
    ]
    if asked.child:
        print(json.dumps(measure(*cases[0])))
        return
    print(heading(COLUMNS), flush=True)
    rows: list[Row] = []
    for case in cases:
        rows.append(measured_apart(*case))
        print(line(COLUMNS, rows[-1]), flush=True)
        write(asked.out / "large", COLUMNS, rows, growth(rows), PACKAGES)
    print("", *growth(rows), sep="\n")


if __name__ == "__main__":
    main()
