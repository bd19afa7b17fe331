"""Arrays as `.npy` content, described by the manifest rather than by themselves.

The manifest names dtype, shape, memory order, size and SHA-256 of every array. The reader renders
the header that belongs to such an array and compares bytes: the text in a `.npy` header is never
parsed, and no allocation is larger than the bytes that are there to fill it.

Allowed are booleans, integers and floats of 1 to 8 bytes in either byte order. Objects, text,
records, dates and extended precision are not.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, Literal

import numpy as np

from likewise.persistence.archive import DamageError, Member, read_member

_DTYPE = re.compile(r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]")
_MAX_DIMENSIONS: Final = 8
_MAX_BYTES: Final = 2**32
_ALIGNMENT: Final = 64  # of the data within the content, as numpy does it
_KEYS: Final = {"dtype", "shape", "order", "size", "sha256"}

Array = np.ndarray[Any, Any]
Order = Literal["C", "F"]


@dataclass(frozen=True)
class ArraySpec:
    """What the manifest says of an array."""

    dtype: str
    shape: tuple[int, ...]
    order: Order
    size: int
    sha256: str

    def to_json(self) -> dict[str, object]:
        """The record of this array in the manifest."""
        record: dict[str, object] = {"dtype": self.dtype, "shape": list(self.shape)}
        return record | {"order": self.order, "size": self.size, "sha256": self.sha256}


def is_storable(array: Array) -> bool:
    """Whether an array can be kept."""
    return _DTYPE.fullmatch(array.dtype.str) is not None and array.ndim <= _MAX_DIMENSIONS


def to_member(array: Array) -> tuple[ArraySpec, list[bytes | memoryview]]:
    """Describe an array and give the pieces of its member: the header and the data.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.persistence.npy import to_member
    >>> spec, pieces = to_member(np.zeros((2, 3)))
    >>> spec.dtype, spec.shape, spec.size
    ('<f8', (2, 3), 176)
    """
    order = memory_order(array)
    header = _header(array.dtype.str, array.shape, order)
    data = bytes_of(np.asarray(array, order=order), order)
    digest = hashlib.sha256(header)
    digest.update(data)
    size = len(header) + len(data)
    spec = ArraySpec(array.dtype.str, array.shape, order, size, digest.hexdigest())
    return spec, [header, data]


def audit_spec(record: object, member: Member) -> ArraySpec:
    """Check the manifest's record of an array against the member that should hold it."""
    where = member.name
    if type(record) is not dict or set(record) != _KEYS:
        raise DamageError(f"the record of {where!r} must have the keys {sorted(_KEYS)}")
    dtype, shape, order = record["dtype"], record["shape"], record["order"]
    size, sha256 = record["size"], record["sha256"]
    n_bytes = checked_size(where, dtype, shape, order)
    if type(sha256) is not str or type(size) is not int:
        raise DamageError(f"{where!r} has a wrong size or digest")
    expected = len(_header(dtype, tuple(shape), order)) + n_bytes
    if not size == expected == member.size:
        raise DamageError(f"{where!r} has {member.size} bytes, and its shape and dtype {expected}")
    return ArraySpec(dtype, tuple(shape), order, size, sha256)


def checked_size(where: str, dtype: object, shape: object, order: object) -> int:
    """The bytes of data of an array, after checking that a file may claim to hold it."""
    if type(dtype) is not str or _DTYPE.fullmatch(dtype) is None:
        raise DamageError(f"{where!r} has a dtype that is not allowed")
    if type(shape) is not list or len(shape) > _MAX_DIMENSIONS or not all(map(_is_length, shape)):
        raise DamageError(f"{where!r} has a shape that is not allowed")
    if order not in ("C", "F"):
        raise DamageError(f"{where!r} has a wrong order")
    itemsize = np.dtype(dtype).itemsize
    # Zero-length axes count as one: numpy multiplies the others before it allocates.
    if math.prod(max(length, 1) for length in shape) * itemsize > _MAX_BYTES:
        raise DamageError(f"{where!r} has a shape that is too large")
    return math.prod(shape) * itemsize


def memory_order(array: Array) -> Order:
    """The order in which an array is kept."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def bytes_of(array: Array, order: str) -> memoryview:
    """The memory of a contiguous array, as bytes and without a copy."""
    flat = (array.T if order == "F" else array).reshape(-1)
    return flat.view(np.uint8).data


def read_array(stream: BinaryIO, member: Member, spec: ArraySpec) -> Array:
    """Read an array whose record was audited, and check every byte of it."""
    expected = _header(spec.dtype, spec.shape, spec.order)
    header = bytearray(len(expected))
    array = np.empty(spec.shape, dtype=spec.dtype, order=spec.order)
    data = bytes_of(array, spec.order)
    read_member(stream, member, memoryview(header), data)
    if header != expected:
        raise DamageError(f"the npy header of {member.name!r} differs from the manifest")
    digest = hashlib.sha256(header)
    digest.update(data)
    if digest.hexdigest() != spec.sha256:
        raise DamageError(f"the SHA-256 of {member.name!r} is wrong")
    if array.dtype == bool and array.size and array.view(np.uint8).max() > 1:
        raise DamageError(f"{member.name!r} has booleans other than 0 and 1")
    return array


def _is_length(value: object) -> bool:
    return type(value) is int and 0 <= value < _MAX_BYTES


def _header(dtype: str, shape: tuple[int, ...], order: str) -> bytes:
    """Version 1.0 header of the npy format."""
    text = f"{{'descr': '{dtype}', 'fortran_order': {order == 'F'}, 'shape': {shape!r}, }}"
    length = len(text) + 11  # 10 bytes before the text and the newline after it
    text += " " * (-length % _ALIGNMENT) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("ascii")
