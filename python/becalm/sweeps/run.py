"""The loop of a sweep: submits runs to an engine, collects outcomes, and survives the death of workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from becalm.sweeps.engines import Engine, WorkersDied
from becalm.sweeps.task import Done, Shelf, Task, give_up

TRIES = 3
"""Number of process deaths after which a run counts as failed."""
AHEAD = 2
"""Number of submitted batches per worker, so that no worker has to wait for the next one."""
BATCH = 0.5
"""Seconds of work per batch if runs are short."""
SHORT = 0.05
"""Duration in s below which runs are submitted in batches."""


def drive(
    tasks: Sequence[Task], engine: Engine, shelf: Shelf, on_done: Callable[[Done], object] = lambda _: None
) -> None:
    """Compute runs, and call `on_done` once for each in the caller's thread.

    Errors other than failed runs, such as a full disk, are raised in the caller, which closes the engine.
    """
    _Loop(tasks, engine, shelf, on_done).go()


def run_tasks(
    tasks: Sequence[Task], engine: Engine, shelf: Shelf, on_done: Callable[[Done], object] = lambda _: None
) -> None:
    """Compute runs like `drive`, and always close the engine at the end."""
    whole = False
    try:
        drive(tasks, engine, shelf, on_done)
        whole = True
    finally:
        engine.close(abort=not whole)


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
        if not done.found and done.error is None:
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
                self._finish(Done(task.key, True, 0.0, 0, 0, None))
            elif alone and self.tries[task.key] >= TRIES:
                problem = f"its process died {TRIES} times, possibly for lack of memory"
                self._finish(give_up(task, self.shelf, problem))
            else:
                self.suspects.append(task)
