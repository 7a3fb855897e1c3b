"""A scene as a file: a scenario, and what is measured on it.

A scene is any scenario. Its marking, echo and response are those of the schemes. A table `[compare]` says
what is measured:

[compare]
name = "hot spot"
background = ["background"]
contributors = ["hot"]
link = "leaf3->H31"

| key | meaning |
|---|---|
| `name` | the scene's name; the file's name if left out |
| `background` | groups of flows that congestion should not touch |
| `contributors` | groups of flows that cause it |
| `link` | the link that they fill |
| `hot_spot_degree` | sources that send to one host, for the guidelines of IBTA congestion control |
| `sizes` | bounds in bytes between classes of messages, for slowdowns by size; needs `observe.messages` |
| `longest` | largest factor by which the scene may run longer until its rates have settled; 1: never longer |
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from becalm import documents
from becalm.comparison.shelf import Shelf
from becalm.documents import Part, Table, wrong
from becalm.errors import BecalmError
from becalm.mistakes import read_text
from becalm.quantities import seconds

PART = "compare"
ORDER = ("dumbbell", "hot_spot", "incast", "storage", "all_reduce", "websearch")
"""Scenes that come first; others follow by name."""
SIZES = (30_000, 1_000_000)
LONGEST = 4
MOST = 1024
"""Largest factor by which a scene may run longer."""


@dataclass(frozen=True)
class Scene:
    """A scenario for all schemes, and what is measured on it."""

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
        """Whether rates can settle: not if the run ends with its messages or jobs."""
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
        return Scene(**{**self.__dict__, "data": data})


def _scaled(time: str, factor: float) -> str:
    return f"{seconds(time) * factor * 1e6:.10g} us"


def _rising(sizes: list[int]) -> list[int]:
    if sizes != sorted(set(sizes)):
        raise wrong("must be a list of rising numbers of bytes")
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
    """Return whether a path is a TOML file that has the table of a scene."""
    if not Path(path).is_file():
        return False
    try:
        return PART in tomllib.loads(read_text(path))
    except (BecalmError, RecursionError, ValueError):
        return False


def read(path: str | PathLike[str]) -> Scene:
    """Read a scene.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: all mistakes in `[compare]`; those in the scenario are reported with the first scheme.

    """
    data, mistakes = documents.parse(read_text(path), str(path))
    found = documents.noted(data, _File, mistakes)
    for kind in ("flows", "jobs"):
        for place, group in _groups(data, kind):
            if "response" in group:
                mistakes.add(None, f"{kind}[{place}].response", "", "a scene has none: the schemes set it")
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
    """Yield the groups that can be read; mistakes in the others are reported with the first scheme."""
    found = data.get(kind, [])
    for place, group in enumerate(found if isinstance(found, list) else []):
        if isinstance(group, dict):
            yield place, group


SCENES = Shelf("scene", ORDER, read)
"""Scenes that come with becalm."""
names, find = SCENES.names, SCENES.find
