"""The commands: what they print, what they write, how they fail."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import likewise as lw
from command_line import one_line, read_lines, run
from likewise.app import tasks
from likewise.app.reports import plain
from likewise.geometry.distances import DISTANCES

N, CLUSTERS = 60, 3


@pytest.fixture
def rows() -> np.ndarray:
    rng = np.random.default_rng(7)
    centres = np.array([[0.0, 0.0, 0.0], [30.0, 0.0, 5.0], [0.0, 40.0, 9.0]])
    return centres[np.arange(N) % CLUSTERS] + rng.normal(size=(N, 3))


@pytest.fixture
def data(tmp_path: Path, rows: np.ndarray) -> Path:
    path = tmp_path / "data.csv"
    frame = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")
    frame.with_columns(name=pl.lit("x")).write_csv(path)
    return path


class TestCluster:
    def test_table(self, data: Path):
        result = run("cluster", data, "--columns", "a,b,c")
        assert result.exit_code == 0, result.stderr
        for fact in ("rows 60", "columns 3 (a, b, c)", "certified gap", "status converged"):
            assert fact in " ".join(result.stdout.split())
        assert result.stderr == ""

    def test_json_is_the_whole_output(self, data: Path, rows: np.ndarray):
        result = run("cluster", data, "--columns", "a,b,c", "--json", "--seed", 0)
        assert result.exit_code == 0, result.stderr
        found = json.loads(result.stdout)
        model = lw.ExemplarClusterer(random_state=0).fit(rows)
        assert found["clusters"] == model.n_clusters_ == len(found["exemplars"])
        assert found["exemplars"] == model.exemplars_.tolist()
        assert found["labels"] == model.labels_.tolist()
        assert found["sizes"] == np.bincount(model.labels_).tolist()
        assert found["energy"] == pytest.approx(model.energy_, rel=1e-9)
        assert found["lower_bound"] <= found["energy"] * (1 + 1e-12)
        assert found["status"] == "converged"
        assert found["columns"] == ["a", "b", "c"]
        assert found["opening_cost"] == pytest.approx(model.opening_cost_)
        assert (found["out"], found["plot"], found["save"]) == (None, None, None)

    def test_labels_file(self, data: Path, rows: np.ndarray, tmp_path: Path):
        out = tmp_path / "labels.csv"
        result = run("cluster", data, "--columns", "a,b,c", "--out", out)
        assert result.exit_code == 0, result.stderr
        assert f"labels written to {out}" in result.stdout
        lines = read_lines(out)
        assert list(lines[0]) == ["row", "label", "exemplar", "is_exemplar", "distance"]
        assert [int(line["row"]) for line in lines] == list(range(N))
        exemplars = np.array([int(line["exemplar"]) for line in lines])
        labels = [line["label"] for line in lines]
        assert [labels[q] for q in exemplars] == labels
        expected = np.square(rows - rows[exemplars]).sum(axis=1)
        np.testing.assert_allclose([float(line["distance"]) for line in lines], expected, rtol=1e-9)
        marked = [int(line["row"]) for line in lines if line["is_exemplar"] == "true"]
        assert marked == sorted(set(exemplars.tolist()))
        assert {path.name for path in tmp_path.iterdir()} == {"data.csv", "labels.csv"}

    def test_labels_file_replaces_the_old_one(self, data: Path, tmp_path: Path):
        out = tmp_path / "labels.csv"
        out.write_text("old\n" * 10_000)
        assert run("cluster", data, "--columns", "a,b", "--out", out).exit_code == 0
        assert len(read_lines(out)) == N

    def test_an_interrupted_write_leaves_the_old_file(
        self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        out = tmp_path / "labels.csv"
        out.write_text("old\n")

        def fail(stream, *_):
            stream.write(b"row,label\n0,")
            raise OSError(28, "No space left on device", str(out))

        monkeypatch.setattr(tasks, "_write_labels", fail)
        result = run("cluster", data, "--columns", "a,b", "--out", out)
        assert result.exit_code == 1
        assert "No space left on device" in one_line(result.stderr)
        assert out.read_text() == "old\n"
        assert {path.name for path in tmp_path.iterdir()} == {"data.csv", "labels.csv"}

    @pytest.mark.parametrize(
        ("name", "start"), [("p.png", b"\x89PNG"), ("p.PDF", b"%PDF"), ("p.svg", b"<?xml")]
    )
    def test_picture(self, data: Path, tmp_path: Path, name: str, start: bytes):
        plot = tmp_path / name
        result = run("cluster", data, "--columns", "a,b,c", "--plot", plot)
        assert result.exit_code == 0, result.stderr
        content = plot.read_bytes()
        assert content.startswith(start)
        assert len(content) > 4000

    def test_saved_model(self, data: Path, rows: np.ndarray, tmp_path: Path):
        saved = tmp_path / "m.likewise"
        result = run("cluster", data, "--columns", "a,b", "--save", saved, "--json")
        assert result.exit_code == 0, result.stderr
        model = lw.load(saved)
        assert model.labels_.tolist() == json.loads(result.stdout)["labels"]
        assert model.feature_names_in_.tolist() == ["a", "b"]
        frame = pl.DataFrame(rows[:, :2], schema=["a", "b"], orient="row")
        assert model.predict(frame).tolist() == model.labels_.tolist()

    def test_options_reach_the_estimator(self, data: Path, tmp_path: Path):
        saved = tmp_path / "m.likewise"
        options = "--distance manhattan --opening-cost 12.5 --candidates 9 --solver fast --gap 0.25"
        more = "--time-limit 60 --seed 3 --jobs 1"
        result = run(
            "cluster", data, "--columns", "a,b", "--save", saved, *options.split(), *more.split()
        )
        assert result.exit_code == 0, result.stderr
        found = lw.load(saved).get_params()
        expected = {
            "features": "manhattan", "weights": None, "opening_cost": 12.5, "candidates": 9,
            "solver": "fast", "gap": 0.25, "time_limit": 60.0, "random_state": 3, "n_jobs": 1,
            "paths": None, "callbacks": None,
        }  # fmt: skip
        assert found == expected

    def test_weights(self, data: Path, rows: np.ndarray):
        arguments = ("--columns", "a,b", "--weights", "0,2", "--opening-cost", 50, "--json")
        result = run("cluster", data, *arguments)
        assert result.exit_code == 0, result.stderr
        model = lw.ExemplarClusterer("columns", [0.0, 2.0], 50.0).fit(rows[:, :2])
        assert json.loads(result.stdout)["energy"] == pytest.approx(model.energy_, rel=1e-9)

    def test_precomputed_distances(self, rows: np.ndarray, tmp_path: Path):
        costs = np.abs(rows[:, None] - rows[None]).sum(axis=2)
        costs[0] += 1.0  # served differently in the two directions
        np.save(tmp_path / "d.npy", costs)
        result = run(
            "cluster", tmp_path / "d.npy", "--distance", "precomputed", "--json",
            "--out", tmp_path / "l.csv", "--plot", tmp_path / "p.png",
        )  # fmt: skip
        assert result.exit_code == 0, result.stderr
        found = json.loads(result.stdout)
        lines = read_lines(tmp_path / "l.csv")
        for p, line in enumerate(lines):
            q = int(line["exemplar"])
            assert float(line["distance"]) == pytest.approx(0.0 if p == q else costs[p, q])
        paid = sum(float(line["distance"]) for line in lines)
        cost = found["opening_cost"]
        assert paid + cost * found["clusters"] == pytest.approx(found["energy"])

    def test_same_seed_same_output(self, data: Path, tmp_path: Path):
        contents = []
        for name in ("1.csv", "2.csv"):
            run("cluster", data, "--columns", "a,b,c", "--seed", 5, "--out", tmp_path / name)
            contents.append((tmp_path / name).read_bytes())
        assert contents[0] == contents[1]

    def test_a_search_that_is_cut_short_is_noted(self, tmp_path: Path):
        costs = np.random.default_rng(0).random((120, 120))
        np.save(tmp_path / "d.npy", costs)
        arguments = (tmp_path / "d.npy", "--distance", "precomputed", "--time-limit", 0)
        result = run("cluster", *arguments)
        assert result.exit_code == 0
        assert result.stderr.startswith("note: ")
        assert result.stderr.count("\n") == 1
        assert "time_limit" in result.stderr
        document = json.loads(run("cluster", *arguments, "--json").stdout)
        assert len(document["warnings"]) == 1
        assert document["gap"] > 1e-6


USAGE = [
    ([], "Usage"),
    (["learn"], "Missing argument"),
    (["segment"], "Missing argument"),
    (["partition"], "No such command"),
    (["cluster"], "Missing argument"),
    (["cluster", "DATA", "--opening-cost", "cheap"], "'median' or a finite number"),
    (["cluster", "DATA", "--opening-cost", "nan"], "'median' or a finite number"),
    (["cluster", "DATA", "--weights", "1,two"], "numbers separated by commas"),
    (["cluster", "DATA", "--solver", "magic"], "magic"),
    (["cluster", "DATA", "--candidates", "0"], "--candidates"),
    (["cluster", "DATA", "--gap", "-1"], "--gap"),
    (["cluster", "DATA", "--unknown"], "No such option"),
    (["inspect"], "Missing argument"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE)
def test_usage_errors(arguments: list[str], message: str, data: Path):
    result = run(*(data if word == "DATA" else word for word in arguments))
    assert result.exit_code == 2
    assert message in result.stderr + result.stdout


USER = [
    (["none.csv"], "none.csv does not exist"),
    (["."], "is a directory"),
    (["data.txt"], "files ending in .csv, .parquet, .npy can be read"),
    (["empty.csv"], "is empty"),
    (["data.csv"], "not a column of numbers: 'name'"),
    (["data.csv", "--columns", "a,z"], "has no column 'z'; its columns are 'a', 'b', 'c', 'name'"),
    (["data.csv", "--columns", "a,b", "--weights", "1"], "one number for each of the 2 columns"),
    (["data.csv", "--columns", "a", "--weights", "1", "--distance", "cosine"], "leave one of them"),
    (["data.csv", "--columns", "a", "--distance", "far"], "far"),
    (["data.csv", "--columns", "a,b", "--distance", "precomputed"], "square"),
    (["data.csv", "--columns", "a", "--out", "none/l.csv"], "there is no folder none"),
    (["data.csv", "--columns", "a", "--out", "."], "is a directory; name a file in it"),
    (["data.csv", "--columns", "a", "--out", "data.csv"], "is the data file"),
    (["data.csv", "--columns", "a", "--plot", "p.gif"], "pictures end in .png, .pdf, .svg"),
    (["data.csv", "--columns", "a", "--out", "x.png", "--plot", "x.png"], "name the same file"),
]


@pytest.mark.parametrize(("arguments", "message"), USER)
def test_user_errors(arguments: list[str], message: str, data: Path, monkeypatch):
    monkeypatch.chdir(data.parent)
    Path("data.txt").write_text("a\n1\n")
    Path("empty.csv").touch()
    before = sorted(Path().iterdir())
    result = run("cluster", *arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in one_line(result.stderr)
    assert sorted(Path().iterdir()) == before


def test_text_in_a_numeric_column(tmp_path: Path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,2\n3,oops\n5,6\n")
    result = run("cluster", path, "--json")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "data row 2 (line 3 of the file), column 'b': 'oops'" in one_line(result.stderr)


def test_outputs_are_checked_before_the_data_are_read(tmp_path: Path):
    result = run("cluster", tmp_path / "none.csv", "--plot", tmp_path / "p.gif")
    assert "pictures end in" in result.stderr


class TestFailures:
    @staticmethod
    def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException):
        def fail(*_: object, **__: object):
            raise error

        monkeypatch.setattr(tasks, "read_table", fail)

    def test_a_fault_of_ours_is_called_one(self, data: Path, monkeypatch):
        self.fail_with(monkeypatch, ZeroDivisionError("by\nzero"))
        result = run("cluster", data)
        assert result.exit_code == 1
        assert "unexpected ZeroDivisionError: by zero; this is a fault" in one_line(result.stderr)

    def test_memory(self, data: Path, monkeypatch):
        self.fail_with(monkeypatch, MemoryError("8 GiB"))
        result = run("cluster", data)
        assert result.exit_code == 1
        assert "not enough memory (8 GiB); try --candidates" in one_line(result.stderr)

    def test_interrupt_before_the_search(self, data: Path, monkeypatch):
        self.fail_with(monkeypatch, KeyboardInterrupt())
        result = run("cluster", data)
        assert result.exit_code == 130
        assert result.stderr == "interrupted: what was not yet written is left as it was\n"

    def test_debug_shows_the_traceback(self, data: Path, monkeypatch):
        error = ZeroDivisionError("by zero")
        self.fail_with(monkeypatch, error)
        assert run("--debug", "cluster", data).exception is error


class TestInspect:
    @pytest.fixture
    def saved(self, rows: np.ndarray, tmp_path: Path) -> Path:
        path = tmp_path / "m.likewise"
        lw.save(lw.ExemplarClusterer(opening_cost=40.0, random_state=1).fit(rows), path)
        return path

    def test_table(self, saved: Path):
        result = run("inspect", saved)
        assert result.exit_code == 0, result.stderr
        for fact in ("ExemplarClusterer", "rows 60", "columns 3", "converged", "opening_cost 40.0"):
            assert fact in " ".join(result.stdout.split())
        assert f"likewise {lw.__version__}, file format 1" in result.stdout

    def test_json(self, saved: Path):
        found = json.loads(run("inspect", saved, "--json").stdout)
        model = lw.load(saved)
        assert found["model"] == "ExemplarClusterer"
        assert found["fitted"] is True
        assert (found["rows"], found["columns"]) == (N, 3)
        assert found["clusters"] == model.n_clusters_
        assert found["energy"] == model.energy_
        assert found["lower_bound"] == model.lower_bound_
        assert found["status"] == "converged"
        assert found["parameters"]["random_state"] == 1
        assert found["library_version"] == lw.__version__
        assert found["file_format"] == 1

    def test_names_of_columns(self, data: Path, tmp_path: Path):
        path = tmp_path / "n.likewise"
        run("cluster", data, "--columns", "a,c", "--save", path)
        assert json.loads(run("inspect", path, "--json").stdout)["columns"] == ["a", "c"]
        assert "2 (a, c)" in run("inspect", path).stdout

    def test_not_fitted(self, tmp_path: Path):
        path = tmp_path / "u.likewise"
        lw.save(lw.ExemplarClusterer(), path)
        assert "fitted" in run("inspect", path).stdout
        found = json.loads(run("inspect", path, "--json").stdout)
        assert (found["fitted"], found["rows"], found["energy"]) == (False, None, None)

    def test_opening_cost_per_row(self, rows: np.ndarray, tmp_path: Path):
        path = tmp_path / "p.likewise"
        lw.save(lw.ExemplarClusterer(opening_cost=np.full(N, 40.0)).fit(rows), path)
        assert "one per row, 60" in run("inspect", path).stdout
        found = json.loads(run("inspect", path, "--json").stdout)
        assert found["opening_cost"] == [40.0] * N

    @pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 not a model", b"a,b\n1,2\n"])
    def test_errors(self, content: bytes | None, tmp_path: Path):
        path = tmp_path / "m.likewise"
        if content is not None:
            path.write_bytes(content)
        result = run("inspect", path)
        assert result.exit_code == 1
        assert "m.likewise" in one_line(result.stderr)

    def test_a_directory(self, tmp_path: Path):
        result = run("inspect", tmp_path)
        assert result.exit_code == 1
        one_line(result.stderr)


def test_help_names_every_distance():
    text = " ".join(run("cluster", "--help").stdout.replace("│", " ").split())
    for name in [*DISTANCES, "precomputed"]:
        assert name in text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(1.5), 1.5), (np.array([1, 2]), [1, 2]), (float("inf"), None), (None, None),
        ((1, "a"), [1, "a"]), ({1: float("nan")}, {"1": None}), (slice(1, 2), "slice(1, 2, None)"),
        (np.bool_(True), True),
    ],
)  # fmt: skip
def test_plain(value: object, expected: object):
    assert plain(value) == expected
