"""``likewise segment``: series to segments; ``inspect`` of detectors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import likewise as lw
from command_line import one_line, read_lines, run
from likewise.app.region_files import read_regions
from likewise.errors import DataFileError
from likewise.geometry.noise import noise_scales

CUTS = [60, 100, 180]
T = 240
COLUMNS = ["speed", "heading", "tilt"]


def steps(seed: int, n_columns: int = 3, cuts: list[int] = CUTS, n: int = T) -> np.ndarray:
    """Means that jump by 12 standard deviations: the changes are beyond doubt for every seed."""
    labels = np.searchsorted(cuts, np.arange(n), side="right")
    rng = np.random.default_rng(seed)
    return 12.0 * (labels % 2)[:, None] + rng.normal(size=(n, n_columns))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(steps(0), schema=COLUMNS, orient="row").write_csv("s.csv")
    return tmp_path


def segmented(*arguments: object) -> dict:
    result = run("segment", *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


class TestDefault:
    def test_changes_are_found_in_any_units(self, tmp_path: Path, seed: int):
        rows = steps(seed) * [1.0, 1e4, 1e-3] + [0.0, 1e9, 5.0]
        np.save(tmp_path / "s.npy", rows)
        found = segmented(tmp_path / "s.npy")
        (series,) = found["series"]
        assert series["change_points"] == CUTS
        assert series["sizes"] == [60, 40, 80, 60]
        assert series["penalty"] == pytest.approx(2 * 3 * np.log(T))
        np.testing.assert_allclose(series["noise"], [1.0, 1e4, 1e-3], rtol=0.4)
        assert found["scaled"]
        assert found["default_penalty"]

    def test_it_is_the_detector_on_scaled_columns(self, folder: Path):
        rows = steps(0)
        scales, guessed = noise_scales(rows)
        assert not guessed.any()
        detector = lw.ChangePointDetector(penalty=6 * np.log(T)).fit(rows / scales)
        found = segmented("s.csv", "--out", "o.csv", "--plot", "o.png")
        assert found["labels"] == detector.labels_.tolist()
        assert found["series"][0]["cost"] == pytest.approx(detector.cost_)
        lines = read_lines(folder / "o.csv")
        assert list(lines[0]) == ["row", "label"]
        assert [int(line["row"]) for line in lines] == list(range(T))
        assert [int(line["label"]) for line in lines] == found["labels"]
        assert (folder / "o.png").read_bytes().startswith(b"\x89PNG")

    def test_noise_has_no_changes(self, tmp_path: Path, seed: int):
        np.save(tmp_path / "s.npy", np.random.default_rng(seed).normal(size=(400, 3)))
        (series,) = segmented(tmp_path / "s.npy")["series"]
        assert series["segments"] <= 2

    def test_constant_and_quantised_columns(self, tmp_path: Path):
        rows = steps(0)
        stairs = np.repeat([0.0, 1.0, 0.0, 1.0], [60, 40, 80, 60])
        frame = pl.DataFrame(rows[:, :1], schema=["a"], orient="row")
        frame = frame.with_columns(four=pl.lit(4.0), stairs=pl.Series(stairs))
        frame.write_csv(tmp_path / "s.csv")
        found = segmented(tmp_path / "s.csv")
        (series,) = found["series"]
        assert series["change_points"] == CUTS
        assert series["noise"][1:] == [0.0, pytest.approx(stairs.std())]
        assert series["penalty"] == pytest.approx(2 * 2 * np.log(T))
        assert found["warnings"] == [
            "left out, as constant: four",
            "divided by the standard deviation, as most differences of neighbouring rows are the "
            "same: stairs",
        ]

    @pytest.mark.parametrize("n", [1, 2, 9])
    def test_short_and_constant_series(self, n: int, tmp_path: Path):
        np.save(tmp_path / "s.npy", np.full((n, 2), 0.1))
        found = segmented(tmp_path / "s.npy")
        assert found["series"][0]["segments"] == 1
        assert any("do not show how strong the noise is" in note for note in found["warnings"])

    def test_values_that_are_too_large(self, tmp_path: Path):
        np.save(tmp_path / "s.npy", np.array([[1e308], [-1e308], [1e308], [1e308]]))
        result = run("segment", tmp_path / "s.npy")
        assert result.exit_code == 1
        assert "power of ten" in one_line(result.stderr)

    def test_the_screen_says_what_was_used(self, folder: Path):
        result = run("segment", "s.csv", "--out", "o.csv")
        assert result.exit_code == 0, result.stderr
        text = " ".join(result.stdout.split())
        for part in ("every column divided by its noise", "2 p log T = 32.8838", "labels written"):
            assert part in text


class TestSettings:
    @pytest.mark.parametrize(
        ("arguments", "settings"),
        [
            (("--penalty", 30), {"penalty": 30.0}),
            (("--penalty", 0, "--min-size", 50), {"penalty": 0.0, "min_size": 50}),
            (("--n-segments", 3), {"n_segments": 3}),
            (("--n-segments", 3, "--min-size", 70), {"n_segments": 3, "min_size": 70}),
        ],
    )
    def test_columns_are_taken_as_they_are(self, arguments, settings, folder: Path):
        found = segmented("s.csv", *arguments)
        rows = pl.read_csv("s.csv").to_numpy()
        expected = lw.ChangePointDetector(**settings).fit(rows)
        assert found["labels"] == expected.labels_.tolist()
        assert found["series"][0]["noise"] is None
        assert found["series"][0]["penalty"] == settings.get("penalty")
        assert "as they are" in run("segment", "s.csv", *arguments).stdout

    def test_scale_is_separate(self, folder: Path):
        frame = pl.read_csv("s.csv") * 1000
        frame.write_csv("big.csv")
        found = segmented("big.csv", "--penalty", 40, "--scale")
        assert found["series"][0]["change_points"] == CUTS
        assert not found["default_penalty"]
        assert not segmented("big.csv", "--no-scale")["scaled"]

    def test_columns_and_header(self, folder: Path):
        found = segmented("s.csv", "--columns", "tilt,sp*")
        assert found["series"][0]["columns"] == ["tilt", "speed"]
        pl.read_csv("s.csv").write_csv("bare.csv", include_header=False)
        assert segmented("bare.csv", "--no-header")["rows"] == T

    @pytest.mark.parametrize(
        "arguments",
        [
            ("--penalty", 1, "--n-segments", 2), ("--penalty", -1), ("--penalty", "nan"),
            ("--n-segments", 0), ("--min-size", 0),
        ],
    )  # fmt: skip
    def test_not_understood(self, arguments, folder: Path):
        assert run("segment", "s.csv", *arguments).exit_code == 2

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            (("none.csv",), "none.csv does not exist"),
            (("s.csv", "--n-segments", T + 1), "n_segments must be at most 240"),
            (("s.csv", "--min-size", T + 1), "min_size must be at most the number of rows"),
            (("s.csv", "s.csv"), "named twice"),
            (("s.csv", "--out", "s.csv"), "--out s.csv is the data file"),
            (("s.csv", "--plot", "o.txt"), "pictures end in"),
            (("s.csv", "--columns", "other"), "no column 'other'"),
        ],
    )
    def test_errors(self, arguments, expected: str, folder: Path):
        before = set(folder.iterdir())
        result = run("segment", *arguments)
        assert result.exit_code == 1
        assert expected in one_line(result.stderr)
        assert set(folder.iterdir()) == before


class TestSeveral:
    def test_a_column_that_says_the_series(self, tmp_path: Path, seed: int):
        parts = {"east": steps(seed), "west": steps(seed + 1, cuts=[50], n=100)}
        frames = [
            pl.DataFrame(rows, schema=COLUMNS, orient="row").with_columns(
                run=pl.lit(name), place=pl.int_range(len(rows))
            )
            for name, rows in parts.items()
        ]
        # Rows of the two alternate; the order within each is kept.
        frame = pl.concat(frames).sort("place", "run").drop("place")
        frame.write_csv(tmp_path / "s.csv")
        out = tmp_path / "o.csv"
        # Far above what noise gains, and below what the jumps do.
        found = segmented(tmp_path / "s.csv", "--set", "run", "--penalty", 300, "--out", out)
        cuts = {series["name"]: series["change_points"] for series in found["series"]}
        assert cuts == {"east": CUTS, "west": [50]}
        lines = read_lines(out)
        assert list(lines[0]) == ["row", "set", "label"]
        assert [int(line["row"]) for line in lines] == list(range(frame.height))
        assert [line["set"] for line in lines] == frame["run"].to_list()
        west = [int(line["label"]) for line in lines if line["set"] == "west"]
        assert west == [0] * 50 + [1] * 50
        assert [int(line["label"]) for line in lines] == found["labels"]

    def test_several_files(self, folder: Path):
        np.save("b.npy", steps(1, 2, [50], 100))
        Path("other").mkdir()
        pl.read_csv("s.csv").head(90).write_csv("other/s.csv")
        found = segmented("s.csv", "b.npy", "other/s.csv", "--out", "o.csv", "--plot", "o.svg")
        names = [series["name"] for series in found["series"]]
        assert names == ["s.csv", "b", "other/s.csv"]
        assert [series["change_points"] for series in found["series"]] == [CUTS, [50], [60]]
        lines = read_lines(folder / "o.csv")
        assert [int(line["row"]) for line in lines] == [*range(T), *range(100), *range(90)]
        assert [line["set"] for line in lines] == [
            name for name, n in zip(names, (T, 100, 90), strict=True) for _ in range(n)
        ]
        shown = run("segment", "s.csv", "b.npy", "other/s.csv").stdout
        assert "not the same in all series" in " ".join(shown.split())

    def test_only_the_first_ones_are_drawn(self, folder: Path):
        frame = pl.read_csv("s.csv").with_columns(run=pl.int_range(T) // 40)
        frame.write_csv("runs.csv")
        result = run("segment", "runs.csv", "--set", "run", "--plot", "o.png")
        assert result.exit_code == 0, result.stderr
        assert "the picture shows the first 4 series" in result.stdout

    def test_an_error_names_the_series(self, folder: Path):
        np.save("b.npy", steps(1, 2, [5], 10))
        result = run("segment", "s.csv", "b.npy", "--n-segments", 20)
        assert result.exit_code == 1
        assert "b: n_segments must be at most 10" in one_line(result.stderr)


class TestLabels:
    def test_regions_are_kept_to(self, folder: Path):
        Path("r.csv").write_text("changes,start,end\n0,50,70\n>= 1,120,140\n1,175,185\n")
        found = segmented("s.csv", "--labels", "r.csv")
        labels = read_regions(Path("r.csv"))
        assert labels.errors(found["series"][0]["change_points"]) == 0
        assert labels.errors(CUTS) == 2
        assert found["regions"] == 3
        assert "3 regions, all kept to" in run("segment", "s.csv", "--labels", "r.csv").stdout

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", "holds no regions"),
            ("start,end,changes\n", "holds no regions"),
            ("start,end\n1,2\n", "names no column 'changes'"),
            ("1,2\n", "line 1 has 2 fields"),
            ("start,end,changes\n1,x,0\n", "line 2: 'x' is not a row number"),
            ("5,9,2\n", "labels[0] must be"),
            ("5,9,1\n8,12,0\n", "overlaps"),
            ("200,260,1\n", "must be within 1 and 240"),
        ],
    )
    def test_errors(self, text: str, expected: str, folder: Path):
        Path("r.csv").write_text(text)
        result = run("segment", "s.csv", "--labels", "r.csv")
        assert result.exit_code == 1
        assert expected in one_line(result.stderr)

    def test_that_cannot_be_kept(self, folder: Path):
        Path("r.csv").write_text("10,12,1\n14,16,1\n")
        result = run("segment", "s.csv", "--labels", "r.csv", "--min-size", 20)
        assert result.exit_code == 1
        assert "cannot be kept together" in one_line(result.stderr)

    def test_one_series_only(self, folder: Path):
        Path("r.csv").write_text("10,12,1\n")
        np.save("b.npy", steps(1))
        result = run("segment", "s.csv", "b.npy", "--labels", "r.csv")
        assert result.exit_code == 1
        assert "there are 2" in one_line(result.stderr)

    def test_no_such_file_and_a_folder(self, folder: Path):
        with pytest.raises(DataFileError, match="does not exist"):
            read_regions(Path("none.csv"))
        with pytest.raises(DataFileError, match="directory"):
            read_regions(folder)


class TestModel:
    def test_it_is_what_the_model_finds(self, folder: Path):
        frame = pl.read_csv("s.csv")
        detector = lw.ChangePointDetector([1.0, 0.0, 2.0], 25.0, min_size=3).fit(frame)
        lw.save(detector, "m.likewise")
        # Columns are found by name.
        frame.select("tilt", "heading", "speed", extra=pl.lit(1.0)).write_csv("new.csv")
        found = segmented("new.csv", "--model", "m.likewise")
        assert found["labels"] == detector.labels_.tolist()
        assert found["series"][0]["cost"] == pytest.approx(detector.cost_)
        assert found["min_size"] == 3
        text = " ".join(run("segment", "new.csv", "--model", "m.likewise").stdout.split())
        assert "by the metric of the model" in text
        assert "25.0000 (of the model)" in text

    def test_settings_only_and_a_kernel(self, folder: Path):
        lw.save(lw.ChangePointDetector(n_segments=4, kernel="linear"), "m.likewise")
        found = segmented("s.csv", "--model", "m.likewise")
        assert found["series"][0]["change_points"] == CUTS
        text = run("segment", "s.csv", "--model", "m.likewise").stdout
        assert "4 segments, as the model says" in text
        assert "kernel linear" in text

    def test_a_precomputed_kernel(self, folder: Path):
        rows = steps(0)
        np.save("gram.npy", rows @ rows.T)
        lw.save(lw.ChangePointDetector(n_segments=4, kernel="precomputed"), "m.likewise")
        found = segmented("gram.npy", "--model", "m.likewise")
        assert found["series"][0]["change_points"] == CUTS
        result = run("segment", "gram.npy", "--model", "m.likewise", "--plot", "o.png")
        assert "leave out --set and --plot" in one_line(result.stderr)

    @pytest.mark.parametrize(
        "option",
        [("--penalty", 1), ("--n-segments", 2), ("--min-size", 1), ("--scale",), ("--no-scale",)],
    )
    def test_settings_are_those_of_the_model(self, option, folder: Path):
        lw.save(lw.ChangePointDetector(), "m.likewise")
        result = run("segment", "s.csv", "--model", "m.likewise", *option)
        assert result.exit_code == 2
        assert "not allowed with --model" in " ".join(result.stderr.replace("│", " ").split())

    def test_wrong_models(self, folder: Path):
        lw.save(lw.ExemplarClusterer(), "c.likewise")
        result = run("segment", "s.csv", "--model", "c.likewise")
        assert "holds ExemplarClusterer, which cuts no series" in one_line(result.stderr)
        lw.save(lw.ChangePointDetector(), "d.likewise")
        result = run("cluster", "s.csv", "--model", "d.likewise")
        assert "likewise segment" in one_line(result.stderr)
        lw.save(lw.ChangePointDetector().fit(steps(0, 2)), "two.likewise")
        result = run("segment", "s.csv", "--model", "two.likewise")
        assert "was fitted on 2, without names" in one_line(result.stderr)
        lw.save(lw.ChangePointDetector().fit(pl.read_csv("s.csv")), "named.likewise")
        result = run("segment", "s.csv", "--model", "named.likewise", "--columns", "tilt")
        assert "leave out --columns" in one_line(result.stderr)


class TestInspect:
    def test_fitted(self, folder: Path):
        detector = lw.ChangePointDetector(penalty=25.0).fit(pl.read_csv("s.csv"))
        lw.save(detector, "m.likewise")
        found = json.loads(run("inspect", "m.likewise", "--json").stdout)
        assert found["model"] == "ChangePointDetector"
        assert (found["rows"], found["segments"], found["columns"]) == (T, 4, COLUMNS)
        assert found["change_points"] == CUTS
        assert found["cost"] == detector.cost_
        assert found["parameters"]["penalty"] == 25.0
        text = run("inspect", "m.likewise").stdout
        assert "60, 100, 180" in text
        assert "Parameters" in text

    def test_not_fitted(self, folder: Path):
        lw.save(lw.ChangePointDetector(), "m.likewise")
        found = json.loads(run("inspect", "m.likewise", "--json").stdout)
        assert (found["fitted"], found["segments"], found["rows"]) == (False, None, None)
        assert run("inspect", "m.likewise").exit_code == 0
