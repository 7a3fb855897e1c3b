"""A scheme as a file: what is laid over a scene.

name = "LIPD"
[marking.input_triggered]
[echo.ack]
[response.lipd]

| key | what it holds |
|---|---|
| `name` | the scheme's name in tables; the file's name if left out |
| `marking`, `echo`, `response` | take the place of the scene's; the defaults of a scenario if left out |
| `switch`, `adapter`, `packet` | laid over the scene's, key by key |
| `guideline` | in place of the three: the guideline of `becalm manage` that derives them from the scene |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from becalm import contents, manager
from becalm.comparison.shelf import Shelf
from becalm.mistakes import Mistakes, read_toml

Table: TypeAlias = dict[str, Any]

CHOSEN = ("marking", "echo", "response")
"""Tables that take the place of the scene's."""
LAID_OVER = ("switch", "adapter", "packet")
"""Tables that are laid over the scene's, key by key."""
KEYS = ("name", "guideline", *CHOSEN, *LAID_OVER)

ORDER = (
    *("none", "pfc", "window_1", "lipd", "fimd", "aimd", "ibta_pfister", "ibta_gran", "binary_feedback"),
    *("dcqcn", "dcqcn_pfc", "dctcp", "timely", "timely_patched", "swift", "hpcc", "hpcc_pfc"),
)
"""Schemes that come first in tables; others follow by their names."""

NO_SCHEMES = ("none", "fixed", "table")
"""Responses that are no scheme of their own: without feedback, or without behaviour of their own."""

_SHELF = Shelf("scheme", ORDER)


@dataclass(frozen=True)
class Scheme:
    """Congestion control that can be laid over any scene."""

    name: str
    tables: Table = field(default_factory=dict)
    """Tables of a scenario: see `CHOSEN` and `LAID_OVER`."""
    guideline: str | None = None
    """The guideline that says what marking, echo and response should be for a scene."""


def names() -> list[str]:
    """Return the names of the schemes that come with becalm, as `--scheme` takes them."""
    return _SHELF.names()


def find(name: str | PathLike[str]) -> Scheme:
    """Return a scheme by its name, or read it from a file.

    Raises:
        BecalmError: no such name and no such file; the message lists the names.
        ScenarioError: with all mistakes of the file.

    """
    return read(_SHELF.path(name))


def read(path: str | PathLike[str]) -> Scheme:
    """Read a scheme.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes; those of values inside of its tables come with the first scene.

    """
    data = read_toml(path)
    mistakes = Mistakes(path)
    for key in data:
        if key not in KEYS:
            mistakes.add(None, key, "", "unknown key", ", ".join(KEYS))
    for key in (*CHOSEN, *LAID_OVER):
        if not isinstance(data.get(key, {}), dict):
            mistakes.add(None, key, str(data[key]), "must be a table")
    name, guideline = data.get("name", Path(path).stem), data.get("guideline")
    if not isinstance(name, str) or not name.strip():
        mistakes.add(None, "name", str(name), "must be a text")
    if guideline is not None:
        _check_guideline(guideline, data, mistakes)
    elif not any(key in data for key in (*CHOSEN, *LAID_OVER)):
        mistakes.add(None, "response", "", "is missing", "any of " + ", ".join(KEYS[1:]))
    mistakes.check()
    tables = {key: data[key] for key in (*CHOSEN, *LAID_OVER) if key in data}
    return Scheme(name, tables, guideline)


def _check_guideline(guideline: object, data: Table, mistakes: Mistakes) -> None:
    if guideline not in manager.GUIDELINES:
        mistakes.add(None, "guideline", str(guideline), "unknown", ", ".join(manager.GUIDELINES))
    for key in CHOSEN:
        if key in data:
            mistakes.add(None, key, "", "does not go with guideline, which derives it")


def unnamed(known: Sequence[Scheme]) -> list[Scheme]:
    """Return a scheme for each response of this becalm that no known scheme has, with all defaults.

    So the responses of a list outside of becalm are compared, too. They have neither marking nor echo:
    `merge.accepted` takes the first ones that a scene accepts.
    """
    catalogue = contents.catalogue()
    has = {name for scheme in known for name in scheme.tables.get("response", {})}
    guided = {"ibta"} if any(scheme.guideline for scheme in known) else set()
    rest = [entry.name for entry in catalogue["response"] if entry.name not in {*has, *guided, *NO_SCHEMES}]
    return [Scheme(name, {"response": {name: {}}}) for name in rest]
