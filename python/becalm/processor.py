"""Processor time of work in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(eq=False)
class Spent:
    """The processor time of a piece of work."""

    seconds: float | None = None
    """Seconds on all its threads, known at the end of the work. None if no clock measures only this work."""
    alone: bool = True
    """Whether no other piece of work overlapped this one."""


_running: list[Spent] = []
_lock = threading.Lock()


@contextmanager
def spent(threads: int) -> Iterator[Spent]:
    """Measure a piece of work on the calling thread and `threads - 1` threads that it starts.

    One thread has its own clock. Several threads share the clock of the process, which also counts other work
    at the same time.
    """
    work = Spent()
    with _lock:
        _running.append(work)
        if len(_running) > 1:
            for each in _running:
                each.alone = False
    begin = _clock(threads)
    try:
        yield work
    finally:
        end = _clock(threads)
        with _lock:
            _running.remove(work)
        if begin is not None and end is not None and (threads == 1 or work.alone):
            # Within one tick of a coarse clock, the time is unknown.
            work.seconds = end - begin or None


def _clock(threads: int) -> float | None:
    """Return the processor time of this thread or of the process; None if the system does not measure it."""
    clock = getattr(time, "thread_time" if threads == 1 else "process_time", None)
    try:
        return None if clock is None else float(clock())
    except (OSError, RuntimeError):
        return None
