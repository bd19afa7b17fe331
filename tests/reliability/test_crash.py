"""A save that is killed or fails leaves the old file or the new one, whole, and nothing else.

The kills happen in children of a light process of its own, because forking a test process with
threads is not safe: this module run as a script is that process. It saves a plain class of its own
through a table entry, forks a writer that saves in a loop, kills it, and looks at the file.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import likewise
from likewise.errors import ModelFileError
from likewise.persistence import load, save, tables, write_atomically

posix_only = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

N_KILLS = 200
N_KILLS_LONG = 2_000
STARTED, FINISHED = HALVES = slice(0, 8), slice(8, 16)


class Record:
    """Something to save: an array that holds its own number in every place."""

    def __init__(self, number, values):
        self.number = number
        self.values = values


RECORD_ENTRY = tables.Entry(
    module=__name__,
    params={"number": tables.Field(("int",)), "values": tables.Field(("array",))},
)


def record(number):
    size = 1_000 * (1 + number % 50)  # so that a new file is shorter or longer than the old one
    return Record(number, np.full(size, number, dtype=np.int64))


def number_in(path):
    """The number of the record in a file, every value of which must be in place."""
    found = load(path)
    np.testing.assert_array_equal(found.values, record(found.number).values)
    return found.number


def temporary_files(folder):
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


class WatchedStream:
    """A stream that reports the middle of every write, and every flush."""

    def __init__(self, stream, report):
        self.stream = stream
        self.report = report

    def write(self, data):
        half = len(data) // 2
        self.stream.write(data[:half])
        self.report("write")
        self.stream.write(data[half:])

    def flush(self):
        self.report("flush")
        self.stream.flush()

    def __getattr__(self, name):
        return getattr(self.stream, name)


def watch(patch, report):
    """Have `report` called before every system call of a save."""

    def watched(name, original):
        def call(*args, **kwargs):
            report(name)
            return original(*args, **kwargs)

        return call

    for name in ("open", "chmod", "fsync", "replace"):
        patch.setattr(os, name, watched(name, getattr(os, name)))
    fdopen = os.fdopen
    patch.setattr(os, "fdopen", lambda *args: WatchedStream(fdopen(*args), report))


# ---- the light process --------------------------------------------------------------------------


def in_child(action, *args):
    pid = os.fork()
    if pid == 0:
        try:
            action(*args)
        finally:
            os._exit(0)
    return pid


def save_forever(path, counters, number):
    while True:
        counters[STARTED] = number.to_bytes(8, "little")
        save(record(number), path)
        counters[FINISHED] = number.to_bytes(8, "little")
        number += 1


def kill_at_random(path, n_kills, seed):
    """Kill writers after random delays; count the kills that left a temporary file."""
    rng = random.Random(seed)
    counters = mmap.mmap(-1, 16)
    save(record(0), path)
    last = n_left = 0
    for _ in range(n_kills):
        counters[:] = last.to_bytes(8, "little") * 2
        pid = in_child(save_forever, path, counters, last + 1)
        while counters[STARTED] == counters[FINISHED] == last.to_bytes(8, "little"):
            time.sleep(1e-4)
        time.sleep(rng.uniform(0.0, 0.01))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        started, finished = (int.from_bytes(counters[half], "little") for half in HALVES)
        n_left += bool(temporary_files(path.parent))
        last = number_in(path)
        assert finished <= last <= started <= finished + 1
    return {"saves": last, "left": n_left}


def die_at(step, path, number):
    """Save once, and be killed at the given system call."""
    steps = iter(range(1_000))

    def report(_name):
        if next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    watch(pytest.MonkeyPatch(), report)
    save(record(number), path)


def kill_at_every_step(path):
    """Kill one writer at each of its system calls, until one gets through."""
    save(record(0), path)
    found = []
    for step in range(100):
        pid = in_child(die_at, step, path, 1)
        _, status = os.waitpid(pid, 0)
        found.append((number_in(path), len(temporary_files(path.parent))))
        if not os.WIFSIGNALED(status):
            break
        save(record(0), path)
        assert not temporary_files(path.parent)
    return {"found": found}


def run_light_process(task, path, *numbers):
    source = str(Path(likewise.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, __file__, task, path, *map(str, numbers)],
        env=os.environ | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# ---- kills --------------------------------------------------------------------------------------


def check_random_kills(path, n_kills, seed):
    report = run_light_process("kill_at_random", path, n_kills, seed)
    # Whatever the last kill left is swept by the next write.
    write_atomically(path.parent / "other", lambda stream: stream.write(b"sweep"))
    assert sorted(os.listdir(path.parent)) == ["a.likewise", "other"]
    return report


@posix_only
def test_a_save_that_is_killed_is_never_torn(tmp_path):
    check_random_kills(tmp_path / "a.likewise", N_KILLS, 0)


@posix_only
@pytest.mark.long
def test_thousands_of_killed_saves_are_never_torn(tmp_path):
    check_random_kills(tmp_path / "a.likewise", N_KILLS_LONG, 1)


@posix_only
def test_a_save_killed_at_any_step_is_old_or_new(tmp_path):
    found = run_light_process("kill_at_every_step", tmp_path / "a.likewise")["found"]
    numbers = [number for number, _ in found]
    assert numbers == sorted(numbers)
    assert set(numbers) == {0, 1}
    # Killed before the temporary file exists, while it does, after it has its name; not killed.
    left = [n_left for _, n_left in found]
    first = left.index(1)
    assert left == [0] * first + [1] * sum(left) + [0] * (len(left) - first - sum(left))
    assert sum(left) >= 10
    assert numbers == [0] * (first + sum(left)) + [1] * (len(left) - first - sum(left))


# ---- faults -------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.setitem(tables.TABLE, "Record", RECORD_ENTRY)
    path = tmp_path / "a.likewise"
    save(record(0), path)
    return path


def save_with_fault(path, step, error):
    """Save record 1 with an error at the given call; the names of the calls that were made."""
    names = []

    def report(name):
        names.append(name)
        if len(names) == step + 1:
            raise error

    with pytest.MonkeyPatch.context() as patch:
        watch(patch, report)
        save(record(1), path)
    return names


FAULTS = [
    (OSError(errno.ENOSPC, "No space left on device"), "No space left.*free some space"),
    (OSError(errno.EIO, "Input/output error"), "Input/output error; check the disk"),
    (PermissionError(errno.EPERM, "Operation not permitted"), "not permitted; choose a place"),
]


@pytest.mark.parametrize(("error", "message"), FAULTS, ids=[e.strerror for e, _ in FAULTS])
def test_a_fault_at_any_call_leaves_the_old_or_the_new_file(saved, error, message):
    calls = save_with_fault(saved, -1, error)
    assert {"open", "chmod", "write", "flush", "fsync", "replace"} == set(calls)
    for step in range(len(calls)):
        save(record(0), saved)
        with pytest.raises(ModelFileError, match=message):
            save_with_fault(saved, step, error)
        # Only the sync of the folder comes after the new file is in its place.
        assert number_in(saved) == (step > calls.index("replace"))
        assert os.listdir(saved.parent) == ["a.likewise"]


def test_an_interrupt_at_any_call_leaves_the_old_or_the_new_file(saved):
    calls = save_with_fault(saved, -1, KeyboardInterrupt())
    for step in range(len(calls)):
        save(record(0), saved)
        with pytest.raises(KeyboardInterrupt):
            save_with_fault(saved, step, KeyboardInterrupt())
        assert number_in(saved) == (step > calls.index("replace"))
        assert os.listdir(saved.parent) == ["a.likewise"]


def test_a_folder_that_cannot_be_synced_is_no_fault(saved):
    calls = save_with_fault(saved, -1, None)
    save(record(0), saved)
    save_with_fault(saved, len(calls) - 1, OSError(errno.EINVAL, "Invalid argument"))
    assert number_in(saved) == 1


if __name__ == "__main__":
    tables.TABLE["Record"] = RECORD_ENTRY
    task = {"kill_at_random": kill_at_random, "kill_at_every_step": kill_at_every_step}[sys.argv[1]]
    json.dump(task(Path(sys.argv[2]), *map(int, sys.argv[3:])), sys.stdout)
