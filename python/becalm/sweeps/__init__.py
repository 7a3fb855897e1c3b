"""Sweeps: one scenario with many changes, on threads, processes or a cluster, resumable from a store.

From the bottom up: `plan` (the points and the runs to compute), `table` (results), this file
(`becalm.sweep`), `random` and `spec` (a sweep as a file). `becalm.runs` computes the runs.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from becalm.base.disk import replace_file
from becalm.base.errors import FabricError, PointFailure
from becalm.base.progress import SweepProgress
from becalm.runs import Progress, memory
from becalm.runs.drive import run_tasks
from becalm.runs.engines import Threads, width_of
from becalm.runs.task import Done, Memory, Shelf
from becalm.scenario import Scenario
from becalm.store import ALL, Store
from becalm.sweeps.plan import Plan, Planned, changed, expand, look, planned, summary
from becalm.sweeps.table import Point, SweepResults

__all__ = ["Point", "SweepError", "SweepProgress", "SweepResults", "sweep"]

INDEX = "sweep.json"
"""Name of the file that lists the points of a sweep next to its runs."""


class SweepError(FabricError):
    """Some points of a sweep failed. All other points are finished."""

    def __init__(self, message: str, failed: list[PointFailure], results: SweepResults | None = None) -> None:
        super().__init__(message)
        self.failed = failed
        """The failed points, with their changes and the reasons."""
        self.results = results
        """The finished points."""


def sweep(
    base: Scenario,
    grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    replications: int | None = None,
    threads: int | None = None,
    folder: str | PathLike[str] | None = None,
    progress: Callable[[SweepProgress], object] | None = None,
    max_memory: int | str | None = None,
) -> SweepResults:
    """Run a scenario at every point of a grid.

    Results do not depend on the number of threads or on the order in which points finish.

    Args:
        base: the scenario to change.
        grid: values by dotted key, every combination of which is a point (the last key changes fastest), or
            a list of changes, one per point. Values may be NumPy types. See `Scenario.replace`.
        replications: overrides the scenario's number of replications.
        threads: number of concurrent replications; None: one per core.
        folder: a store that keeps every run as soon as it finishes. Stored runs of the same model and
            scenario are not repeated. None: nothing is kept on disk.
        progress: called often during the work, by one thread at a time.
        max_memory: memory that parallel runs may use, in bytes or as a size such as `4 GB`. None: 80% of the
            machine's memory.

    Raises:
        MemoryLimitError: runs would need more memory than `max_memory`; nothing was run.
        ScenarioError: a point is invalid; nothing was run.
        SweepError: points failed, for example in a deadlock; the other points are in the error's `results`.
        KeyboardInterrupt: Ctrl-C was pressed; only finished runs stay in the folder.

    Warns:
        UserWarning: a file in the folder is damaged; its run is computed again.

    """
    changes = expand(grid)
    extra = {} if replications is None else {"run.replications": replications}
    points = planned(changes, [changed(base, change, extra) for change in changes])
    memory.check((point.scenario for point in points), max_memory, width=width_of(threads))
    shelf: Shelf = Memory() if folder is None else Store(folder)
    if folder is not None:
        _write_index(Path(folder), points)
    plan = look(points, shelf, ALL)
    for key, problem in plan.damaged.items():
        warnings.warn(f"with {summary(plan.changes(key))}: {problem}; computed again", stacklevel=2)
    tracker = _Tracker(plan, progress)
    run_tasks(plan.todo, Threads(threads, shelf, tracker.on_running), shelf, tracker.on_done)
    whole = [Point(point, shelf) for point in points if not any(key in plan.failed for key in point.keys)]
    results = SweepResults(whole)
    failures = plan.failures()
    if failures:
        raise SweepError(_message(failures, len(points) - len(whole), len(points)), failures, results)
    return results


def _message(failures: list[PointFailure], failed: int, points: int) -> str:
    lines = [f"with {summary(each.changes)}: {each.error}" for each in failures]
    return "\n".join([f"{failed} of {points} points failed; the others are finished:", *lines])


def _write_index(folder: Path, points: Sequence[Planned]) -> None:
    """Write a list of the points next to their runs."""
    listed = [{"changes": point.changes, "keys": point.keys} for point in points]
    replace_file(folder / INDEX, json.dumps({"points": listed}, indent=2) + "\n")


class _Tracker:
    """Tracks the state of each point as threads report it, and notifies the caller."""

    def __init__(self, plan: Plan, progress: Callable[[SweepProgress], object] | None) -> None:
        self._plan = plan
        self._progress = progress
        self._lock = threading.Lock()
        self._now: dict[str, Progress] = {}
        self._points = {point.scenario.hash: point.keys for point in plan.points}
        self._over = plan.found | set(plan.failed)

    def on_running(self, key: str, now: Progress) -> None:
        """Record the progress of a run."""
        if self._progress is None:
            return
        with self._lock:
            self._now[key] = now
            self._report(self._progress)

    def on_done(self, done: Done) -> None:
        """Record the outcome of a run."""
        with self._lock:
            self._over.add(done.key)
            if done.error is not None:
                self._plan.failed[done.key] = done.error
            if self._progress is not None:
                self._report(self._progress)

    def _report(self, progress: Callable[[SweepProgress], object]) -> None:
        finished = sum(self._over.issuperset(keys) for keys in self._points.values())
        shares = [now.time / now.duration for now in self._now.values()]
        fraction = sum(shares) / len(self._plan.todo) if self._plan.todo else 1.0
        events = sum(now.events for now in self._now.values())
        packet_hops = sum(now.packet_hops for now in self._now.values())
        progress(SweepProgress(finished, len(self._points), fraction, events, packet_hops))
