"""The types of the C interface for ctypes, read from the header `becalm.h`, which states them once."""

from __future__ import annotations

import ctypes as c
import re
from typing import Any

from becalm._core import header

_NUMBERS: dict[str, Any] = {
    "double": c.c_double,
    **{
        f"{sign}int{8 * size}_t": getattr(c, f"c_{sign}int{8 * size}")
        for sign in ("", "u")
        for size in (1, 2, 4, 8)
    },
}
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CONSTANT = re.compile(r"BECALM_(\w+) (?:= )?(\d+)")
_TYPE = re.compile(r"typedef (struct|union) (becalm_\w+) \{(.*?)\} \2;", re.DOTALL)
_FUNCTION = re.compile(r"\w+ \(\*(\w+)\)\(.*\)", re.DOTALL)
_FIELDS = re.compile(r"(?:const )?(\w+) (.*)", re.DOTALL)


def _types(text: str) -> dict[str, type[Any]]:
    made: dict[str, type[Any]] = {}
    for sort, name, body in _TYPE.findall(text):
        fields = [field for line in body.split(";") if line.strip() for field in _fields(line.strip(), made)]
        base = c.Structure if sort == "struct" else c.Union
        made[name] = type(name, (base,), {"_fields_": fields})
    return made


def _fields(line: str, known: dict[str, type[Any]]) -> list[tuple[str, Any]]:
    """Return the names and types of one declaration. Only a pointer to text has its own type."""
    if function := _FUNCTION.fullmatch(line):
        return [(function[1], c.c_void_p)]
    kind, names = _FIELDS.fullmatch(line).groups()  # type: ignore[union-attr]
    found = []
    for name in names.split(","):
        stars = name.count("*")
        pointer = c.c_char_p if kind == "char" and stars == 1 else c.c_void_p
        found.append((name.split("*")[-1].strip(), pointer if stars else {**_NUMBERS, **known}[kind]))
    return found


_TEXT = _COMMENT.sub("", header())
CONSTANTS = {name: int(value) for name, value in _CONSTANT.findall(_TEXT)}
"""The header's numbers, without `BECALM_`."""
STRUCTURES = _types(_TEXT)
"""All types by name in the header."""


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Return a type by its name without `becalm_`: `abi.Flow` is `becalm_flow`."""
    try:
        return STRUCTURES[f"becalm_{name.lower()}"]
    except KeyError:
        raise AttributeError(name) from None
