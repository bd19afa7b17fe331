"""Maps over examples through joblib: threads here, or whatever the user's backend offers.

Results come in the order of the tasks, and linear algebra runs on one thread while they are
computed, in this process and in others, so that the bits do not depend on who computes what.

Under ``joblib.parallel_config("dask")`` the same call runs on a Dask cluster. A task carries all
that it needs, so a task whose worker has died is run again elsewhere: nothing is kept on workers
that could be lost with them (joblib would scatter large arguments; those in a tuple it leaves).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from joblib import Parallel, delayed  # type: ignore[import-untyped]
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from likewise.arrays.interruption import check_interrupt

__all__ = ["map_in_order", "one_blas_thread"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def map_in_order(
    function: Callable[..., Result], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None = None
) -> list[Result]:
    """Call ``function(*task)`` for every task, and return the results in the order of tasks.

    Parameters
    ----------
    function : callable
        Importable by name, so that other processes can run it.
    tasks : iterable of tuple
        The arguments of every call.
    n_jobs : int or None, default=None
        As in scikit-learn: None is one, unless a ``joblib.parallel_config`` says otherwise.

    Examples
    --------
    >>> from likewise.parallel.local import map_in_order
    >>> map_in_order(max, [(1, 2), (4, 3)], n_jobs=2)
    [2, 4]
    """
    pool = Parallel(n_jobs=n_jobs, prefer="threads")
    results: list[Result] = pool(delayed(_called)(function, task) for task in tasks)
    return results


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run linear algebra on one thread for a while: its bits depend on how many there are.

    The number is one for the whole process. Where several threads are here at a time, the first
    one sets the limit and the last one lifts it.
    """
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


class _Limit:
    """The limit on threads of linear algebra, and how many blocks of code ask for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._limiter: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._count == 0:
                self._limiter = _controller().limit(limits=1, user_api="blas")
            self._count += 1

    def leave(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                self._limiter.restore_original_limits()


_LIMIT = _Limit()
# A forked child starts anew: the thread that held the lock is not in it.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_LIMIT.__init__)  # type: ignore[misc]


def _called(function: Callable[..., Result], task: tuple[Any, ...]) -> Result:
    check_interrupt()
    with one_blas_thread():
        return function(*task)


@cache
def _controller() -> ThreadpoolController:
    # Looking for the libraries takes milliseconds; they do not change once NumPy is loaded.
    return ThreadpoolController()
