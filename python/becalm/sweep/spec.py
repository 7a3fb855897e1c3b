"""A sweep as a file: the scenario, its changes, the seeds and the store.

scenario = "input_triggered_lipd.toml"
keep = "series"
[set]
"run.duration" = "30 ms"
[grid]
"switch.buffer" = ["4 packets", "8 packets"]
[seeds]
count = 5
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from becalm.errors import ScenarioError
from becalm.mistakes import Mistakes, read_toml
from becalm.scenario import Scenario, load
from becalm.store import ALL, KEEPS, SERIES
from becalm.sweep.changes import Changes, told
from becalm.sweep.plan import Planned, planned
from becalm.sweep.random import METHODS, RandomPoints, read_random

STORE = Path("results/store")
"""Default store."""
MOST = 1_000_000
"""Most points of a sweep: more are a mistake."""
_PARTS = ("scenario", "store", "keep", "set", "grid", "zip", "list", "random", "seeds")


@dataclass(frozen=True)
class Spec:
    """A sweep that was read from a file."""

    file: str
    base: Scenario
    store: Path
    keep: str
    common: Changes
    """Changes of all points."""
    grid: dict[str, list[Any]]
    """Values by key, of which every combination is a point."""
    zip: dict[str, list[Any]]
    """Values by key, side by side."""
    listed: list[Changes]
    """Points one by one."""
    random: RandomPoints | None
    """Points drawn from ranges."""
    seeds: int
    first_seed: int | None

    def changes(self) -> list[Changes]:
        """Return the changes of every point: those of the list outermost, those of the grid innermost."""
        side_by_side = [
            dict(zip(self.zip, values, strict=True)) for values in zip(*self.zip.values(), strict=True)
        ]
        grid = [
            dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())
        ]
        drawn = self.random.draw() if self.random else [{}]
        parts = (self.listed or [{}], drawn, side_by_side or [{}], grid)
        return [
            {key: value for part in combined for key, value in part.items()}
            for combined in itertools.product(*parts)
        ]

    def points(self, keep: str | None = None) -> list[Planned]:
        """Return all points, checked; none of them has run.

        Args:
            keep: replaces what the file says. Unless all is kept, links are followed only if the scenario
                names them.

        Raises:
            ScenarioError: with the mistakes of all points, each with its changes.

        """
        changes = self.changes()
        scenarios: list[Scenario] = []
        mistakes: dict[str, str] = {}
        extra = self._extra(self.keep if keep is None else keep)
        for change in changes:
            try:
                scenarios.append(self.base.replace({**extra, **self.common, **change}))
            except ScenarioError as error:
                mistakes.setdefault(str(error), told(change))
        if mistakes:
            lines = [f"{self.file}: with {where}:\n{message}" for message, where in mistakes.items()]
            more = [f"{self.file}: and {len(lines) - _TOLD} more"] if len(lines) > _TOLD else []
            raise ScenarioError("\n".join([*lines[:_TOLD], *more]), self.file)
        return planned(changes, scenarios)

    def _extra(self, keep: str) -> Changes:
        found: Changes = {"run.replications": self.seeds}
        if self.first_seed is not None:
            found["run.seed"] = self.first_seed
        if keep != ALL and "links" not in self.base.data().get("observe", {}):
            found["observe.links"] = []
        return found


_TOLD = 20
"""Most points whose errors are listed; the others usually have the same ones."""


def read_spec(path: str | PathLike[str]) -> Spec:
    """Read the file of a sweep.

    Raises:
        FileNotFoundError: no such file, or no such scenario.
        ScenarioError: with all mistakes at once.

    """
    path = Path(path)
    mistakes = Mistakes(path)
    data = read_toml(path)
    keep, store = _settings(data, mistakes)
    tables = {name: _table(data, name, mistakes) for name in ("set", "grid", "zip", "random", "seeds")}
    grid = dict(_lists("grid", tables["grid"], mistakes))
    side = dict(_lists("zip", tables["zip"], mistakes))
    if len({len(values) for values in side.values()}) > 1:
        lengths = ", ".join(f"{key}: {len(values)}" for key, values in side.items())
        mistakes.add(None, "zip", lengths, "lists side by side must be of the same length")
    listed = data.get("list", [])
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        mistakes.add(None, "list", "", "must be tables, each with the changes of one point", "[[list]]")
    random = read_random(tables["random"], mistakes) if tables["random"] else None
    seeds, first = _seeds(tables["seeds"], mistakes)
    mistakes.check()
    base = load(path.parent / data["scenario"])
    spec = Spec(
        file=str(path),
        base=base,
        store=STORE if store is None else path.parent / store,
        keep=keep,
        common=tables["set"],
        grid=grid,
        zip=side,
        listed=listed,
        random=random,
        seeds=seeds or base.replications,
        first_seed=first,
    )
    _check_whole(spec, mistakes)
    return spec


def _settings(data: Mapping[str, Any], mistakes: Mistakes) -> tuple[str, str | None]:
    """Return how much to keep, and where if the file says it; note what is wrong outside of the tables."""
    for key in data:
        if key not in _PARTS:
            mistakes.add(None, key, "", "unknown", ", ".join(_PARTS))
    if not isinstance(data.get("scenario"), str):
        mistakes.add(
            None, "scenario", "", "must be the path of a scenario, relative to this file", "a string"
        )
    keep = data.get("keep", SERIES)
    if keep not in KEEPS:
        mistakes.add(None, "keep", repr(keep), "unknown", ", ".join(KEEPS))
    store = data.get("store")
    if store is not None and not isinstance(store, str):
        mistakes.add(None, "store", repr(store), "must be a folder, relative to this file", "a string")
    return keep, store


def _check_whole(spec: Spec, mistakes: Mistakes) -> None:
    parts = {
        "set": spec.common,
        "grid": spec.grid,
        "zip": spec.zip,
        "random": spec.random.ranges if spec.random else {},
    }
    parts["list"] = {key: None for change in spec.listed for key in change}
    for (name, keys), (other, others) in itertools.combinations(parts.items(), 2):
        for key in keys:
            if key in others and name != "set":
                mistakes.add(None, f"{name}.{key}", "", f"is changed in [{other}] as well", "one of the two")
    count = max(1, len(spec.listed)) * (spec.random.points if spec.random else 1) * spec.seeds
    for values in spec.grid.values():
        count *= len(values)
    count *= max(1, *(len(values) for values in spec.zip.values())) if spec.zip else 1
    if count > MOST:
        mistakes.add(None, "grid", f"{count} runs", f"more than {MOST}", "fewer values, or a random sample")
    mistakes.check()


def _table(data: Mapping[str, Any], name: str, mistakes: Mistakes) -> dict[str, Any]:
    found = data.get(name, {})
    if isinstance(found, dict):
        return found
    mistakes.add(None, name, repr(found), "must be a table", f"[{name}]")
    return {}


def _lists(name: str, table: Mapping[str, Any], mistakes: Mistakes) -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of a table by dotted key, whether the key is quoted or not."""
    for key, values in table.items():
        if isinstance(values, dict) and values:
            for inner, found in _lists(f"{name}.{key}", values, mistakes):
                yield f"{key}.{inner}", found
        elif isinstance(values, list) and values:
            yield key, values
        else:
            mistakes.add(
                None, f"{name}.{key}", repr(values), "must be a list of values", '["4 packets", "8 packets"]'
            )


def _seeds(table: Mapping[str, Any], mistakes: Mistakes) -> tuple[int | None, int | None]:
    for key, value in table.items():
        least = {"count": 1, "first": 0}.get(key)
        if least is None:
            mistakes.add(None, f"seeds.{key}", repr(value), "unknown", "count, first")
        elif not isinstance(value, int) or isinstance(value, bool) or value < least:
            mistakes.add(None, f"seeds.{key}", repr(value), "out of range", f"an integer, {least} or more")
    return table.get("count"), table.get("first")


__all__ = ["METHODS", "STORE", "Spec", "read_spec"]
