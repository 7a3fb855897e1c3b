"""Service levels of a scenario's flows, as congestion control in adapters is set up for each of them."""

from __future__ import annotations

import re
from typing import NamedTuple

from becalm.base.errors import BecalmError
from becalm.scenario import Scenario

ALL = tuple(range(16))
"""All service levels."""


class Used(NamedTuple):
    """The service levels to set up."""

    levels: tuple[int, ...]
    origin: str
    """How they are known, in words."""
    known: bool = True
    """Whether the scenario or the user says which levels flows use."""


def used(scenario: Scenario, given: tuple[int, ...] | None = None) -> Used:
    """Return the service levels to set up: those of a scenario's flows and paths, or all if it names none.

    Args:
        scenario: a scenario.
        given: levels that the user names, which must include those of the scenario.

    Raises:
        BecalmError: the given levels do not include all levels of the scenario.

    """
    named = _named(scenario)
    if given is not None:
        missing = sorted(set(named or ()) - set(given))
        if missing:
            lacking = ", ".join(map(str, missing))
            raise BecalmError(f"--sl: lacks {lacking}, which flows of {scenario.name} use")
        return Used(tuple(sorted(set(given))), "those of --sl")
    if named is None:
        return Used(ALL, "all, since the scenario does not say which its flows use", known=False)
    return Used(named, "those of the scenario's flows")


def of_flows(scenario: Scenario) -> list[int]:
    """Return the levels of all flows, in order."""
    return sorted({int(level) for level in scenario.network().flows["sl"].unique()})


def _named(scenario: Scenario) -> tuple[int, ...] | None:
    """Return the levels that a scenario names, and 0 for flows without one; None if it names none."""
    adapter = scenario.resolved["adapter"]
    if adapter["control_map"] is not None:
        return tuple(sorted(set(adapter["control_map"])))
    data = scenario.data()
    groups = [group for kind in ("flows", "jobs") for group in data.get(kind, [])]
    paths = {path["sl"] for path in adapter["path_sl"]}
    if not paths and not any("sl" in group for group in groups):
        return None
    return tuple(sorted({*paths, *(group.get("sl", 0) for group in groups)}))


def parse(text: str) -> tuple[int, ...]:
    """Return the levels of a list such as `0,2,4-7`.

    Raises:
        BecalmError: it is not such a list of numbers from 0 to 15.

    """
    levels: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,2})(?:\s*-\s*(\d{1,2}))?\s*", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if not first <= last <= ALL[-1]:
            raise BecalmError(f"--sl {text}: `{part}` is not a service level; valid: 0 to 15, as in 0,2,4-7")
        levels.extend(range(first, last + 1))
    return tuple(levels)
