"""Runs candidates on cases and seeds, as far as they are not in the store, and measures them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from becalm.analysis.hot_spots import Case
from becalm.analysis.measures import LARGER_IS_BETTER, MEASURES, measured
from becalm.errors import ScenarioError
from becalm.store import SERIES, Store, run_key
from becalm.sweeps.engines import Engine
from becalm.sweeps.run import drive
from becalm.sweeps.task import Done, Task
from becalm.tunings.goals import Measured

UNCONTROLLED: dict[str, Any] = {"marking": {"none": {}}, "response": {"none": {"window": "unlimited"}}}
"""The changes that switch congestion control off."""
HOPELESS = 10.0
"""Loss of parameters that no scenario can have, or with which a run cannot go on."""


class Run(NamedTuple):
    """A candidate on a case with a seed."""

    candidate: str
    case: str
    seed: int


class Evaluator:
    """Cases, an engine and a store; remembers what it measured."""

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
        """Runs that were asked for, those in the store included."""
        self._measured: dict[str, Measured] = {}

    def evaluate(
        self, candidates: Mapping[str, Mapping[str, Any]], cases: Iterable[Case], seeds: Iterable[int]
    ) -> dict[Run, Measured]:
        """Return the measures of candidates, given as changes by name, on all these cases and seeds.

        The seeds are the same for all: what differs is due to the parameters.
        """
        chosen, numbers = list(cases), list(seeds)
        keys: dict[Run, str] = {}
        tasks: dict[str, Task] = {}
        for name, changes in candidates.items():
            for case in chosen:
                for seed in numbers:
                    run = Run(name, case.name, seed)
                    task = self._task(case, changes, seed)
                    keys[run] = task.key if task else ""
                    if task is not None and task.key not in self._measured:
                        tasks[task.key] = task
        self.runs += len(tasks)
        failed: set[str] = set()

        def on_done(done: Done) -> None:
            if done.error is not None:
                failed.add(done.key)
            self.on_done(done)

        drive(list(tasks.values()), self.engine, self.store, on_done)
        for run, key in keys.items():
            if key and key not in self._measured:
                hopeless = key in failed
                case = self.cases[run.case]
                self._measured[key] = _hopeless() if hopeless else measured(self.store.get(key), case)
        return {run: self._measured[key] if key else _hopeless() for run, key in keys.items()}

    def _task(self, case: Case, changes: Mapping[str, Any], seed: int) -> Task | None:
        try:
            scenario = case.observed(changes, seed)
        except ScenarioError:
            return None
        key = run_key(scenario, 0)
        own = scenario.schemes or ()
        return Task(key, scenario.to_toml(), case.name, 0, str(self.store.root), SERIES, schemes=own)


def by_case(found: Mapping[Run, Measured], candidate: str) -> dict[str, Measured]:
    """Return the means over the seeds of a candidate's measures, by case."""
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
    return {**worst, "background_uncapped": 0.0, "loss": HOPELESS}
