"""The demonstration: what was learnt beside what one could do without, and the pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from command_line import run
from likewise.app import demo, demo_methods, terminal
from likewise.datasets import load_digits_demo

METHODS = ["likewise, learnt", "plain distance, tuned", "k-means", "k-means, standardised", "Ward"]


@pytest.fixture(autouse=True)
def _less_of_it(monkeypatch: pytest.MonkeyPatch):
    """As much data as it takes to tell the story; `likewise demo` itself has more."""
    monkeypatch.setattr(demo, "EFFORT", demo.Effort(rows=60, every=15))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """A folder of pictures and the document, made once."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(demo, "EFFORT", demo.Effort(rows=60, every=15))
        result = run("demo", "--out", folder, "--json")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return folder, json.loads(result.stdout)


def test_plain_distances_fail_and_the_learner_does_not(told: tuple[Path, dict]):
    noise, _ = told[1]["chapters"]
    assert [line["method"] for line in noise["results"]] == METHODS
    mean = {line["method"]: np.mean(line["adjusted_rand"]) for line in noise["results"]}
    ours = mean.pop(METHODS[0])
    assert ours > 0.8
    assert mean[METHODS[1]] < 0.4
    assert ours > max(mean.values())
    (learnt,) = noise["learnt"]
    assert learnt["noise_share"] < 0.1
    assert set(list(learnt["weights"])[:4]) == {"x0", "x1", "x2", "x3"}


def test_who_is_told_the_number_of_clusters(told: tuple[Path, dict]):
    for chapter in told[1]["chapters"]:
        for line in chapter["results"]:
            names = ("k-means", "k-means, standardised", "Ward")
            assert line["told_number"] == (line["method"] in names)
            if line["told_number"]:
                assert line["clusters"] == chapter["true_clusters"]
            assert len(line["adjusted_rand"]) == len(chapter["true_clusters"])
            assert max(line["adjusted_rand"]) <= 1.0


def test_pictures(told: tuple[Path, dict]):
    folder, document = told
    assert {path.name for path in folder.iterdir()} == {"noise.png", "digits.png"}
    for chapter in document["chapters"]:
        content = Path(chapter["picture"]).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) > 50_000


def test_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def shortened(folder, on_progress, on_stage):
        return demo.DemoReport(chapters=[chapter], source="somewhere", seconds=1.0)

    chapter = demo.Chapter(
        title="Which columns count", shown="two sets", new="one set", true_clusters=[3],
        learnt=[
            demo.Learnt(
                chosen="learnt, near contrast", status="converged", passes=7,
                weights={"x0": 0.9, "x1": 0.004}, noise_share=0.1,
            )
        ],
        results=[
            demo_methods.MethodResult(
                method=name, told_number=told, clusters=[3], adjusted_rand=[score],
                pairwise_f1=[score], seconds=0.1,
            )
            for name, told, score in (
                ("likewise, learnt", False, 1.0), ("k-means", True, 0.25), ("Ward", True, 0.5)
            )
        ],
        picture="demo/noise.png",
    )  # fmt: skip
    monkeypatch.setattr(demo, "run_demo", shortened)
    result = run("demo", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    printed = " ".join(result.stdout.split())
    for words in (
        "1 Which columns count", "two sets", "learnt, near contrast (7 rounds)",
        "x0 90 %; all columns of noise together 10.0 %", "likewise, learnt no 3 1.00 1.00 0.10",
        "k-means yes 3 0.25", "k-means and Ward are told the true number",
        "picture 1 written to demo/noise.png", "Digits: somewhere",
    ):  # fmt: skip
        assert words in printed


def test_lessons_do_not_share_rows(seed: int):
    lesson = demo_methods.noise_lesson(30, (3, 4), (2, 5))
    sets = [*lesson.shown, *lesson.new]
    assert len({row.tobytes() for own in sets for row in own}) == 4 * 30
    assert [len(np.unique(y)) for y in (*lesson.shown_labels, *lesson.new_labels)] == [3, 4, 2, 5]
    classes = np.random.default_rng(seed).permutation(10)
    images = demo_methods.digits_lesson(load_digits_demo(), classes[:5], classes[5:], 9)
    assert set(images.shown_labels[0]) == set(classes[:5])
    assert set(images.new_labels[0]) == set(classes[5:])


def test_ctrl_c_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupt(self, record):
        raise KeyboardInterrupt

    monkeypatch.setattr(terminal.ProgressBar, "update_training", interrupt)
    result = run("demo", "--out", tmp_path)
    assert result.exit_code == 130
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way(tmp_path: Path):
    (tmp_path / "demo").write_text("")
    result = run("demo", "--out", tmp_path / "demo")
    assert result.exit_code == 1
    assert "is a file; name a folder" in result.stderr
