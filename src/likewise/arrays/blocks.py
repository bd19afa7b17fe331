"""Memory: one budget, asked before anything quadratic is allocated, and row blocks that keep to it.

Code that is about to allocate an array whose size grows with the square of the data calls
`require_memory` first, which refuses with the size, the budget and a remedy instead of letting the
machine run out of memory. Work on many rows goes through `row_blocks`, whose blocks depend on the
sizes only, never on the number of threads, so that results are the same bits for any ``n_jobs``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from joblib import effective_n_jobs  # type: ignore[import-untyped]

from likewise.errors import InputError, MemoryBudgetError

KIB = 1024
MIB = KIB * 1024
GIB = MIB * 1024

BUDGET_VARIABLE = "LIKEWISE_MEMORY_BUDGET"

# Used where the operating system does not say how much memory there is.
ASSUMED_MEMORY = 8 * GIB

_UNITS = {"": 1, "b": 1, "k": KIB, "kib": KIB, "kb": 10**3, "m": MIB, "mib": MIB, "mb": 10**6}
_UNITS |= {"g": GIB, "gib": GIB, "gb": 10**9, "t": 1024 * GIB, "tib": 1024 * GIB, "tb": 10**12}

Block = TypeVar("Block")
Result = TypeVar("Result")


def memory_budget() -> int:
    """Bytes that one request may allocate.

    The environment variable ``LIKEWISE_MEMORY_BUDGET`` sets it (``"4GiB"``, ``"500MB"`` or a number
    of bytes); without it, half of the physical memory, or of the memory that the container allows.

    Returns
    -------
    int
        The budget in bytes.

    Examples
    --------
    >>> from likewise.arrays.blocks import memory_budget
    >>> memory_budget() > 0
    True
    """
    text = os.environ.get(BUDGET_VARIABLE)
    if text is None or not text.strip():
        return _physical_memory() // 2
    return _parse_bytes(text)


def require_memory(bytes_needed: int, what: str, remedy: str) -> None:
    """Raise `MemoryBudgetError` when a request would not fit into the memory budget.

    Parameters
    ----------
    bytes_needed : int
        The size of what is about to be allocated.
    what : str
        What needs it, for instance ``"the distance matrix of 70000 x 70000 rows"``.
    remedy : str
        What the user can do instead, for instance ``"pass candidates=20"``.

    Examples
    --------
    >>> from likewise.arrays.blocks import require_memory
    >>> require_memory(8, "one number", "ask for nothing")
    """
    budget = memory_budget()
    if bytes_needed <= budget:
        return
    raise MemoryBudgetError(
        f"{what} needs {format_bytes(bytes_needed)}, but the memory budget is "
        f"{format_bytes(budget)}; {remedy}, or raise the budget with the environment variable "
        f"{BUDGET_VARIABLE} (for instance {BUDGET_VARIABLE}={_suggestion(bytes_needed)})."
    )


def row_blocks(n_rows: int, bytes_per_row: int, limit: int = 64 * MIB) -> Iterator[slice]:
    """Yield slices that cover ``n_rows`` rows, each of at most about `limit` bytes.

    All blocks but the last have the same size, which depends on the arguments only.

    Parameters
    ----------
    n_rows : int
        The number of rows to cover.
    bytes_per_row : int
        What one row occupies while it is worked on.
    limit : int, default=64 MiB
        The largest size of a block in bytes; a block has at least one row all the same.

    Yields
    ------
    slice
        The next block of rows.

    Examples
    --------
    >>> from likewise.arrays.blocks import row_blocks
    >>> list(row_blocks(5, bytes_per_row=10, limit=25))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(1, limit // max(1, bytes_per_row))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def map_blocks(
    function: Callable[[Block], Result], blocks: Iterable[Block], n_jobs: int | None = None
) -> list[Result]:
    """Apply `function` to every block, in threads, and return the results in the order of blocks.

    Parameters
    ----------
    function : callable
        Called with one block; must release the interpreter lock to gain from threads.
    blocks : iterable
        What to work on. They must not depend on `n_jobs` if results are to be the same bits.
    n_jobs : int or None, default=None
        The number of threads as in scikit-learn: None means 1, -1 all processors.

    Returns
    -------
    list
        One result per block.

    Examples
    --------
    >>> from likewise.arrays.blocks import map_blocks
    >>> map_blocks(abs, [-1, 2, -3], n_jobs=2)
    [1, 2, 3]
    """
    n_threads = effective_n_jobs(n_jobs)
    if n_threads == 1:
        return [function(block) for block in blocks]
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(function, block) for block in blocks]
        try:
            return [future.result() for future in futures]
        except BaseException:
            # Without this an interrupt would wait for all the blocks that have not begun.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def format_bytes(size: int) -> str:
    """Write a number of bytes for people.

    Examples
    --------
    >>> from likewise.arrays.blocks import format_bytes
    >>> format_bytes(3 * 1024**3)
    '3.0 GiB'
    """
    value = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < KIB:
            return f"{size} bytes" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= KIB
    return f"{value:.1f} TiB"


def _suggestion(bytes_needed: int) -> str:
    """The next whole unit above a size, in a form that the environment variable accepts."""
    if bytes_needed > GIB:
        return f"{-(-bytes_needed // GIB)}GiB"
    return f"{-(-bytes_needed // MIB)}MiB"


def _parse_bytes(text: str) -> int:
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([a-z]*)\s*", text.lower())
    factor = _UNITS.get(match[2]) if match else None
    size = int(float(match[1]) * factor) if match and factor else 0
    if size <= 0:
        raise InputError(
            f"{BUDGET_VARIABLE} must be a positive number of bytes, with an optional unit such as "
            f"KiB, MB, MiB, GB, GiB; got {text!r}. Set it to something like 4GiB, or unset it."
        )
    return size


def _physical_memory() -> int:
    """The memory of the machine, or of the container where that is less."""
    sizes = []
    try:
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        sizes.append(ASSUMED_MEMORY)
    with suppress(OSError, ValueError):
        sizes.append(int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    return min(sizes)
