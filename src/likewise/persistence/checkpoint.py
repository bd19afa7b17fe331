"""Checkpoints: arrays that an interrupted training goes on from.

A checkpoint is a container like that of a model file (see `archive`), written atomically, with two
members::

    manifest.json   format, library, version, fingerprint, texts by name, and for every array its
                    name, dtype, shape and memory order
    data            the bytes of all arrays, one after the other

The reader takes back exactly what the writer makes, and no array is larger than the bytes that are
there to fill it. So a file cannot execute anything and cannot fill the memory, and one that was cut
short or changed is refused. One member for all arrays, because a state has several for every
training set.

The fingerprint is of the data and the parameters: a training never goes on from the checkpoint of
another one.
"""

from __future__ import annotations

import hashlib
import math
import os
import stat
import time
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, Final

import numpy as np

from likewise import __version__
from likewise.errors import InputError, LikewiseWarning, ModelFileError
from likewise.persistence import manifest
from likewise.persistence.archive import (
    Buffer,
    DamageError,
    Member,
    plan_archive,
    read_directory,
    read_member,
    write_archive,
)
from likewise.persistence.atomic import check_writable, write_atomically
from likewise.persistence.npy import Array, bytes_of, checked_size, is_storable, memory_order

__all__ = ["Checkpoint", "fingerprint_of"]

_FORMAT: Final = 1
_KEYS: Final = {"format", "library", "version", "fingerprint", "texts", "arrays"}
_MEMBERS: Final = ["manifest.json", "data"]
# Writing takes at most this share of the time.
_SHARE_OF_TIME: Final = 0.1
_REMEDY: Final = "Name another file, or delete this one to start anew."


class Checkpoint:
    """A file that holds the latest state of one training.

    Parameters
    ----------
    path : str or os.PathLike
        Where; its folder must exist.
    fingerprint : str
        What the training is of (`fingerprint_of`).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from likewise.persistence.checkpoint import Checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(pathlib.Path(folder) / "training.state", "of these data")
    ...     checkpoint.write({"weights": np.arange(3.0)})
    ...     checkpoint.read()["weights"]
    array([0., 1., 2.])
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: str) -> None:
        self.path = os.fsdecode(path)
        self.fingerprint = fingerprint
        self._written = -math.inf
        self._duration = 0.0

    def read(self) -> dict[str, Array] | None:
        """The arrays written last, or None where there is no file.

        Raises
        ------
        InputError
            If the file is damaged or of another training; and if a file could not be written here,
            which is better known before a training than after it.
        """
        try:
            found = self._read()
            check_writable(self.path)
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"checkpoint {self.path!r} cannot be used: {reason}. Name a file in a folder that "
                "exists and that you may write to."
            ) from error
        return found

    def write(self, arrays: Mapping[str, Array]) -> None:
        """Keep arrays, unless the last time was so recent that writing would slow things down.

        Where the disk fails, the old file stays, the training goes on, and a warning says so.
        """
        now = time.perf_counter()
        if now - self._written < self._duration / _SHARE_OF_TIME:
            return
        try:
            contents = _contents_of(arrays, self.fingerprint)
            members = plan_archive(contents)
            write_atomically(self.path, lambda stream: write_archive(stream, members, contents))
        except (OSError, ModelFileError) as error:
            warnings.warn(
                f"checkpoint {self.path!r} could not be written: "
                f"{getattr(error, 'strerror', None) or error}. The training goes on and tries "
                "again later; until then the last complete checkpoint stays. Check the disk and "
                "the space on it.",
                LikewiseWarning,
                stacklevel=2,
            )
        self._written = time.perf_counter()
        self._duration = self._written - now

    def _read(self) -> dict[str, Array] | None:
        try:
            regular = stat.S_ISREG(os.stat(self.path).st_mode)
        except FileNotFoundError:
            return None
        if not regular:
            raise OSError("it is not a regular file")
        try:
            with open(self.path, "rb") as stream:
                fingerprint, arrays = _read_contents(stream)
        except ModelFileError as error:  # it does not even begin like a container
            raise InputError(
                f"checkpoint {self.path!r} is not one: it was not written by likewise. {_REMEDY}"
            ) from error
        except DamageError as error:
            raise InputError(
                f"checkpoint {self.path!r} is damaged, or is not one ({error}). {_REMEDY}"
            ) from error
        if fingerprint != self.fingerprint:
            raise InputError(
                f"checkpoint {self.path!r} is of a training with other data or parameters, or of "
                f"another version of likewise. {_REMEDY}"
            )
        return arrays


def fingerprint_of(arrays: Iterable[Array], words: str) -> str:
    """A digest of arrays of numbers and of text.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.persistence.checkpoint import fingerprint_of
    >>> fingerprint_of([np.zeros(2)], "l1") == fingerprint_of([np.zeros(3)], "l1")
    False
    """
    digest = hashlib.sha256(words.encode("utf-8", "backslashreplace"))
    for array in arrays:
        digest.update(f"|{array.dtype.str}{array.shape}|".encode())
        digest.update(bytes_of(np.ascontiguousarray(array), "C"))
    return digest.hexdigest()


def _contents_of(arrays: Mapping[str, Array], fingerprint: str) -> list[tuple[str, list[Buffer]]]:
    """Names and contents of the members."""
    texts = {name: str(array) for name, array in arrays.items() if array.dtype.kind == "U"}
    numbers = {name: array for name, array in arrays.items() if name not in texts}
    unfit = [name for name, array in numbers.items() if not is_storable(array)]
    unfit += [name for name in texts if arrays[name].ndim]
    if unfit:
        raise TypeError(f"a checkpoint holds arrays of numbers and single texts; not {unfit}")
    orders = {name: memory_order(array) for name, array in numbers.items()}
    text = manifest.render(
        {
            "format": _FORMAT,
            "library": "likewise",
            "version": __version__,
            "fingerprint": fingerprint,
            "texts": texts,
            "arrays": [
                [name, array.dtype.str, list(array.shape), orders[name]]
                for name, array in numbers.items()
            ],
        }
    )
    data: list[Buffer] = [
        bytes_of(np.asarray(array, order=orders[name]), orders[name])
        for name, array in numbers.items()
    ]
    return [(_MEMBERS[0], [text]), (_MEMBERS[1], data)]


def _read_contents(stream: BinaryIO) -> tuple[str, dict[str, Array]]:
    """The fingerprint and the arrays; everything is checked before anything is allocated."""
    members = read_directory(stream)
    if [member.name for member in members] != _MEMBERS or members[0].size > manifest.MAX_BYTES:
        raise DamageError(f"its members are not {' and '.join(_MEMBERS)}")
    text = bytearray(members[0].size)
    read_member(stream, members[0], memoryview(text))
    content = manifest.parse(bytes(text))
    _audit(content, members[1])
    arrays = {
        name: np.empty(shape, dtype=dtype, order=order)
        for name, dtype, shape, order in content["arrays"]
    }
    orders = [order for _, _, _, order in content["arrays"]]
    read_member(stream, members[1], *map(bytes_of, arrays.values(), orders))
    texts = {name: np.array(word) for name, word in content["texts"].items()}
    return content["fingerprint"], arrays | texts


def _audit(content: Any, data: Member) -> None:
    """Check what the manifest says against the bytes that are there."""
    if type(content) is not dict or set(content) != _KEYS or content["library"] != "likewise":
        raise DamageError("its manifest is not that of a checkpoint")
    if type(content["format"]) is not int or content["format"] != _FORMAT:
        raise DamageError("its format is of another version of likewise")
    texts, records = content["texts"], content["arrays"]
    if type(content["fingerprint"]) is not str or type(texts) is not dict:
        raise DamageError("its manifest has no fingerprint or texts")
    if not all(type(text) is str for text in texts.values()) or type(records) is not list:
        raise DamageError("its manifest has a text or list of arrays that is none")
    names, total = set(texts), 0
    for record in records:
        if type(record) is not list or len(record) != 4 or type(record[0]) is not str:
            raise DamageError("its manifest has a record of an array that is none")
        name, dtype, shape, order = record
        if name in names:
            raise DamageError(f"it has {name[:80]!r} twice")
        names.add(name)
        total += checked_size(name[:80], dtype, shape, order)
    if total != data.size:
        raise DamageError(f"its arrays need {total} bytes, and it has {data.size}")
