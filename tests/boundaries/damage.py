"""Damage to values that a program reads from files."""

from __future__ import annotations

import copy
import random
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**63, 10**400, 1.5, -0.0, "", "x", "../x", "\0"),
    *([], [None], {}, {"x": 1}, [[[]]]),
)
"""Values that seldom fit."""


def mutated(value: Any, source: random.Random) -> Any:  # noqa: ANN401
    """Return a copy in which one value is missing or odd, or the copy is odd as a whole."""
    made = [copy.deepcopy(value)]
    container, key = source.choice(list(_places(made)))
    if container is not made and source.random() < 0.3:
        del container[key]
    else:
        container[key] = copy.deepcopy(source.choice(ODD))
    return made[0]


def _places(container: Any) -> Any:  # noqa: ANN401
    """Yield the places of all values in nested lists and tables."""
    for key, value in container.items() if isinstance(container, dict) else enumerate(container):
        yield container, key
        if isinstance(value, dict | list):
            yield from _places(value)
