"""The loop of many runs: computes each once, the longest first, and survives the death of workers.

`drive` is the loop: tasks, an engine, a shelf. A `Driver` also chooses engine and shelf, reports the
progress, and measures every run as soon as it is finished:

    with driver(threads, store="results/store", engine="processes") as runs:
        rates = runs.drive([runs.task(scenario) for scenario in scenarios], lambda place, results: ...)
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, TypeVar

from becalm.base import interrupts
from becalm.base.errors import BecalmError
from becalm.base.progress import SweepProgress
from becalm.results import Results
from becalm.runs.cluster import Dask
from becalm.runs.engines import NAMES, Engine, Processes, Threads, WorkersDied
from becalm.runs.task import Done, Memory, Shelf, Task, found, give_up, task_of
from becalm.scenario import Scenario
from becalm.store import ALL, Store

_Value = TypeVar("_Value")
EngineOf: TypeAlias = "str | Callable[[Shelf], Engine]"
"""The name of an engine, or a function that creates one for a shelf."""

TRIES = 3
"""Number of process deaths after which a run counts as failed."""
AHEAD = 2
"""Number of submitted batches per worker, so that no worker has to wait for the next one."""
BATCH = 0.5
"""Seconds of work per batch if runs are short."""
SHORT = 0.05
"""Duration in s below which runs are submitted in batches."""


def drive(
    tasks: Iterable[Task], engine: Engine, shelf: Shelf, on_done: Callable[[Done], object] = lambda _: None
) -> None:
    """Compute runs, the longest first, and call `on_done` once for each in the caller's thread.

    Tasks with the same key are one run. Errors other than failed runs, such as a full disk, are raised in the
    caller, which closes the engine.
    """
    once = {task.key: task for task in tasks}
    # No single long run is left at the end.
    ordered = sorted(once.values(), key=lambda task: task.work, reverse=True)
    _Loop(ordered, engine, shelf, on_done).go()


def run_tasks(
    tasks: Iterable[Task], engine: Engine, shelf: Shelf, on_done: Callable[[Done], object] = lambda _: None
) -> None:
    """Compute runs like `drive`, and close the engine at the end."""
    with closing(engine):
        drive(tasks, engine, shelf, on_done)


@contextlib.contextmanager
def closing(engine: Engine | Driver) -> Iterator[None]:
    """Close an engine, or a driver's engine, at the end. After an exception, its current runs end, too."""
    whole = False
    try:
        yield
        whole = True
    finally:
        engine.close(abort=not whole)


class Driver:
    """The loop with an engine, a shelf and a progress, for one or several calls.

    Args:
        shelf: memory or a store. Runs in a store are not computed again.
        engine: creates the engine when the first run has to be computed.
        keep: tables to keep in a store.
        progress: called after every finished run, in the caller's thread.
        clock: the time in s.

    """

    def __init__(
        self,
        shelf: Shelf,
        engine: Callable[[Shelf], Engine],
        keep: str = ALL,
        progress: Callable[[SweepProgress], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shelf = shelf
        self._engine_of = engine
        self._engine: Engine | None = None
        self._keep = keep
        self._tally = _Tally(progress, clock)

    def task(self, scenario: Scenario) -> Task:
        """Return the task of a scenario's first replication."""
        return task_of(scenario, 0, self._shelf, self._keep)

    def expect(self, runs: int, work: float) -> None:
        """Count runs that later calls of `drive` compute, with their estimated number of packet-hops."""
        self._tally.expect(runs, work)

    def drive(
        self,
        tasks: Sequence[Task],
        measure: Callable[[int, Results], _Value],
        *,
        expected: bool = False,
    ) -> list[_Value]:
        """Compute runs that are not on the shelf, and measure each as soon as it is finished.

        Args:
            tasks: the runs. Runs with the same key are computed once.
            measure: called with the place of each task and its results, in the caller's thread. Results that
                are only in memory are then discarded.
            expected: whether `expect` has counted the runs.

        Returns:
            The measured values of all tasks, in order.

        Raises:
            FabricError: a run cannot continue; the others are stopped.
            SchemeError: a user-defined scheme failed.
            KeyboardInterrupt: Ctrl-C was pressed.

        """
        places: dict[str, list[int]] = {}
        for place, task in enumerate(tasks):
            places.setdefault(task.key, []).append(place)
        once = [tasks[first] for first, *_ in places.values()]
        if not expected:
            self._tally.expect(len(once), sum(task.work for task in once))
        values: dict[int, _Value] = {}

        def take(done: Done) -> None:
            if done.failure is not None:
                raise done.failure
            results = self._shelf.get(done.key)
            values.update({place: measure(place, results) for place in places[done.key]})
            if isinstance(self._shelf, Memory):
                self._shelf.drop(done.key)
            self._tally.add(done)

        todo = []
        for task in once:
            if self._shelf.has(task.key, task.keep):
                take(found(task))
            else:
                todo.append(task)
        if todo:
            self._engine = self._engine or self._engine_of(self._shelf)
            drive(todo, self._engine, self._shelf, take)
        return [values[place] for place in range(len(tasks))]

    def close(self, *, abort: bool = False) -> None:
        """Close the engine. `abort` also ends current runs."""
        if self._engine is not None:
            self._engine.close(abort=abort)


@contextlib.contextmanager
def driver(
    threads: int | None = None,
    store: str | PathLike[str] | None = None,
    engine: EngineOf = "threads",
    progress: Callable[[SweepProgress], object] | None = None,
    keep: str = ALL,
) -> Iterator[Driver]:
    """Make a driver, and close its engine at the end.

    Args:
        threads: number of concurrent runs; None: one per core.
        store: folder of a store that keeps every run as soon as it is finished; None: nothing is kept.
        engine: `threads`, `processes`, `dask`, or a function that creates an engine for a shelf.
        progress: called after every finished run, in the caller's thread.
        keep: tables to keep in a store.

    Raises:
        BecalmError: the engine is unknown, or the folder is not a store.

    """
    made = engine_of(engine, threads) if isinstance(engine, str) else engine
    with contextlib.ExitStack() as stack:
        shelf: Shelf
        if store is None and engine == "threads":
            shelf = Memory()
        else:
            # Other processes cannot return tables, so they need a store.
            shelf = Store(store or stack.enter_context(TemporaryDirectory(prefix="becalm-runs-")))
        runs = Driver(shelf, made, keep, progress)
        with closing(runs):
            yield runs


def engine_of(
    name: str, workers: int | None, address: str | None = None, slurm: Mapping[str, str] | None = None
) -> Callable[[Shelf], Engine]:
    """Return a function that creates an engine by its name. Address and SLURM's settings are for Dask.

    Raises:
        BecalmError: the name is unknown.

    """
    if name == "threads":
        return lambda shelf: Threads(workers, shelf)
    if name == "processes":
        return lambda _: Processes(workers)
    if name == "dask":
        return lambda _: Dask(workers, address, slurm)
    raise BecalmError(f"engine `{name}`: unknown; valid: {', '.join(NAMES)}")


class _Tally:
    """Counts finished runs, and estimates the time left from their packet-hops."""

    def __init__(
        self, progress: Callable[[SweepProgress], object] | None, clock: Callable[[], float]
    ) -> None:
        self._progress = progress
        self._clock = clock
        self._began: float | None = None
        self._now = SweepProgress(0, 0, 0.0, 0, 0)
        self._all = self._over = self._computed = 0.0

    def expect(self, runs: int, work: float) -> None:
        if self._began is None:
            self._began = self._clock()
        self._now = self._now._replace(points=self._now.points + runs)
        self._all += work

    def add(self, done: Done) -> None:
        before = self._now
        self._over += done.work
        self._computed += 0.0 if done.found else done.work
        spent = self._clock() - (self._began or 0.0)
        left = max(self._all - self._over, 0.0)
        self._now = SweepProgress(
            before.finished + 1,
            before.points,
            min(self._over / self._all, 1.0),
            before.events + done.events,
            before.packet_hops + done.packet_hops,
            before.found + done.found,
            spent * left / self._computed if self._computed else None,
        )
        if self._progress is not None:
            self._progress(self._now)


class _Loop:
    def __init__(
        self, tasks: Sequence[Task], engine: Engine, shelf: Shelf, on_done: Callable[[Done], object]
    ) -> None:
        self.waiting = deque(tasks)
        self.suspects: deque[Task] = deque()
        self.engine = engine
        self.shelf = shelf
        self.on_done = on_done
        self.flying: dict[Any, list[Task]] = {}
        self.tries: dict[str, int] = {}
        self.walls: list[float] = []

    def go(self) -> None:
        while self.waiting or self.suspects or self.flying:
            interrupts.check()
            self._hand_out()
            died: list[Task] = []
            for future in self.engine.wait(list(self.flying)):
                tasks = self.flying.pop(future)
                try:
                    for done in self.engine.result(future):
                        self._finish(done)
                except WorkersDied:
                    died += tasks
            if died:
                self._survive(died)

    def _hand_out(self) -> None:
        """Submit suspect runs one by one, to find the run that kills its process."""
        if self.suspects:
            if not self.flying:
                self._submit([self.suspects.popleft()])
            return
        while self.waiting and len(self.flying) < AHEAD * self.engine.width:
            size = self._batch()
            self._submit([self.waiting.popleft() for _ in range(min(size, len(self.waiting)))])

    def _batch(self) -> int:
        """Return the number of runs per batch, from the durations of the last runs."""
        if len(self.walls) < self.engine.width:
            return 1
        mean = sum(self.walls) / len(self.walls)
        if mean >= SHORT:
            return 1
        fair = len(self.waiting) // (AHEAD * self.engine.width)
        return max(1, min(int(BATCH / max(mean, 1e-3)), fair))

    def _submit(self, tasks: list[Task]) -> None:
        self.flying[self.engine.submit(tasks)] = tasks

    def _finish(self, done: Done) -> None:
        if not done.found and done.failure is None:
            self.walls = [*islice(self.walls, max(0, len(self.walls) - 31), None), done.wall]
        self.on_done(done)

    def _survive(self, died: list[Task]) -> None:
        """Take back submitted runs, except those that are in the store."""
        died += [task for tasks in self.flying.values() for task in tasks]
        self.flying.clear()
        self.engine.renew()
        alone = len(died) == 1
        for task in died:
            self.tries[task.key] = self.tries.get(task.key, 0) + 1
            if self.shelf.has(task.key, task.keep):
                self._finish(found(task))
            elif alone and self.tries[task.key] >= TRIES:
                problem = f"its process died {TRIES} times, possibly for lack of memory"
                self._finish(give_up(task, self.shelf, problem))
            else:
                self.suspects.append(task)
