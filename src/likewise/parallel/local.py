"""Maps over examples through joblib: threads here, or whatever the user's backend offers.

Results come in the order of the tasks, and linear algebra runs on one thread while they are
computed, in this process and in others, so that the bits do not depend on who computes what. Under
``joblib.parallel_config("dask")`` the same call runs on a Dask cluster.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from joblib import Parallel, delayed  # type: ignore[import-untyped]
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

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
    home = os.getpid()
    pool = Parallel(n_jobs=n_jobs, prefer="threads")
    results: list[Result] = pool(delayed(_called)(home, function, task) for task in tasks)
    return results


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run linear algebra on one thread for a while: its bits depend on how many there are."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


def _called(home: int, function: Callable[..., Result], task: tuple[Any, ...]) -> Result:
    if os.getpid() == home:
        return function(*task)
    with one_blas_thread():
        return function(*task)


@cache
def _controller() -> ThreadpoolController:
    # Looking for the libraries takes milliseconds; they do not change once NumPy is loaded.
    return ThreadpoolController()
