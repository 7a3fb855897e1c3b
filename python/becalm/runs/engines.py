"""Engines that compute runs in threads or processes of this machine. `cluster` supports other machines.

Processes are the default on the command line: they also spread Python's work around a run over the cores, and
a run that dies does not affect others.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from multiprocessing.synchronize import Event
from typing import Any, Protocol

from becalm.base.parallel import Cancel, Cancelled, cores
from becalm.runs.runs import Progress
from becalm.runs.task import Done, Shelf, Task, compute, compute_all

TICK = 0.2
"""Longest wait in s, because an unbounded wait ignores Ctrl-C on some platforms."""
NAMES = ("processes", "threads", "dask")
"""Names of the engines."""


class WorkersDied(Exception):
    """A process died while computing a submitted run."""


class Engine(Protocol):
    """The interface of an engine."""

    @property
    def width(self) -> int:
        """Number of runs that can be computed in parallel."""

    def submit(self, tasks: list[Task]) -> Any:  # noqa: ANN401
        """Submit runs to compute sequentially, and return a future."""

    def wait(self, futures: Iterable[Any]) -> list[Any]:
        """Return the finished futures, after a short wait if there are none."""

    def result(self, future: Any) -> list[Done]:  # noqa: ANN401
        """Return the outcomes of the runs.

        Raises:
            WorkersDied: the outcomes are lost.

        """

    def renew(self) -> None:
        """Continue after the death of workers."""

    def close(self, *, abort: bool = False) -> None:
        """Close the engine. `abort` also ends current runs."""


def width_of(workers: int | None) -> int:
    """Return the number of parallel runs; default: the number of cores that this process may use.

    Raises:
        ValueError: the number is below 1.

    """
    if workers is not None and workers < 1:
        raise ValueError(f"threads = {workers}: must be at least 1")
    return cores() if workers is None else workers


class _Local:
    """What threads and processes of this machine have in common."""

    def wait(self, futures: Iterable[Future[list[Done]]]) -> list[Future[list[Done]]]:
        """Return the finished futures in order, after a short wait if there are none."""
        submitted = list(futures)
        done = wait_for(submitted, TICK, FIRST_COMPLETED).done
        return [future for future in submitted if future in done]

    def result(self, future: Future[list[Done]]) -> list[Done]:
        """Return the outcomes of the runs."""
        return future.result()


class Threads(_Local):
    """Threads of this process. The core runs without holding the interpreter."""

    def __init__(
        self,
        workers: int | None,
        shelf: Shelf,
        report: Callable[[str, Progress], object] = lambda _key, _now: None,
    ) -> None:
        self.width = width_of(workers)
        self._shelf = shelf
        self._report = report
        self._cancel = Cancel()
        self._pool = ThreadPoolExecutor(self.width, thread_name_prefix="becalm")

    def submit(self, tasks: list[Task]) -> Future[list[Done]]:
        """Hand out runs."""
        return self._pool.submit(self._work, tasks)

    def renew(self) -> None:
        """Do nothing, because threads do not die separately."""

    def close(self, *, abort: bool = False) -> None:
        """End."""
        if abort:
            self._cancel.request()
        self._pool.shutdown(wait=True, cancel_futures=abort)

    def _work(self, tasks: list[Task]) -> list[Done]:
        def one(task: Task) -> Done:
            return compute(task, self._shelf, self._cancel, lambda now: self._report(task.key, now))

        return [one(task) for task in tasks]


class Processes(_Local):
    """Processes of this machine, each with one thread. Runs go to a store."""

    def __init__(self, workers: int | None) -> None:
        self.width = width_of(workers)
        self._context = multiprocessing.get_context("spawn")
        self._stop = self._context.Event()
        self._pool = self._made()

    def submit(self, tasks: list[Task]) -> Future[list[Done]]:
        """Hand out runs."""
        if not hasattr(signal, "pthread_sigmask"):
            return self._submit(tasks)
        # New processes inherit blocked signals, so only this process receives Ctrl-C and tells the others.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self._submit(tasks)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def result(self, future: Future[list[Done]]) -> list[Done]:
        """Return the outcomes of the runs.

        Raises:
            WorkersDied: a process died.

        """
        from concurrent.futures.process import BrokenProcessPool

        try:
            return future.result()
        except BrokenProcessPool as error:
            raise WorkersDied from error

    def renew(self) -> None:
        """Start new processes."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._made()

    def close(self, *, abort: bool = False) -> None:
        """End."""
        if abort:
            self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=abort)

    def _submit(self, tasks: list[Task]) -> Future[list[Done]]:
        from concurrent.futures.process import BrokenProcessPool

        try:
            return self._pool.submit(_in_process, tasks)
        except BrokenProcessPool as error:
            future: Future[list[Done]] = Future()
            future.set_exception(error)
            return future

    def _made(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.width, self._context, _begin, (self._stop,))


class _Asked(Cancel):
    """A request to stop, from the parent process or because of its death."""

    def __init__(self, stop: Event) -> None:
        super().__init__()
        self._stop = stop

    def check(self) -> None:
        """Raise `Cancelled` after a request to stop."""
        super().check()
        if self._stop.is_set():
            raise Cancelled


_cancel: Cancel = Cancel()
_busy = threading.Lock()


def _begin(stop: Event) -> None:
    """Set up a process with one thread per library and an exit when the parent is gone."""
    global _cancel
    os.environ.update(POLARS_MAX_THREADS="1", OMP_NUM_THREADS="1")
    _cancel = _Asked(stop)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    parent.join()
    _cancel.request()
    # Wait only for files that are being written.
    _busy.acquire(timeout=10)
    os._exit(1)


def _in_process(tasks: list[Task]) -> list[Done]:
    with _busy:
        return compute_all(tasks, _cancel)
