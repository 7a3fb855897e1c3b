"""A run that ends with its results: on the first signal, or after a time."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from becalm.cli.exits import SIGNALLED, stop

_FIRST = "stopping: the results so far follow; once more to end at once\n"


class Stopping:
    """The answer to whether a run is to stop.

    Args:
        limit: wall-clock seconds after which it is; None: no limit.

    """

    def __init__(self, limit: float | None) -> None:
        self._until = None if limit is None else time.monotonic() + limit
        self._number: int | None = None
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        """Return whether the run is to stop."""
        return self._number is not None or (self._until is not None and time.monotonic() >= self._until)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Let the first Ctrl-C or SIGTERM stop the run. The second one ends the command."""
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            # An ignored signal stays ignored, and a handler from outside Python stays.
            if callable(before):
                self._before[number] = before
                signal.signal(number, self._first)
        try:
            yield
        finally:
            self._restore()

    def _first(self, number: int, _: FrameType | None) -> None:
        self._restore()
        self._number = number
        os.write(2, _FIRST.encode())

    def _restore(self) -> None:
        while self._before:
            number, before = self._before.popitem()
            signal.signal(number, before)

    def leave(self, message: str) -> None:
        """End the command with a message and the exit code of the signal, if there was one."""
        if self._number is not None:
            stop(message, SIGNALLED + self._number)
