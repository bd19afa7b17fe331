"""From audited nodes and arrays to a model.

Only what `audit` has passed comes here, so nothing is checked again. This is the one place where a
class is imported, and only from the closed table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from likewise.errors import LikewiseError
from likewise.persistence.archive import DamageError
from likewise.persistence.npy import Array
from likewise.persistence.tables import TABLE

Node = Any  # what the json module reads and writes

_NOT_FINITE: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def build_model(node: Node, arrays: Sequence[Array]) -> Any:
    """Make the model of an audited node.

    Raises
    ------
    DamageError
        If the constructor of its class refuses the parameters.
    """
    content = node["object"]
    params = {key: _build(value, arrays) for key, value in content["params"].items()}
    fitted = {key: _build(value, arrays) for key, value in content["fitted"].items()}
    name = content["class"]
    made = TABLE[name].resolve(name)
    try:
        model = made(**params)
    except (LikewiseError, TypeError, ValueError) as error:
        raise DamageError(f"{name} refuses its parameters ({error})") from error
    vars(model).update(fitted)
    return model


def _build(node: Node, arrays: Sequence[Array]) -> Any:
    if type(node) is list:
        return [_build(item, arrays) for item in node]
    if type(node) is not dict:
        return node
    tag, content = next(iter(node.items()))
    return _BUILDERS[tag](content, arrays)


def _build_names(content: list[str], arrays: Sequence[Array]) -> Array:
    names = np.empty(len(content), dtype=object)
    names[:] = content
    return names


_BUILDERS: Final[dict[str, Callable[[Node, Sequence[Array]], Any]]] = {
    "float": lambda content, arrays: _NOT_FINITE[content],
    "tuple": lambda content, arrays: tuple(_build(content, arrays)),
    "dict": lambda content, arrays: {key: _build(v, arrays) for key, v in content.items()},
    "slice": lambda content, arrays: slice(*_build(content, arrays)),
    "scalar": lambda content, arrays: np.dtype(content[0]).type(_build(content[1], arrays)),
    "array": lambda content, arrays: arrays[content],
    "names": _build_names,
    "object": lambda content, arrays: build_model({"object": content}, arrays),
}
