"""Small folders of made data, laid out as the real data that ``segmentation-families`` reads."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from likewise.experiments import family_cells
from likewise.experiments.family_cells import score
from likewise.experiments.fitted_penalties import FittedPenalty
from likewise.experiments.segmentation_families import FAMILIES

Floats = NDArray[np.float64]


def steps(rng: np.random.Generator, cuts: list[int], n: int, columns: int = 2) -> Floats:
    """Noise of changing strength around changing means."""
    ends = [0, *cuts, n]
    parts = [
        rng.normal(3.0 * (k % 2), 0.3 + 0.5 * (k % 2), (b - a, columns))
        for k, (a, b) in enumerate(pairwise(ends))
    ]
    return np.concatenate(parts)


def write_sequences(
    folder: Path,
    series: dict[str, Floats],
    about: dict[str, dict[str, Any]],
    **columns: dict[str, Any],
) -> Path:
    """Write ``sequences.npz`` and ``meta.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {f"X__{name}": rows for name, rows in series.items()}
    for kind, values in columns.items():
        arrays |= {f"{kind}__{name}": np.asarray(values[name]) for name in series}
    np.savez(folder / "sequences.npz", **arrays)
    entries = [{"id": name, **about[name]} for name in series]
    meta = {"note": "made", "sequences": entries}
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    return folder


def write_family(folder: Path, names: list[str], seed: int = 0) -> Path:
    """Sequences of 160 rows or so with two changes each, and the state of every row."""
    rng = np.random.default_rng(seed)
    series, about, states = {}, {}, {}
    for k, name in enumerate(names):
        cuts, n = [50 + k, 110 - k], 160 + k
        series[name] = steps(rng, cuts, n)
        about[name] = {"changepoints": cuts}
        states[name] = np.searchsorted(cuts, np.arange(n), side="right") % 2
    return write_sequences(folder, series, about, y=states)


def write_copy_numbers(folder: Path) -> Path:
    rng = np.random.default_rng(1)
    series, about, chromosomes = {}, {}, {}
    for name in ("line1", "line2", "line3"):
        series[name] = 0.2 * rng.normal(size=(120, 1))
        series[name][30:60] += 2.0
        about[name] = {"changepoints": [30]}
        chromosomes[name] = np.repeat([1, 2], 60)
    return write_sequences(folder, series, about, chrom=chromosomes)


def write_annotated(folder: Path) -> Path:
    rng = np.random.default_rng(2)
    series = {name: steps(rng, [30], 60, 1) for name in ("a", "b", "c")}
    series["c"][7, 0] = np.nan
    about = {name: {"annotations": {"6": [30], "7": []}} for name in series}
    return write_sequences(folder, series, about)


def write_regions(folder: Path) -> Path:
    rng = np.random.default_rng(3)
    series = {name: steps(rng, [30], 60, 1) for name in ("p", "q")}
    regions = [
        {"start": 400, "end": 590, "annotation": "0breakpoints"},
        {"start": 200, "end": 390, "annotation": "1breakpoint"},
    ]
    about = {name: {"regions": regions} for name in series}
    places = {name: 10 * np.arange(60) for name in series}
    return write_sequences(folder, series, about, pos=places)


def write_penalties(folder: Path, labels: str, seed: int = 4) -> Path:
    """Forty series whose best log-penalty is the logarithm of their first feature."""
    import polars as pl

    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    ids = [f"{k // 2}_chr{k % 2}" for k in range(40)]
    noise = np.exp(rng.normal(size=40))
    best = np.log(noise)
    targets = {"sequenceID": ids, "min.log.lambda": best - 2.0, "max.log.lambda": best + 2.0}
    pl.DataFrame(targets).write_csv(folder / f"{labels}_targets.csv.gz", compression="gzip")
    folds = {"sequenceID": ids[::-1], "fold_profileID": [1 + k // 2 % 2 for k in range(40)][::-1]}
    pl.DataFrame(folds).write_csv(folder / f"{labels}_folds.csv.gz", compression="gzip")
    features = {"sequenceID": ids, "noise": noise, "other": rng.normal(size=40)}
    pl.DataFrame(features).write_parquet(folder / f"{labels}_features.parquet")
    edges = np.column_stack([np.full(40, -np.inf), best - 2.0, best + 2.0, np.full(40, np.inf)])
    evaluation = {
        "sequenceID": np.repeat(ids, 3),
        "min.log.lambda": edges[:, :-1].ravel(),
        "max.log.lambda": edges[:, 1:].ravel(),
        "errors": np.tile([1, 0, 1], 40),
        "labels": np.ones(120, dtype=int),
    }
    pl.DataFrame(evaluation).write_parquet(folder / f"{labels}_evaluation.parquet")
    return folder


def write_all(folder: Path) -> Path:
    """Every folder of the experiment."""
    for family in FAMILIES:
        names = ["s1_side0", "s1_side1", "s2_side0", "s3_side0"]
        write_family(folder / family, names, seed=FAMILIES.index(family))
    write_copy_numbers(folder / "coriell-acgh")
    for labels in ("systematic", "detailed"):
        write_penalties(folder / "neuroblastoma-penalty", labels)
    write_annotated(folder / "tcpd")
    write_regions(folder / "neuroblastoma-mini")
    return folder


class StandIn:
    """A learner of change points that takes no time: one fitted penalty."""

    def set_params(self, **settings: Any) -> StandIn:
        return self

    def fit(self, series: list[Floats], labels: list[Any]) -> StandIn:
        cuts = [np.flatnonzero(np.diff(own)) + 1 for own in labels]
        self.method = FittedPenalty(score).fit(series, cuts)
        return self

    def cluster(self, series: list[Floats]) -> list[Any]:
        found = [self.method.change_points(rows) for rows in series]
        return [
            np.searchsorted(cuts, np.arange(len(rows)), side="right")
            for rows, cuts in zip(series, found, strict=True)
        ]


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family_cells, "new_learner", StandIn)
