"""The plan of a sweep: points, all runs, stored runs, and runs of this shard."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from becalm.errors import BecalmError, PointFailure, StoreError
from becalm.runs.task import Shelf, Task, task_of
from becalm.scenario import Scenario
from becalm.store import Store, run_key
from becalm.sweeps.changes import Changes


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
