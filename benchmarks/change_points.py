"""ChangePointDetector against ruptures and skchange: the same objective, and how long it takes.

    python benchmarks/change_points.py                      all cells: a quarter of an hour
    python benchmarks/change_points.py --sizes 1000 20000 --columns 10

Series of unit noise whose mean changes, nine times or every 200 rows; penalty 2 p log T. Every
method gets the same array and the same penalty, on one thread. Quality is the objective of its
change points, computed by one function: scatter plus penalties, as an excess over ours.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import likewise as lw
from likewise.conventions import from_ruptures
from reporting import heading, line, write

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

SPARSE, EVERY = 9, 200
# What grows with the square of the rows is not run beyond these: minutes for each cell.
MOST = {"KernelCPD": 20_000, "ruptures Pelt": 1_000, "skchange PELT": 100_000}
# A run that takes less than this is repeated; the fastest counts.
SHORT, REPEATS = 1.0, 3
TABLE = {
    "rows": ("rows", ",d"),
    "columns": ("columns", "d"),
    "changes": ("changes", "d"),
    "found": ("found", "d"),
    "likewise s": ("seconds", ".4f"),
    **{
        title: (name, form)
        for method in ("KernelCPD", "ruptures Pelt", "skchange PELT", "skchange FPOP")
        for title, name, form in (
            (f"{method} / ours", f"{method} ratio", ".1f"),
            (f"{method} excess", f"{method} excess", ".1e"),
        )
    },
}


def series(n: int, p: int, changes: int, seed: int = 0) -> Floats:
    """Unit noise around a mean that changes at equal distances."""
    rng = np.random.default_rng(seed)
    means = rng.normal(scale=2.0 if p == 1 else 1.0, size=(changes + 1, p))
    which = np.minimum(np.arange(n) * (changes + 1) // n, changes)
    return means[which] + rng.normal(size=(n, p))


def objective(X: Floats, change_points: Indices, penalty: float) -> float:
    """Scatter plus penalties."""
    parts = np.split(X, change_points)
    scatter = sum(float(np.square(part - part.mean(axis=0)).sum()) for part in parts)
    return scatter + penalty * len(parts)


def ours(X: Floats, penalty: float) -> Indices:
    return lw.ChangePointDetector(penalty=penalty).fit(X).change_points_


def kernel_cpd(X: Floats, penalty: float) -> Indices:
    import ruptures as rpt

    found = rpt.KernelCPD(kernel="linear", min_size=1, jump=1).fit(X).predict(pen=penalty)
    return from_ruptures(found)[0]


def ruptures_pelt(X: Floats, penalty: float) -> Indices:
    import ruptures as rpt

    found = rpt.Pelt(model="l2", min_size=1, jump=1).fit(X).predict(pen=penalty)
    return from_ruptures(found)[0]


def skchange_pelt(X: Floats, penalty: float) -> Indices:
    from skchange.detectors import PELT
    from skchange.interval_scorers import L2Cost

    return np.asarray(PELT(L2Cost(), penalty=penalty, min_segment_length=1).fit(X).predict(X))


def skchange_fpop(X: Floats, penalty: float) -> Indices:
    from skchange.detectors import FPOP

    return np.asarray(FPOP(penalty=penalty).fit(X).predict(X))


PEERS: dict[str, Callable[[Floats, float], Indices]] = {
    "KernelCPD": kernel_cpd,
    "ruptures Pelt": ruptures_pelt,
    "skchange PELT": skchange_pelt,
    "skchange FPOP": skchange_fpop,
}


def timed(method: Callable[[Floats, float], Indices], X: Floats, penalty: float):
    """Change points, and the seconds of the fastest run."""
    fastest = np.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        found = method(X, penalty)
        fastest = min(fastest, time.perf_counter() - start)
        if fastest >= SHORT:
            break
    return found, fastest


def cells(sizes: list[int], columns: list[int]) -> Iterator[dict[str, object]]:
    """One row per cell."""
    for method in (ours, *PEERS.values()):
        for p in (1,) if method is skchange_fpop else (1, 2):
            method(series(60, p, 2), 10.0)  # compile
    for p in columns:
        for n in sizes:
            for changes in (SPARSE, n // EVERY):
                if changes < SPARSE or (changes == SPARSE and n // EVERY == SPARSE):
                    continue
                yield cell(series(n, p, changes), changes)


def cell(X: Floats, changes: int) -> dict[str, object]:
    """All methods on one series."""
    n, p = X.shape
    penalty = 2.0 * p * float(np.log(n))
    found, seconds = timed(ours, X, penalty)
    least = objective(X, found, penalty)
    row: dict[str, object] = {
        "rows": n, "columns": p, "changes": changes, "found": len(found), "seconds": seconds
    }  # fmt: skip
    for name, method in PEERS.items():
        row[f"{name} ratio"] = row[f"{name} excess"] = None
        if n > MOST.get(name, n) or (name == "skchange FPOP" and p > 1):
            continue
        theirs, peer_seconds = timed(method, X, penalty)
        row[f"{name} ratio"] = peer_seconds / seconds
        row[f"{name} excess"] = objective(X, theirs, penalty) / least - 1.0
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 5_000, 20_000, 100_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/out"))
    options = parser.parse_args()
    print(heading(TABLE), flush=True)
    rows = []
    for row in cells(options.sizes, options.columns):
        print(line(TABLE, row), flush=True)
        rows.append(row)
    packages = ["likewise", "numpy", "numba", "ruptures", "skchange"]
    write(options.out / "change-points", TABLE, rows, [], packages)


if __name__ == "__main__":
    main()
