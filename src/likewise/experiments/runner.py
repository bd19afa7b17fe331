"""Running an experiment: cells in parallel, each kept as soon as it is there, then the report.

In the folder of an experiment:

- ``cells/``: one JSON file per cell. A cell whose file is there is not computed again, so a run
  that was interrupted goes on where it stopped, and a larger run reuses a smaller one.
- ``results.csv``: one line per measurement, with the settings it belongs to.
- ``report.json``: tables and claims, and what they were made with.
- ``figure.png``.

Every file is written as a whole or not at all.
"""

from __future__ import annotations

import csv
import io
import json
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy
import sklearn
from joblib import Parallel, delayed, effective_n_jobs  # type: ignore[import-untyped]
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from likewise import __version__
from likewise.errors import InputError
from likewise.experiments.base import Cell, Compute, Experiment, Findings, Plan, Result
from likewise.persistence.atomic import write_atomically

# Dots per inch of the figure.
DOTS = 160


@dataclass(frozen=True)
class Run:
    """A finished run: what was found, where it is, and how much of it is new."""

    experiment: Experiment
    plan: Plan
    results: list[Result]
    findings: Findings
    folder: Path
    computed: int

    @property
    def figure(self) -> Path:
        """The picture."""
        return self.folder / "figure.png"


def run_experiment(
    experiment: Experiment,
    plan: Plan,
    out: Path,
    *,
    jobs: int | None = None,
    fresh: bool = False,
    on_stage: Callable[[str], None] = lambda name: None,
) -> Run:
    """Compute what is missing, then write the table, the report and the figure.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    plan : Plan
        How much of it.
    out : Path
        A folder with the name of the experiment is made in it.
    jobs : int or None, default=None
        Processes, as in scikit-learn. Results are the same for any number.
    fresh : bool, default=False
        Compute all cells, also those that are there.
    on_stage : callable, optional
        Told what is being done.

    Returns
    -------
    Run
    """
    if experiment.needs_data and plan.data is None:
        raise InputError(
            f"experiment {experiment.name} needs data that does not come along: name the folder "
            "that holds it with --data."
        )
    if plan.data is not None and not experiment.needs_data:
        raise InputError(f"experiment {experiment.name} makes its own data: leave out --data.")
    folder = out / experiment.name
    kept = folder / "cells"
    if any(path.exists() and not path.is_dir() for path in (out, folder, kept)):
        raise InputError(f"{folder} cannot be made: a file of that name is in the way; rename it.")
    kept.mkdir(parents=True, exist_ok=True)
    cells = experiment.cells(plan)
    found = {} if fresh else {cell.name: read_cell(kept, cell) for cell in cells}
    done = {name: result for name, result in found.items() if result is not None}
    missing = [cell for cell in cells if cell.name not in done]
    shown = f"{experiment.name}: {{}} of {len(cells)} cells"
    on_stage(shown.format(len(cells) - len(missing)))
    for count, result in enumerate(_computed(experiment, missing, kept, jobs), start=1):
        done[result.cell.name] = result
        on_stage(f"{shown.format(len(cells) - len(missing) + count)}; last: {result.cell.label}")
    results = [done[cell.name] for cell in cells]
    on_stage("writing")
    findings = experiment.report(results)
    run = Run(experiment, plan, results, findings, folder, len(missing))
    _write_all(run)
    return run


def read_cell(folder: Path, cell: Cell) -> Result | None:
    """The result of a cell, or None where there is none that can be used."""
    try:
        found = json.loads((folder / f"{cell.name}.json").read_text(encoding="utf-8"))
        if found["cell"] != cell.identity:
            return None
        return Result(cell, found["rows"], found["extra"], found["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def compute_cell(compute: Compute, cell: Cell, folder: Path) -> Result:
    """Compute one cell on one thread and keep it; what a process of its own runs."""
    if threading.current_thread() is threading.main_thread() and _is_worker():
        # Ctrl-C is for the process that the user started; it ends the others.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    start = time.perf_counter()
    with threadpool_limits(1):
        rows, extra = compute(cell)
    result = Result(cell, rows, extra, time.perf_counter() - start)
    document = {
        "cell": cell.identity, "rows": rows, "extra": extra, "seconds": result.seconds,
        "version": __version__,
    }  # fmt: skip
    write_atomically(folder / f"{cell.name}.json", lambda stream: _dump(stream, document))
    return result


def _is_worker() -> bool:
    import multiprocessing

    return multiprocessing.current_process().name != "MainProcess"


def _computed(
    experiment: Experiment, cells: Sequence[Cell], folder: Path, jobs: int | None
) -> Iterator[Result]:
    if not cells:
        return iter(())
    if effective_n_jobs(jobs) == 1:
        return (compute_cell(experiment.compute, cell, folder) for cell in cells)
    tasks = (delayed(compute_cell)(experiment.compute, cell, folder) for cell in cells)
    # One cell at a time: they differ in length, and each is kept when it is there.
    found: Iterator[Result] = Parallel(
        jobs, backend="loky", return_as="generator_unordered", batch_size=1
    )(tasks)
    return found


def _write_all(run: Run) -> None:
    lines = [line for result in run.results for line in result.lines()]
    write_atomically(run.folder / "results.csv", lambda stream: _write_csv(stream, lines))
    document = {
        "experiment": run.experiment.name,
        "source": run.experiment.source,
        "plan": {"quick": run.plan.quick, "seeds": run.plan.seeds},
        "cells": len(run.results),
        "cell_seconds": sum(result.seconds for result in run.results),
        "findings": asdict(run.findings),
        "versions": versions(),
    }
    write_atomically(run.folder / "report.json", lambda stream: _dump(stream, document))
    figure = run.experiment.draw(run.results)
    write_atomically(run.figure, lambda stream: figure.savefig(stream, format="png", dpi=DOTS))


def versions() -> dict[str, str]:
    """What figures depend on besides the seeds."""
    return {
        "likewise": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _write_csv(stream: BinaryIO, lines: Iterable[dict[str, Any]]) -> None:
    rows = list(lines)
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    stream.write(text.getvalue().encode())


def _dump(stream: BinaryIO, document: dict[str, Any]) -> None:
    stream.write(json.dumps(document, indent=1, allow_nan=False).encode() + b"\n")
