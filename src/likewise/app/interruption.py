"""Ctrl-C during work that is made of many searches.

A search that is interrupted returns the best it has found so far. Where it is one of many, the
others would then go on as if nothing had happened; so Ctrl-C is remembered, and raised again
between them.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Interruption:
    """Remembers Ctrl-C while it is entered.

    Examples
    --------
    >>> from likewise.app.interruption import Interruption
    >>> with Interruption() as interruption:
    ...     interruption.check()
    >>> interruption.noticed
    False
    """

    def __init__(self) -> None:
        self.noticed = False
        self._before: Any = None

    def __enter__(self) -> Interruption:
        # Signals reach the main thread only.
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._notice)
        return self

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def check(self, *_: object) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed, by whomever it was caught."""
        if self.noticed:
            raise KeyboardInterrupt

    def _notice(self, _number: int, _frame: FrameType | None) -> None:
        self.noticed = True
        raise KeyboardInterrupt
