"""From a model to JSON nodes and arrays.

None, booleans, 64-bit integers, finite floats, text and lists are themselves. Everything else is a
JSON object with exactly one key, its tag:

=========  ====================================  ================================================
tag        content                               stands for
=========  ====================================  ================================================
`float`    ``"nan"``, ``"inf"`` or ``"-inf"``    a float that strict JSON cannot write
`tuple`    nodes                                 a tuple
`dict`     an object of nodes                    a dict with text keys
`slice`    start, stop, step                     a slice of integers
`scalar`   name of the type, node                a NumPy scalar
`array`    number of an array in the file        an array
`names`    texts                                 a 1-D object array of text
`object`   class, parameters, fitted attributes  an instance of a class in the table
=========  ====================================  ================================================

`audit` checks nodes that come from a file, and `building` goes the other way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from likewise.errors import ModelFileError
from likewise.persistence.npy import Array, is_storable
from likewise.persistence.tables import INTEGERS, SCALAR_KINDS, TABLE, Field, find_class

Node = Any  # what the json module reads and writes

_PLAIN_KINDS: Final[dict[type, str]] = {
    type(None): "None",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    list: "list",
    tuple: "tuple",
    dict: "dict",
    slice: "slice",
}
_NOTHING: Final = Field(())
_ABSENT: Final = object()


def encode_model(model: object, arrays: list[Array]) -> Node:
    """Turn a model into a node; its arrays are appended to `arrays`.

    Raises
    ------
    ModelFileError
        Naming the class, parameter or attribute that cannot be kept, and what to do about it.

    Examples
    --------
    >>> from likewise import Compare
    >>> from likewise.persistence.encoding import encode_model
    >>> encode_model(Compare("size", "euclidean"), [])["object"]["params"]["name"]
    'size'
    """
    if find_class(model) is None:
        raise ModelFileError(
            f"a model file cannot hold {_called(model)}; it holds {', '.join(TABLE)} themselves, "
            "not subclasses of them"
        )
    return _encode_instance(model, "", arrays)


def _encode_instance(value: object, prefix: str, arrays: list[Array]) -> Node:
    name = find_class(value) or ""
    entry, attributes = TABLE[name], vars(value)
    unknown = sorted(attributes.keys() - entry.params.keys() - entry.fitted.keys())
    if unknown:  # it would be lost without a word
        raise ModelFileError(
            f"the attribute {prefix}{unknown[0]} is not part of a {name} in a model file; "
            "delete it before saving and set it again after loading"
        )
    params = {
        key: _encode(attributes.get(key, _ABSENT), field, prefix + key, arrays)
        for key, field in entry.params.items()
    }
    fitted = {
        key: _encode(attributes[key], field, prefix + key, arrays)
        for key, field in entry.fitted.items()
        if key in attributes
    }
    return {"object": {"class": name, "params": params, "fitted": fitted}}


def _encode(value: object, field: Field, where: str, arrays: list[Array]) -> Node:
    kind = _kind_of(value)
    if kind not in field.kinds:
        raise field.refusal(where, _called(value))
    if isinstance(value, np.generic):
        name = "str" if kind == "str" else value.dtype.name
        return {"scalar": [name, _encode(value.item(), field, where, arrays)]}
    encoder = _ENCODERS.get(kind)
    if encoder is not None:
        return encoder(value, field, where, arrays)
    return _encode_instance(value, where + ".", arrays) if kind in TABLE else value


def _kind_of(value: object) -> str:
    """The word of `Field.kinds` for a value, or an empty one. Subclasses do not count."""
    if isinstance(value, np.generic):
        return SCALAR_KINDS.get("str" if isinstance(value, np.str_) else value.dtype.name, "")
    if type(value) in (np.ndarray, np.memmap):
        return "names" if _is_names(value) else "array"
    return _PLAIN_KINDS.get(type(value)) or find_class(value) or ""


def _is_names(array: Any) -> bool:
    return array.dtype == object and array.ndim == 1 and all(type(item) is str for item in array)


def _called(value: object) -> str:
    if value is _ABSENT:
        return "missing"
    if type(value) is np.ndarray:
        return f"an array of dtype {value.dtype} with {value.ndim} axes"
    return f"of type {type(value).__name__}"


def _encode_int(value: int, field: Field, where: str, arrays: list[Array]) -> Node:
    if value not in INTEGERS:
        raise field.refusal(where, "an integer of more than 64 bits")
    return value


def _encode_float(value: float, field: Field, where: str, arrays: list[Array]) -> Node:
    return value if math.isfinite(value) else {"float": repr(value)}


def _encode_list(value: list[Any], field: Field, where: str, arrays: list[Array]) -> Node:
    inner = field.items or _NOTHING
    return [_encode(item, inner, f"{where}[{i}]", arrays) for i, item in enumerate(value)]


def _encode_tuple(value: tuple[Any, ...], field: Field, where: str, arrays: list[Array]) -> Node:
    return {"tuple": _encode_list(list(value), field, where, arrays)}


def _encode_dict(value: dict[Any, Any], field: Field, where: str, arrays: list[Array]) -> Node:
    for key in value:
        if type(key) is not str:
            raise Field(("str",)).refusal(f"a key of {where}", _called(key))
    inner = field.items or _NOTHING
    return {"dict": {k: _encode(v, inner, f"{where}[{k!r}]", arrays) for k, v in value.items()}}


def _encode_slice(value: slice, field: Field, where: str, arrays: list[Array]) -> Node:
    bounds = [value.start, value.stop, value.step]
    inner = Field(("None", "int"), remedy=field.remedy)
    return {"slice": [_encode(bound, inner, f"a bound of {where}", arrays) for bound in bounds]}


def _encode_names(value: Array, field: Field, where: str, arrays: list[Array]) -> Node:
    return {"names": value.tolist()}


def _encode_array(value: Array, field: Field, where: str, arrays: list[Array]) -> Node:
    if not is_storable(value) or value.dtype.kind not in field.dtypes:
        raise field.refusal(where, _called(value))
    arrays.append(np.asarray(value))
    return {"array": len(arrays) - 1}


_ENCODERS: Final[dict[str, Callable[[Any, Field, str, list[Array]], Node]]] = {
    "int": _encode_int,
    "float": _encode_float,
    "list": _encode_list,
    "tuple": _encode_tuple,
    "dict": _encode_dict,
    "slice": _encode_slice,
    "names": _encode_names,
    "array": _encode_array,
}
