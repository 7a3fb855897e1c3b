"""The points of a sweep: their changes to a scenario, all runs, stored runs, and runs of this shard."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from becalm.base.errors import BecalmError, PointFailure, ScenarioError, StoreError
from becalm.runs.task import Shelf, Task, task_of
from becalm.scenario import Scenario
from becalm.store import Store, run_key

Changes = dict[str, Any]
"""Values by dotted key."""


def expand(grid: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list[Changes]:
    """Return the changes of every point, in order. NumPy and polars values become plain values.

    Raises:
        ValueError: a value of the grid is not a list.

    """
    if not isinstance(grid, Mapping):
        return [{key: plain(value) for key, value in change.items()} for change in grid]
    lists = {key: plain(values) for key, values in grid.items()}
    for key, values in lists.items():
        if not isinstance(values, list):
            raise ValueError(f"{key}: a grid needs a list of values, not {values!r}")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def plain(value: Any) -> Any:  # noqa: ANN401
    """Return a NumPy number or array, series, tuple or range as a plain value for scenarios."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, str):
        return str(value)
    for convert in ("tolist", "to_list"):
        if hasattr(value, convert):
            return plain(getattr(value, convert)())
    if isinstance(value, Sequence):
        return [plain(each) for each in value]
    return value


def label(value: Any) -> str | float | int | bool | None:  # noqa: ANN401
    """Return a changed value as a table cell. A choice is shown by its name and parameters."""
    if value is None or isinstance(value, (str, float, int, bool)):
        return value
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, parameters),) = value.items()
        if isinstance(parameters, Mapping):
            inside = ", ".join(f"{key}={each}" for key, each in parameters.items())
            return f"{name}({inside})" if inside else str(name)
    return json.dumps(value, default=str)


def summary(changes: Mapping[str, Any]) -> str:
    """Return changes in one line: `switch.buffer = 4 packets, response = fimd`."""
    return ", ".join(f"{key} = {label(value)}" for key, value in changes.items()) or "no changes"


def changed(base: Scenario, changes: Mapping[str, Any], extra: Mapping[str, Any]) -> Scenario:
    """Return a changed scenario.

    Raises:
        ScenarioError: the result is invalid; the message names the changes.

    """
    try:
        return base.replace({**changes, **extra})
    except ScenarioError as error:
        raise ScenarioError(f"with {summary(changes)}:\n{error}", error.file, error.mistakes) from error


class Planned(NamedTuple):
    """A point: its changes, the resulting scenario, and the keys of its replications."""

    changes: Changes
    scenario: Scenario
    keys: list[str]


class Shard(NamedTuple):
    """One of several calls that share the runs of a sweep."""

    number: int
    """Number of the call, from 1."""
    parts: int
    """Number of calls."""

    def has(self, key: str) -> bool:
        """Whether a run belongs to this shard, which does not change when points are added."""
        return int(key[:8], 16) % self.parts == self.number - 1


WHOLE = Shard(1, 1)


@dataclass
class Plan:
    """The points of a sweep and the state of their runs."""

    points: list[Planned]
    found: set[str] = field(default_factory=set)
    """Keys of runs in the store."""
    damaged: dict[str, str] = field(default_factory=dict)
    """Runs with damaged files, which are computed again, and the problems."""
    failed: dict[str, str] = field(default_factory=dict)
    """Failed runs, with the reasons."""
    todo: list[Task] = field(default_factory=list)
    """Runs to compute."""
    others: int = 0
    """Number of missing runs that belong to other shards."""

    @property
    def keys(self) -> list[str]:
        """The keys of all runs, without duplicates."""
        return list(dict.fromkeys(key for point in self.points for key in point.keys))

    def changes(self, key: str) -> Changes:
        """Return the changes of a run."""
        return next(point.changes for point in self.points if key in point.keys)

    def failures(self) -> list[PointFailure]:
        """Return the failed runs with their changes."""
        return [
            PointFailure(point.changes, replication, self.failed[key])
            for point in self.points
            for replication, key in enumerate(point.keys)
            if key in self.failed
        ]


def planned(changes: Sequence[Mapping[str, Any]], scenarios: Sequence[Scenario]) -> list[Planned]:
    """Return points with the keys of their runs."""
    return [
        Planned(dict(change), scenario, [run_key(scenario, each) for each in range(scenario.replications)])
        for change, scenario in zip(changes, scenarios, strict=True)
    ]


def look(
    points: list[Planned],
    shelf: Shelf,
    keep: str,
    *,
    shard: Shard = WHOLE,
    retry_failed: bool = False,
) -> Plan:
    """Return the plan, after checking each stored file against its checksum and its name."""
    plan = Plan(points)
    for point in points:
        for replication, key in enumerate(point.keys):
            if key in plan.found or key in plan.failed:
                continue
            if _there(plan, shelf, key, keep):
                plan.found.add(key)
                continue
            failure = None if retry_failed else shelf.failure(key)
            if failure is not None:
                plan.failed[key] = failure["text"]
            elif shard.has(key):
                plan.todo.append(task_of(point.scenario, replication, shelf, keep, key))
            else:
                plan.others += 1
    plan.todo = list({task.key: task for task in plan.todo}.values())
    return plan


def shard_of(text: str | None, environment: Mapping[str, str] = os.environ) -> Shard:
    """Return the shard given as `K/N`, or else by the variables of a SLURM array.

    Raises:
        BecalmError: the text is not K/N with K from 1 to N.

    """
    if text is None:
        return _of_slurm(environment)
    number, _, count = text.partition("/")
    if number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count):
        return Shard(int(number), int(count))
    raise BecalmError(f"--shard {text}: must be K/N with K from 1 to N, such as 1/8")


def _of_slurm(environment: Mapping[str, str]) -> Shard:
    """Return the shard of a SLURM task. Task numbers of an array start at a minimum and have a step size."""
    try:
        mine, count = (int(environment[f"SLURM_ARRAY_TASK_{name}"]) for name in ("ID", "COUNT"))
        first = int(environment.get("SLURM_ARRAY_TASK_MIN", "0"))
        step = int(environment.get("SLURM_ARRAY_TASK_STEP", "1"))
    except (KeyError, ValueError):
        return WHOLE
    number = (mine - first) // max(step, 1) + 1
    if not 1 <= number <= count:
        raise BecalmError(
            f"SLURM_ARRAY_TASK_ID = {mine}: not one of the {count} tasks from {first}; use --shard"
        )
    return Shard(number, count)


def _there(plan: Plan, shelf: Shelf, key: str, keep: str) -> bool:
    if not isinstance(shelf, Store):
        return shelf.has(key, keep)
    try:
        return shelf.check(key).enough(keep)
    except FileNotFoundError:
        return False
    except StoreError as error:
        plan.damaged[key] = str(error)
        return False
