"""Parallel work that ends cleanly on Ctrl-C, and a check that a file system supports several processes."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path

from becalm.base import interrupts


def cores() -> int:
    """Return the number of cores that this process may use. An administrator or batch system may limit it."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


class Cancelled(Exception):
    """Raised inside the work after a request to stop."""


class Cancel:
    """A request to stop that all threads can see."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def request(self) -> None:
        """Ask all work to stop."""
        self._event.set()

    def check(self) -> None:
        """Raise `Cancelled` after a request to stop."""
        if self._event.is_set():
            raise Cancelled


def run_all(work: Callable[[int, Cancel], None], count: int, threads: int | None) -> None:
    """Call `work(index, cancel)` for every index below `count` on up to `threads` threads (None: all cores).

    The caller's thread only waits, so that Ctrl-C reaches it at once. After Ctrl-C or the failure of a call,
    calls that have not started are dropped, running calls are asked to stop and awaited, and the exception is
    raised in the caller.

    Raises:
        ValueError: `threads` is below 1.

    """
    threads = cores() if threads is None else threads
    if threads < 1:
        raise ValueError(f"threads = {threads}: must be at least 1")
    cancel = Cancel()
    pool = ThreadPoolExecutor(min(threads, max(count, 1)), thread_name_prefix="becalm")
    try:
        # Inside the `try`, because a Ctrl-C during submission must also end the running calls.
        _wait({pool.submit(work, index, cancel) for index in range(count)})
    except BaseException:
        cancel.request()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _wait(pending: set[Future[None]]) -> None:
    while pending:
        interrupts.check()
        # A bounded wait, because an unbounded wait ignores Ctrl-C on some platforms.
        done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()


NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
"""Errors of a file system without locks."""


def has_locks(file: Path) -> bool:
    """Whether the file system of a file supports locks. Some network file systems do not."""
    try:
        import fcntl
    except ImportError:
        return True
    with file.open("rb") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return error.errno not in NO_LOCKS
    return True
