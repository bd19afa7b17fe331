"""``likewise learn``: what it learns, prints and writes, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import likewise as lw
from command_line import COLUMNS, one_line, run, sites
from likewise.app import terminal
from likewise.app.comparisons import Comparison

# A strength that is given leaves little to choose from, which is much faster.
FAST = ("--strength", 0.1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a training file, which commands are run in."""
    sites(0).write_csv(tmp_path / "train.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def learn(*arguments: object, out: str = "m.likewise"):
    words = arguments if "--label" in arguments else (*arguments, "--label", "species")
    return run("learn", *words, "--out", out, *FAST)


def learnt(*arguments: object) -> dict:
    result = learn(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


class TestWhatIsLearnt:
    def test_the_columns_that_tell_clusters_apart(self, tmp_path: Path, monkeypatch, seed: int):
        monkeypatch.chdir(tmp_path)
        sites(seed).write_csv("train.csv")
        found = learnt("train.csv", "--set", "site")
        shares = {weight["feature"]: weight["share"] for weight in found["weights"]}
        assert list(shares) == list(COLUMNS)
        assert shares["length"] + shares["width"] > 0.9
        assert sum(shares.values()) == pytest.approx(1.0)
        assert found["agreement"] > 0.9

    def test_it_is_what_the_learner_learns(self, folder: Path):
        found = learnt("train.csv", "--set", "site", "--seed", 3)
        frame = pl.read_csv(folder / "train.csv")
        parts = frame.partition_by("site", maintain_order=True)
        same = lw.ExemplarLearner(strength=0.1, random_state=3)
        same.fit([part[list(COLUMNS)] for part in parts], [part["species"] for part in parts])
        kept = lw.load("m.likewise")
        np.testing.assert_array_equal(kept.weights_, same.weights_)
        assert kept.opening_cost_ == same.opening_cost_ == found["opening_cost"]
        assert kept.feature_names_in_.tolist() == list(COLUMNS)
        assert (kept.callbacks, kept.checkpoint) == (None, None)
        assert [weight["weight"] for weight in found["weights"]] == same.weights_.tolist()

    def test_every_file_is_a_set_of_its_own(self, folder: Path):
        whole = pl.read_csv("train.csv")
        for name in ("north", "south"):
            part = whole.filter(site=name)
            # Columns may come in any order.
            order = part.columns if name == "north" else part.columns[::-1]
            part.select(order).write_csv(f"{name}.csv")
        found = learnt("north.csv", "south.csv")
        assert [(x["name"], x["rows"], x["clusters"]) for x in found["sets"]] == [
            ("north", 24, 3),
            ("south", 32, 4),
        ]
        together = lw.load("m.likewise")
        rows = [whole.filter(site=name) for name in ("north", "south")]
        same = lw.ExemplarLearner(strength=0.1)
        same.fit([part[list(COLUMNS)] for part in rows], [part["species"] for part in rows])
        np.testing.assert_array_equal(together.weights_, same.weights_)

    def test_the_set_column_makes_sets_of_one_file(self, folder: Path):
        found = learnt("train.csv", "--set", "site")
        names = {"train: north": (24, 3), "train: south": (32, 4)}
        assert {x["name"]: (x["rows"], x["clusters"]) for x in found["sets"]} == names
        assert [x["clusters"] for x in learnt("train.csv")["sets"]] == [7]

    def test_clusters_that_are_not_shown(self, folder: Path):
        frame = pl.read_csv("train.csv")
        hidden = pl.Series(np.arange(frame.height) % 7 == 0)
        frame.with_columns(
            species=pl.when(hidden).then(pl.lit("")).otherwise(pl.col("species"))
        ).write_csv("part.csv")
        found = learnt("part.csv", "--set", "site")
        assert sum(x["shown"] for x in found["sets"]) == int((~hidden).sum())
        assert sum(x["rows"] for x in found["sets"]) == frame.height

    def test_comparisons(self, folder: Path):
        found = learnt(
            "train.csv", "--set", "site", "--compare", "size:euclidean:length,width",
            "--compare", "manhattan", "--compare", ":chebyshev:h*,glare",
        )  # fmt: skip
        assert [x["feature"] for x in found["weights"]] == ["size", "manhattan", "chebyshev"]
        assert found["compared"][2] == "chebyshev (chebyshev of haze, glare)"
        size, every, noise = lw.load("m.likewise").features
        assert (size.distance, size.columns) == ("euclidean", ["length", "width"])
        assert (every.name, every.columns) == ("manhattan", None)
        assert (noise.name, noise.columns) == ("chebyshev", ["haze", "glare"])

    def test_only_the_columns_that_are_compared_are_read(self, folder: Path):
        assert learnt("train.csv", "--compare", "size:euclidean:length,width")["columns"] == [
            "length",
            "width",
        ]
        assert learnt("train.csv", "--columns", "w*,haze")["columns"] == ["width", "haze"]

    def test_parquet_and_arrays(self, folder: Path):
        frame = pl.read_csv("train.csv")
        frame.write_parquet("train.parquet")
        # Numbers where an array cannot have text.
        coded = frame.select(
            *COLUMNS, pl.col("species").rank("dense"), pl.col("site").rank("dense")
        )
        np.save("train.npy", coded.to_numpy())
        one = learnt("train.csv", "--set", "site")
        other = learnt("train.parquet", "--set", "site")
        array = learnt("train.npy", "--label", "4", "--set", "5")
        assert one["weights"] == other["weights"]
        assert array["columns"] == ["0", "1", "2", "3"]
        assert [x["weight"] for x in array["weights"]] == [x["weight"] for x in one["weights"]]

    def test_options_reach_the_learner(self, folder: Path):
        options = "--opening-cost 3.5 --regulariser l2 --optimiser subgradient --max-iter 4 --tol 1"
        run(
            "learn", "train.csv", "--label", "species", "--out", "m.likewise", "--strength", 2,
            *options.split(), "--seed", 5, "--jobs", 2,
        )  # fmt: skip
        kept = lw.load("m.likewise").get_params()
        expected = {
            "features": "columns", "opening_cost": 3.5, "regulariser": "l2", "strength": 2.0,
            "optimiser": "subgradient", "max_iter": 4, "tol": 1.0, "random_state": 5, "n_jobs": 2,
        }  # fmt: skip
        assert expected.items() <= kept.items()


class TestWhatIsPrintedAndWritten:
    def test_table(self, folder: Path):
        result = learn("train.csv", "--set", "site")
        assert result.exit_code == 0, result.stderr
        printed = " ".join(result.stdout.split())
        facts = "learnt from 2 sets: 56 rows, 7 clusters", "compared by columns", "duality gap"
        for fact in (*facts, "held out of training", "2 of 4 features make up 99 %", "█"):
            assert fact in printed
        assert "model written to m.likewise" in result.stdout
        assert result.stderr == ""
        assert {path.name for path in folder.iterdir()} == {"train.csv", "m.likewise"}

    def test_choosing_on_held_out_clusters(self, folder: Path):
        result = run(
            "learn", "train.csv", "--label", "species", "--set", "site", "--out", "m.likewise"
        )
        assert result.exit_code == 0, result.stderr
        assert "plain distance" in result.stdout
        assert result.stdout.count("chosen") >= 2
        assert sum(lw.load("m.likewise").validation_["chosen"]) == 1

    def test_json_is_the_whole_output(self, folder: Path):
        found = learnt("train.csv", "--set", "site")
        assert (found["status"], found["interrupted"]) == ("converged", False)
        assert found["lower_bound"] <= found["objective"]
        assert (found["out"], found["plot"], found["checkpoint"]) == ("m.likewise", None, None)
        assert found["opening_cost_is_learnt"] is True

    @pytest.mark.parametrize(("name", "start"), [("p.png", b"\x89PNG"), ("p.svg", b"<?xml")])
    def test_picture(self, folder: Path, name: str, start: bytes):
        result = learn("train.csv", "--set", "site", "--plot", name)
        assert result.exit_code == 0, result.stderr
        content = (folder / name).read_bytes()
        assert content.startswith(start)
        assert len(content) > 10_000

    @pytest.mark.parametrize(
        ("column", "doubt"),
        [
            ("remark", "all rows of every set are in one cluster"),
            ("length", "a cluster of its own"),
        ],
    )
    def test_a_column_that_is_hardly_one_of_clusters(self, folder: Path, column: str, doubt: str):
        result = learn("train.csv", "--label", column)
        assert result.exit_code == 0, result.stderr
        assert doubt in result.stderr
        assert result.stderr.startswith("note: ")

    def test_what_warnings_say_is_noted(self, folder: Path):
        pl.read_csv("train.csv").with_columns(level=pl.lit(2.0)).write_csv("level.csv")
        result = learn("level.csv", "--set", "site")
        assert result.exit_code == 0
        assert "note: features ['level'] (1 in total) are constant" in result.stderr


class TestInterruption:
    @staticmethod
    def after(count: int, monkeypatch: pytest.MonkeyPatch):
        records = iter(range(count))

        def update(self, record):
            if next(records, None) is None:
                raise KeyboardInterrupt

        monkeypatch.setattr(terminal.ProgressBar, "update_training", update)

    @pytest.mark.parametrize("count", [0, 5])
    def test_the_best_weights_are_kept(self, count: int, folder: Path, monkeypatch):
        self.after(count, monkeypatch)
        result = learn("train.csv", "--set", "site", "--json")
        assert result.exit_code == 130
        assert "these are the best weights so far" in result.stderr
        assert json.loads(result.stdout)["interrupted"] is True
        assert lw.load("m.likewise").status_ == "interrupted"
        assert run("cluster", "train.csv", "--model", "m.likewise").exit_code == 0

    def test_the_checkpoint_is_gone_on_from(self, folder: Path, monkeypatch):
        whole = learnt("train.csv", "--set", "site")
        with monkeypatch.context() as patched:
            self.after(6, patched)
            result = learn("train.csv", "--set", "site", "--checkpoint", "state")
            assert result.exit_code == 130
            assert "checkpoint kept in state" in result.stdout
        rest = learnt("train.csv", "--set", "site", "--checkpoint", "state")
        assert rest["weights"] == whole["weights"]
        assert rest["passes"] == whole["passes"]
        assert rest["checkpoint"] == "state"

    def test_a_checkpoint_of_other_data(self, folder: Path):
        learnt("train.csv", "--set", "site", "--checkpoint", "state")
        result = learn("train.csv", "--checkpoint", "state")
        assert result.exit_code == 1
        assert "state" in one_line(result.stderr)


USAGE = [
    (["train.csv", "--out", "m.likewise"], "--label"),
    (["train.csv", "--label", "species"], "--out"),
    (["--label", "species", "--out", "m.likewise"], "TRAIN"),
    (["train.csv", "--strength", "weak"], "'auto' or a finite number from 0 on"),
    (["train.csv", "--strength", "-1"], "'auto' or a finite number from 0 on"),
    (["train.csv", "--opening-cost", "median"], "'learn' or a finite number"),
    (["train.csv", "--regulariser", "l3"], "l3"),
    (["train.csv", "--max-iter", "0"], "--max-iter"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE)
def test_usage_errors(arguments: list[str], message: str, folder: Path):
    result = run("learn", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())


USER = [
    (["none.csv"], "none.csv does not exist"),
    (["train.csv", "none.csv"], "none.csv does not exist"),
    (["."], ". is a directory; name "),
    (["empty.csv"], "empty.csv is empty"),
    (["train.csv", "train.csv"], "train.csv is named twice"),
    (["train.csv", "--label", "kind"], "no column 'kind' (--label); its columns are 'length', "),
    (["train.csv", "--set", "sight"], "no column 'sight' (--set); its columns are"),
    (["train.csv", "--set", "species"], "--label and --set both name 'species'"),
    (["train.csv", "--columns", "length,hue"], "no column 'hue'; its columns are"),
    (["train.csv", "--columns", "x*"], "no column 'x*'; its columns are"),
    (["train.csv", "--columns", "length,species"], "both --label and a column to compare"),
    (["train.csv", "--columns", "remark"], "column 'remark': 'seen' is not a number"),
    (["train.csv", "--compare", "size:far:length"], "must be one of sqeuclidean, euclidean"),
    (["train.csv", "--compare", "euclidean:size:length"], "such as size:euclidean:length."),
    (["train.csv", "--compare", "euclidean:length"], "such as :euclidean:length."),
    (["train.csv", "--compare", "size:euclidean:length,"], "the name of a column is missing"),
    (["train.csv", "--compare", "size:euclidean:hue"], "no column 'hue'"),
    (["train.csv", "--compare", "a:chi2", "--compare", "a:cosine"], "such as a2:cosine"),
    (
        ["train.csv", "--columns", "length", "--compare", "size:euclidean:width"],
        "--compare size: of the columns that are read, train.csv has no column 'width'",
    ),
    (["train.csv", "narrow.csv"], "'width', narrow.csv has none of this name"),
    (["narrow.csv", "train.csv"], "'width', narrow.csv has none of this name"),
    (["blank.csv"], "column 'species' is empty everywhere"),
    (["gap.csv", "--set", "site"], "column 'site': the value is missing"),
    (["train.csv", "--plot", "p.gif"], "pictures end in .png, .pdf, .svg"),
    (["train.csv", "--plot", "m.likewise"], "name the same file"),
    (["train.csv", "--checkpoint", "none/c"], "there is no folder none"),
]


@pytest.mark.parametrize(("arguments", "message"), USER)
def test_user_errors(arguments: list[str], message: str, folder: Path):
    frame = pl.read_csv("train.csv")
    frame.drop("width").write_csv("narrow.csv")
    frame.with_columns(species=pl.lit("")).write_csv("blank.csv")
    frame.with_columns(site=pl.lit("")).write_csv("gap.csv")
    Path("empty.csv").touch()
    before = sorted(folder.iterdir())
    result = learn(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in one_line(result.stderr)
    assert sorted(folder.iterdir()) == before


def test_the_training_file_is_not_written_over(folder: Path):
    before = Path("train.csv").read_bytes()
    result = learn("train.csv", out="train.csv")
    assert result.exit_code == 1
    assert "--out train.csv is the data file" in one_line(result.stderr)
    assert Path("train.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cosine", Comparison("cosine", "cosine")),
        ("shape:cosine", Comparison("shape", "cosine")),
        (":cosine:a", Comparison("cosine", "cosine", ("a",))),
        (" shape : cosine : a , b* ", Comparison("shape", "cosine", ("a", "b*"))),
        ("t:rbf:12:30,12:45", Comparison("t", "rbf", ("12:30", "12:45"))),
    ],
)
def test_what_a_comparison_says(text: str, expected: Comparison):
    assert Comparison.of(text) == expected
