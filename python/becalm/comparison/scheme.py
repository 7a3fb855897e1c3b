"""A scheme as a file: changes to apply to a scene.

name = "LIPD"
[marking.input_triggered]
[echo.ack]
[response.lipd]

| key | meaning |
|---|---|
| `name` | the scheme's name in tables; default: the file's name |
| `marking`, `echo`, `response` | replace the scene's tables; default: the defaults of a scenario |
| `switch`, `adapter`, `packet` | merged with the scene's tables, key by key |
| `guideline` | instead of these three: the guideline of `becalm manage` that derives them from the scene |
| `tune` | values of some keys, for a tuned row: see `becalm.comparison.tuning` |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from becalm import manager
from becalm.base import documents
from becalm.base.documents import Part, Table, one_of, wrong
from becalm.comparison.shelf import Shelf
from becalm.scenario import contents
from becalm.schemes.loading import Provided, load

CHOSEN = ("marking", "echo", "response")
"""Tables that replace the scene's tables."""
LAID_OVER = ("switch", "adapter", "packet")
"""Tables that are merged with the scene's tables, key by key."""
KEYS = ("name", "guideline", *CHOSEN, *LAID_OVER)

ORDER = (
    *("none", "pfc", "window_1", "lipd", "fimd", "aimd"),
    *("ibta_pfister", "ibta_gran", "ibta_becalm", "ibta_becalm2", "binary_feedback"),
    *("dcqcn", "dcqcn_pfc", "dctcp", "timely", "timely_patched", "swift", "hpcc", "hpcc_pfc", "nscc"),
)
"""Schemes that come first in tables. Others follow by name."""

MOST = 24
"""Maximum number of points in a grid."""

NO_SCHEMES = ("none", "fixed", "table", "external")
"""Responses that are not schemes on their own, because they use no feedback or define no behaviour."""

COMPANIONS: dict[str, Table] = {
    "response": {"marking": {"input_triggered": {}}, "echo": {"ack": {}}},
    "marking": {"echo": {"ack": {}}, "response": {"lipd": {}}},
    "echo": {"marking": {"ramp": {}}, "response": {"dcqcn": {}}},
}
"""The companions of a user-defined scheme by seam: LIPD's, or DCQCN's for an echo."""


@dataclass(frozen=True)
class Scheme:
    """Congestion control that can be applied to any scene."""

    name: str
    tables: Table = field(default_factory=dict)
    """Tables of a scenario: see `CHOSEN` and `LAID_OVER`."""
    guideline: str | None = None
    """The guideline that derives marking, echo and response from a scene."""
    own: tuple[Provided, ...] = ()
    """User-defined schemes that the tables name."""
    tune: Table = field(default_factory=dict)
    """Values of scenario keys, from which the tuned row is chosen."""
    values: Table = field(default_factory=dict)
    """The point of `tune` that the scheme uses, if any."""


def of_code(reference: str) -> Scheme:
    """Return a user-defined scheme, FILE:NAME, with its `COMPANIONS`.

    Raises:
        SchemeError: the scheme cannot be loaded.

    """
    own = load(reference)
    name, seam = own.core.name, own.core.seam
    tables = {**COMPANIONS[seam], seam: {"external": {"name": name}}}
    if seam == "response" and not own.core.needs_marks:
        tables["marking"] = {"none": {}}
    return Scheme(name, tables, own=(own,))


class _File(Part):
    name: str | None = Field(None, min_length=1)
    guideline: Annotated[str, one_of(manager.GUIDELINES)] | None = None
    marking: Table | None = None
    echo: Table | None = None
    response: Table | None = None
    switch: Table | None = None
    adapter: Table | None = None
    packet: Table | None = None
    tune: dict[str, Annotated[list[str | int | float], Field(min_length=1)]] = Field({})

    def tables(self) -> Table:
        """Return the scenario tables that the scheme sets."""
        return self.model_dump(include={*CHOSEN, *LAID_OVER}, exclude_none=True)

    @model_validator(mode="after")
    def _fits(self) -> _File:
        there = self.tables()
        if self.guideline is None and not there:
            raise wrong("sets nothing", ", ".join(KEYS[1:]))
        if self.guideline is not None and (both := [key for key in CHOSEN if key in there]):
            raise wrong(f"{', '.join(both)}: cannot be combined with guideline, which derives the value")
        points = math.prod(map(len, self.tune.values()))
        if points > MOST:
            raise wrong(f"tune: {points} points", f"at most {MOST}")
        return self


def read(path: str | PathLike[str]) -> Scheme:
    """Read a scheme.

    Raises:
        FileNotFoundError: the file does not exist.
        ScenarioError: the file is invalid; mistakes in its tables' values are reported with the first scene.

    """
    found, _ = documents.read(path, _File)
    return Scheme(found.name or Path(path).stem, found.tables(), found.guideline, tune=found.tune)


def unnamed(known: Sequence[Scheme]) -> list[Scheme]:
    """Return a scheme with default values for each response of this build that no known scheme uses.

    This also covers responses that are added outside becalm. `completed` adds marking and echo.
    """
    catalogue = contents.catalogue()
    has = {name for scheme in known for name in scheme.tables.get("response", {})}
    guided = {"ibta"} if any(scheme.guideline for scheme in known) else set()
    rest = [entry.name for entry in catalogue["response"] if entry.name not in {*has, *guided, *NO_SCHEMES}]
    return [Scheme(name, {"response": {name: {}}}) for name in rest]


def completed(scheme: Scheme) -> Scheme:
    """Complete a scheme that has only a response with the marking and the echo that it is meant for.

    The name of the result includes both.
    """
    if scheme.guideline is not None or list(scheme.tables) != ["response"]:
        return scheme
    named = [each for each in contents.catalogue()["response"] if each.name in scheme.tables["response"]]
    found = named[0].companions if named else None
    marking, echo = (found["marking"], found["echo"]) if found else ("none", "ack")
    tables = {**scheme.tables, "marking": {marking: {}}, "echo": {echo: {}}}
    return replace(scheme, name=f"{scheme.name} ({marking}, {echo})", tables=tables)


SCHEMES = Shelf("scheme", ORDER, read)
"""Schemes that come with becalm."""
names, find = SCHEMES.names, SCHEMES.find
