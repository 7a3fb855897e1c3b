"""A scene as a file: a scenario, and what is measured on it.

A scene is any scenario. Its marking, echo and response are those of the schemes. A table `[compare]` says
what is measured:

[compare]
name = "hot spot"
victims = ["background"]
contributors = ["hot"]
link = "leaf3->H31"

| key | what it holds |
|---|---|
| `name` | the scene's name; the file's name if left out |
| `victims` | groups of flows that congestion should not touch |
| `contributors` | groups of flows that cause it |
| `link` | the link that they fill |
| `hot_spot_degree` | sources that send to one host, for the guidelines of IBTA congestion control |
| `sizes` | bounds in bytes between classes of messages, for slowdowns by size; needs `observe.messages` |
| `longest` | up to how many times as long the scene may run until its rates have settled; 1: never longer |
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from becalm.comparison.shelf import Shelf
from becalm.mistakes import Mistakes, read_toml
from becalm.quantities import seconds

Table: TypeAlias = dict[str, Any]

PART = "compare"
KEYS = ("name", "victims", "contributors", "link", "hot_spot_degree", "sizes", "longest")
ORDER = ("dumbbell", "hot_spot", "incast", "storage", "all_reduce", "websearch")
"""Scenes that come first; others follow by their names."""
SIZES = (30_000, 1_000_000)
LONGEST = 4
MOST = 1024
"""Most times that a scene may run longer."""

_SHELF = Shelf("scene", ORDER)


@dataclass(frozen=True)
class Scene:
    """A scenario for all schemes, and what is measured on it."""

    name: str
    data: Table
    """The scenario, without congestion control."""
    victims: tuple[str, ...] = ()
    contributors: tuple[str, ...] = ()
    link: str | None = None
    hot_spot_degree: int | None = None
    sizes: tuple[int, ...] = SIZES
    longest: int = LONGEST

    @property
    def settles(self) -> bool:
        """Whether rates can settle: not where the run ends with its messages or jobs."""
        return str(self.data["run"].get("end", "duration")) == "duration"

    def times(self, factor: float) -> Scene:
        """Return the scene with all times of runs and flows so many times as long."""
        run = self.data["run"]
        longer = {key: _scaled(run[key], factor) for key in ("duration", "warmup") if key in run}
        flows = [
            {**group, **{key: _scaled(group[key], factor) for key in ("start", "stop") if key in group}}
            for group in self.data.get("flows", [])
        ]
        data = {**self.data, "run": {**run, **longer}, **({"flows": flows} if flows else {})}
        return Scene(**{**self.__dict__, "data": data})


def _scaled(time: str, factor: float) -> str:
    return f"{seconds(time) * factor * 1e6:.10g} us"


def names() -> list[str]:
    """Return the names of the scenes that come with becalm, as `--scene` takes them."""
    return _SHELF.names()


def find(name: str | PathLike[str]) -> Scene:
    """Return a scene by its name, or read it from a file.

    Raises:
        BecalmError: no such name and no such file; the message lists the names.
        ScenarioError: with all mistakes of the file.

    """
    return read(_SHELF.path(name))


def read(path: str | PathLike[str]) -> Scene:
    """Read a scene.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes of `[compare]`; those of the scenario come with the first scheme.

    """
    data = read_toml(path)
    mistakes = Mistakes(path)
    told = data.pop(PART, {})
    if not isinstance(told, dict):
        mistakes.add(None, PART, str(told), "must be a table")
        mistakes.check()
    for key in told:
        if key not in KEYS:
            mistakes.add(None, f"{PART}.{key}", "", "unknown key", ", ".join(KEYS))
    _check_scenario(data, mistakes)
    found = _measured(told, data, mistakes)
    mistakes.check()
    bare = {key: value for key, value in data.items() if key not in ("marking", "echo", "response")}
    return Scene(told.get("name", Path(path).stem.replace("_", " ")), bare, **found)


def _check_scenario(data: Table, mistakes: Mistakes) -> None:
    if not isinstance(data.get("run"), dict) or not isinstance(data["run"].get("duration"), str):
        mistakes.add(None, "run.duration", "", "is missing", 'a time, such as "20 ms"')
    for kind in ("flows", "jobs"):
        for group in _groups(data, kind):
            if "response" in group:
                problem = "a scene leaves the response to the schemes"
                mistakes.add(None, f"{kind}.{group.get('name', '?')}.response", "", problem)


def _groups(data: Table, kind: str) -> list[Table]:
    """Return the groups that can be read; mistakes in the others come with the first scheme."""
    found = data.get(kind, [])
    return [group for group in found if isinstance(group, dict)] if isinstance(found, list) else []


def _measured(told: Table, data: Table, mistakes: Mistakes) -> Table:
    groups = [str(group.get("name")) for group in _groups(data, "flows")]
    found: Table = {}
    for key in ("victims", "contributors"):
        names = told.get(key, [])
        if not isinstance(names, list) or any(name not in groups for name in names):
            mistakes.add(None, f"{PART}.{key}", str(names), "must be a list of groups", ", ".join(groups))
        found[key] = tuple(names) if isinstance(names, list) else ()
    if not isinstance(told.get("link", ""), str) or "->" not in told.get("link", "->"):
        mistakes.add(None, f"{PART}.link", str(told["link"]), "must be a link", '"A->B"')
    if not isinstance(told.get("name", ""), str):
        mistakes.add(None, f"{PART}.name", str(told["name"]), "must be a text")
    found["link"] = told.get("link")
    degree, longest, sizes = (
        told.get("hot_spot_degree"),
        told.get("longest", LONGEST),
        told.get("sizes", list(SIZES)),
    )
    if degree is not None and not (_whole(degree) and degree >= 2):
        mistakes.add(None, f"{PART}.hot_spot_degree", str(degree), "must be a whole number", "2 or more")
    if not (_whole(longest) and 1 <= longest <= MOST):
        mistakes.add(None, f"{PART}.longest", str(longest), "must be a whole number", f"1 to {MOST}")
    if (
        not isinstance(sizes, list)
        or not all(_whole(size) and size > 0 for size in sizes)
        or sizes != sorted(set(sizes))
    ):
        mistakes.add(None, f"{PART}.sizes", str(sizes), "must be a list of rising numbers of bytes")
        sizes = []
    return {**found, "hot_spot_degree": degree, "longest": longest, "sizes": tuple(sizes)}


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
