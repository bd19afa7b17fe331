"""Running commands in this process, and the data files that tests of them read."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from typer.testing import CliRunner, Result

from likewise.app import commands

COLUMNS = ("length", "width", "haze", "glare")
CENTRES = 40.0 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def run(*arguments: object) -> Result:
    return CliRunner().invoke(commands.app, [str(argument) for argument in arguments])


def one_line(text: str) -> str:
    """The one line of an error, checked to be one."""
    assert text.endswith("\n")
    assert text.count("\n") == 1
    assert text.startswith("error: ")
    assert "Traceback" not in text
    return text


def read_lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def sites(seed: int, names: Sequence[str] = ("north", "south"), each: int = 8) -> pl.DataFrame:
    """Sets of 3 or 4 clusters that two columns tell apart, beside two of noise; rows shuffled.

    Clusters are 40 standard deviations apart, so that what is found holds for every seed.
    """
    rng = np.random.default_rng(seed)
    parts = []
    for place, name in enumerate(names):
        k = 3 + place % 2
        kind = np.repeat(np.arange(k), each)
        rows = CENTRES[rng.permutation(4)[kind]] + rng.normal(size=(len(kind), 2))
        noise = 40.0 * rng.normal(size=(len(kind), 2))
        frame = pl.DataFrame(np.hstack([rows, noise]), schema=COLUMNS, orient="row")
        parts.append(
            frame.with_columns(
                site=pl.lit(name),
                species=pl.Series([f"{name[0]}{number}" for number in kind]),
                remark=pl.lit("seen"),
            )
        )
    together = pl.concat(parts)
    return together[rng.permutation(together.height)]
