"""Changes of a scenario by dotted keys, such as `flows.victim.stop`."""

from __future__ import annotations

import copy
from typing import Any

from becalm.base.errors import Mistake, ScenarioError
from becalm.base.mistakes import short

MOST_PARTS = 32
"""Maximum number of parts in a key, more than in any scenario."""


def put(data: dict[str, Any], key: str, value: Any, name: str) -> str:  # noqa: ANN401
    """Set a value in a scenario's dictionaries and lists, and return its key as in messages: `flows[0].stop`.

    Args:
        data: the scenario's content.
        key: the dotted key; items of a list are named by their index or by their `name`.
        value: the value; None removes the key.
        name: the scenario's name, for messages.

    Raises:
        ScenarioError: the scenario has no place for the key.

    """
    *path, last = key.split(".")
    if len(path) >= MOST_PARTS:
        raise _no_place(short(key), f"has {len(path) + 1} parts", f"up to {MOST_PARTS}", name)
    place: Any = data
    read = ""
    for part in path:
        if isinstance(place, dict):
            place = place.setdefault(part, {})
            read = f"{read}.{part}"
        else:
            number = _item(place, part, key, name)
            place = place[number]
            read = f"{read}[{number}]"
    if isinstance(place, list):
        number = _item(place, last, key, name)
        place[number] = copy.deepcopy(value)
        return f"{read}[{number}]".removeprefix(".")
    if not isinstance(place, dict):
        raise _no_place(key, f"`{'.'.join(path)}` is not a table", "a key inside a table", name)
    if value is None:
        place.pop(last, None)
    elif path and path[-1] in ("marking", "echo", "response") and isinstance(value, dict):
        # These tables have exactly one sub-table, so another one replaces it.
        place.clear()
        place[last] = copy.deepcopy(value)
    else:
        place[last] = copy.deepcopy(value)
    return f"{read}.{last}".removeprefix(".")


def _item(place: Any, part: str, key: str, name: str) -> int:  # noqa: ANN401
    """Return the index of an item in a list, by its number or its name."""
    if not isinstance(place, list):
        raise _no_place(key, f"`{part}` cannot be a key there", "a key inside a table", name)
    if part.isdecimal() and len(part) < 10 and int(part) < len(place):
        return int(part)
    names = [item.get("name") for item in place if isinstance(item, dict)]
    if part in names:
        return names.index(part)
    known = ", ".join(str(item) for item in names) or "none"
    raise _no_place(
        short(key), f"no item `{short(part)}`", f"0 to {len(place) - 1}, or one of: {known}", name
    )


def _no_place(key: str, problem: str, valid: str, name: str) -> ScenarioError:
    mistake = Mistake(line=None, key=key, value="", problem=problem, valid=valid)
    return ScenarioError(f"{name}: {key}: {problem}; valid: {valid}", name, [mistake])
