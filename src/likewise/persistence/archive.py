"""The container of a model file: a zip of stored members, in one layout only.

::

    header 0, content 0, header 1, content 1, ..., directory, end record

The reader takes back exactly what the writer makes. It reads the few numbers that may differ
(sizes, checksums, names), renders the records that the writer would have made of them and compares
bytes. So nothing is compressed, encrypted, split, hidden before, between or after the members, or
covered twice, and the members cannot hold more than the file does: there is no zip bomb to build.
Any other zip program can still open the file.

`zipfile` is not used here because it makes an object for every directory entry, however many there
are, before anything can be checked.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from likewise.errors import ModelFileError

_MAX_MEMBERS: Final = 1_024
_MAX_NAME: Final = 64
_MAX_BYTES: Final = 2**32 - 1  # sizes and offsets are 32-bit numbers in a plain zip
_CHUNK: Final = 1 << 20

_LOCAL = struct.Struct("<4s5H3I2H")
_ENTRY = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_LOCAL_MARK, _ENTRY_MARK, _END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"

# Constants of every record: zip 2.0, made on a Unix, stored, dated 1980-01-01, mode -rw-r--r--.
_NEEDED, _MADE_BY, _STORED, _TIME, _DATE, _MODE = 20, 0x0314, 0, 0, 0x21, 0o100644 << 16

Buffer = bytes | memoryview


class DamageError(Exception):
    """Content that no writer makes; `format` turns it into a `ModelFileError`."""


@dataclass(frozen=True)
class Member:
    """One member: its name, the size and CRC-32 of its content, and where its header starts."""

    name: str
    size: int
    crc: int
    start: int

    @property
    def header(self) -> bytes:
        """The record before the content."""
        name = self.name.encode("latin-1")
        sizes = (self.crc, self.size, self.size, len(name), 0)
        return _LOCAL.pack(_LOCAL_MARK, _NEEDED, 0, _STORED, _TIME, _DATE, *sizes) + name

    @property
    def entry(self) -> bytes:
        """The record in the directory."""
        name = self.name.encode("latin-1")
        sizes = (self.crc, self.size, self.size, len(name), 0, 0, 0, 0, _MODE, self.start)
        head = (_ENTRY_MARK, _MADE_BY, _NEEDED, 0, _STORED, _TIME, _DATE)
        return _ENTRY.pack(*head, *sizes) + name

    @property
    def content_start(self) -> int:
        """Position of the first byte of the content."""
        return self.start + _LOCAL.size + len(self.name)

    @property
    def stop(self) -> int:
        """Position after the last byte of the content."""
        return self.content_start + self.size


def plan_archive(contents: Sequence[tuple[str, Sequence[Buffer]]]) -> list[Member]:
    """Lay out the members; refuse what the reader would refuse.

    Parameters
    ----------
    contents : sequence of (name, buffers)
        Every member with its content, in pieces.

    Returns
    -------
    list of Member

    Examples
    --------
    >>> from likewise.persistence.archive import plan_archive
    >>> plan_archive([("a.txt", [b"one", b"two"])])[0].size
    6
    """
    if len(contents) > _MAX_MEMBERS:
        raise ModelFileError(
            f"the model holds {len(contents) - 1} arrays, and a model file at most "
            f"{_MAX_MEMBERS - 1}; save a model with fewer arrays"
        )
    members: list[Member] = []
    start = 0
    for name, pieces in contents:
        crc = 0
        for piece in pieces:
            crc = zlib.crc32(piece, crc)
        # Sizes beyond 32 bits are refused below, before any record is rendered.
        member = Member(name, sum(len(piece) for piece in pieces), crc, start)
        members.append(member)
        start = member.stop
    total = start + sum(_ENTRY.size + len(member.name) for member in members) + _END.size
    if total > _MAX_BYTES:
        raise ModelFileError(
            f"the model needs {total / 2**30:.1f} GiB, and a model file holds at most 4 GiB; "
            "fit on fewer rows or columns"
        )
    return members


def write_archive(
    stream: BinaryIO, members: Sequence[Member], contents: Sequence[tuple[str, Sequence[Buffer]]]
) -> None:
    """Write planned members to a stream that stands at its beginning."""
    for member, (_, pieces) in zip(members, contents, strict=True):
        stream.write(member.header)
        for piece in pieces:
            stream.write(piece)
    directory = b"".join(member.entry for member in members)
    stream.write(directory)
    stream.write(_end_record(len(members), len(directory), members[-1].stop))


def read_directory(stream: BinaryIO) -> list[Member]:
    """Find the members of an archive and check that they fill the file from end to end.

    Raises
    ------
    DamageError
        If any byte outside the contents differs from what the writer makes.
    ModelFileError
        If the file does not even begin like a zip.
    """
    size = stream.seek(0, io.SEEK_END)
    if size == 0:
        raise DamageError("it is empty")
    if read_bytes(stream, 0, min(size, len(_LOCAL_MARK))) != _LOCAL_MARK:
        raise ModelFileError(
            "it is not a model file (it does not begin like a zip); "
            "give the path of a file written by likewise.save"
        )
    count, directory_size, directory_start = _read_end_record(stream, size)
    raw = read_bytes(stream, directory_start, directory_size)
    members = _parse_directory(raw, count)
    if members[-1].stop != directory_start:
        raise DamageError("its members do not fill it")
    for member in members:
        if read_bytes(stream, member.start, len(member.header)) != member.header:
            raise DamageError(f"the header of {member.name!r} differs from the directory")
    return members


def read_member(stream: BinaryIO, member: Member, *parts: memoryview) -> None:
    """Fill writable byte buffers, one after the other, with the content of a member."""
    stream.seek(member.content_start)
    crc = 0
    for part in parts:
        for start in range(0, len(part), _CHUNK):
            chunk = part[start : start + _CHUNK]
            _fill(stream, chunk)
            crc = zlib.crc32(chunk, crc)
    if crc != member.crc:
        raise DamageError(f"the checksum of {member.name!r} is wrong")


def read_bytes(stream: BinaryIO, start: int, size: int) -> bytes:
    """Exactly `size` bytes from a position; `size` must have been bounded by the caller."""
    stream.seek(start)
    buffer = bytearray(size)
    _fill(stream, memoryview(buffer))
    return bytes(buffer)


def _fill(stream: BinaryIO, view: memoryview) -> None:
    filled = 0
    while filled < len(view):
        count = stream.readinto(view[filled:])  # type: ignore[attr-defined]
        if not count:
            raise DamageError("it became shorter while it was read")
        filled += count


def _end_record(count: int, directory_size: int, directory_start: int) -> bytes:
    return _END.pack(_END_MARK, 0, 0, count, count, directory_size, directory_start, 0)


def _read_end_record(stream: BinaryIO, size: int) -> tuple[int, int, int]:
    """Count of members, size and start of the directory."""
    if size < _END.size + _ENTRY.size + _LOCAL.size:
        raise DamageError("it is cut short")
    raw = read_bytes(stream, size - _END.size, _END.size)
    _, _, _, _, count, directory_size, directory_start, _ = _END.unpack(raw)
    if raw != _end_record(count, directory_size, directory_start):
        raise DamageError("it is cut short, or its end record is not in its place")
    if directory_start + directory_size + _END.size != size:
        raise DamageError("its directory is not in its place")
    if not 1 <= count <= _MAX_MEMBERS or directory_size > count * (_ENTRY.size + _MAX_NAME):
        raise DamageError(f"its directory has {count} members in {directory_size} bytes")
    return count, directory_size, directory_start


def _parse_directory(raw: bytes, count: int) -> list[Member]:
    members: list[Member] = []
    position = start = 0
    for number in range(count):
        if len(raw) - position < _ENTRY.size:
            raise DamageError(f"its directory ends before member {number}")
        fields = _ENTRY.unpack_from(raw, position)
        crc, size, name_length = fields[7], fields[9], fields[10]
        name_start = position + _ENTRY.size
        name = raw[name_start : name_start + name_length].decode("latin-1")
        member = Member(name, size, crc, start)
        position = name_start + name_length
        if raw[name_start - _ENTRY.size : position] != member.entry:
            raise DamageError(
                f"directory entry {number} is not that of a stored member in its place"
            )
        if member.stop > _MAX_BYTES:
            raise DamageError(f"member {number} is larger than the file")
        members.append(member)
        start = member.stop
    if position != len(raw):
        raise DamageError("its directory is longer than its members")
    return members
