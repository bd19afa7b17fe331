"""``likewise learn --kind changes`` and ``likewise segment --model`` with what it has learnt."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import likewise as lw
from command_line import one_line, read_lines, run
from likewise.app import terminal
from likewise.app.region_files import read_regions_of
from likewise.errors import DataFileError
from likewise.transformers import WindowFeatures

COLUMNS = ["load", "noise"]
# A strength that is given leaves little to choose from, which is much faster.
FAST = ("--strength", 0.1)


def series(seed: int, names: str = "abc", n: int = 60) -> pl.DataFrame:
    """Machines at rest and at work: one column jumps by 8 standard deviations, one is all noise."""
    rng = np.random.default_rng(seed)
    parts = []
    for name in names:
        cuts = np.sort(rng.choice(np.arange(1, 6), 2, replace=False)) * (n // 6)
        work = np.searchsorted(cuts, np.arange(n), side="right") % 2
        load = 8.0 * work + rng.normal(size=n)
        parts.append(
            pl.DataFrame({"load": load, "noise": 5.0 * rng.normal(size=n)}).with_columns(
                state=pl.Series(np.where(work == 1, "work", "rest")), machine=pl.lit(name)
            )
        )
    return pl.concat(parts)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    series(0).write_csv("t.csv")
    return tmp_path


def learn(*arguments: object, shown: tuple[object, ...] = ("--label", "state")):
    words = ("learn", *arguments, "--kind", "changes", *shown, "--out", "m.likewise")
    return run(*words, *(() if "--strength" in arguments else FAST))


def learnt(*arguments: object, shown: tuple[object, ...] = ("--label", "state")) -> dict:
    result = learn(*arguments, "--json", shown=shown)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def segmented(*arguments: object) -> dict:
    result = run("segment", *arguments, "--model", "m.likewise", "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def cuts_of(frame: pl.DataFrame, name: str) -> list[int]:
    states = frame.filter(machine=name)["state"].to_numpy()
    return (np.flatnonzero(states[1:] != states[:-1]) + 1).tolist()


def plain(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


class TestWhatIsLearnt:
    def test_it_is_what_the_learner_learns(self, folder: Path):
        found = learnt("t.csv", "--set", "machine", "--seed", 3)
        parts = pl.read_csv("t.csv").partition_by("machine", maintain_order=True)
        same = lw.ChangePointLearner(strength=0.1, random_state=3)
        same.fit([part[COLUMNS] for part in parts], [part["state"] for part in parts])
        again = lw.load("m.likewise")
        np.testing.assert_array_equal(again.metric_, same.metric_)
        assert again.penalty_ == same.penalty_ == found["penalty"]
        assert again.label_cost_ == same.label_cost_
        assert again.feature_names_in_.tolist() == COLUMNS
        assert (again.callbacks, again.checkpoint) == (None, None)
        assert [weight["weight"] for weight in found["weights"]] == same.weights_.tolist()
        shares = {weight["feature"]: weight["share"] for weight in found["weights"]}
        assert shares["load"] > 0.9
        assert sum(shares.values()) == pytest.approx(1.0)
        assert (found["loss"], found["status"]) == (same.training_loss_, "converged")
        assert found["loss"] < 0.05 < found["one_segment_loss"]

    def test_series_of_several_files(self, folder: Path):
        whole = pl.read_csv("t.csv")
        for name in "abc":
            part = whole.filter(machine=name).drop("machine")
            part.select(part.columns[:: 1 if name == "a" else -1]).write_csv(f"{name}.csv")
        found = learnt("a.csv", "b.csv", "c.csv")
        assert [(own["name"], own["rows"], own["segments"]) for own in found["series"]] == [
            (name, 60, 3) for name in "abc"
        ]
        one = lw.load("m.likewise")
        learnt("t.csv", "--set", "machine")
        np.testing.assert_array_equal(one.metric_, lw.load("m.likewise").metric_)

    def test_rows_that_are_not_shown(self, folder: Path):
        frame = pl.read_csv("t.csv")
        hidden = pl.Series(np.arange(frame.height) % 10 == 0)
        for missing in ("", "-1"):
            frame.with_columns(
                state=pl.when(hidden).then(pl.lit(missing)).otherwise(pl.col("state"))
            ).write_csv("part.csv")
            found = learnt("part.csv", "--set", "machine")
            assert [own["shown"] for own in found["series"]] == [54, 54, 54]
            assert [own["segments"] for own in found["series"]] == [3, 3, 3]

    def test_regions_of_several_series(self, folder: Path):
        frame = pl.read_csv("t.csv")
        lines = ["set,start,end,changes"]
        for name in "cab":
            first, second = cuts_of(frame, name)
            lines += [f"{name},{first - 4},{first + 5},1", f"{name},{second - 4},{second + 5},1"]
            lines += [f"{name},{second + 5},60,0"] if second < 50 else []
        Path("r.csv").write_text("\n".join(lines))
        found = learnt("t.csv", "--set", "machine", shown=("--regions", "r.csv"))
        assert sum(own["regions"] for own in found["series"]) == len(lines) - 1
        assert found["loss"] == 0.0
        new = series(5, "xy")
        new.write_csv("new.csv")
        cuts = [own["change_points"] for own in segmented("new.csv", "--set", "machine")["series"]]
        assert cuts == [cuts_of(new, "x"), cuts_of(new, "y")]

    def test_regions_of_one_series(self, folder: Path):
        frame = pl.read_csv("t.csv").filter(machine="a")
        frame.write_csv("a.csv")
        first, second = cuts_of(frame, "a")
        Path("r.csv").write_text(f"{first - 4},{first + 5},1\n{second - 4},{second + 5},1\n")
        found = learnt("a.csv", shown=("--regions", "r.csv"))
        assert [own["regions"] for own in found["series"]] == [2]
        text = plain(learn("a.csv", shown=("--regions", "r.csv")).stdout)
        assert "1 series: 60 rows, 2 regions" in text

    def test_options_reach_the_learner(self, folder: Path):
        options = (
            "--metric full --features windows --penalty features --criterion f1 --regulariser "
            "trace --optimiser subgradient --max-iter 3 --tol 0.5 --seed 5 --jobs 2 --strength 2"
        )
        result = learn("t.csv", "--set", "machine", *options.split())
        assert result.exit_code == 0, result.stderr
        kept = lw.load("m.likewise")
        expected = {
            "metric": "full", "features": "windows", "penalty": "features", "criterion": "f1",
            "regulariser": "trace", "optimiser": "subgradient", "max_iter": 3, "tol": 0.5,
            "random_state": 5, "n_jobs": 2, "strength": 2.0,
        }  # fmt: skip
        assert expected.items() <= kept.get_params().items()
        assert isinstance(kept.transformer_, WindowFeatures)

    def test_defaults_are_those_of_the_learner(self, folder: Path):
        learnt("t.csv", "--set", "machine", "--max-iter", 100)
        own = {**lw.ChangePointLearner().get_params(), "strength": 0.1, "max_iter": 100}
        assert lw.load("m.likewise").get_params() == own


class TestWhatIsPrinted:
    def test_table_of_what_was_chosen(self, folder: Path):
        result = learn("t.csv", "--set", "machine", "--strength", "auto", "--plot", "p.png")
        assert result.exit_code == 0, result.stderr
        printed = plain(result.stdout)
        facts = "3 series: 180 rows, 9 segments", "columns 2 (load, noise)", "segmented by columns"
        for fact in (*facts, "Held-out loss, by candidate", "penalty only", "█", "share"):
            assert fact in printed
        assert "in a series of typical length" in printed
        assert "one segment for every series: 0." in printed
        assert "model written to m.likewise" in result.stdout
        assert result.stderr == ""
        assert (folder / "p.png").read_bytes().startswith(b"\x89PNG")
        assert sum(lw.load("m.likewise").validation_["chosen"]) == 1

    def test_choice_of_features(self, folder: Path):
        result = learn("t.csv", "--set", "machine", "--features", "auto", "--penalty", "features")
        assert result.exit_code == 0, result.stderr
        printed = plain(result.stdout)
        assert "Held-out loss, by features" in printed
        assert "hermite, scale=noise" in printed

    @pytest.mark.parametrize(
        ("column", "doubt"),
        [("one", "every series is one segment"), ("load", "every row is a segment of its own")],
    )
    def test_a_column_that_is_hardly_one_of_segments(self, column: str, doubt: str, folder: Path):
        pl.read_csv("t.csv").with_columns(one=pl.lit("x")).write_csv("odd.csv")
        result = learn("odd.csv", "--set", "machine", shown=("--label", column))
        assert result.exit_code == 0, result.stderr
        assert doubt in result.stderr

    def test_inspect(self, folder: Path):
        found = learnt("t.csv", "--set", "machine")
        held = json.loads(run("inspect", "m.likewise", "--json").stdout)
        assert held["model"] == "ChangePointLearner"
        assert held["columns"] == COLUMNS
        assert held["fitted"]["rows_seen"] == [60, 60]
        for name in ("penalty", "loss", "chosen", "status"):
            assert held["fitted"][name] == found[name]
        text = plain(run("inspect", "m.likewise").stdout)
        assert "series of 60 rows" in text
        assert "Parameters" in text
        lw.save(lw.ChangePointLearner(), "m.likewise")
        assert json.loads(run("inspect", "m.likewise", "--json").stdout)["fitted"] is None
        assert run("inspect", "m.likewise").exit_code == 0


class TestInterruption:
    @staticmethod
    def after(count: int, monkeypatch: pytest.MonkeyPatch):
        records = iter(range(count))

        def update(self, record):
            if next(records, None) is None:
                raise KeyboardInterrupt

        monkeypatch.setattr(terminal.ProgressBar, "update_training", update)

    @pytest.mark.parametrize(
        ("count", "strength"), [(0, "auto"), (2, "auto"), (0, 0.1), (2, 0.1), (8, 0.1)]
    )
    def test_the_best_weights_are_kept(self, count: int, strength, folder: Path, monkeypatch):
        self.after(count, monkeypatch)
        result = learn("t.csv", "--set", "machine", "--strength", strength, "--json")
        assert result.exit_code == 130
        assert "these are the best weights so far" in result.stderr
        assert json.loads(result.stdout)["interrupted"] is True
        assert lw.load("m.likewise").status_ == "interrupted"
        assert run("segment", "t.csv", "--model", "m.likewise").exit_code == 0

    def test_the_checkpoint_is_gone_on_from(self, folder: Path, monkeypatch):
        whole = learnt("t.csv", "--set", "machine")
        with monkeypatch.context() as patched:
            self.after(9, patched)
            result = learn("t.csv", "--set", "machine", "--checkpoint", "state")
            assert result.exit_code == 130
            assert "checkpoint kept in state" in result.stdout
        rest = learnt("t.csv", "--set", "machine", "--checkpoint", "state")
        for name in ("weights", "penalty", "passes"):
            assert rest[name] == whole[name]
        other = learn("t.csv", "--checkpoint", "state")
        assert other.exit_code == 1
        assert "state" in one_line(other.stderr)


LABEL = ("--label", "state")
USAGE = [
    (["--kind", "changes"], "either the column with the segment of every row, or a file"),
    (["--kind", "changes", *LABEL, "--regions", "r.csv"], "either the column"),
    (["--kind", "changes", *LABEL, "--compare", "chi2"], "--compare"),
    (["--kind", "changes", *LABEL, "--opening-cost", "2"], "not allowed with --kind changes"),
    (["--kind", "changes", *LABEL, "--regulariser", "trace"], "trace is for --metric full"),
    (["--kind", "changes", *LABEL, "--metric", "round"], "round"),
    ([*LABEL, "--metric", "full"], "only allowed with --kind changes"),
    ([*LABEL, "--features", "none", "--penalty", "constant"], "--features, --penalty"),
    ([*LABEL, "--criterion", "f1"], "--criterion"),
    ([*LABEL, "--regions", "r.csv"], "--regions"),
    ([*LABEL, "--regulariser", "trace"], "--kind changes --metric full"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE)
def test_usage_errors(arguments: list[str], message: str, folder: Path):
    result = run("learn", "t.csv", "--out", "m.likewise", *arguments)
    assert result.exit_code == 2
    assert message in plain(result.stderr)
    assert not Path("m.likewise").exists()


REGIONS = [
    ("10,20,1\n", "there are 3 series, so a column 'set' must name"),
    ("set,start,end,changes\nd,1,2,0\n", "line 2: there is no series 'd'; they are 'a', 'b', 'c'"),
    ("set,start,end,changes\nb,1,200,0\n", "r.csv: series 'b': labels[0] = (1, 200, 0) must be"),
    ("set,start,end,changes\nb,1,9,0\nb,5,12,1\n", "overlaps"),
    ("start,end,changes\n", "holds no regions"),
]


@pytest.mark.parametrize(("text", "message"), REGIONS)
def test_errors_of_regions(text: str, message: str, folder: Path):
    Path("r.csv").write_text(text)
    result = learn("t.csv", "--set", "machine", shown=("--regions", "r.csv"))
    assert result.exit_code == 1
    assert message in one_line(result.stderr)


def test_series_without_regions(tmp_path: Path):
    file = tmp_path / "r.csv"
    file.write_text("set,start,end,changes\nb,5,9,1\n")
    found = read_regions_of(file, {"a": 20, "b": 10})
    assert [labels.rows for labels in found] == [[], [(5, 9, "1")]]
    with pytest.raises(DataFileError, match="does not exist"):
        read_regions_of(tmp_path / "none.csv", {"a": 20})


USER = [
    (["none.csv"], "none.csv does not exist"),
    (["t.csv", "--set", "plant"], "no column 'plant'"),
    (["t.csv", "--columns", "state"], "both --label and a column to compare"),
    (["blank.csv"], "it must name the segment of rows"),
    (["t.csv", "--plot", "m.likewise"], "name the same file"),
]


@pytest.mark.parametrize(("arguments", "message"), USER)
def test_user_errors(arguments: list[str], message: str, folder: Path):
    pl.read_csv("t.csv").with_columns(state=pl.lit("")).write_csv("blank.csv")
    before = sorted(folder.iterdir())
    result = learn(*arguments)
    assert result.exit_code == 1
    assert message in one_line(result.stderr)
    assert sorted(folder.iterdir()) == before


class TestSegment:
    @pytest.fixture
    def new(self, folder: Path) -> pl.DataFrame:
        learnt("t.csv", "--set", "machine")
        frame = series(7, "xy")
        # Columns are found by name.
        frame.select("machine", "noise", "load", extra=pl.lit(1.0)).write_csv("new.csv")
        return frame

    def test_it_is_what_the_model_finds(self, new: pl.DataFrame):
        found = segmented("new.csv", "--set", "machine", "--out", "o.csv", "--plot", "o.png")
        model = lw.load("m.likewise")
        parts = [part[COLUMNS] for part in new.partition_by("machine", maintain_order=True)]
        labels = model.cluster(parts)
        assert found["labels"] == np.concatenate(labels).tolist()
        assert [own["change_points"] for own in found["series"]] == [
            cuts_of(new, "x"),
            cuts_of(new, "y"),
        ]
        assert [own["penalty"] for own in found["series"]] == [model.penalty_] * 2
        assert [own["labels"] for own in found["series"]] == [[0, 1, 2]] * 2
        assert [int(line["label"]) for line in read_lines(Path("o.csv"))] == found["labels"]
        assert Path("o.png").read_bytes().startswith(b"\x89PNG")
        text = plain(run("segment", "new.csv", "--set", "machine", "--model", "m.likewise").stdout)
        assert "m.likewise (ChangePointLearner)" in text
        assert "by what was learnt" in text
        assert "as learnt, for every series" in text

    def test_labels_that_are_shared(self, new: pl.DataFrame):
        found = segmented("new.csv", "--set", "machine", "--share-labels")
        assert [own["labels"] for own in found["series"]] == [[0, 1, 0]] * 2
        assert set(found["labels"]) == {0, 1}
        new.filter(machine="x").write_csv("x.csv")
        words = ("segment", "x.csv", "--model", "m.likewise", "--share-labels")
        text = plain(run(*words).stdout)
        assert "2, shared by segments that are alike" in text
        assert "segment first row rows label" in text

    def test_a_number_of_segments(self, new: pl.DataFrame):
        found = segmented("new.csv", "--set", "machine", "--n-segments", 4)
        assert [own["segments"] for own in found["series"]] == [4, 4]
        assert found["series"][0]["penalty"] is None
        words = ("segment", "new.csv", "--model", "m.likewise", "--n-segments", 4)
        assert "4 segments, as --n-segments says" in plain(run(*words).stdout)

    def test_a_number_that_must_be_given(self, new: pl.DataFrame):
        parts = pl.read_csv("t.csv").partition_by("machine", maintain_order=True)
        known = lw.ChangePointLearner(strength=0.1, n_segments="known")
        known.fit([part[COLUMNS] for part in parts], [part["state"] for part in parts])
        lw.save(known, "m.likewise")
        result = run("segment", "new.csv", "--model", "m.likewise")
        assert "give it with --n-segments" in one_line(result.stderr)
        assert segmented("new.csv", "--n-segments", 5)["series"][0]["segments"] == 5

    @pytest.mark.parametrize(
        "option",
        [("--penalty", 1), ("--min-size", 2), ("--scale",), ("--no-scale",), ("--labels", "r.csv")],
    )
    def test_settings_are_those_of_the_model(self, option, new: pl.DataFrame):
        result = run("segment", "new.csv", "--model", "m.likewise", *option)
        assert result.exit_code == 2
        assert "not allowed with m" in plain(result.stderr).replace("--model, as ", "")

    def test_only_of_learners(self, new: pl.DataFrame):
        result = run("segment", "new.csv", "--share-labels")
        assert result.exit_code == 2
        assert "only allowed with a --model of likewise learn" in plain(result.stderr)
        lw.save(lw.ChangePointDetector(), "d.likewise")
        result = run("segment", "new.csv", "--model", "d.likewise", "--share-labels")
        assert result.exit_code == 2
        assert "--share-labels" in plain(result.stderr)

    def test_other_columns_and_models(self, new: pl.DataFrame):
        pl.read_csv("new.csv").drop("load").write_csv("less.csv")
        result = run("segment", "less.csv", "--model", "m.likewise")
        assert result.exit_code == 1
        assert "'load'" in one_line(result.stderr)
        result = run("segment", "new.csv", "--model", "m.likewise", "--columns", "load,noise")
        assert "leave out --columns" in one_line(result.stderr)
        result = run("cluster", "new.csv", "--model", "m.likewise")
        assert "likewise segment" in one_line(result.stderr)
        lw.save(lw.ChangePointLearner(), "m.likewise")
        result = run("segment", "new.csv", "--model", "m.likewise")
        assert "has learnt nothing yet" in one_line(result.stderr)

    def test_arrays_without_names(self, folder: Path):
        parts = series(0).partition_by("machine", maintain_order=True)
        tables = [part[COLUMNS].to_numpy() for part in parts]
        learner = lw.ChangePointLearner(strength=0.1)
        lw.save(learner.fit(tables, [part["state"] for part in parts]), "m.likewise")
        np.save("new.npy", tables[1])
        assert segmented("new.npy")["labels"] == learner.cluster([tables[1]])[0].tolist()
        np.save("wide.npy", np.hstack([tables[1]] * 2))
        result = run("segment", "wide.npy", "--model", "m.likewise")
        assert "was fitted on 2, without names" in one_line(result.stderr)
