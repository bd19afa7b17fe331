"""Parameters in words: the same in every process, and others where a parameter is another.

A checkpoint belongs to the parameters that its training had. Arrays are told apart by their bytes,
functions by what they do: their code and the values that it has at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from likewise.persistence.checkpoint import fingerprint_of

__all__ = ["words_of"]


def words_of(value: Any) -> str:
    """Describe a parameter.

    Examples
    --------
    >>> from likewise.persistence.description import words_of
    >>> words_of([1, "l1"])
    "list(1, 'l1')"
    >>> words_of(lambda t: 0.1 / t) == words_of(lambda t: 0.2 / t)
    False
    """
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, slice)):
        return repr(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {fingerprint_of([value], '')}"
    if isinstance(value, type):
        return _named(value)
    return f"{type(value).__qualname__}({', '.join(map(words_of, _parts_of(value)))})"


def _parts_of(value: Any) -> list[Any]:
    """What makes a value what it is."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return list(value)
    if isinstance(value, Mapping):
        return [part for key in sorted(value, key=repr) for part in (key, value[key])]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if hasattr(value, "py_func"):
        return [value.py_func]  # compiled by numba
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [_named(value), value.__code__, value.__defaults__, value.__kwdefaults__, cells]
    if isinstance(value, CodeType):
        return [value.co_code, value.co_names, value.co_consts]
    if hasattr(value, "__dict__") and type(value).__module__ != "builtins":
        return [_named(type(value)), vars(value)]
    # Functions that are compiled, and objects without attributes.
    return [_named(value) if callable(value) else repr(value)]


def _named(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"
