"""Quantities with units: times, read with the scenario parser, and positions on an axis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from becalm._core import seconds as core_seconds
from becalm.base.errors import BecalmError
from becalm.base.mistakes import short

UNITS = ("ps", "ns", "us", "ms", "s")
"""Units of time."""
_PREFIXES = {
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
}
_SIZES = {f"{prefix}B": factor for prefix, factor in _PREFIXES.items()}
_RATES = {
    f"{prefix}{unit}/s": part * factor
    for prefix, factor in _PREFIXES.items()
    for unit, part in (("b", 1.0), ("B", 8.0))
}
_TIMES = {unit: 10.0 ** (3 * place - 12) for place, unit in enumerate(UNITS)}
_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s]\S*|)\s*")


def rate(text: str) -> float:
    """Return a rate such as `100 Gb/s` in B/s.

    Raises:
        BecalmError: not a rate.

    """
    part = _QUANTITY.fullmatch(text)
    if part is None or part[2] not in _RATES:
        raise BecalmError(f"`{short(text)}`: not a rate; valid: a number with its unit, such as 100 Gb/s")
    # Units are in bits.
    return float(part[1]) * _RATES[part[2]] / 8


def rate_in_words(bits: float) -> str:
    """Return a rate in b/s as scenarios write it: `100 Gb/s`."""
    return f"{bits / 1e9:.12g} Gb/s"


def in_bytes(text: str) -> float:
    """Return the bytes of a size such as `64 KiB`.

    Raises:
        BecalmError: not a size.

    """
    part = _QUANTITY.fullmatch(text)
    if part is None or part[2] not in _SIZES:
        raise BecalmError(f"`{short(text)}`: not a size; valid: a number with its unit, such as 64 KiB")
    return float(part[1]) * _SIZES[part[2]]


def axis(values: Sequence[Any]) -> tuple[list[float], str] | None:
    """Return numbers and quantities as numbers in their smallest common unit, or None if there is none.

    `512 B` and `16 KiB` become 512 and 16384 in `B`; `4 packets` and `8 packets` become 4 and 8 in `packets`.
    """
    parts = [None if isinstance(value, bool) else _QUANTITY.fullmatch(str(value)) for value in values]
    found = [(float(part[1]), part[2]) for part in parts if part]
    units = {unit for _, unit in found}
    if not found or len(found) < len(parts):
        return None
    for scale in (dict.fromkeys(units, 1.0) if len(units) == 1 else {}, _SIZES, _RATES, _TIMES):
        if units <= scale.keys():
            unit = min(units, key=scale.__getitem__)
            return [number * scale[own] / scale[unit] for number, own in found], unit
    return None


def seconds(text: str) -> float:
    """Return the seconds of a time such as `5 ms` or `5ms`.

    Raises:
        BecalmError: the text is not a time; the message lists the units.

    """
    try:
        found = core_seconds(text)
    except UnicodeEncodeError:
        found = None
    if found is None:
        raise BecalmError(f"time `{short(text)}`: must be a number with one of the units {', '.join(UNITS)}")
    return found
