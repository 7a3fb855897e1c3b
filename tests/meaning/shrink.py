"""Reduction of a scenario that fails to a small one that still fails."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

from becalm.base.quantities import seconds
from drawn import Tables

BUDGET = 60.0
"""Seconds that a reduction may take."""
NEEDED = (("run",), ("run", "duration"), ("topology",), ("switch",))
"""Keys that stay."""


def shrunk(data: Tables, fails: Callable[[Tables], bool]) -> Tables:
    """Return a scenario from which no single part can be removed without losing the failure."""
    end = time.monotonic() + BUDGET
    while True:
        for smaller in candidates(data):
            if time.monotonic() > end:
                return data
            if _fails(fails, smaller):
                data = smaller
                break
        else:
            return data


def _fails(fails: Callable[[Tables], bool], data: Tables) -> bool:
    try:
        return fails(data)
    except (IndexError, KeyError, TypeError, ValueError):
        # A relation cannot rewrite a scenario without the part that it is about.
        return False


def candidates(data: Tables) -> Iterator[Tables]:
    """Yield scenarios with one part less: large parts first, then single keys, items of lists and time."""
    for key in ("jobs", "flows", "changes", "adapter", "packet", "marking", "echo", "response"):
        if key in data:
            yield {other: value for other, value in data.items() if other != key}
    for path in sorted(_paths(data), key=len):
        yield without(data, path)
    duration = seconds(data["run"]["duration"])
    if duration > 2e-6:
        yield {**data, "run": {**data["run"], "duration": f"{duration * 5e5:.3g} us"}}


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401
    """Yield the paths of all keys and items, except tables that a scenario needs."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in items:
        if (*path, key) not in NEEDED:
            yield (*path, key)
        yield from _paths(inside, (*path, key))


def without(data: Tables, path: tuple[str | int, ...]) -> Tables:
    """Return a copy without the value at a path."""
    made: Any = copy.deepcopy(data)
    inside = made
    for key in path[:-1]:
        inside = inside[key]
    del inside[path[-1]]
    return dict(made)
