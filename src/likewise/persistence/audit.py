"""The audit of a model that is about to be built: every node against the closed table.

Nothing is built or imported here. There is one function for each tag of a node (see `encoding`); it
checks the content and returns the kind of the value, which the table must allow in that place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as default
from typing import Any, Final

import numpy as np

from likewise.errors import ModelFileError
from likewise.persistence.archive import DamageError
from likewise.persistence.npy import Array, ArraySpec
from likewise.persistence.tables import INTEGERS, SCALAR_KINDS, TABLE, Entry, Field

Node = Any  # what the json module reads and writes

_NOT_FINITE: Final = ("nan", "inf", "-inf")
_INSTANCE_KEYS: Final = {"class", "params", "fitted"}
_NOTHING: Final = Field(())
_BOUND: Final = Field(("None", "int"))
_PLAIN: Final = {type(None): "None", bool: "bool", int: "int", float: "float", str: "str"}


@dataclass
class Audit:
    """What the nodes of one model refer to.

    Attributes
    ----------
    specs : sequence of ArraySpec
        The arrays of the file.
    used : list of int
        The arrays that nodes refer to, in the order of the nodes.
    limits : list of (int, str, int, int)
        Array, where it is used, its smallest allowed entry, and what every entry stays below.
    """

    specs: Sequence[ArraySpec]
    used: list[int] = default(default_factory=list)
    limits: list[tuple[int, str, int, int]] = default(default_factory=list)


def audit_model(node: Node, audit: Audit) -> None:
    """Check the node of a model; what is left to check in its arrays is noted in `audit`.

    Raises
    ------
    DamageError
        If any value is not what the table allows in its place.
    ModelFileError
        If its class is not in the table.
    """
    tag, content = _split(node, "the model")
    if tag != "object":
        raise DamageError("it does not hold a model")
    _audit_instance(content, "", audit)
    if audit.used != list(range(len(audit.specs))):
        raise DamageError("its arrays are not used once each, in their order")


def check_entries(arrays: Sequence[Array], audit: Audit) -> None:
    """Check that indices in arrays stay inside what they index."""
    for number, where, lowest, limit in audit.limits:
        array = arrays[number]
        if array.size and not (array.min() >= lowest and array.max() < limit):
            raise DamageError(f"{where} has entries outside {lowest}..{limit - 1}")


def _split(node: Node, where: str) -> tuple[str, Node]:
    if type(node) is not dict or len(node) != 1:
        raise DamageError(f"{where} is not a tagged value")
    return next(iter(node.items()))


def _audit(node: Node, field: Field, where: str, audit: Audit) -> None:
    if type(node) is list:
        kind = _audit_items(node, field, where, audit, "list")
    elif type(node) is dict:
        tag, content = _split(node, where)
        if tag not in _AUDITS:
            raise DamageError(f"{where} has an unknown tag")
        kind = _AUDITS[tag](content, field, where, audit)
    else:
        kind = _PLAIN[type(node)]
        if kind == "int" and node not in INTEGERS:
            raise DamageError(f"{where} is an integer of more than 64 bits")
    if kind not in field.kinds:
        raise DamageError(f"{where} is a value of kind {kind}, where only {field.allowed} may be")


def _audit_instance(content: Node, prefix: str, audit: Audit) -> str:
    where = prefix.rstrip(".") or "the model"
    if type(content) is not dict or set(content) != _INSTANCE_KEYS:
        raise DamageError(f"{where} must have the keys {sorted(_INSTANCE_KEYS)}")
    name, params, fitted = content["class"], content["params"], content["fitted"]
    if type(name) is not str or name not in TABLE:
        shown = repr(name)[:80]
        raise ModelFileError(
            f"{where} is of the class {shown}, which is not one that this version of likewise "
            f"loads ({', '.join(TABLE)}); upgrade likewise, or check where the file comes from"
        )
    entry = TABLE[name]
    _audit_keys(params, entry.params, f"the parameters of {name}", partly=False)
    _audit_keys(fitted, entry.fitted, f"the fitted attributes of {name}", partly=True)
    for fields, nodes in ((entry.params, params), (entry.fitted, fitted)):
        for key, node in nodes.items():
            _audit(node, fields[key], prefix + key, audit)
    _audit_lengths(entry, fitted, prefix, audit)
    return name


def _audit_keys(nodes: Node, fields: Mapping[str, Field], where: str, *, partly: bool) -> None:
    """Every required key and no unknown one; with `partly`, nothing fitted is fine too."""
    if type(nodes) is not dict:
        raise DamageError(f"{where} are not a JSON object")
    unknown = sorted(nodes.keys() - fields.keys())
    if unknown:
        raise DamageError(f"{where} include the unknown name {unknown[0][:80]!r}")
    required = {key for key, field in fields.items() if not field.optional}
    missing = sorted(required - nodes.keys())
    # scikit-learn's sign of a fitted attribute is the underscore at its end.
    if missing and not (partly and not any(key.endswith("_") for key in nodes)):
        raise DamageError(f"{where} lack {missing[0]!r}")


def _audit_lengths(entry: Entry, fitted: dict[str, Node], prefix: str, audit: Audit) -> None:
    """Bind every word of `Field.shape` and `Field.size` to one length."""
    lengths: dict[str, int] = {}
    for key, node in fitted.items():
        field = entry.fitted[key]
        for word, length in _lengths(node, field, prefix + key, audit):
            if lengths.setdefault(word, length) != length:
                raise DamageError(f"{prefix + key} does not fit in size to the other attributes")
    for key, node in fitted.items():
        entries = entry.fitted[key].entries
        if entries is not None:
            where = prefix + key
            audit.limits.append((node["array"], where, entries[0], lengths.get(entries[1], 0)))


def _lengths(node: Node, field: Field, where: str, audit: Audit) -> list[tuple[str, int]]:
    if field.size is not None:
        return [(field.size, node["scalar"][1] if type(node) is dict else node)]
    if field.shape is None or type(node) not in (dict, list):
        return []
    tag, content = _split(node, where) if type(node) is dict else ("list", node)
    if tag in ("list", "names"):
        shape: tuple[int, ...] = (len(content),)
    elif tag == "array":
        shape = audit.specs[content].shape
    else:
        return []
    if len(shape) != len(field.shape):
        raise DamageError(f"{where} has {len(shape)} axes, and not {len(field.shape)}")
    return [pair for pair in zip(field.shape, shape, strict=True) if pair[0] != "*"]


def _audit_items(content: Node, field: Field, where: str, audit: Audit, kind: str) -> str:
    if type(content) is not list:
        raise DamageError(f"{where} has no list of items")
    for number, item in enumerate(content):
        _audit(item, field.items or _NOTHING, f"{where}[{number}]", audit)
    return kind


def _audit_float(content: Node, field: Field, where: str, audit: Audit) -> str:
    if type(content) is not str or content not in _NOT_FINITE:
        raise DamageError(f"{where} is not one of {', '.join(_NOT_FINITE)}")
    return "float"


def _audit_tuple(content: Node, field: Field, where: str, audit: Audit) -> str:
    return _audit_items(content, field, where, audit, "tuple")


def _audit_dict(content: Node, field: Field, where: str, audit: Audit) -> str:
    if type(content) is not dict:
        raise DamageError(f"{where} is not a JSON object")
    for key, item in content.items():
        _audit(item, field.items or _NOTHING, f"{where}[{key[:80]!r}]", audit)
    return "dict"


def _audit_slice(content: Node, field: Field, where: str, audit: Audit) -> str:
    if type(content) is not list or len(content) != 3:
        raise DamageError(f"{where} is a slice without exactly start, stop and step")
    for bound in content:
        _audit(bound, _BOUND, f"a bound of {where}", audit)
    return "slice"


def _audit_scalar(content: Node, field: Field, where: str, audit: Audit) -> str:
    if type(content) is not list or len(content) != 2:
        raise DamageError(f"{where} is a scalar without exactly a type and a value")
    name, node = content
    if type(name) is not str or name not in SCALAR_KINDS:
        raise DamageError(f"{where} is a scalar of a type that is not allowed")
    kind = SCALAR_KINDS[name]
    _audit(node, Field((kind,)), where, audit)
    if type(node) is dict and "scalar" in node:
        raise DamageError(f"{where} is a scalar within a scalar")
    if not _fits(node, kind, name):
        raise DamageError(f"{where} is not a value of {name}")
    return kind


def _fits(node: Node, kind: str, name: str) -> bool:
    """Whether a plain value is exactly one of a NumPy type."""
    if kind == "int":
        return bool(np.iinfo(name).min <= node <= np.iinfo(name).max)
    if kind == "float" and type(node) is float:
        return abs(node) <= float(np.finfo(name).max) and float(np.dtype(name).type(node)) == node
    return True


def _audit_names(content: Node, field: Field, where: str, audit: Audit) -> str:
    if type(content) is not list or not all(type(item) is str for item in content):
        raise DamageError(f"{where} is not a list of texts")
    return "names"


def _audit_array(content: Node, field: Field, where: str, audit: Audit) -> str:
    if type(content) is not int or not 0 <= content < len(audit.specs):
        raise DamageError(f"{where} is an array that is not in the file")
    dtype = np.dtype(audit.specs[content].dtype)
    if dtype.kind not in field.dtypes:
        raise DamageError(f"{where} is an array of dtype {dtype}, which is not allowed there")
    audit.used.append(content)
    return "array"


def _audit_object(content: Node, field: Field, where: str, audit: Audit) -> str:
    return _audit_instance(content, where + ".", audit)


_AUDITS: Final[dict[str, Callable[[Node, Field, str, Audit], str]]] = {
    "float": _audit_float,
    "tuple": _audit_tuple,
    "dict": _audit_dict,
    "slice": _audit_slice,
    "scalar": _audit_scalar,
    "array": _audit_array,
    "names": _audit_names,
    "object": _audit_object,
}
