"""The choices of a scenario, as lists: schemes, topologies, traffic."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, NamedTuple, TypedDict

from becalm._core import catalogue as core_catalogue


class Parameter(TypedDict):
    """One key of a table of a scenario."""

    name: str
    kind: str
    unit: str
    default: Any
    required: bool
    range: str
    minimum: float | None
    maximum: float | None
    help: str


class Companions(TypedDict):
    """The marking and the echo that a response is meant for."""

    marking: str
    also: str
    """Whether `no` other marking suits it as well, those that `mark`, or `any`."""
    echo: str


class Entry(NamedTuple):
    """One choice."""

    name: str
    """Its name in scenarios and commands."""
    doc: str
    """Its full description, in Markdown."""
    parameters: list[Parameter]
    """Its keys, in order of declaration."""
    companions: Companions | None = None
    """Of a response, unless they depend on its parameters."""

    @property
    def summary(self) -> str:
        """The first sentence of its text, without the full stop."""
        text = " ".join(self.doc.split("\n\n")[0].split())
        return re.split(r"\. (?=[A-Z])", text)[0].rstrip(".")


@cache
def catalogue() -> dict[str, list[Entry]]:
    """Return all choices of a scenario, by kind."""
    kinds: dict[str, list[dict[str, Any]]] = json.loads(core_catalogue())
    return {kind: [Entry(**item) for item in items] for kind, items in kinds.items()}


def expects(parameter: Parameter) -> str:
    """Return a description of a key's valid values: kind, range and unit."""
    kind = parameter["kind"]
    if parameter["range"] and kind.startswith("an integer"):
        kind = "an integer"
    if parameter["range"]:
        kind += (" " if kind in ("an integer", "a finite number") else ", ") + parameter["range"]
    unit = parameter["unit"]
    return f"{kind}, {unit}" if unit and unit not in kind else kind


def default(parameter: Parameter) -> str:
    """Return the default of a key as written in a file, `required`, or `none`."""
    if parameter["required"]:
        return "required"
    return "none" if parameter["default"] is None else json.dumps(parameter["default"])
