"""``likewise cluster --must-link --cannot-link``: files of pairs of rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import likewise as lw
from command_line import one_line, run
from likewise.app.link_files import read_pairs
from likewise.errors import DataFileError

N = 30


@pytest.fixture
def rows(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, 2)) + 12.0 * (np.arange(N) % 3)[:, None]


@pytest.fixture
def folder(rows: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    np.save(tmp_path / "rows.npy", rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cluster(*arguments: object):
    return run("cluster", "rows.npy", "--seed", 0, *arguments)


def test_links_hold(folder: Path, rows: np.ndarray):
    Path("must.csv").write_text("one,other\n0,1\n1,2\n")
    Path("cannot.csv").write_text("3,6\n")
    result = cluster("--must-link", "must.csv", "--cannot-link", "cannot.csv", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    labels = found["labels"]
    assert labels[0] == labels[1] == labels[2]
    assert labels[3] != labels[6]
    assert (found["must_links"], found["cannot_links"]) == (2, 1)
    assert found["lower_bound"] <= found["energy"] * (1 + 1e-12)
    model = lw.ExemplarClusterer(random_state=0)
    model.fit(rows, must_link=[(0, 1), (1, 2)], cannot_link=[(3, 6)])
    assert labels == model.labels_.tolist()


@pytest.mark.parametrize("option", ["--must-link", "--cannot-link"])
def test_one_kind_is_enough(option: str, folder: Path):
    Path("pairs.csv").write_text("0,3\n")
    result = cluster(option, "pairs.csv", "--out", "l.csv", "--plot", "p.png")
    assert result.exit_code == 0, result.stderr
    assert f"{option[2:]}s 1" in " ".join(result.stdout.split())
    assert Path("p.png").exists()


def test_a_contradiction_is_named_with_its_chain(folder: Path):
    Path("must.csv").write_text("4,7\n7,9\n1,2\n")
    Path("cannot.csv").write_text("1,5\n9,4\n")
    result = cluster("--must-link", "must.csv", "--cannot-link", "cannot.csv", "--out", "l.csv")
    assert result.exit_code == 1
    message = one_line(result.stderr)
    assert "9 - 7 - 4" in message or "4 - 7 - 9" in message
    assert not Path("l.csv").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\n2,30\n", "pairs.csv: line 2: there is no row 30; rows are numbered from 0 to 29"),
        ("0,-1\n", "there is no row -1"),
        ("0,1.5\n", "'1.5' is not a row number"),
        ("a,b\n0,c\n", "line 2: 'c' is not a row number"),
        ("0;1\n", "one field, '0;1'; two row numbers separated by a comma"),
        ("0,1,2\n", "line 1 has 3 fields"),
        ("", "pairs.csv is empty"),
    ],
)
def test_user_errors(text: str, message: str, folder: Path):
    Path("pairs.csv").write_text(text)
    result = cluster("--must-link", "pairs.csv")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in one_line(result.stderr)


def test_other_errors(folder: Path):
    result = cluster("--must-link", "none.csv")
    assert "none.csv does not exist" in one_line(result.stderr)
    result = cluster("--must-link", ".")
    assert "is a directory" in one_line(result.stderr)
    Path("pairs.csv").write_text("0,1\n")
    result = cluster("--must-link", "pairs.csv", "--out", "pairs.csv")
    assert "is the file of --must-link" in one_line(result.stderr)
    result = cluster("--must-link", "pairs.csv", "--candidates", 5)
    assert "leave out --candidates" in one_line(result.stderr)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,1\n", [(0, 1)]),
        ("\ufeffrow,other\n0, 1\n\n 2 ,3\n", [(0, 1), (2, 3)]),
        ('"0","1"\r\n', [(0, 1)]),
        ("a,b\n", []),
    ],
)
def test_ways_to_write_pairs(text: str, expected: list[tuple[int, int]], tmp_path: Path):
    path = tmp_path / "pairs.csv"
    path.write_bytes(text.encode())
    assert read_pairs(path, 4) == expected


def test_damaged_bytes_raise_one_kind_of_error(seed: int, tmp_path: Path):
    rng = np.random.default_rng(seed)
    path = tmp_path / "pairs.csv"
    for _ in range(100):
        content = bytearray(b"row,other\n0,1\n2,3\n" * 3)
        for place in rng.integers(len(content), size=3):
            content[place] = rng.integers(256)
        path.write_bytes(bytes(content))
        refusal, pairs = "", []
        try:
            pairs = read_pairs(path, 4)
        except DataFileError as error:
            refusal = str(error)
        assert "\n" not in refusal
        assert all(0 <= row < 4 for pair in pairs for row in pair)
