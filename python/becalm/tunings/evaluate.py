"""Runs candidates on cases and seeds, except runs in the store, and measures them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from becalm.analysis.hot_spots import Case
from becalm.analysis.measures import LARGER_IS_BETTER, MEASURES, measured
from becalm.base.errors import DeadlockError, ScenarioError
from becalm.runs.drive import drive
from becalm.runs.engines import Engine
from becalm.runs.task import Done, Task, task_of, work_of
from becalm.scenario import Scenario
from becalm.store import SERIES, Store
from becalm.tunings.goals import Measured
from becalm.tunings.pace import Pace


def uncontrolled(scenario: Scenario) -> dict[str, Any]:
    """Return the changes that switch the congestion control of a scenario off."""
    before, after = scenario.data(), scenario.without_control().data()
    keys = ("marking", "echo", "response", "adapter")
    return {key: after.get(key) for key in keys if before.get(key) != after.get(key)}


AHEAD = 2
"""Number of runs per worker between two looks at the clock."""
HOPELESS = 10.0
"""Loss of parameters that are invalid or make a run fail."""


class Run(NamedTuple):
    """A run of a candidate on a case with a seed."""

    candidate: str
    case: str
    seed: int


class Evaluator:
    """Evaluates candidates with an engine and a store, and remembers the measures."""

    def __init__(
        self,
        cases: Sequence[Case],
        store: Store,
        engine: Engine,
        on_done: Callable[[Done], object] = lambda _: None,
    ) -> None:
        self.cases = {case.name: case for case in cases}
        self.store = store
        self.engine = engine
        self.on_done = on_done
        self.runs = 0
        """Number of requested runs, including runs in the store."""
        self.pace = Pace()
        """The pace of the last runs, including their preparation and measurement."""
        self._measured: dict[str, Measured] = {}
        self._calm: dict[str, Measured] = {}
        self._known: set[str] = set()
        self._failed: set[str] = set()
        self._computed = 0.0

    def steps(
        self, cases: Sequence[Case], runs: int, until: float, *, least: int = 0
    ) -> Iterator[Sequence[Case]]:
        """Yield cases in parts, as long as the next part ends in time even if it is slow.

        Args:
            cases: the cases.
            runs: number of runs per case.
            until: the end, on the monotonic clock; infinite: one part.
            least: number of cases to yield in any case.

        """
        size = math.ceil(AHEAD * self.engine.width / runs) if math.isfinite(until) else len(cases)
        for place in range(0, len(cases), max(size, 1)):
            part = cases[place : place + size]
            needed = self.pace.at_most(runs * self.work(part))
            if place >= least and time.monotonic() + needed > until:
                return
            yield part

    def work(self, cases: Iterable[Case]) -> float:
        """Return the estimated packet-hops of one run of each case."""
        return math.fsum(work_of(case.scenario) for case in cases)

    def evaluate(
        self, candidates: Mapping[str, Mapping[str, Any]], cases: Iterable[Case], seeds: Iterable[int]
    ) -> dict[Run, Measured]:
        """Return the measures of candidates, given as changes by name, on all cases and seeds.

        All candidates use the same seeds, so differences are due to the parameters.
        """
        runs = [
            (Run(name, case.name, seed), case, changes)
            for case in cases
            for seed in seeds
            for name, changes in candidates.items()
        ]
        return self.measure(runs)

    def measure(self, runs: Sequence[tuple[Run, Case, Mapping[str, Any]]]) -> dict[Run, Measured]:
        """Return the measures of runs, given with their cases and changes.

        The reference of each run has the same seed, but neither the incast nor control.
        """
        began, before = time.monotonic(), self._computed
        found = self._measure(runs)
        if self._computed > before:
            self.pace.note(self._computed - before, time.monotonic() - began)
        return found

    def _measure(self, runs: Sequence[tuple[Run, Case, Mapping[str, Any]]]) -> dict[Run, Measured]:
        tasks = {run: self._task(case, changes, run.seed) for run, case, changes in runs}
        calm = {
            (case.name, run.seed): self._task(case.calm, uncontrolled(case.scenario), run.seed)
            for run, case, _ in runs
            if case.calm is not None
        }
        failed = self._go([task for task in (*calm.values(), *tasks.values()) if task is not None])
        found = {}
        for run, case, _ in runs:
            task, before = tasks[run], calm.get((run.case, run.seed))
            if task is None or task.key in failed:
                found[run] = _hopeless()
                continue
            if task.key not in self._measured:
                at_rest = None
                if before is not None and before.key not in failed:
                    if before.key not in self._calm:
                        assert case.calm is not None
                        self._calm[before.key] = measured(self.store.get(before.key), case.calm)
                    at_rest = self._calm[before.key]
                self._measured[task.key] = measured(self.store.get(task.key), case, at_rest)
            found[run] = self._measured[task.key]
        return found

    def _go(self, tasks: Sequence[Task]) -> set[str]:
        """Compute runs, and return the keys of failed runs.

        Raises:
            DeadlockError: a run stopped. No parameters make a fabric with such routes safe.

        """
        new = {task.key: task for task in tasks if task.key not in self._known}
        self.runs += len(new)

        deadlocks: list[DeadlockError] = []

        def on_done(done: Done) -> None:
            if done.failure is not None:
                self._failed.add(done.key)
            if not done.found:
                self._computed += done.work
            if isinstance(done.failure, DeadlockError):
                deadlocks.append(done.failure)
            self.on_done(done)

        drive(new.values(), self.engine, self.store, on_done)
        self._known |= set(new)
        if deadlocks:
            first = deadlocks[0]
            raise DeadlockError(
                f"{len(deadlocks)} of {len(new)} runs ended in a deadlock; the first: {first}",
                first.cycle,
                first.stopped,
            )
        return self._failed

    def _task(self, case: Case, changes: Mapping[str, Any], seed: int) -> Task | None:
        try:
            scenario = case.observed(changes, seed)
        except ScenarioError:
            return None
        return task_of(scenario, 0, self.store, SERIES)._replace(name=case.name)


def by_case(found: Mapping[Run, Measured], candidate: str) -> dict[str, Measured]:
    """Return a candidate's measures by case, averaged over the seeds."""
    parts: dict[str, list[Measured]] = {}
    for run, each in found.items():
        if run.candidate == candidate:
            parts.setdefault(run.case, []).append(each)
    return {
        case: {name: sum(each[name] for each in measures) / len(measures) for name in measures[0]}
        for case, measures in parts.items()
    }


def _hopeless() -> Measured:
    worst = {name: 0.0 if name in LARGER_IS_BETTER else math.inf for name in MEASURES}
    nothing = dict.fromkeys(("background_uncapped", "got", "fair"), 0.0)
    return {**worst, **nothing, "lost": 1.0, "starved": 1.0, "victims": 1.0, "loss": HOPELESS}
