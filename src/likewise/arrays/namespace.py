"""The array seam: the only place that knows which array library an array belongs to.

Array code asks `namespace_of` for the functions to use. Crossings between a device and the host
are visible as `to_host` and `to_device` and happen once. torch is recognised without being
imported: a tensor can only exist where torch has been loaded already.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from likewise.errors import InputTypeError

Array = Any


def namespace_of(*arrays: Array) -> Any:
    """Return the module whose functions apply to `arrays`.

    Parameters
    ----------
    *arrays : array
        Numpy arrays, lists and numbers, arrays with ``__array_namespace__``, or torch tensors.

    Returns
    -------
    module
        ``numpy`` unless one of the arrays belongs to another library.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.arrays.namespace import namespace_of
    >>> namespace_of(np.zeros(2), 1.0) is np
    True
    """
    spaces = {id(space): space for space in map(_own_namespace, arrays) if space is not None}
    if len(spaces) > 1:
        names = sorted(space.__name__ for space in spaces.values())
        raise InputTypeError(
            f"all arrays must belong to one library; got arrays of {', '.join(names)}. "
            "Convert them to one of these first."
        )
    return next(iter(spaces.values()), np)


def is_foreign(array: Array) -> bool:
    """Tell whether an array belongs to another library than numpy.

    Examples
    --------
    >>> from likewise.arrays.namespace import is_foreign
    >>> is_foreign([1.0, 2.0])
    False
    """
    return _own_namespace(array) not in (None, np)


def to_host(array: Array) -> np.ndarray:
    """Return the values of an array as a numpy array in host memory, without a copy if possible.

    Examples
    --------
    >>> from likewise.arrays.namespace import to_host
    >>> to_host([1.0, 2.0])
    array([1., 2.])
    """
    if _is_tensor(array):
        return np.asarray(array.detach().cpu().numpy())
    if is_foreign(array) and hasattr(array, "__dlpack__"):
        return np.from_dlpack(array)
    return np.asarray(array)


def to_device(array: Array, like: Array) -> Array:
    """Return the values of an array as an array of the library and on the device of `like`.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.arrays.namespace import to_device
    >>> to_device([1.0, 2.0], like=np.zeros(1))
    array([1., 2.])
    """
    space = namespace_of(like)
    if space is np:
        return to_host(array)
    return space.asarray(to_host(array), device=like.device)


def _own_namespace(array: Array) -> Any:
    if _is_tensor(array):
        return sys.modules["torch"]
    if isinstance(array, (np.ndarray, np.generic)):
        return np
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    return None


def _is_tensor(array: Array) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)
