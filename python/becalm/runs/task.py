"""One of many runs: the task, its outcome, its computation, and the shelf that keeps it.

Tasks and outcomes are small. Tables are never sent between processes or machines, but go to the store.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from becalm._core import model as core_model
from becalm.base.errors import BecalmError, DeadlockError, FabricError, SchemeError
from becalm.base.parallel import Cancel
from becalm.results import Results
from becalm.runs.runs import Progress, run_one
from becalm.scenario import Scenario
from becalm.store import Store, run_key

if TYPE_CHECKING:
    from becalm.schemes.loading import Provided


class Task(NamedTuple):
    """A run to compute."""

    key: str
    """Key on the shelf."""
    toml: str
    """The scenario."""
    name: str
    """Name of the scenario."""
    replication: int
    """Number of the replication, starting at 0."""
    work: float
    """Estimated number of packet-hops."""
    store: str
    """Folder of the store; empty for none."""
    keep: str
    """Tables to keep."""
    model: str = core_model
    """Hash of the required model."""
    schemes: tuple[Provided, ...] = ()
    """User-defined schemes that the scenario names."""


class Done(NamedTuple):
    """The outcome of a run."""

    key: str
    found: bool
    """Whether another process finished the run first."""
    wall: float
    """Wall-clock seconds."""
    events: int
    packet_hops: int
    failure: FabricError | SchemeError | None
    """The reason for its failure; None if it is on the shelf."""
    work: float
    """Number of packet-hops that was estimated before the run."""

    @property
    def error(self) -> str | None:
        """The reason for its failure in words; None if it is on the shelf."""
        return None if self.failure is None else str(self.failure)


class Shelf(Protocol):
    """The destination of runs: a store, or memory."""

    def has(self, key: str, keep: str) -> bool:
        """Whether a run is present, with at least the tables of `keep`."""

    def get(self, key: str) -> Results:
        """Return a run."""

    def put(self, key: str, results: Results, keep: str) -> bool:
        """Add a run."""

    def fail(self, key: str, failure: dict[str, Any]) -> None:
        """Record the failure of a run."""

    def failure(self, key: str) -> dict[str, Any] | None:
        """Return the reason for a run's failure."""


class Memory:
    """Runs kept only in memory."""

    def __init__(self) -> None:
        self._results: dict[str, Results] = {}
        self._lock = threading.Lock()

    def has(self, key: str, keep: str) -> bool:  # noqa: ARG002
        """Whether a run is present. All of its tables are kept."""
        return key in self._results

    def get(self, key: str) -> Results:
        """Return a run."""
        return self._results[key]

    def put(self, key: str, results: Results, keep: str) -> bool:  # noqa: ARG002
        """Add a run."""
        with self._lock:
            self._results[key] = results
        return True

    def drop(self, key: str) -> None:
        """Discard a run."""
        with self._lock:
            del self._results[key]

    def fail(self, key: str, failure: dict[str, Any]) -> None:
        """Discard the reason for a failure, since the caller receives it."""

    def failure(self, key: str) -> dict[str, Any] | None:  # noqa: ARG002
        """Return None, because earlier calls are not recorded."""
        return None


def task_of(scenario: Scenario, replication: int, shelf: Shelf, keep: str, key: str | None = None) -> Task:
    """Return the task of a replication; `key` is its key if the caller knows it."""
    return Task(
        key or run_key(scenario, replication),
        scenario.to_toml(),
        scenario.name,
        replication,
        work_of(scenario),
        str(shelf.root) if isinstance(shelf, Store) else "",
        keep,
        schemes=scenario.schemes or (),
    )


def work_of(scenario: Scenario) -> float:
    """Return the estimated number of packet-hops of a run; at least 1, so that shares are defined."""
    return max(scenario.core.work_estimate, 1.0)


def compute(
    task: Task, shelf: Shelf, cancel: Cancel, report: Callable[[Progress], object] = lambda _: None
) -> Done:
    """Compute a run and add it to the shelf, unless it is already there.

    Raises:
        BecalmError: this program and the program that requests the run have different models.
        Cancelled: `cancel` requested it.

    """
    if task.model != core_model:
        raise BecalmError(
            f"the worker ({core_model[:16]}) and the sweep ({task.model[:16]}) have different versions "
            "of the model: install the same becalm on both sides"
        )
    cancel.check()
    if shelf.has(task.key, task.keep):
        return found(task)
    scenario = Scenario(task.toml, name=task.name, schemes=task.schemes)
    try:
        outcome = run_one(scenario, task.replication, cancel, report)
    except (FabricError, SchemeError) as error:
        shelf.fail(task.key, _failure(task, error))
        return Done(task.key, False, 0.0, 0, 0, error, task.work)
    results = Results.from_outcomes(scenario, [outcome])
    shelf.put(task.key, results, task.keep)
    return Done(task.key, False, outcome.wall_time, results.events, results.packet_hops, None, task.work)


def compute_all(tasks: list[Task], cancel: Cancel) -> list[Done]:
    """Compute several runs for the same store sequentially."""
    store = Store(tasks[0].store)
    return [compute(task, store, cancel) for task in tasks]


def found(task: Task) -> Done:
    """Return the outcome of a run that is already on the shelf."""
    return Done(task.key, True, 0.0, 0, 0, None, task.work)


def give_up(task: Task, shelf: Shelf, problem: str) -> Done:
    """Record that a run is given up."""
    shelf.fail(task.key, {"kind": "WorkerDied", "text": problem, "scenario": task.name})
    return Done(task.key, False, 0.0, 0, 0, FabricError(problem), task.work)


def _failure(task: Task, error: FabricError | SchemeError) -> dict[str, Any]:
    cycle = error.cycle if isinstance(error, DeadlockError) else []
    return {
        "kind": type(error).__name__,
        "text": str(error),
        "cycle": cycle,
        "scenario": task.name,
        "replication": task.replication,
        "toml": task.toml,
    }
