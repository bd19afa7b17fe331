"""The demonstration: real data, peers judged alike, a picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from likewise.app import commands, demo
from likewise.datasets import LabelledRows, load_digits_demo


@pytest.fixture(autouse=True)
def _fewer_digits(monkeypatch: pytest.MonkeyPatch):
    """The whole set is for `likewise demo` itself; every sixth row shows the same behaviour."""
    digits = load_digits_demo()
    few = LabelledRows(
        digits.rows[::6].copy(), digits.labels[::6].copy(), digits.image_shape, digits.source
    )
    monkeypatch.setattr(demo, "load_digits_demo", lambda: few)


def test_table_and_picture(tmp_path: Path):
    folder = tmp_path / "new" / "demo"
    result = CliRunner().invoke(commands.app, ["demo", "--out", str(folder)])
    assert result.exit_code == 0, result.stderr
    printed = " ".join(result.stdout.split())
    words = "likewise", "AffinityPropagation 0.5", "AffinityPropagation 0.9", "KMeans", "ARI", "gap"
    for word in (*words, "Agglomerative", "energy", "without looking at the labels"):
        assert word in printed
    picture = folder / "digits.png"
    assert str(picture) in result.stdout.replace("\n", "")
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 50_000


def test_json(tmp_path: Path):
    result = CliRunner().invoke(commands.app, ["demo", "--out", str(tmp_path), "--json"])
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    ours, *peers = found["results"]
    assert ours["method"] == "likewise"
    assert len(peers) == 4
    assert found["lower_bound"] <= ours["energy"]
    for line in peers:
        assert line["energy"] >= ours["energy"] * (1 - 1e-9)
        assert line["gap"] >= ours["gap"] - 1e-9
        assert 0 < line["adjusted_rand"] <= 1
    assert {line["clusters"] for line in peers[2:]} == {ours["clusters"]}
    assert found["known_clusters"] == 10
    assert Path(found["picture"]).exists()


def test_energy_is_that_of_the_definition(seed: int):
    rng = np.random.default_rng(seed)
    distances = rng.random((9, 9))
    np.fill_diagonal(distances, 0.0)
    chosen = np.array([2, 5])
    expected = 2 * 0.7 + sum(
        min(distances[p, 2], distances[p, 5]) for p in range(9) if p not in (2, 5)
    )
    assert demo.energy_of(distances, chosen, 0.7) == pytest.approx(expected)


def test_a_file_in_the_way(tmp_path: Path):
    (tmp_path / "demo").write_text("")
    result = CliRunner().invoke(commands.app, ["demo", "--out", str(tmp_path / "demo")])
    assert result.exit_code == 1
    assert "is a file; name a folder" in result.stderr
