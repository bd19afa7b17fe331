"""The benchmark scripts on tiny instances: they run, and they judge all methods alike."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
NEEDS_KMEDOIDS = pytest.mark.skipif(
    importlib.util.find_spec("kmedoids") is None,
    reason="kmedoids, a comparator under the GPL, is in the extra bench only",
)


def loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A script of the folder, which is not on the path, as a module; gone after the test."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def exemplar(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return loaded("exemplar", monkeypatch)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return loaded("large", monkeypatch)


def test_the_energy_is_the_sum_over_items_and_exemplars(exemplar: ModuleType):
    distances = np.array([[9.0, 1.0, 7.0], [2.0, 9.0, 3.0], [5.0, 4.0, 9.0]])
    instance = exemplar.Instance("random", 0, 1.0, distances, 10.0)
    assert exemplar.energy_of(instance, [0]) == 10.0 + 2.0 + 5.0
    assert exemplar.energy_of(instance, [1, 0]) == 20.0 + 4.0
    assert exemplar.energy_of(instance, [0, 1, 2]) == 30.0
    assert exemplar.energy_of(instance, []) == np.inf


@pytest.mark.parametrize("kind", ["blobs", "digits", "random"])
def test_affinity_propagation_against_ours(exemplar: ModuleType, kind: str):
    (instance, _) = list(exemplar.instances({kind: [40]}))[:2]
    fast, auto = exemplar.ours(instance, "fast"), exemplar.ours(instance, "auto")
    peer = exemplar.affinity_propagation(instance, 0.9)
    # 1e-9: the energies are sums of 40 terms in another order.
    for answer in (fast, auto, peer):
        assert answer.energy >= auto.lower_bound - 1e-9 * abs(auto.lower_bound)
        assert answer.seconds > 0
    assert 1 <= auto.clusters <= 40


def test_a_peer_without_exemplar_is_told(exemplar: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exemplar, "fasterpam_sweep", lambda instance, k: [exemplar.Answer(1, k, 1)])
    monkeypatch.setattr(
        exemplar,
        "affinity_propagation",
        lambda instance, damping: exemplar.Answer(np.inf, 0, 1.0, remark="AP: no exemplar"),
    )
    row = exemplar.compare(next(exemplar.instances({"blobs": [30]})))
    assert row["ap_excess"] is None
    assert "| none |" in exemplar.line(exemplar.COLUMNS, row)
    assert row["fasterpam_excess"] < 0
    assert not exemplar.at_least_as_good(row)
    assert exemplar.at_least_as_good({**row, "fasterpam_excess": 0.0})


def test_digits_beyond_the_data_set_are_jittered(exemplar: ModuleType):
    distances = next(exemplar.instances({"digits": [1800]})).distances
    np.fill_diagonal(distances, np.inf)
    assert distances.min() > 0


def test_a_missing_peer_is_named(
    exemplar: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(exemplar.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        exemplar.main(["--quick"])
    assert "pip install -e '.[bench]'" in capsys.readouterr().err


@NEEDS_KMEDOIDS
def test_fasterpam_takes_rows_as_items(exemplar: ModuleType):
    """Asymmetric costs: two exemplars that are cheap for all, two that all are cheap for."""
    distances = np.full((12, 12), 5.0)
    distances[8:10] = 0.5
    distances[:6, 3] = distances[6:, 7] = 1.0
    instance = exemplar.Instance("random", 0, 1.0, distances, 2.0)
    best = min(exemplar.energy_of(instance, [p, q]) for p in range(12) for q in range(p))
    # From two on: of a single medoid the package takes the costs the other way round.
    assert exemplar.fasterpam(instance, 2, 0).energy == best == exemplar.energy_of(instance, [3, 7])


@NEEDS_KMEDOIDS
def test_the_comparison_runs(
    exemplar: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    exemplar.main(["--sizes", "30", "--kinds", "blobs", "digits", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    written = (tmp_path / "exemplar.md").read_text(encoding="utf-8")
    assert printed.strip() in written
    rows = json.loads((tmp_path / "exemplar.json").read_text(encoding="utf-8"))["rows"]
    assert [(row["kind"], row["n"], row["factor"]) for row in rows] == [
        ("blobs", 30, 1.5),
        ("blobs", 30, 4.0),
        ("digits", 30, 1.5),
        ("digits", 30, 4.0),
    ]
    # So small that the optimum is certified: no peer can be below it.
    assert all(row["gap"] <= 1e-4 and exemplar.at_least_as_good(row) for row in rows)
    assert "- structured: energy at least as good as both peers on 4 of 4 (100%)" in printed


def test_large_sets_are_measured_in_a_process_of_their_own(
    large: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    large.main(["--sizes", "300", "--points", "blobs", "--costs", "small", "--out", str(tmp_path)])
    (row,) = json.loads((tmp_path / "large.json").read_text(encoding="utf-8"))["rows"]
    assert (row["n"], row["points"], row["solver"]) == (300, "blobs", "fast")
    assert 1 < row["clusters"] < 300
    assert row["gap"] >= 0
    assert 0 < row["peak_gib"] < 8
    assert "| 300 |" in capsys.readouterr().out


def test_growth_is_the_slope_on_a_log_scale(large: ModuleType):
    rows = [
        {"points": "uniform", "cost": "median", "n": n, "seconds": 3e-6 * n**1.1}
        for n in (1000, 100_000, 200_000, 1_000_000)
    ]
    assert large.growth(rows) == ["- uniform, opening cost median: seconds grow as n^1.10"]
    assert large.growth(rows[:2]) == []
