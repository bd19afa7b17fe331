"""Ctrl-C at places where it does no harm.

A signal that arrives while compiled code runs comes out of it as a SystemError, and a search inside
a training would take it for its own. So, while a training defers it, Ctrl-C is remembered; it is
raised as KeyboardInterrupt by `check_interrupt`, between tasks and passes. Whoever presses it again
and again need not wait: the third time in a row it is raised at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["check_interrupt", "deferred_interrupts", "interrupts_told_apart"]

# So often, without a place to notice it in between, and it is raised at once.
IMPATIENT = 3


class _Deferral:
    def __init__(self, handler: Any) -> None:
        self.handler = handler
        self.pressed = 0

    def notice(self, number: int, frame: FrameType | None) -> None:
        self.pressed += 1
        if self.pressed >= IMPATIENT:
            self.pressed = 0
            self.handler(number, frame)


# The outermost deferral of the main thread, the only one that signals reach.
_ACTIVE: list[_Deferral] = []


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Remember Ctrl-C for the next `check_interrupt`; at the end at the latest it is raised.

    Examples
    --------
    >>> import signal
    >>> from likewise.arrays.interruption import check_interrupt, deferred_interrupts
    >>> with deferred_interrupts():
    ...     signal.raise_signal(signal.SIGINT)
    ...     try:
    ...         check_interrupt()
    ...     except KeyboardInterrupt:
    ...         print("noticed")
    noticed
    """
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if main else None
    if _ACTIVE or not callable(handler):
        # Deferred already, in another thread, or ignored by wish.
        yield
        return
    deferral = _Deferral(handler)
    _ACTIVE.append(deferral)
    signal.signal(signal.SIGINT, deferral.notice)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        _ACTIVE.clear()
    if deferral.pressed:
        handler(signal.SIGINT, None)


def check_interrupt() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed since the last time."""
    if not _ACTIVE or threading.current_thread() is not threading.main_thread():
        return
    deferral = _ACTIVE[0]
    if deferral.pressed:
        deferral.pressed = 0
        raise KeyboardInterrupt


@contextmanager
def interrupts_told_apart() -> Iterator[None]:
    """Raise as KeyboardInterrupt what came out of compiled code as a SystemError because of it."""
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt):
                raise KeyboardInterrupt from error
            cause = cause.__cause__ or cause.__context__
        raise
