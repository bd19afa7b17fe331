"""What an experiment is made of: cells, their results, and what is said about them.

A cell is computed from its settings alone, so cells can be computed in any order, in parallel, or
taken from a run that was interrupted. The settings and results of a cell are JSON values.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True)
class Plan:
    """How much of an experiment to run: the whole, or a quick look; how many seeds; what data."""

    quick: bool = False
    seeds: int | None = None
    data: Path | None = None

    def count(self, full: int, quick: int) -> range:
        """Seeds of one part of an experiment, unless all parts were given a number."""
        if self.seeds is not None:
            return range(self.seeds)
        return range(quick if self.quick else full)


@dataclass(frozen=True)
class Cell:
    """The smallest piece of an experiment that is computed, and kept, as a whole.

    Parameters
    ----------
    kind : str
        Which part of the experiment it belongs to.
    settings : dict
        All that its result depends on: text and numbers.
    data : str or None
        The folder of the data, which may be anywhere: what is in it belongs to the settings.
    """

    kind: str
    settings: dict[str, Any]
    data: str | None = field(default=None, compare=False)

    @property
    def identity(self) -> dict[str, Any]:
        """What is kept beside its result, and must be the same for the result to be used again."""
        return {"kind": self.kind, "settings": self.settings}

    @property
    def name(self) -> str:
        """A file name that tells cells apart and says what most of them are about."""
        text = json.dumps([self.kind, self.settings], sort_keys=True)
        words = [str(value) for value in self.settings.values() if isinstance(value, str)]
        plain = "".join(c if c.isalnum() else "-" for c in "-".join([self.kind, *words]))
        seed = f"-{self.settings['seed']}" if "seed" in self.settings else ""
        return f"{plain}{seed}-{zlib.crc32(text.encode()):08x}"

    @property
    def label(self) -> str:
        """What is shown while it is computed."""
        return ", ".join([self.kind, *(f"{key} {value}" for key, value in self.settings.items())])


# What a cell gives: its rows and its extra, see `Result`.
Measured = tuple[list[dict[str, Any]], dict[str, Any]]
Compute = Callable[[Cell], Measured]


@dataclass(frozen=True)
class Result:
    """What a cell gave: lines for the table of all results, and what only pictures need."""

    cell: Cell
    rows: list[dict[str, Any]]
    extra: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def lines(self) -> list[dict[str, Any]]:
        """Its rows with the settings before them."""
        return [{"kind": self.cell.kind, **self.cell.settings, **row} for row in self.rows]


@dataclass(frozen=True)
class Table:
    """A table of a report: texts, ready to be shown."""

    title: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Claim:
    """What somebody says, what we measured, and whether that bears it out.

    `holds` is None where nothing was measured, or nothing but eyes can tell; `rule` says what was
    asked of the measurement.
    """

    source: str
    says: str
    measured: str
    holds: bool | None
    rule: str


@dataclass(frozen=True)
class Findings:
    """What is said about all the results of an experiment."""

    tables: list[Table]
    claims: list[Claim]


class Picture(Protocol):
    """What is asked of a drawing: that it can be written; figures of matplotlib can."""

    def savefig(self, fname: Any, *, format: str, dpi: float) -> None:
        """Write it to a stream."""


@dataclass(frozen=True)
class Experiment:
    """A named experiment; its functions are those of one module.

    Parameters
    ----------
    name, title, source : str
        What it is called, what it is about, and where it comes from.
    cells : callable
        From a plan to the cells.
    compute : callable
        From a cell to its rows and its extra; runs in another process, so it is a function of a
        module.
    report : callable
        From results to findings.
    draw : callable
        From results to a figure.
    needs_data : bool, default=False
        Whether the plan must name a folder of data.
    """

    name: str
    title: str
    source: str
    cells: Callable[[Plan], list[Cell]]
    compute: Compute
    report: Callable[[Sequence[Result]], Findings]
    draw: Callable[[Sequence[Result]], Picture]
    needs_data: bool = False


def select(results: Iterable[Result], kind: str, **settings: Any) -> list[dict[str, Any]]:
    """Lines of the results of one kind, with these settings or measurements."""
    return [
        line
        for result in results
        if result.cell.kind == kind
        for line in result.lines()
        if all(line.get(key) == value for key, value in settings.items())
    ]


def values(lines: Iterable[dict[str, Any]], name: str) -> list[float]:
    """One measurement of every line that has it."""
    return [float(line[name]) for line in lines if line.get(name) is not None]


def mean_and_sd(numbers: Sequence[float], digits: int = 3) -> str:
    """``mean ±standard deviation``, or the number alone where there is one."""
    if not numbers:
        return "-"
    mean = f"{np.mean(numbers):.{digits}f}"
    return f"{mean} ±{np.std(numbers, ddof=1):.{digits}f}" if len(numbers) > 1 else mean


def over_seeds(n_seeds: int) -> str:
    """Say how many runs a table is about."""
    return "1 seed" if n_seeds == 1 else f"{n_seeds} seeds, mean ±sd"


def distinct(lines: Iterable[dict[str, Any]], name: str) -> list[Any]:
    """The values of one setting, in the order in which they first occur."""
    return list(dict.fromkeys(line[name] for line in lines if name in line))
