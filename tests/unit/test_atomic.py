"""Writes that replace a file whole, and sweep what killed writers left behind."""

from __future__ import annotations

import os
import stat

import pytest

from likewise.persistence import write_atomically


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes(b"old")

    def fail(stream):
        stream.write(b"half of the new")
        raise RuntimeError("the table ended early")

    with pytest.raises(RuntimeError, match="ended early"):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["labels.csv"]


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of POSIX")
def test_permissions_and_links_survive(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_atomically(link, lambda stream: stream.write(b"new"))
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="without locks only old files are swept")
def test_files_left_behind_are_swept_and_those_of_live_writers_are_not(tmp_path):
    dead = tmp_path / ".likewise-0123456789abcdef.tmp"
    others = {".likewise-short.tmp", "x.likewise-0123456789abcdef.tmp", "a", "b"}
    dead.touch()
    for name in others - {"a", "b"}:
        (tmp_path / name).touch()

    def write_another(stream):
        assert not dead.exists()
        write_atomically(tmp_path / "b", lambda inner: inner.write(b"inner"))
        stream.write(b"outer")

    write_atomically(tmp_path / "a", write_another)
    assert set(os.listdir(tmp_path)) == others
    assert (tmp_path / "a").read_bytes() == b"outer"
