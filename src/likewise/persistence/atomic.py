"""Writing a file so that it is always the old one or the new one, never half of it.

The content goes to a temporary file in the folder of the target: write, flush, fsync, replace, then
fsync the folder. Until the replace the target is untouched; the replace itself is one step of the
file system.

A writer that is killed leaves its temporary file behind. The next write into the folder sweeps it.
A live writer is told from a dead one by the lock that it holds on its temporary file: the kernel
drops that lock when the process ends, however it ends, and no process number can be mistaken.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows has no flock
    fcntl = None  # type: ignore[assignment]

_TEMPORARY = re.compile(r"\.likewise-[0-9a-f]{16}\.tmp")

# Where there are no locks, only a file that nobody has touched for a day counts as left behind.
_PATIENCE_SECONDS = 86_400.0

# Some file systems cannot sync a folder, and some folders may be written but not opened: the new
# file is in place by then, and nothing more can be done for it.
_NO_FOLDER_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EACCES}


def write_atomically(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Write a file through a temporary one, so that readers see the old file or the new file.

    A symbolic link is followed: the file it points to is replaced. The permissions of a file that
    is replaced are kept. Whatever goes wrong, the temporary file is removed and the old file stays.

    Parameters
    ----------
    path : str or os.PathLike
        The file to write. Its folder must exist.
    write : callable
        Called once with a binary stream that can be written and sought.

    Raises
    ------
    OSError
        If the file system refuses any step, or `path` is something other than a regular file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from likewise.persistence import write_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "labels.csv"
    ...     write_atomically(path, lambda stream: stream.write(b"row,label"))
    ...     path.read_bytes()
    b'row,label'
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    mode = _mode_to_keep(target)
    _sweep(folder)
    temporary, stream = _open_temporary(folder)
    try:
        if mode is not None:
            os.chmod(temporary, mode)
        write(stream)
        stream.flush()
        os.fsync(stream.fileno())
        if fcntl is None:
            stream.close()  # Windows does not replace by an open file
        # The lock is still held here, so no sweep can take the file before it has its name.
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    finally:
        # A failed flush is tried again by close; the first failure is the one to report.
        with contextlib.suppress(OSError):
            stream.close()
    _sync_folder(folder)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Go through the first steps of `write_atomically` and leave everything as it was.

    For what is written only after long work: better to know before.

    Raises
    ------
    OSError
        As `write_atomically` would.
    """
    target = os.path.realpath(path)
    _mode_to_keep(target)
    folder = os.path.dirname(target)
    _sweep(folder)
    temporary, stream = _open_temporary(folder)
    try:
        os.unlink(temporary)
    finally:
        stream.close()


def _mode_to_keep(target: str) -> int | None:
    """Permissions of the file to be replaced; None if there is none yet."""
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, "only a regular file can be replaced", target)
    return stat.S_IMODE(found)


def _open_temporary(folder: str) -> tuple[str, BinaryIO]:
    while True:
        path = os.path.join(folder, f".likewise-{os.urandom(8).hex()}.tmp")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(path, flags, 0o666)
        if fcntl is not None and not _lock_own(descriptor, path):
            os.close(descriptor)
            continue
        return path, os.fdopen(descriptor, "w+b")


def _lock_own(descriptor: int, path: str) -> bool:
    """Lock a new temporary file; False if a sweep took it between its creation and the lock."""
    with contextlib.suppress(OSError):  # a file system without locks has no sweep either
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _sweep(folder: str) -> None:
    """Remove the temporary files of writers that were killed. Never fails, never waits."""
    with contextlib.suppress(OSError):
        for path in list(_temporary_files(folder)):
            with contextlib.suppress(OSError):
                _remove_if_left_behind(path)


def _temporary_files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                yield entry.path


def _remove_if_left_behind(path: str) -> None:
    if fcntl is None:
        if time.time() - os.stat(path).st_mtime > _PATIENCE_SECONDS:
            os.unlink(path)
        return
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises while the writer lives
        os.unlink(path)
    finally:
        os.close(descriptor)


def _sync_folder(folder: str) -> None:
    """Make the new name durable. Windows has no such call and needs none."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
