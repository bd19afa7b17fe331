"""``likewise cluster --model``: learners and clusterers on new data; ``inspect`` of learners."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import likewise as lw
from command_line import COLUMNS, one_line, read_lines, run, sites
from likewise.app import grouping, inspection


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models that were learnt and fitted, and with what they know nothing of yet."""
    folder = tmp_path_factory.mktemp("models")
    frame = sites(0, ("north", "south", "east"))
    frame.write_csv(folder / "train.csv")
    arguments = ("--label", "species", "--set", "site", "--strength", 0.1)
    done = run("learn", folder / "train.csv", *arguments, "--out", folder / "learnt.likewise")
    assert done.exit_code == 0, done.stderr
    kinds = ["--compare", "size:euclidean:length,width", "--compare", "rest:manhattan:haze,glare"]
    done = run(
        "learn", folder / "train.csv", *arguments, *kinds, "--out", folder / "compared.likewise"
    )
    assert done.exit_code == 0, done.stderr
    rows = frame.filter(site="north")[["length", "width"]]
    lw.save(lw.ExemplarClusterer().fit(rows), folder / "fitted.likewise")
    lw.save(lw.ExemplarClusterer().fit(rows.to_numpy()), folder / "nameless.likewise")
    lw.save(lw.ExemplarClusterer(opening_cost=50.0), folder / "settings.likewise")
    lw.save(lw.ExemplarLearner(), folder / "unlearnt.likewise")
    return folder


@pytest.fixture
def folder(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder with those models and new sets, whose clusters are elsewhere."""
    for path in models.iterdir():
        shutil.copy(path, tmp_path)
    sites(1, ("hill", "lake")).write_csv(tmp_path / "new.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def grouped(*arguments: object, model: str = "learnt.likewise") -> dict:
    result = run("cluster", "new.csv", "--model", model, *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


class TestLearner:
    def test_new_sets_are_grouped_like_those_that_were_shown(self, models: Path, tmp_path, seed):
        sites(seed, ("hill", "lake", "shore")).write_csv(tmp_path / "new.csv")
        result = run(
            "cluster", tmp_path / "new.csv", "--model", models / "learnt.likewise",
            "--set", "site", "--label", "species", "--json",
        )  # fmt: skip
        assert result.exit_code == 0, result.stderr
        found = json.loads(result.stdout)
        assert found["mean_adjusted_rand"] > 0.9
        known = {part["name"]: part["known_clusters"] for part in found["sets"]}
        assert known == {"hill": 3, "lake": 4, "shore": 3}

    def test_it_is_what_the_learner_finds(self, folder: Path):
        found = grouped("--set", "site", "--out", "labels.csv")
        learner = lw.load("learnt.likewise")
        frame = pl.read_csv("new.csv")
        lines = read_lines(folder / "labels.csv")
        assert list(lines[0]) == ["row", "set", "label"]
        assert [int(line["row"]) for line in lines] == list(range(frame.height))
        assert [line["set"] for line in lines] == frame["site"].to_list()
        labels = np.array([int(line["label"]) for line in lines])
        assert labels.tolist() == found["labels"]
        for part in found["sets"]:
            own = (frame["site"] == part["name"]).to_numpy()
            expected = learner.cluster(frame.filter(pl.Series(own))[list(COLUMNS)])
            np.testing.assert_array_equal(labels[own], expected)
            assert part["sizes"] == np.bincount(expected).tolist()
            assert part["clusters"] == len(part["sizes"])

    def test_judged_by_known_clusters(self, folder: Path):
        found = grouped("--set", "site", "--label", "species")
        frame = pl.read_csv("new.csv")
        labels = np.array(found["labels"])
        for part in found["sets"]:
            own = (frame["site"] == part["name"]).to_numpy()
            truth = frame.filter(pl.Series(own))["species"].to_numpy()
            assert part["pairwise_f1"] == lw.metrics.pairwise_f1(truth, labels[own])
        scores = [part["pairwise_f1"] for part in found["sets"]]
        assert found["mean_pairwise_f1"] == pytest.approx(np.mean(scores))
        # The known clusters do not change what is found.
        assert grouped("--set", "site")["labels"] == found["labels"]
        assert grouped("--set", "site")["mean_pairwise_f1"] is None

    def test_rows_whose_cluster_is_not_known_do_not_count(self, folder: Path):
        frame = pl.read_csv("new.csv")
        hidden = pl.Series(np.arange(frame.height) % 3 == 0)
        frame.with_columns(
            species=pl.when(hidden).then(None).otherwise(pl.col("species"))
        ).write_csv("new.csv")
        (part,) = grouped("--label", "species")["sets"]
        known = (~hidden).to_numpy()
        labels = np.array(grouped()["labels"])[known]
        truth = frame["species"].to_numpy()[known]
        assert part["pairwise_f1"] == lw.metrics.pairwise_f1(truth, labels)
        frame.with_columns(species=pl.lit("")).write_csv("new.csv")
        assert grouped("--label", "species")["mean_pairwise_f1"] is None

    def test_columns_are_found_by_name(self, folder: Path):
        expected = grouped("--set", "site")["labels"]
        frame = pl.read_csv("new.csv")
        frame.select(*frame.columns[::-1], extra=pl.lit("text")).write_csv("new.csv")
        assert grouped("--set", "site")["labels"] == expected

    def test_comparisons(self, folder: Path):
        found = grouped("--set", "site", "--label", "species", model="compared.likewise")
        assert found["mean_adjusted_rand"] > 0.9

    def test_table(self, folder: Path):
        result = run(
            "cluster", "new.csv", "--model", "learnt.likewise", "--set", "site",
            "--label", "species", "--out", "labels.csv", "--jobs", 1,
        )  # fmt: skip
        assert result.exit_code == 0, result.stderr
        printed = " ".join(result.stdout.split())
        facts = "learnt.likewise (ExemplarLearner)", "sets 2", "on average", "hill 24", "lake 32"
        for fact in (*facts, "labels written to labels.csv", "adjusted Rand"):
            assert fact in printed
        assert result.stderr == ""

    def test_a_set_of_another_size_is_noted(self, folder: Path):
        sites(1, ("hill",), each=60).write_csv("new.csv")
        result = run("cluster", "new.csv", "--model", "learnt.likewise")
        assert result.exit_code == 0
        assert all(line.startswith("note: ") for line in result.stderr.splitlines())

    @pytest.mark.parametrize("model", ["learnt", "compared", "fitted", "settings"])
    @pytest.mark.parametrize("arguments", [(), ("--set", "site", "--label", "species")])
    def test_picture(self, folder: Path, model: str, arguments: tuple[str, ...]):
        if model == "settings":
            arguments = (*arguments, "--columns", "length,width")
        found = grouped(*arguments, "--plot", "p.png", model=f"{model}.likewise")
        assert Path("p.png").read_bytes().startswith(b"\x89PNG")
        assert Path("p.png").stat().st_size > 10_000
        assert found["drawn"] == len(found["sets"])

    def test_nothing_to_draw(self, folder: Path):
        pl.read_csv("new.csv").head(2).write_csv("new.csv")
        result = run("cluster", "new.csv", "--model", "learnt.likewise", "--plot", "p.png")
        assert result.exit_code == 1
        assert "--plot shows sets of 3 to 3,000 rows" in one_line(result.stderr)

    def test_an_interrupt_is_not_swallowed_by_a_search(self, folder: Path, monkeypatch):
        labels = grouping._labels

        def interrupted(*arguments: object):
            found = labels(*arguments)
            # As a search does that was interrupted: it keeps its best partition.
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
            return found

        monkeypatch.setattr(grouping, "_labels", interrupted)
        arguments = ("--model", "learnt.likewise", "--out", "labels.csv")
        result = run("cluster", "new.csv", *arguments)
        assert result.exit_code == 130
        assert result.stderr.startswith("interrupted: what was not yet written")
        assert not Path("labels.csv").exists()


class TestClusterer:
    def test_a_fitted_one_predicts(self, folder: Path):
        found = grouped(model="fitted.likewise")
        model = lw.load("fitted.likewise")
        rows = pl.read_csv("new.csv")[["length", "width"]]
        assert found["labels"] == model.predict(rows).tolist()
        assert found["columns"] == ["length", "width"]
        (part,) = found["sets"]
        assert len(part["sizes"]) == model.n_clusters_
        assert "nearest exemplar" in found["way"]

    def test_one_without_names_is_told_the_columns(self, folder: Path):
        found = grouped("--columns", "length,width", model="nameless.likewise")
        assert found["labels"] == grouped(model="fitted.likewise")["labels"]
        result = run("cluster", "new.csv", "--model", "nameless.likewise")
        assert result.exit_code == 1
        assert "was fitted on 2, without names; say which" in one_line(result.stderr)

    def test_one_that_was_not_fitted_partitions(self, folder: Path):
        columns = ("--columns", "length,width")
        found = grouped("--set", "site", *columns, model="settings.likewise")
        frame = pl.read_csv("new.csv")
        for part in found["sets"]:
            own = (frame["site"] == part["name"]).to_numpy()
            rows = frame.filter(pl.Series(own))[["length", "width"]].to_numpy()
            expected = lw.ExemplarClusterer(opening_cost=50.0).cluster(rows)
            np.testing.assert_array_equal(np.array(found["labels"])[own], expected)
        assert "settings of the model" in found["way"]

    def test_precomputed_distances(self, folder: Path):
        rows = pl.read_csv("new.csv")[["length", "width"]].to_numpy()
        distances = np.square(rows[:, None] - rows[None]).sum(axis=2)
        np.save("d.npy", distances)
        model = lw.ExemplarClusterer("precomputed")
        lw.save(model, "d.likewise")
        found = run("cluster", "d.npy", "--model", "d.likewise", "--plot", "p.png", "--json")
        assert found.exit_code == 0, found.stderr
        assert json.loads(found.stdout)["labels"] == model.cluster(distances).tolist()
        refused = run("cluster", "d.npy", "--model", "d.likewise", "--set", "0")
        assert "compares by precomputed distances" in one_line(refused.stderr)


USAGE = [
    (["--distance", "cosine"], "--distance: not allowed with --model"),
    (["--opening-cost", "3", "--seed", "1"], "--opening-cost, --seed: not allowed with --model"),
    (["--must-link", "m.csv"], "--must-link: not allowed with --model"),
    (["--save", "x.likewise"], "--save: not allowed with --model"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE)
def test_what_the_model_says_is_not_said_again(arguments: list[str], message: str, folder: Path):
    result = run("cluster", "new.csv", "--model", "learnt.likewise", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize("option", ["--set", "--label"])
def test_only_with_a_model(option: str, folder: Path):
    result = run("cluster", "new.csv", option, "site")
    assert result.exit_code == 2
    assert f"{option}: only allowed with --model" in " ".join(result.stderr.split())


USER = [
    (["none.csv", "learnt"], "none.csv does not exist"),
    (["new.csv", "none"], "none.likewise"),
    (["new.csv", "unlearnt"], "that has learnt nothing yet"),
    (["narrow.csv", "learnt"], "narrow.csv has no column 'width', which learnt.likewise was"),
    (["bare.csv", "learnt"], "no columns 'length', 'width', 'haze', 'glare', which"),
    (["new.csv", "learnt", "--columns", "length"], "knows its columns by name: leave out"),
    (["new.csv", "learnt", "--set", "place"], "no column 'place' (--set)"),
    (["new.csv", "learnt", "--label", "kind"], "no column 'kind' (--label)"),
    (["new.csv", "learnt", "--label", "width"], "both --label and a column to compare"),
    (["torn.csv", "learnt"], "column 'width': 'wide' is not a number"),
    (["new.csv", "learnt", "--out", "new.csv"], "--out new.csv is the data file"),
    (["new.csv", "learnt", "--out", "learnt.likewise"], "is the model file"),
    (["new.csv", "learnt", "--plot", "p.bmp"], "pictures end in .png, .pdf, .svg"),
]


@pytest.mark.parametrize(("arguments", "message"), USER)
def test_user_errors(arguments: list[str], message: str, folder: Path):
    frame = pl.read_csv("new.csv")
    frame.drop("width").write_csv("narrow.csv")
    frame.select(other=pl.lit(1.0)).write_csv("bare.csv")
    head = frame.head(3).with_columns(pl.col("width").cast(pl.String))
    head.with_columns(width=pl.Series(["1", "wide", "2"])).write_csv("torn.csv")
    before = sorted(folder.iterdir())
    data, model, *options = arguments
    result = run("cluster", data, "--model", f"{model}.likewise", *options)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in one_line(result.stderr)
    assert sorted(folder.iterdir()) == before


class TestInspect:
    def test_weights_as_bars(self, folder: Path):
        result = run("inspect", "learnt.likewise")
        assert result.exit_code == 0, result.stderr
        printed = " ".join(result.stdout.split())
        facts = "ExemplarLearner", "sets of 24 to 32 rows", "columns 4 (length, width, haze, glare)"
        for fact in (*facts, "in the units of their features", "strength 0.1"):
            assert fact in printed
        bars = {
            line.split()[0]: line.count("█") for line in result.stdout.splitlines() if "█" in line
        }
        assert max(bars, key=bars.__getitem__) in ("length", "width")

    def test_json(self, folder: Path):
        found = json.loads(run("inspect", "learnt.likewise", "--json").stdout)
        learner = lw.load("learnt.likewise")
        assert (found["model"], found["fitted"]) == ("ExemplarLearner", True)
        assert found["columns"] == list(COLUMNS)
        weights = {item["feature"]: item["weight"] for item in found["weights"]}
        assert weights == dict(zip(COLUMNS, learner.weights_, strict=True))
        assert found["opening_cost"] == learner.opening_cost_
        assert found["rows_seen"] == [24, 32]
        assert found["passes"] == learner.n_iter_
        assert found["parameters"]["strength"] == 0.1

    def test_comparisons(self, folder: Path):
        printed = " ".join(run("inspect", "compared.likewise").stdout.split())
        assert "Compare('size', 'euclidean', columns=['length', 'width'])" in printed

    def test_not_fitted(self, folder: Path):
        result = run("inspect", "unlearnt.likewise")
        assert result.exit_code == 0, result.stderr
        assert "fitted no" in " ".join(result.stdout.split())
        found = json.loads(run("inspect", "unlearnt.likewise", "--json").stdout)
        assert (found["fitted"], found["weights"], found["passes"]) == (False, None, None)

    def test_many_weights_are_gathered(self, tmp_path: Path, seed: int):
        rng = np.random.default_rng(seed)
        labels = np.repeat([0, 1, 2], 6)
        rows = rng.normal(size=(18, 30)) + 9.0 * labels[:, None]
        learner = lw.ExemplarLearner(strength=1.0).fit(rows, labels)
        learner.weights_[:5] = 0.0
        lw.save(learner, tmp_path / "m.likewise")
        printed = run("inspect", tmp_path / "m.likewise").stdout
        assert "6 others" in printed
        # Counted here once more: the fewest whose shares add up to 99 %.
        shares = np.sort(learner.weights_ * learner.feature_means_)[::-1]
        enough = 1 + int((np.cumsum(shares) / shares.sum() < 0.99 - 1e-9).sum())
        assert enough <= 25
        assert f"{enough} of 30 features make up 99 %" in printed

    def test_the_report_has_no_terminal(self, folder: Path):
        report = inspection.run_inspect(Path("learnt.likewise"))
        assert isinstance(report, inspection.LearnerReport)
