"""Amounts with a unit, as scenarios write them."""

from __future__ import annotations

from becalm.errors import BecalmError

SECONDS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
"""Units of time, in s."""


def seconds(text: str) -> float:
    """Return the seconds of a time such as `5 ms`.

    Raises:
        BecalmError: if it is none; the message lists the units.

    """
    number, _, unit = text.strip().partition(" ")
    try:
        return float(number) * SECONDS[unit.strip()]
    except (ValueError, KeyError):
        raise BecalmError(f"time `{text}`: must be a number and one of {', '.join(SECONDS)}") from None
