"""Changes to a scenario: the points of a grid and their names."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

from becalm.errors import ScenarioError
from becalm.scenario import Scenario

Changes = dict[str, Any]
"""Values by dotted key."""


def expand(grid: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list[Changes]:
    """Return the changes of every point, in order. NumPy and polars values become plain values.

    Raises:
        ValueError: a value of the grid is not a list.

    """
    if not isinstance(grid, Mapping):
        return [{key: plain(value) for key, value in change.items()} for change in grid]
    lists = {key: plain(values) for key, values in grid.items()}
    for key, values in lists.items():
        if not isinstance(values, list):
            raise ValueError(f"{key}: a grid needs a list of values, not {values!r}")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def plain(value: Any) -> Any:  # noqa: ANN401
    """Return a NumPy number or array, series, tuple or range as a plain value for scenarios."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, str):
        return str(value)
    for convert in ("tolist", "to_list"):
        if hasattr(value, convert):
            return plain(getattr(value, convert)())
    if isinstance(value, Sequence):
        return [plain(each) for each in value]
    return value


def label(value: Any) -> str | float | int | bool | None:  # noqa: ANN401
    """Return a changed value as a table cell. A choice is shown by its name and parameters."""
    if value is None or isinstance(value, (str, float, int, bool)):
        return value
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, parameters),) = value.items()
        if isinstance(parameters, Mapping):
            inside = ", ".join(f"{key}={each}" for key, each in parameters.items())
            return f"{name}({inside})" if inside else str(name)
    return json.dumps(value, default=str)


def summary(changes: Mapping[str, Any]) -> str:
    """Return changes in one line: `switch.buffer = 4 packets, response = fimd`."""
    return ", ".join(f"{key} = {label(value)}" for key, value in changes.items()) or "no changes"


def changed(base: Scenario, changes: Mapping[str, Any], extra: Mapping[str, Any]) -> Scenario:
    """Return a changed scenario.

    Raises:
        ScenarioError: the result is invalid; the message names the changes.

    """
    try:
        return base.replace({**changes, **extra})
    except ScenarioError as error:
        raise ScenarioError(f"with {summary(changes)}:\n{error}", error.file, error.mistakes) from error
