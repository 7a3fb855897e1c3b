"""A tuning as a file: cases, search space, goals and budget.

[hot_spot]
scenario = "fabric.toml"
host = "H31"
[space]
"marking.ibta.threshold" = { int = [1, 15] }
[goals]
minimize = ["loss"]
limits = ["guard.delivered >= 0.99 * uncontrolled"]
[budget]
trials = 60
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from becalm.errors import BecalmError
from becalm.mistakes import Mistakes, read_text, read_toml
from becalm.quantities import seconds
from becalm.scenario import Scenario, load
from becalm.sweep.random import read_ranges
from becalm.tune.cases import GUARD, ROLES, Case, HotSpot
from becalm.tune.goals import NO_LOSS, Goals, check_goals, read_limit
from becalm.tune.space import Space
from becalm.tune.study import SAMPLERS

_PARTS = ("hot_spot", "case", "space", "fixed", "goals", "budget")
_HOT_SPOT = ("scenario", "host", "degree", "start", "hot", "after")
_CASE = ("scenario", "name", "weight", "role", "hot", "victims", "link", "start", "stop")
_GOALS = ("minimize", "limits")
_BUDGET: dict[str, Callable[[Any], bool]] = {
    "trials": lambda value: _whole(value, 1),
    "seeds": lambda value: _whole(value, 1),
    "validate": lambda value: _whole(value, 2),
    "seed": lambda value: _whole(value, 0),
    "minutes": lambda value: _number(value) and value > 0,
    "finalists": lambda value: _number(value) and 0 < value <= 1,
    "sampler": lambda value: value in SAMPLERS,
}


@dataclass(frozen=True)
class TuneSpec:
    """A tuning that was read from a file."""

    scenario: Scenario
    """The fabric, whose control is tuned."""
    cases: list[Case]
    space: Space | None
    goals: Goals
    budget: dict[str, Any]
    """Arguments of `becalm.tune`."""


def is_scenario(path: Path) -> bool:
    """Whether a file is a scenario rather than a tuning.

    Raises:
        FileNotFoundError: no such file.

    """
    text = read_text(path)
    try:
        data = tomllib.loads(text)
    except (RecursionError, ValueError):
        return False
    return "topology" in data or "flows" in data


def read_tune(path: str | PathLike[str]) -> TuneSpec:
    """Read the file of a tuning.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once.

    """
    path = Path(path)
    mistakes = Mistakes(path)
    data = read_toml(path)
    _known(data, "", _PARTS, mistakes)
    if ("hot_spot" in data) == ("case" in data):
        mistakes.add(
            None, "hot_spot", "", "either this table, or [[case]] for each case", "[hot_spot], [[case]]"
        )
    no_tables = [
        name
        for name in ("hot_spot", "space", "fixed", "goals", "budget")
        if not isinstance(data.get(name, {}), dict)
    ]
    for name in no_tables:
        mistakes.add(None, name, repr(data[name]), "must be a table", f"[{name}]")
    if no_tables:
        mistakes.check()
    goals = _goals(data.get("goals", {}), mistakes)
    budget = _budget(data.get("budget", {}), mistakes)
    ranges = dict(read_ranges("space", data.get("space", {}), mistakes))
    mistakes.check()
    cases = (
        _made(path, data["hot_spot"], mistakes)
        if "hot_spot" in data
        else _listed(path, data["case"], mistakes)
    )
    mistakes.check()
    if not any(case.role == GUARD for case in cases):
        goals = Goals(goals.minimize, tuple(limit for limit in goals.limits if not limit.guard))
    fabric = load(path.parent / data["hot_spot"]["scenario"]) if "hot_spot" in data else cases[0].scenario
    space = Space(ranges, data.get("fixed", {})) if ranges else None
    return TuneSpec(fabric, cases, space, goals, budget)


def _made(path: Path, table: Mapping[str, Any], mistakes: Mistakes) -> list[Case]:
    _known(table, "hot_spot", _HOT_SPOT, mistakes)
    for key in ("scenario", "host"):
        if not isinstance(table.get(key), str):
            mistakes.add(None, f"hot_spot.{key}", repr(table.get(key)), "is missing", "a string")
    degree = table.get("degree")
    if degree is not None and not _whole(degree, 2):
        mistakes.add(None, "hot_spot.degree", repr(degree), "out of range", "an integer, 2 or more")
    times = {
        key: _time(table, "hot_spot", key, mistakes) for key in ("start", "hot", "after") if key in table
    }
    mistakes.check()
    scenario = load(path.parent / table["scenario"])
    return HotSpot(scenario, table["host"], degree, **times).cases()


def _listed(path: Path, tables: Any, mistakes: Mistakes) -> list[Case]:  # noqa: ANN401
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        mistakes.add(None, "case", "", "must be tables", "[[case]]")
        return []
    found = []
    for place, table in enumerate(tables):
        where = f"case[{place}]"
        _known(table, where, _CASE, mistakes)
        if not isinstance(table.get("scenario"), str):
            mistakes.add(
                None, f"{where}.scenario", "", "is missing", "the path of a scenario, relative to this file"
            )
            continue
        if table.get("role", ROLES[0]) not in ROLES:
            mistakes.add(None, f"{where}.role", repr(table["role"]), "unknown", ", ".join(ROLES))
        if not _number(table.get("weight", 1)) or table.get("weight", 1) <= 0:
            mistakes.add(None, f"{where}.weight", repr(table["weight"]), "out of range", "a number above 0")
        for key in ("hot", "victims"):
            value = table.get(key, [])
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                mistakes.add(None, f"{where}.{key}", repr(value), "must be names of groups", '["cold*"]')
        times = {key: _time(table, where, key, mistakes) for key in ("start", "stop") if key in table}
        if times.get("stop", 0.0) < times.get("start", 0.0):
            mistakes.add(None, f"{where}.stop", table["stop"], "comes before start", "a later time")
        mistakes.check()
        found.append(
            Case(
                name=str(table.get("name", Path(table["scenario"]).stem)),
                scenario=load(path.parent / table["scenario"]),
                hot=tuple(table.get("hot", ["hot*"])) if times else (),
                victims=tuple(table.get("victims", ["cold*"] if times else ["*"])),
                link=table.get("link"),
                weight=table.get("weight", 1.0),
                role=table.get("role", ROLES[0]),
                **times,
            )
        )
    return found


def _goals(table: Any, mistakes: Mistakes) -> Goals:  # noqa: ANN401
    table = table if isinstance(table, dict) else {}
    _known(table, "goals", _GOALS, mistakes)
    minimize, limits = table.get("minimize", ["loss"]), table.get("limits", [NO_LOSS])
    try:
        check_goals(minimize)
        return Goals(tuple(minimize), tuple(read_limit(str(limit)) for limit in limits))
    except (BecalmError, TypeError) as error:
        mistakes.add(None, "goals", "", str(error))
        return Goals()


def _budget(table: Any, mistakes: Mistakes) -> dict[str, Any]:  # noqa: ANN401
    table = table if isinstance(table, dict) else {}
    _known(table, "budget", _BUDGET, mistakes)
    for key, value in table.items():
        if key in _BUDGET and not _BUDGET[key](value):
            mistakes.add(None, f"budget.{key}", repr(value), "out of range")
    return dict(table)


def _known(table: Mapping[str, Any], where: str, names: Any, mistakes: Mistakes) -> None:  # noqa: ANN401
    for key in table:
        if key not in names:
            mistakes.add(None, f"{where}.{key}" if where else key, "", "unknown", ", ".join(names))


def _time(table: Mapping[str, Any], where: str, key: str, mistakes: Mistakes) -> float:
    try:
        return seconds(str(table[key]))
    except BecalmError as error:
        mistakes.add(None, f"{where}.{key}", repr(table[key]), str(error))
        return 0.0


def _whole(value: Any, least: int) -> bool:  # noqa: ANN401
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _number(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, (int, float)) and not isinstance(value, bool)
