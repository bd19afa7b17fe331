"""Folders of labelled sequences and tables of penalties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import family_folders
from likewise.datasets import (
    load_annotated_series,
    load_chromosomes,
    load_penalty_table,
    load_regions,
    load_sequences,
)
from likewise.errors import DataFileError, InputError
from likewise.supervision import RegionLabels


@pytest.fixture
def family(tmp_path: Path) -> Path:
    return family_folders.write_family(tmp_path / "family", ["one", "two"])


def change_meta(folder: Path, **entry: Any) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    meta["sequences"][0] |= entry
    (folder / "meta.json").write_text(json.dumps(meta))


class TestSequences:
    def test_what_is_in_the_folder(self, family: Path):
        found = load_sequences(str(family))
        assert found.ids == found.groups == ["one", "two"]
        assert len(found) == 2
        assert [rows.shape for rows in found.series] == [(160, 2), (161, 2)]
        assert found.series[0].dtype == np.float64
        assert [cuts.tolist() for cuts in found.change_points] == [[50, 110], [51, 109]]
        np.testing.assert_array_equal(found.segments[0], np.repeat([0, 1, 2], [50, 60, 50]))
        np.testing.assert_array_equal(found.labels[0], np.repeat([0, 1, 0], [50, 60, 50]))
        assert found.meta == {"note": "made"}
        assert found.columns == {}

    def test_nothing_but_rows(self, tmp_path: Path):
        rows = {"a": np.ones((3, 1), dtype=np.float32)}
        found = load_sequences(family_folders.write_sequences(tmp_path / "x", rows, {"a": {}}))
        assert found.change_points is None
        assert found.labels is None
        with pytest.raises(DataFileError, match="no change points"):
            _ = found.segments

    def test_a_sequence_without_changes(self, tmp_path: Path):
        rows = {"a": np.ones((3, 1))}
        about = {"a": {"changepoints": []}}
        found = load_sequences(family_folders.write_sequences(tmp_path / "x", rows, about))
        assert found.segments[0].tolist() == [0, 0, 0]

    def test_missing_folder_and_files(self, tmp_path: Path, family: Path):
        with pytest.raises(DataFileError, match="is no folder"):
            load_sequences(tmp_path / "nothing")
        (family / "meta.json").unlink()
        with pytest.raises(DataFileError, match=r"has no file meta\.json"):
            load_sequences(family)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{", "is not JSON"),
            ("[]", "must list its sequences"),
            ('{"sequences": []}', "must list its sequences"),
            ('{"sequences": [{"n": 3}]}', "needs an 'id'"),
            ('{"sequences": [{"id": "other"}]}', "has no array X__other"),
        ],
    )
    def test_a_bad_description(self, family: Path, text: str, message: str):
        (family / "meta.json").write_text(text)
        with pytest.raises(DataFileError, match=message):
            load_sequences(family)

    @pytest.mark.parametrize(
        "cuts", [[0, 3], [3, 3], [5, 4], [160], [-1], ["x"], "x", [[3]], [None]], ids=repr
    )
    def test_bad_change_points(self, family: Path, cuts: Any):
        change_meta(family, changepoints=cuts)
        with pytest.raises(DataFileError, match="change points of one must be rising row numbers"):
            load_sequences(family)

    @pytest.mark.parametrize(
        "rows", [np.ones(3), np.empty((0, 2)), np.array([["a"]])], ids=["line", "empty", "text"]
    )
    def test_bad_rows(self, tmp_path: Path, rows: Any):
        folder = family_folders.write_sequences(tmp_path / "x", {"a": rows}, {"a": {}})
        with pytest.raises(DataFileError, match="X__a must be a table of numbers"):
            load_sequences(folder)

    def test_a_column_of_another_length(self, tmp_path: Path):
        rows = {"a": np.ones((3, 1))}
        folder = family_folders.write_sequences(tmp_path / "x", rows, {"a": {}}, y={"a": [1, 2]})
        with pytest.raises(DataFileError, match="one value for each of 3 rows"):
            load_sequences(folder)

    def test_objects_and_torn_files_are_refused(self, family: Path):
        np.savez(family / "sequences.npz", X__one=np.array([[{}]], dtype=object))
        with pytest.raises(DataFileError, match="cannot be read"):
            load_sequences(family)
        (family / "sequences.npz").write_bytes(b"PK\x03\x04 torn")
        with pytest.raises(DataFileError, match="cannot be read"):
            load_sequences(family)


class TestChromosomes:
    def test_profiles_are_cut_at_borders(self, tmp_path: Path):
        found = load_chromosomes(family_folders.write_copy_numbers(tmp_path / "x"))
        assert found.ids[:3] == ["line1/1", "line1/2", "line2/1"]
        assert found.groups[:3] == ["line1", "line1", "line2"]
        assert [len(rows) for rows in found.series] == [60] * 6
        assert [cuts.tolist() for cuts in found.change_points[:2]] == [[30], []]

    def test_a_folder_without_chromosomes(self, family: Path):
        with pytest.raises(DataFileError, match="does not say the chromosomes"):
            load_chromosomes(family)


class TestAnnotations:
    def test_series_and_marks(self, tmp_path: Path):
        found, annotations = load_annotated_series(family_folders.write_annotated(tmp_path / "x"))
        assert found.change_points is None
        assert np.isnan(found.series[2]).sum() == 1
        assert {who: cuts.tolist() for who, cuts in annotations[0].items()} == {"6": [30], "7": []}

    def test_a_folder_without_annotations(self, family: Path):
        with pytest.raises(DataFileError, match="no annotations of one"):
            load_annotated_series(family)


class TestRegions:
    def test_positions_become_rows(self, tmp_path: Path):
        _, regions = load_regions(family_folders.write_regions(tmp_path / "x"))
        assert regions[0] == [(20, 40, "1"), (40, 60, "0")]
        assert RegionLabels(regions[0]).errors([30]) == 0

    def test_regions_without_a_row_are_left_out(self, tmp_path: Path):
        folder = family_folders.write_regions(tmp_path / "x")
        change_meta(folder, regions=[{"start": 11, "end": 19, "annotation": "1breakpoint"}])
        assert load_regions(folder)[1][0] == []

    def test_what_is_refused(self, tmp_path: Path, family: Path):
        with pytest.raises(DataFileError, match="positions and regions"):
            load_regions(family)
        folder = family_folders.write_regions(tmp_path / "x")
        change_meta(folder, regions=[{"start": 0, "end": 90, "annotation": "many"}])
        with pytest.raises(DataFileError, match="annotation 'many' of p"):
            load_regions(folder)

    def test_positions_must_rise(self, tmp_path: Path):
        rows = {"a": np.ones((3, 1))}
        folder = family_folders.write_sequences(
            tmp_path / "x", rows, {"a": {"regions": []}}, pos={"a": [3, 2, 1]}
        )
        with pytest.raises(DataFileError, match="positions of a must rise"):
            load_regions(folder)


class TestPenaltyTables:
    def test_the_tables_are_joined_by_series(self, tmp_path: Path):
        table = load_penalty_table(family_folders.write_penalties(tmp_path / "x", "few"), "few")
        assert table.names == ["noise", "other"]
        assert table.features.shape == (40, 2)
        best = np.log(table.features[:, 0])
        np.testing.assert_allclose(table.limits, np.column_stack([best - 2, best + 2]))
        np.testing.assert_array_equal(table.folds["fold_profileID"][:6], [1, 1, 2, 2, 1, 1])
        assert table.labels.tolist() == [1] * 40

    def test_errors_are_looked_up(self, tmp_path: Path):
        table = load_penalty_table(family_folders.write_penalties(tmp_path / "x", "few"), "few")
        low, high = table.limits.T
        assert table.errors((low + high) / 2).sum() == 0
        # The lower limit is outside, the upper one inside.
        assert table.errors(low).tolist() == [1] * 40
        assert table.errors(high).sum() == 0
        with pytest.raises(InputError, match="40 numbers"):
            table.errors([1.0])

    def test_what_is_refused(self, tmp_path: Path):
        folder = family_folders.write_penalties(tmp_path / "x", "few")
        with pytest.raises(DataFileError, match=r"other_targets\.csv\.gz is not there"):
            load_penalty_table(folder, "other")
        (folder / "few_features.parquet").write_bytes(b"torn")
        with pytest.raises(DataFileError, match="cannot be read"):
            load_penalty_table(folder, "few")
