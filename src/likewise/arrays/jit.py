"""The one place where functions are compiled.

numba is imported when a kernel module is, never by ``import likewise``. Two sets of flags exist:

* ``kernel``: strict IEEE arithmetic, for searches and bookkeeping;
* ``summing_kernel``: sums may be reordered so that they use vector registers (``reassoc``,
  ``contract``, ``arcp``, ``nsz``). ``nnan`` and ``ninf`` are not in the list: with them
  ``np.isnan`` is false inside a kernel and infinite costs are undefined.

Kernels run on one thread and release the interpreter lock, so the bits of a result never depend on
how many threads the caller uses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

REORDERED_SUMS = frozenset({"reassoc", "contract", "arcp", "nsz"})


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function with strict floating-point semantics."""
    return _compiled(function, fastmath=False)


def summing_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function whose sums may be reordered for vector registers."""
    return _compiled(function, fastmath=set(REORDERED_SUMS))


def _compiled(function: Callable[..., Any], fastmath: bool | set[str]) -> Any:
    try:
        return numba.njit(function, cache=True, nogil=True, fastmath=fastmath)
    except RuntimeError:
        # Neither the package folder nor the user's cache folder can be written to.
        return numba.njit(function, nogil=True, fastmath=fastmath)
