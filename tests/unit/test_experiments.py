"""Experiments: cells that are kept, results that do not depend on how they are computed."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import family_folders
import learner_stand_in
from likewise.app.options import ExperimentName
from likewise.datasets import PartitionedSets, make_partitioned_sets
from likewise.errors import InputError
from likewise.experiments import komodakis_synthetic, runner, transfer, unseen_classes
from likewise.experiments.base import (
    Cell,
    Experiment,
    Findings,
    Plan,
    Result,
    Table,
    mean_and_sd,
    select,
    values,
)
from likewise.experiments.methods import (
    LEARNER,
    TUNED_ON_TEST,
    Trial,
    fitted,
    measure,
    scaled_weights,
)
from likewise.experiments.registry import MODULES, experiment_named
from likewise.experiments.runner import run_experiment
from likewise.plots.canvas import blank_figure

CALLS: list[int] = []


def count_cells(plan: Plan) -> list[Cell]:
    return [Cell("number", {"base": 3, "seed": seed}) for seed in plan.count(5, 2)]


def compute_number(cell: Cell) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    CALLS.append(cell.settings["seed"])
    return [{"value": cell.settings["base"] + cell.settings["seed"], "none": None}], {"x": [1.5]}


def report_numbers(results: Sequence[Result]) -> Findings:
    found = values(select(results, "number"), "value")
    return Findings([Table("values", ["value"], [[str(value)] for value in found])], [])


SMALL = Experiment(
    name="numbers",
    title="",
    source="",
    cells=count_cells,
    compute=compute_number,
    report=report_numbers,
    draw=lambda results: blank_figure(1, 1),
)


@pytest.fixture(autouse=True)
def _no_calls():
    CALLS.clear()


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    learner_stand_in.install(monkeypatch)
    family_folders.install(monkeypatch)


def plan_of(name: str, folder: Path, **settings: Any) -> Plan:
    """A plan with made data, for the experiments that need some."""
    needed = experiment_named(name).needs_data
    return Plan(**settings, data=family_folders.write_all(folder) if needed else None)


class TestRunner:
    def test_files(self, tmp_path: Path):
        run = run_experiment(SMALL, Plan(), tmp_path / "new" / "out")
        folder = tmp_path / "new" / "out" / "numbers"
        assert run.folder == folder
        assert len(list((folder / "cells").iterdir())) == run.computed == 5
        with (folder / "results.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        assert lines[1] == {"kind": "number", "base": "3", "seed": "1", "value": "4", "none": ""}
        report = json.loads((folder / "report.json").read_text())
        assert report["plan"] == {"quick": False, "seeds": None}
        assert report["findings"]["tables"][0]["rows"] == [
            ["3.0"],
            ["4.0"],
            ["5.0"],
            ["6.0"],
            ["7.0"],
        ]
        assert set(report["versions"]) >= {"likewise", "numpy", "scikit-learn"}
        assert run.figure.read_bytes().startswith(b"\x89PNG")
        assert {path.name for path in folder.iterdir()} == {
            "cells", "results.csv", "report.json", "figure.png",
        }  # fmt: skip

    def test_what_is_there_is_not_computed_again(self, tmp_path: Path):
        run_experiment(SMALL, Plan(seeds=2), tmp_path)
        run = run_experiment(SMALL, Plan(), tmp_path)
        assert run.computed == 3
        assert CALLS == [0, 1, 2, 3, 4]
        assert [result.rows[0]["value"] for result in run.results] == [3, 4, 5, 6, 7]
        assert run.results[0].extra == {"x": [1.5]}
        assert run_experiment(SMALL, Plan(), tmp_path).computed == 0

    def test_fresh_computes_all_again(self, tmp_path: Path):
        run_experiment(SMALL, Plan(seeds=2), tmp_path)
        assert run_experiment(SMALL, Plan(seeds=2), tmp_path, fresh=True).computed == 2
        assert CALLS == [0, 1, 0, 1]

    @pytest.mark.parametrize(
        "damage", [b"", b"{", b"[]", b"null", b'{"cell": {}}', b"\xff\xfe"], ids=repr
    )
    def test_a_damaged_cell_is_computed_again(self, tmp_path: Path, damage: bytes):
        run_experiment(SMALL, Plan(seeds=2), tmp_path)
        sorted((tmp_path / "numbers" / "cells").iterdir())[0].write_bytes(damage)
        assert run_experiment(SMALL, Plan(seeds=2), tmp_path).computed == 1

    def test_a_cell_with_other_settings_is_not_taken(self, tmp_path: Path):
        cell, other = Cell("number", {"base": 3, "seed": 0}), Cell("number", {"base": 4, "seed": 0})
        assert cell.name != other.name
        run_experiment(SMALL, Plan(seeds=1), tmp_path)
        folder = tmp_path / "numbers" / "cells"
        (folder / f"{cell.name}.json").rename(folder / f"{other.name}.json")
        assert runner.read_cell(folder, other) is None

    def test_an_interrupted_run_goes_on(self, tmp_path: Path):
        def interrupted(cell: Cell) -> Any:
            if cell.settings["seed"] == 3:
                raise KeyboardInterrupt
            return compute_number(cell)

        with pytest.raises(KeyboardInterrupt):
            run_experiment(replace(SMALL, compute=interrupted), Plan(), tmp_path)
        folder = tmp_path / "numbers"
        assert len(list((folder / "cells").iterdir())) == 3
        assert not (folder / "results.csv").exists()
        CALLS.clear()
        run_experiment(SMALL, Plan(), tmp_path)
        assert CALLS == [3, 4]

    def test_progress(self, tmp_path: Path):
        told: list[str] = []
        run_experiment(SMALL, Plan(seeds=2), tmp_path, on_stage=told.append)
        assert told[0] == "numbers: 0 of 2 cells"
        assert told[2].startswith("numbers: 2 of 2 cells; last: number, base 3, seed 1")

    def test_a_file_in_the_way(self, tmp_path: Path):
        (tmp_path / "numbers").write_text("")
        with pytest.raises(InputError, match="a file of that name"):
            run_experiment(SMALL, Plan(), tmp_path)

    def test_processes_do_not_change_the_results(self, tmp_path: Path):
        chosen = [
            cell
            for cell in unseen_classes.cells(Plan(quick=True, seeds=1))
            if cell.settings["method"] in ("plain", "RCA") and cell.kind == "nuisance"
        ]
        experiment = replace(
            unseen_classes.EXPERIMENT,
            cells=lambda plan: chosen,
            report=lambda results: Findings([], []),
            draw=SMALL.draw,
        )
        measured = []
        for jobs in (1, 2):
            run = run_experiment(experiment, Plan(), tmp_path / str(jobs), jobs=jobs)
            assert run.computed == 2
            lines = [line for result in run.results for line in result.lines()]
            measured.append(
                [{k: v for k, v in line.items() if "seconds" not in k} for line in lines]
            )
        assert measured[0] == measured[1]


class TestBase:
    def test_plan(self):
        assert list(Plan().count(3, 1)) == [0, 1, 2]
        assert list(Plan(quick=True).count(3, 1)) == [0]
        assert list(Plan(quick=True, seeds=2).count(3, 1)) == [0, 1]

    def test_names_tell_cells_apart(self, tmp_path: Path):
        for name in MODULES:
            for plan in (plan_of(name, tmp_path), plan_of(name, tmp_path, quick=True)):
                cells = experiment_named(name).cells(plan)
                assert len({cell.name for cell in cells}) == len(cells)
                assert all(set(cell.name) <= set(SAFE) for cell in cells)

    def test_mean_and_sd(self):
        assert mean_and_sd([]) == "-"
        assert mean_and_sd([0.5]) == "0.500"
        assert mean_and_sd([1.0, 3.0], 1) == "2.0 ±1.4"

    def test_the_command_line_knows_the_same_names(self):
        assert [str(name) for name in ExperimentName] == list(MODULES)
        for name in MODULES:
            assert experiment_named(name).name == name
        with pytest.raises(InputError, match="no experiment 'nothing'"):
            experiment_named("nothing")


SAFE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"


class TestMethods:
    @pytest.fixture
    def halves(self, seed: int) -> tuple[PartitionedSets, PartitionedSets]:
        return make_partitioned_sets(4, 30, 10, 3, noisy=0.5, random_state=seed).split(2)

    @pytest.mark.usefixtures("stand_in")
    @pytest.mark.parametrize(
        "method", sorted({*komodakis_synthetic.METHODS, *unseen_classes.METHODS, *transfer.METHODS})
    )
    def test_every_method_is_measured(
        self, halves: tuple[PartitionedSets, PartitionedSets], method: str
    ):
        row = measure(Trial(method, *halves, seed=0, quick=True))
        assert 0 <= row["pairwise_f1"] <= 1
        assert 1 <= row["clusters_found"] <= 30
        assert 0 <= row["right_number"] <= 1
        assert ("noise_share" in row) == (method == LEARNER)
        json.dumps(row, allow_nan=False)

    def test_tuning_on_test_sets_is_never_worse(
        self, halves: tuple[PartitionedSets, PartitionedSets]
    ):
        method, _ = fitted(Trial("plain" + TUNED_ON_TEST, *halves, seed=0))
        honest, _ = fitted(Trial("plain", *halves, seed=0))
        honest_cost = honest.cost_per_row_
        assert method.tune(halves[1].sets, halves[1].labels).score_ == method.score_
        assert honest.cost_per_row_ == honest_cost

    def test_an_unknown_method(self, halves: tuple[PartitionedSets, PartitionedSets]):
        with pytest.raises(InputError, match="no method 'magic'"):
            measure(Trial("magic", *halves, seed=0))

    def test_scaled_weights_do_not_depend_on_units(self, seed: int):
        rng = np.random.default_rng(seed)
        sets, weights = [rng.normal(size=(20, 4)) for _ in range(3)], rng.random(4)
        units = np.array([1.0, 10.0, 0.1, 7.0])
        shares = scaled_weights(weights, sets)
        assert shares.sum() == pytest.approx(1.0)
        other = scaled_weights(weights / units**2, [X * units for X in sets])
        np.testing.assert_allclose(shares, other, rtol=1e-9)
        # Twice the variance is the mean of the squared differences over all pairs.
        X = sets[0]
        means = np.square(X[:, None] - X[None]).mean(axis=(0, 1))
        expected = weights * means / (weights * means).sum()
        np.testing.assert_allclose(scaled_weights(weights, [X]), expected, rtol=1e-9)


class TestUnseenClasses:
    def test_halves_of_digits_share_no_class(self, seed: int):
        train, test = unseen_classes.digit_halves(300, seed)
        assert train.sets[0].shape == test.sets[0].shape == (300, 30)
        assert set(train.labels[0]) == set(test.labels[0]) == set(range(5))
        # Principal components of the training half: uncorrelated there, not in the other.
        covariance = np.cov(train.sets[0].T)
        away = covariance - np.diag(np.diag(covariance))
        assert np.abs(away).max() < 1e-8 * covariance.max()
        np.testing.assert_allclose(train.sets[0].mean(axis=0), 0.0, atol=1e-9)
        assert np.abs(test.sets[0].mean(axis=0)).max() > 1.0

    def test_seeds_give_other_splits(self):
        first, _ = unseen_classes.digit_halves(50, 0)
        again, _ = unseen_classes.digit_halves(50, 0)
        other, _ = unseen_classes.digit_halves(50, 1)
        np.testing.assert_array_equal(first.sets[0], again.sets[0])
        assert not np.array_equal(first.sets[0], other.sets[0])


def test_columns_that_tell_clusters_apart():
    truth = np.arange(30) % 3
    X = np.random.default_rng(0).normal(size=(30, 5))
    X[:, 1] += 50 * (truth == 1)
    X[:, 3] += 50 * (truth == 2)
    X[:, 4] += 500 * truth
    informative = np.array([True, True, True, True, False])
    assert komodakis_synthetic._telling_columns(X, truth, informative) == [1, 3]


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_quick_run(name: str, tmp_path: Path):
    plan = plan_of(name, tmp_path / "data", quick=True, seeds=1)
    run = run_experiment(experiment_named(name), plan, tmp_path)
    assert run.findings.tables
    assert run.findings.claims
    for table in run.findings.tables:
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert not any("nan" in cell for row in table.rows for cell in row)
    assert not any("nan" in claim.measured for claim in run.findings.claims)
    assert len(run.figure.read_bytes()) > 20_000
    for line in (line for result in run.results for line in result.lines()):
        assert line.get("effort", "quick") == "quick"
