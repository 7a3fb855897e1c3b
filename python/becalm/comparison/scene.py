"""A scene as a file: a scenario and its measurements.

A scene is any scenario. The schemes replace its marking, echo and response. A table `[compare]` defines the
measurements:

[compare]
name = "hot spot"
background = ["background"]
contributors = ["hot"]
link = "leaf3->H31"

| key | meaning |
|---|---|
| `name` | the scene's name; default: the file's name |
| `background` | groups of flows that congestion should not affect |
| `contributors` | groups of flows that cause congestion |
| `link` | the link that the contributors fill |
| `hot_spot_degree` | number of sources that send to one host, for the guidelines of IBTA congestion control |
| `sizes` | bounds in bytes between size classes of messages, for slowdowns; requires `observe.messages` |
| `longest` | largest factor by which the scene may run longer until its rates settle; 1: never longer |
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from becalm.base import documents
from becalm.base.documents import Part, Table, wrong
from becalm.base.errors import BecalmError
from becalm.base.mistakes import read_text
from becalm.base.quantities import seconds
from becalm.comparison.shelf import Shelf

PART = "compare"
ORDER = ("dumbbell", "hot_spot", "incast", "storage", "all_reduce", "websearch")
"""Scenes that come first. Others follow by name."""
SIZES = (30_000, 1_000_000)
LONGEST = 4
MOST = 1024
"""Largest factor by which a scene may run longer."""


@dataclass(frozen=True)
class Scene:
    """A scenario for all schemes, and its measurements."""

    name: str
    data: Table
    """The scenario, without congestion control."""
    background: tuple[str, ...] = ()
    contributors: tuple[str, ...] = ()
    link: str | None = None
    hot_spot_degree: int | None = None
    sizes: tuple[int, ...] = SIZES
    longest: int = LONGEST

    @property
    def settles(self) -> bool:
        """Whether rates can settle. They cannot if the run ends when its messages or jobs end."""
        return str(self.data["run"].get("end", "duration")) == "duration"

    def times(self, factor: float) -> Scene:
        """Return the scene with all times of runs and flows multiplied by a factor."""
        run = self.data["run"]
        longer = {key: _scaled(run[key], factor) for key in ("duration", "warmup") if key in run}
        flows = [
            {**group, **{key: _scaled(group[key], factor) for key in ("start", "stop") if key in group}}
            for group in self.data.get("flows", [])
        ]
        data = {**self.data, "run": {**run, **longer}, **({"flows": flows} if flows else {})}
        if snapshots := data.get("observe", {}).get("snapshots"):
            snapshots = [_scaled(time, factor) for time in snapshots]
            data["observe"] = {**data["observe"], "snapshots": snapshots}
        if changes := data.get("changes"):
            data["changes"] = [{**change, "at": _scaled(change["at"], factor)} for change in changes]
        if faults := data.get("faults"):
            data["faults"] = [
                {**fault, **{key: _scaled(fault[key], factor) for key in ("at", "until") if key in fault}}
                for fault in faults
            ]
        return Scene(**{**self.__dict__, "data": data})


def _scaled(time: str, factor: float) -> str:
    return f"{seconds(time) * factor * 1e6:.10g} us"


def _rising(sizes: list[int]) -> list[int]:
    if sizes != sorted(set(sizes)):
        raise wrong("must be an ascending list of sizes in bytes")
    return sizes


class _Compare(Part):
    name: str | None = None
    background: list[str] = Field([])
    contributors: list[str] = Field([])
    link: str | None = Field(None, pattern="->", description='a link, such as "A->B"')
    hot_spot_degree: int | None = Field(None, ge=2)
    sizes: Annotated[list[Annotated[int, Field(gt=0)]], AfterValidator(_rising)] = Field([*SIZES])
    longest: int = Field(LONGEST, ge=1, le=MOST, description=f"1 to {MOST}")


class _Run(Part):
    model_config = ConfigDict(extra="allow")

    duration: str = Field(description='a time, such as "20 ms"')


class _File(Part):
    model_config = ConfigDict(extra="allow")

    run: _Run
    compare: _Compare = _Compare()


def is_scene(path: str | PathLike[str]) -> bool:
    """Return whether a path is a TOML file with the table `[compare]`."""
    if not Path(path).is_file():
        return False
    try:
        return PART in tomllib.loads(read_text(path))
    except (BecalmError, RecursionError, ValueError):
        return False


def read(path: str | PathLike[str]) -> Scene:
    """Read a scene.

    Raises:
        FileNotFoundError: the file does not exist.
        ScenarioError: `[compare]` is invalid; mistakes in the scenario are reported with the first scheme.

    """
    data, mistakes = documents.parse(read_text(path), str(path))
    found = documents.noted(data, _File, mistakes)
    for kind in ("flows", "jobs"):
        for place, group in _groups(data, kind):
            if "response" in group:
                mistakes.add(None, f"{kind}[{place}].response", "", "is set by the schemes instead")
    said = found.compare if found else _Compare()
    known = [str(group.get("name")) for _, group in _groups(data, "flows")]
    for key, names in (("background", said.background), ("contributors", said.contributors)):
        for place, name in enumerate(names):
            if name not in known:
                mistakes.add(None, f"{PART}.{key}[{place}]", f'"{name}"', "no such group", ", ".join(known))
    mistakes.check()
    left = (PART, "marking", "echo", "response")
    return Scene(
        name=said.name or Path(path).stem.replace("_", " "),
        data={key: value for key, value in data.items() if key not in left},
        background=tuple(said.background),
        contributors=tuple(said.contributors),
        link=said.link,
        hot_spot_degree=said.hot_spot_degree,
        sizes=tuple(said.sizes),
        longest=said.longest,
    )


def _groups(data: Table, kind: str) -> Iterator[tuple[int, Table]]:
    """Yield the valid groups. Mistakes in others are reported with the first scheme."""
    found = data.get(kind, [])
    for place, group in enumerate(found if isinstance(found, list) else []):
        if isinstance(group, dict):
            yield place, group


SCENES = Shelf("scene", ORDER, read)
"""Scenes that come with becalm."""
names, find = SCENES.names, SCENES.find
