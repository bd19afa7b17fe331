"""`save` and `load`: a model as a file that executes nothing.

A `.likewise` file is a zip of stored members: ``manifest.json``, then ``arrays/0.npy``,
``arrays/1.npy`` and so on. The manifest has the keys

- `format`: the number of this format; a file with a larger number is refused with the advice to
  upgrade,
- `library`, `version`: who wrote it,
- `model`: the class, its parameters and fitted attributes, as nodes (see `encoding`),
- `arrays`: dtype, shape, memory order, size and SHA-256 of every array.

Reading goes in four steps, and no step trusts what a later one checks::

    archive.read_directory   every byte outside the members' content is as the writer makes it
    manifest.parse           strict JSON: size, depth, number of values, no key twice
    audit.audit_model        class, parameters and attributes against the closed table
    npy.read_array           sizes, headers, digests; then the model is built

Memory stays below the size of the file + 64 MiB: arrays are read in place, and the limits of the
manifest bound what its values take.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Any, BinaryIO, Final

from likewise import __version__
from likewise.errors import InputTypeError, ModelFileError
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
from likewise.persistence.atomic import write_atomically
from likewise.persistence.audit import Audit, audit_model, check_entries
from likewise.persistence.building import build_model
from likewise.persistence.encoding import encode_model
from likewise.persistence.npy import Array, ArraySpec, audit_spec, read_array, to_member

FORMAT: Final = 1

_KEYS: Final = {"format", "library", "version", "model", "arrays"}
_MANIFEST: Final = "manifest.json"
_REMEDIES: Final = {
    errno.ENOENT: "check the path, and create the folder first",
    errno.EISDIR: "give the path of a file, not of a folder",
    errno.EACCES: "choose a place that you may use, or have the permissions changed",
    errno.EPERM: "choose a place that you may use, or have the permissions changed",
    errno.EROFS: "choose a folder that can be written",
    errno.ENOSPC: "free some space on the disk, or choose another one",
    errno.EDQUOT: "free some of your disk quota, or choose another disk",
}


def save(model: object, path: str | os.PathLike[str]) -> None:
    """Save a model to a file, fitted or not.

    The file holds data only and executes nothing when it is loaded. It is written beside its place
    and then moved there, so an older file of that name stays whole until the new one is complete.

    Parameters
    ----------
    model : estimator
        A clusterer of this library. One that holds a callable is refused.
    path : str or os.PathLike
        Where to; the usual ending is ``.likewise``.

    Raises
    ------
    ModelFileError
        If the model holds something that a file cannot keep, or the file cannot be written.

    See Also
    --------
    load : The way back.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import likewise as lw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "pairs.likewise"
    ...     lw.save(lw.ExemplarClusterer(opening_cost=3.0), path)
    ...     lw.load(path).opening_cost
    3.0
    """
    where = _checked_path(path)
    contents = _contents_of(model)
    members = plan_archive(contents)
    try:
        write_atomically(where, lambda stream: write_archive(stream, members, contents))
    except OSError as error:
        raise _refused("write", where, error) from error


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that was saved with `save`.

    Everything in the file is checked before anything is built, and nothing in it is executed. The
    memory taken stays below the size of the file + 64 MiB.

    Parameters
    ----------
    path : str or os.PathLike
        A file written by `save`, by this version of the library or an older one.

    Returns
    -------
    estimator
        With the parameters and the fitted attributes of the one that was saved.

    Raises
    ------
    ModelFileError
        If the file is missing or unreadable, is not a model file, was written by a newer version,
        or is damaged or manipulated in any way.

    See Also
    --------
    save : The way there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import likewise as lw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.likewise"
    ...     lw.save(lw.ExemplarClusterer(solver="exact"), path)
    ...     lw.load(path)
    ExemplarClusterer(solver='exact')
    """
    where = _checked_path(path)
    try:
        if not stat.S_ISREG(os.stat(where).st_mode) and not os.path.isdir(where):
            raise ModelFileError("it is a device or a pipe; give the path of a file")
        with open(where, "rb") as stream:
            return read_model(stream)
    except OSError as error:
        raise _refused("read", where, error) from error
    except ModelFileError as error:
        raise ModelFileError(f"cannot load {where!r}: {error}") from error


def write_model(model: object, stream: BinaryIO) -> None:
    """Write a model to a binary stream that stands at its beginning."""
    contents = _contents_of(model)
    write_archive(stream, plan_archive(contents), contents)


def read_model(stream: BinaryIO) -> Any:
    """Read a model from a binary stream that can be sought."""
    try:
        members = read_directory(stream)
        node, specs = _audit_manifest(manifest.parse(_read_manifest(stream, members[0])), members)
        audit = Audit(specs)
        audit_model(node, audit)
        arrays = list(map(read_array, [stream] * len(specs), members[1:], specs))
        check_entries(arrays, audit)
        return build_model(node, arrays)
    except DamageError as error:
        raise ModelFileError(
            f"the file is damaged or was changed: {error}; "
            "copy it again from where it came, or save the model anew"
        ) from error


def _contents_of(model: object) -> list[tuple[str, list[Buffer]]]:
    """Names and contents of the members; whatever the reader would refuse is refused here."""
    arrays: list[Array] = []
    node = encode_model(model, arrays)
    described = [to_member(array) for array in arrays]
    specs = [spec for spec, _ in described]
    text = manifest.render(
        {
            "format": FORMAT,
            "library": "likewise",
            "version": __version__,
            "model": node,
            "arrays": [spec.to_json() for spec in specs],
        }
    )
    audit = Audit(specs)
    try:
        audit_model(node, audit)
        check_entries(arrays, audit)
    except DamageError as error:
        raise ModelFileError(
            f"the model does not hold together: {error}; fit it again, and leave the attributes "
            "that fit has set as they are"
        ) from error
    members: list[tuple[str, list[Buffer]]] = [(_MANIFEST, [text])]
    return members + [(_array_name(i), pieces) for i, (_, pieces) in enumerate(described)]


def _array_name(number: int) -> str:
    return f"arrays/{number}.npy"


def _read_manifest(stream: BinaryIO, member: Member) -> bytes:
    if member.name != _MANIFEST or member.size > manifest.MAX_BYTES:
        raise DamageError(f"it does not begin with a {_MANIFEST} of at most 4 MiB")
    text = bytearray(member.size)
    read_member(stream, member, memoryview(text))
    return bytes(text)


def _audit_manifest(content: Any, members: list[Member]) -> tuple[Any, list[ArraySpec]]:
    """The node of the model, and the records of the arrays against the members that hold them."""
    if type(content) is not dict or type(content.get("format")) is not int:
        raise DamageError("the manifest has no format number")
    if content["format"] > FORMAT:
        raise ModelFileError(
            f"it has the format {content['format']}, and this version of likewise "
            f"({__version__}) reads up to {FORMAT}; upgrade likewise"
        )
    if content["format"] < 1 or set(content) != _KEYS or content["library"] != "likewise":
        raise DamageError(f"the manifest must have the keys {', '.join(sorted(_KEYS))}")
    records, version = content["arrays"], content["version"]
    if type(version) is not str or type(records) is not list:
        raise DamageError("the manifest has a wrong version or list of arrays")
    names = [member.name for member in members[1:]]
    if names != [_array_name(number) for number in range(len(records))]:
        raise DamageError("its members are not the arrays that the manifest lists, in their order")
    return content["model"], list(map(audit_spec, records, members[1:]))


def _checked_path(path: str | os.PathLike[str]) -> str:
    try:
        where = os.fsdecode(path)
        if "\0" in where or not where:
            raise ValueError("it is empty or has a null character")
        os.fsencode(where)
    except TypeError as error:
        raise InputTypeError(
            f"path must be text or a path, got {type(path).__name__}; give the name of a file"
        ) from error
    except ValueError as error:
        raise ModelFileError(f"path {path!r} cannot name a file: {error}; rename it") from error
    return where


def _refused(verb: str, where: str, error: OSError) -> ModelFileError:
    remedy = _REMEDIES.get(error.errno or 0, "check the disk, or choose another place")
    return ModelFileError(f"cannot {verb} {where!r}: {error.strerror or error}; {remedy}")
