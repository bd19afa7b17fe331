"""Checkpoints: what comes back, what is refused, and what a failing disk leaves."""

from __future__ import annotations

import errno
import io
import os
import random
import stat
import tracemalloc
import zipfile

import numpy as np
import pytest

import likewise as lw
from likewise.errors import InputError, LikewiseWarning
from likewise.learners.base import from_arrays, to_arrays
from likewise.learners.cutting_planes import PlanesState
from likewise.learners.subgradient import SubgradientState
from likewise.persistence import archive, atomic, checkpoint, manifest
from likewise.persistence.checkpoint import Checkpoint, fingerprint_of

ARRAYS = {
    "scalar": np.array(2.5),
    "infinite": np.array(-np.inf),
    "count": np.array(3),
    "flags": np.array([True, False]),
    "empty": np.empty((0, 4)),
    "nothing": np.empty(0, dtype=np.intp),
    "matrix": np.arange(6.0).reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "view": np.arange(12.0).reshape(3, 4)[:, ::2],
    "history.gap": np.array([np.inf, np.nan, 0.5]),
    "status": np.array(""),
    "held_out": np.array("größe \ud800"),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "training.state"


def written(path, arrays=None, fingerprint="of these"):
    Checkpoint(path, fingerprint).write(ARRAYS if arrays is None else arrays)
    return path.read_bytes()


# ---- what comes back ----------------------------------------------------------------------------


def test_arrays_come_back_bit_for_bit(path):
    written(path)
    found = Checkpoint(path, "of these").read()
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
        # What has an order keeps it; a view into a larger array comes back in C order.
        assert found[name].flags.c_contiguous == (not np.isfortran(array))
        assert np.isfortran(found[name]) == np.isfortran(array)
        assert found[name].flags.writeable


def test_states_of_learners_come_back():
    rng = np.random.default_rng(0)
    floats, indices = rng.normal(size=(3, 2)), np.arange(3)
    for kind in (PlanesState, SubgradientState):
        values = {
            name: {
                "float": 0.5, "int": 3, "str": "stalled", "Floats": floats, "Indices": indices,
                "tuple[Floats, ...]": (floats, floats[:0]), "tuple[Indices, ...]": (indices,),
            }[hint]
            for name, hint in kind.__annotations__.items()
        }  # fmt: skip
        stream = io.BytesIO()
        contents = checkpoint._contents_of(to_arrays(kind(**values)), "")
        archive.write_archive(stream, archive.plan_archive(contents), contents)
        again = from_arrays(kind, checkpoint._read_contents(stream)[1])
        for name, value in values.items():
            found = getattr(again, name)
            assert type(found) is type(value)
            np.testing.assert_equal(found, value)


def test_states_of_many_sets_fit(path):
    arrays = {f"prices.{k}": np.full(3, k) for k in range(5_000)}
    written(path, arrays)
    found = Checkpoint(path, "of these").read()
    assert len(found) == 5_000
    assert found["prices.4321"].tolist() == [4321] * 3


def test_no_file_is_no_state(path):
    assert Checkpoint(path, "of these").read() is None
    assert os.listdir(path.parent) == []


def test_other_programs_can_open_the_file_and_nothing_is_pickled(path):
    with zipfile.ZipFile(io.BytesIO(written(path))) as file:
        assert file.testzip() is None
        assert file.namelist() == ["manifest.json", "data"]
    with pytest.raises(TypeError, match=r"numbers and single texts; not \['odd'\]"):
        Checkpoint(path, "").write({"odd": np.array([{}])})
    with pytest.raises(TypeError, match=r"not \['texts'\]"):
        Checkpoint(path, "").write({"texts": np.array(["a", "b"])})


def test_writing_takes_a_small_share_of_the_time(path, monkeypatch):
    clock = iter([0.0, 1.0, 5.0, 10.9, 11.1, 12.0])
    monkeypatch.setattr(checkpoint.time, "perf_counter", lambda: next(clock))
    kept = Checkpoint(path, "")
    kept.write({"pass": np.array(1)})  # takes from 0 to 1
    for number in (2, 3):  # at 5 and 10.9: less than ten times that later
        kept.write({"pass": np.array(number)})
        assert kept.read()["pass"] == 1
    kept.write({"pass": np.array(4)})
    assert kept.read()["pass"] == 4


# ---- what is refused ----------------------------------------------------------------------------


def test_a_checkpoint_of_another_training_is_refused(path):
    old = written(path)
    with pytest.raises(InputError, match=r"other data or parameters.* Name another file"):
        Checkpoint(path, "of others").read()
    assert path.read_bytes() == old


def test_fingerprints_tell_data_and_parameters_apart():
    a = np.arange(6.0)
    prints = [
        fingerprint_of([a], "x"),
        fingerprint_of([a], "y"),
        fingerprint_of([a.reshape(2, 3)], "x"),
        fingerprint_of([a.astype(np.float32)], "x"),
        fingerprint_of([a[:3], a[3:]], "x"),
        fingerprint_of([a[:4], a[4:]], "x"),
        fingerprint_of([np.nextafter(a, 9.0)], "x"),
        fingerprint_of([], "x"),
        fingerprint_of([np.empty((5, 0))], "x"),
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint_of([np.asfortranarray(a.reshape(2, 3))], "x") == prints[2]
    assert fingerprint_of([np.repeat(a, 2)[::2]], "x") == prints[0]


def test_damage_anywhere_is_refused(path):
    data = written(path)
    rng = random.Random(0)
    for number in range(1_000):
        changed = bytearray(data)
        if number % 2:
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif number % 4:
            del changed[rng.randrange(len(data)) :]
        else:
            at = rng.randrange(len(data))
            changed[at : at + rng.randrange(1, 60)] = rng.randbytes(rng.randrange(60))
        if changed == data:
            continue
        path.write_bytes(changed)
        with pytest.raises(InputError, match=r"checkpoint '.*(damaged|not one).*delete this one"):
            Checkpoint(path, "of these").read()


def put_together(content, data=b""):
    contents = [("manifest.json", [manifest.render(content)]), ("data", [data])]
    stream = io.BytesIO()
    archive.write_archive(stream, archive.plan_archive(contents), contents)
    return stream.getvalue()


CONTENT = {
    "format": 1, "library": "likewise", "version": "0", "fingerprint": "of these",
    "texts": {}, "arrays": [],
}  # fmt: skip
CHANGES = [
    ({"format": 2}, "another version"),
    ({"format": True}, "another version"),
    ({"library": "other"}, "not that of a checkpoint"),
    ({"extra": 1}, "not that of a checkpoint"),
    ({"fingerprint": 1}, "no fingerprint"),
    ({"texts": []}, "no fingerprint or texts"),
    ({"texts": {"a": 1}}, "text or list of arrays"),
    ({"arrays": {}}, "text or list of arrays"),
    ({"arrays": [1]}, "record of an array"),
    ({"arrays": [["a", "<f8", [0]]]}, "record of an array"),
    ({"arrays": [[1, "<f8", [0], "C"]]}, "record of an array"),
    ({"arrays": [["a", "|O", [1], "C"]]}, "dtype that is not allowed"),
    ({"arrays": [["a", "<U9", [1], "C"]]}, "dtype that is not allowed"),
    ({"arrays": [["a", "<f8", 3, "C"]]}, "shape that is not allowed"),
    ({"arrays": [["a", "<f8", [-1], "C"]]}, "shape that is not allowed"),
    ({"arrays": [["a", "<f8", [0, 2**31, 2**31], "C"]]}, "shape that is too large"),
    ({"arrays": [["a", "<f8", [2**28], "C"]]}, "need 2147483648 bytes, and it has 0"),
    ({"arrays": [["a", "<f8", [0], "A"]]}, "wrong order"),
    ({"arrays": [["a", "<f8", [0], "C"]] * 2}, "'a' twice"),
    ({"arrays": [["a", "<f8", [0], "C"]], "texts": {"a": ""}}, "'a' twice"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=range(len(CHANGES)))
def test_a_manifest_that_is_not_that_of_a_checkpoint_is_refused(change, message, path):
    path.write_bytes(put_together(CONTENT | change))
    with pytest.raises(InputError, match=message):
        Checkpoint(path, "of these").read()


def test_files_of_other_kinds_are_refused_and_left_alone(path):
    """Above all a model or a table that was named by mistake is not written over."""
    model = io.BytesIO()
    lw.persistence.format.write_model(lw.ExemplarClusterer(), model)
    npz = io.BytesIO()
    np.savez(npz, weights=np.zeros(3))
    for data in (model.getvalue(), npz.getvalue(), b"a,b\n1,2\n" * 20, b"PK\3\4", b"", b"\x80\4."):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"damaged|not one"):
            Checkpoint(path, "of these").read()
        assert path.read_bytes() == data


def test_claims_do_not_fill_the_memory(path):
    claims = [["a", "<f8", [2**28], "C"], ["b", "<f8", [2**28], "C"]]
    path.write_bytes(put_together(CONTENT | {"arrays": claims}, b"0" * 4096))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="need 4294967296 bytes, and it has 4096"):
            Checkpoint(path, "of these").read()
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_arrays_are_read_in_place(path):
    written(path, {"items": np.zeros(4 << 20)})
    tracemalloc.start()
    try:
        Checkpoint(path, "of these").read()
        assert tracemalloc.get_traced_memory()[1] < (32 << 20) + (8 << 20)
    finally:
        tracemalloc.stop()


# ---- places that cannot be written --------------------------------------------------------------


def test_a_folder_that_is_missing_is_an_error_before_training(tmp_path):
    kept = Checkpoint(tmp_path / "missing" / "a.state", "")
    with pytest.raises(InputError, match=r"missing.* cannot be used: No such file.* that exists"):
        kept.read()
    with pytest.raises(InputError, match=r"cannot be used: it is not a regular file"):
        Checkpoint(tmp_path, "").read()
    with pytest.raises(InputError, match=r"cannot be used: .*null"):
        Checkpoint("a\0b", "").read()


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_folder_that_cannot_be_written_is_an_error_before_training(path, monkeypatch):
    def refused(*_args):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    written(path)
    monkeypatch.setattr(atomic, "_open_temporary", refused)
    with pytest.raises(InputError, match=r"cannot be used: Permission denied. Name a file"):
        Checkpoint(path, "of these").read()
    passes = []
    learner = lw.ExemplarLearner(checkpoint=path.parent / "new", callbacks=passes.append)
    with pytest.raises(InputError, match=r"checkpoint '.*new' cannot be used: Permission denied"):
        learner.fit(*small_sets())
    assert passes == []


def small_sets():
    rng = np.random.default_rng(0)
    labels = [np.repeat([0, 1], 6)] * 2
    return [rng.normal(size=(12, 2)) + 5.0 * own[:, None] for own in labels], labels


@pytest.mark.skipif(os.name == "nt", reason="no pipes with names")
def test_a_pipe_is_neither_waited_for_nor_replaced(path):
    os.mkfifo(path)
    with pytest.raises(InputError, match="not a regular file"):
        Checkpoint(path, "").read()
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_a_failing_disk_leaves_the_old_file_and_the_training_goes_on(path, call, monkeypatch):
    old = written(path)

    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    kept = Checkpoint(path, "of these")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.warns(LikewiseWarning, match=r"not be written: No space left.* goes on"):
            kept.write({"pass": np.array(2)})
    assert path.read_bytes() == old
    assert os.listdir(path.parent) == [path.name]
    kept._duration = 0.0
    kept.write({"pass": np.array(3)})
    assert kept.read()["pass"] == 3


def test_a_state_that_is_too_large_is_said_and_the_training_goes_on(path, monkeypatch):
    old = written(path)
    monkeypatch.setattr(archive, "_MAX_BYTES", 1000)
    with pytest.warns(LikewiseWarning, match=r"could not be written: the model needs"):
        Checkpoint(path, "of these").write({"items": np.zeros(1000)})
    assert path.read_bytes() == old


def test_what_killed_writers_left_is_swept(path):
    dead = path.parent / ".likewise-0123456789abcdef.tmp"
    dead.touch()
    Checkpoint(path, "").read()
    assert os.name == "nt" or not dead.exists()


# ---- trainings ----------------------------------------------------------------------------------


def test_a_training_of_other_data_or_parameters_is_refused(path):
    X, y = small_sets()
    options = {"strength": 0.1, "checkpoint": path, "max_iter": 60}
    learner = lw.ExemplarLearner(**options).fit(X, y)
    assert path.exists()
    again = lw.ExemplarLearner(**options | {"n_jobs": 2}).fit(X, y)
    np.testing.assert_array_equal(again.weights_, learner.weights_)
    # The last passes may have been made again: a file is not written after each of them.
    for name in ("objective", "lower_bound", "gap"):
        assert again.history_[name] == learner.history_[name]
    # One number a little different, and one row in the other cluster.
    others = (
        [X[0] + 1e-9 * (X[0] == X[0].max()), X[1]],
        [np.where(np.arange(12) == 3, 1 - y[0], y[0]), y[1]],
    )
    for data in ((others[0], y), (X, others[1]), (X[::-1], y[::-1]), (X[:1], y[:1])):
        with pytest.raises(InputError, match="other data or parameters"):
            lw.ExemplarLearner(**options).fit(*data)
    # What clusters are called makes no other data.
    renamed = lw.ExemplarLearner(**options).fit(X, [1 - y[0], y[1]])
    np.testing.assert_array_equal(renamed.weights_, learner.weights_)
    for more in (
        {"alpha": 2.0}, {"strength": 0.2}, {"tol": 0.5}, {"optimiser": "subgradient"},
        {"features": "euclidean"}, {"opening_cost": 2.0}, {"random_state": 5}, {"paths": None},
    ):  # fmt: skip
        with pytest.raises(InputError, match="other data or parameters"):
            lw.ExemplarLearner(**options | more).fit(X, y)
