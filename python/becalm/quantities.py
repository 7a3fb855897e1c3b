"""Amounts with a unit, read by the parser of scenarios."""

from __future__ import annotations

from becalm._core import seconds as core_seconds
from becalm.errors import BecalmError
from becalm.mistakes import short

UNITS = ("ps", "ns", "us", "ms", "s")
"""Units of time."""


def seconds(text: str) -> float:
    """Return the seconds of a time such as `5 ms` or `5ms`.

    Raises:
        BecalmError: if it is none; the message lists the units.

    """
    try:
        found = core_seconds(text)
    except UnicodeEncodeError:
        found = None
    if found is None:
        raise BecalmError(f"time `{short(text)}`: must be a number and one of {', '.join(UNITS)}")
    return found
