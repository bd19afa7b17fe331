"""``likewise reproduce``: what it prints, what it writes, how it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import family_folders
import learner_stand_in
from likewise.app import commands
from likewise.experiments.registry import MODULES


@pytest.fixture(autouse=True)
def _stand_in(monkeypatch: pytest.MonkeyPatch):
    learner_stand_in.install(monkeypatch)
    family_folders.install(monkeypatch)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(commands.app, ["reproduce", *map(str, arguments)])


def test_the_list():
    result = run("--list")
    assert result.exit_code == 0, result.stderr
    for name in MODULES:
        assert name in result.stdout
    found = json.loads(run("--list", "--json").stdout)["experiments"]
    assert [one["name"] for one in found] == list(MODULES)
    assert all(one["title"] and one["source"] for one in found)


def test_tables_claims_and_files(tmp_path: Path):
    result = run("transfer", "--quick", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    printed = " ".join(result.stdout.split())
    for words in ("A quick look", "known columns", "Claims beside what we got", "6 of them new"):
        assert words in printed
    folder = tmp_path / "transfer"
    for name in ("results.csv", "report.json", "figure.png"):
        assert (folder / name).exists()
        assert str(folder / name) in result.stdout.replace("\n", "")
    assert "0 of them new" in " ".join(run("transfer", "--quick", "--out", tmp_path).stdout.split())
    again = run("transfer", "--quick", "--out", tmp_path, "--fresh", "--json")
    assert json.loads(again.stdout)["computed"] == 6


def test_json_is_the_whole_output(tmp_path: Path):
    result = run("transfer", "--quick", "--seeds", 2, "--out", tmp_path, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["experiment"], found["quick"], found["seeds"]) == ("transfer", True, 2)
    assert found["cells"] == found["computed"] == 12
    assert found["claims"][0]["holds"] in (True, False, None)
    for table in found["tables"]:
        assert all(len(row) == len(table["columns"]) for row in table["rows"])
    assert Path(found["picture"]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name an experiment"),
        (["nothing"], "nothing"),
        (["transfer", "--seeds", "0"], "--seeds"),
        (["transfer", "--unknown"], "No such option"),
    ],
)
def test_what_is_not_understood(arguments: list[str], message: str):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_real_data_is_named_by_a_folder(tmp_path: Path):
    data = family_folders.write_all(tmp_path / "data")
    out = ("--quick", "--out", tmp_path / "out", "--json")
    found = json.loads(run("segmentation-families", "--data", data, *out).stdout)
    assert found["experiment"] == "segmentation-families"
    # Where the data is does not matter: nothing is computed again after a move.
    moved = data.rename(tmp_path / "elsewhere")
    assert json.loads(run("segmentation-families", "--data", moved, *out).stdout)["computed"] == 0
    # What is in it does: the cells of one family are computed again, and no others.
    family_folders.write_family(moved / "hasc", ["a", "b", "c"], seed=99)
    again = json.loads(run("segmentation-families", "--data", moved, *out).stdout)
    assert again["computed"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["segmentation-families"], "name the folder that holds it with --data"),
        (["segmentation-families", "--data", "nothing"], "is no folder"),
        (["transfer", "--data", "nothing"], "makes its own data: leave out --data"),
    ],
)
def test_data_that_is_missing_or_too_much(tmp_path: Path, arguments: list[str], message: str):
    result = run(*arguments, "--quick", "--out", tmp_path)
    assert result.exit_code == 1
    assert message in " ".join(result.stderr.split())


def test_a_file_in_the_way(tmp_path: Path):
    (tmp_path / "out").write_text("")
    result = run("transfer", "--quick", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "is a file; name a folder" in result.stderr


def test_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("likewise.app.reproduce.run_experiment", interrupt)
    result = run("transfer", "--quick", "--out", tmp_path)
    assert result.exit_code == commands.INTERRUPTED
    assert "interrupted" in result.stderr
