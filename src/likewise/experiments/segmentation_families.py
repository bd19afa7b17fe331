"""Experiment ``segmentation-families``: real sequences, each segmented as learnt from the others.

Six families of movement recordings, where one sequence (or person) at a time is left out; copy
numbers with changes known from cytogenetics; penalties predicted from features; and two sets that
show the limits: unrelated series with one penalty, and few weak labels.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from likewise.datasets.folders import load_annotated_series, load_regions, load_sequences
from likewise.datasets.penalty_tables import load_penalty_table
from likewise.errors import InputError
from likewise.experiments import family_cells
from likewise.experiments.base import (
    Cell,
    Experiment,
    Measured,
    Picture,
    Plan,
    Result,
    distinct,
    select,
    values,
)
from likewise.experiments.family_cells import FITTED, LOG_N, NOISE, TOTAL
from likewise.experiments.family_report import report
from likewise.experiments.methods import LEARNER

FAMILIES = ("mocap6", "mocap86", "actrectut", "beedance", "hasc", "watch-physio")
COPY_NUMBERS, PENALTIES = "coriell-acgh", "neuroblastoma-penalty"
SERIES, REGIONS = "tcpd", "neuroblastoma-mini"
METHODS = (LEARNER, FITTED, NOISE, TOTAL)
LABEL_SETS = ("systematic", "detailed")
SPLIT = "fold_profileID"

COMPUTE: dict[str, Callable[[Cell], Measured]] = {
    "movement": family_cells.movement,
    "copy number": family_cells.copy_number,
    "penalty regression": family_cells.penalty_regression,
    "annotated series": family_cells.annotated_series,
    "regions": family_cells.regions,
}


def cells(plan: Plan) -> list[Cell]:
    """One cell per method and owner that is left out; a quick look leaves out one per family."""
    if plan.data is None:
        raise InputError("segmentation-families needs the folder of its data: --data DIR.")
    folder = plan.data
    found: list[Cell] = []
    marks: dict[str, str] = {}

    def add(kind: str, family: str, **settings: str | int) -> None:
        if family not in marks:
            marks[family] = fingerprint(folder / family)
        found.append(Cell(kind, {"family": family, **settings, "data": marks[family]}, str(folder)))

    for family in FAMILIES:
        known = load_sequences(folder / family)
        for owner in _some(family_cells.owners(known, family), plan):
            for method in METHODS:
                add("movement", family, method=method, left_out=owner)
    for line in _some(load_sequences(folder / COPY_NUMBERS).ids, plan):
        for method in (LEARNER, FITTED, NOISE):
            add("copy number", COPY_NUMBERS, method=method, left_out=line)
    for labels in LABEL_SETS:
        table = load_penalty_table(folder / PENALTIES, labels)
        for fold in _some(sorted(set(table.folds[SPLIT].tolist())), plan):
            add("penalty regression", PENALTIES, labels=labels, split=SPLIT, fold=fold)
    load_annotated_series(folder / SERIES)
    for method in (FITTED, LOG_N):
        add("annotated series", SERIES, method=method)
    load_regions(folder / REGIONS)
    add("regions", REGIONS)
    return found


def fingerprint(folder: Path) -> str:
    """What tells the data of two folders apart, wherever they are."""
    mark = 0
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix != ".md":
            mark = zlib.crc32(path.read_bytes(), zlib.crc32(path.name.encode(), mark))
    return f"{mark:08x}"


def _some(all_of_them: Iterable[Any], plan: Plan) -> list[Any]:
    different = list(dict.fromkeys(all_of_them))
    return different[:1] if plan.quick else different


def compute(cell: Cell) -> Measured:
    """Compute one cell by its kind."""
    return COMPUTE[cell.kind](cell)


def draw(results: Sequence[Result]) -> Picture:
    """Covering and F by family, every sequence a dot."""
    from likewise.plots.comparisons import GroupPanel, draw_groups

    lines = select(results, "movement")
    families, methods = distinct(lines, "family"), distinct(lines, "method")
    panels = [
        GroupPanel(
            title,
            [family.replace("-", "-\n") for family in families],
            {
                method: [
                    values(select(results, "movement", family=family, method=method), name)
                    for family in families
                ]
                for method in methods
            },
        )
        for title, name in (("covering", "covering"), ("F, margin 1 % of the length", "f1"))
    ]
    return draw_groups(panels, "score", "sequences that were left out, by family")


EXPERIMENT = Experiment(
    name="segmentation-families",
    title="Learning to segment from a few real sequences, family by family",
    source="bars of this library, on public data; Rigaill et al. (2013) for predicted penalties",
    cells=cells,
    compute=compute,
    report=report,
    draw=draw,
    needs_data=True,
)
