"""Checkpoints: arrays that an interrupted training goes on from.

A checkpoint is an `.npz` archive of plain arrays, written atomically and read without pickle. It
carries a fingerprint of the data and the parameters, so that a training never goes on from the
checkpoint of another one.
"""

from __future__ import annotations

import hashlib
import os
import time
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.persistence.atomic import write_atomically

__all__ = ["Checkpoint", "fingerprint_of"]

Array = NDArray[Any]

_FINGERPRINT = "fingerprint"
# Writing takes at most this share of the time.
_SHARE_OF_TIME = 0.1


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
    ...     checkpoint = Checkpoint(pathlib.Path(folder) / "state.npz", "of these data")
    ...     checkpoint.write({"weights": np.arange(3.0)})
    ...     checkpoint.read()["weights"]
    array([0., 1., 2.])
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: str) -> None:
        self.path = os.fspath(path)
        self.fingerprint = fingerprint
        self._written = -np.inf
        self._duration = 0.0

    def read(self) -> dict[str, Array] | None:
        """The arrays written last; None where there is no file."""
        try:
            with np.load(self.path, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
        except FileNotFoundError:
            return None
        except (OSError, ValueError, zipfile.BadZipFile, EOFError, KeyError) as error:
            raise InputError(
                f"checkpoint {self.path!r} cannot be read ({error}): it is no checkpoint or is "
                "damaged. Delete it to start anew, or name another file."
            ) from error
        found = arrays.pop(_FINGERPRINT, None)
        if found is None or str(found) != self.fingerprint:
            raise InputError(
                f"checkpoint {self.path!r} is of a training with other data or parameters. Delete "
                "it to start anew, or name another file."
            )
        return arrays

    def write(self, arrays: Mapping[str, Array]) -> None:
        """Keep arrays, unless the last time was so recent that writing would slow things down."""
        now = time.perf_counter()
        if now - self._written < self._duration / _SHARE_OF_TIME:
            return
        contents = dict(arrays) | {_FINGERPRINT: np.array(self.fingerprint)}
        write_atomically(self.path, lambda stream: np.savez(stream, **contents))  # type: ignore[arg-type]
        self._written = time.perf_counter()
        self._duration = self._written - now


def fingerprint_of(arrays: Iterable[Array], words: str) -> str:
    """A digest of arrays and text."""
    digest = hashlib.sha256(words.encode())
    for array in arrays:
        whole = np.ascontiguousarray(array)
        digest.update(f"{whole.dtype.str}{whole.shape}".encode())
        digest.update(
            whole.view(np.uint8).tobytes()
            if whole.dtype.kind != "O"
            else repr(whole.tolist()).encode()
        )
    return digest.hexdigest()
