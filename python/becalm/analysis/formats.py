"""Numbers as human-readable text: counts, rates, times, shares, ratios."""

from __future__ import annotations

from typing import Any

_JUST_BELOW = 0.9995
"""Threshold above which a value rounds to 1000, and is shown as 1 of the next unit."""
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def number(value: float, unit: str = "") -> str:
    """Return a number with three digits and a decimal prefix: `1.23 GB/s`."""
    for size, prefix in _PREFIXES:
        if abs(value) >= _JUST_BELOW * size:
            return f"{three(value / size)} {prefix}{unit}"
    return f"{three(value)} {unit}".rstrip()


def counted(number_of: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless it is 1: `1 link`, `3 links`."""
    return f"{number_of} {noun}{'s' if number_of != 1 else ''}"


def seconds(value: float | None) -> str:
    """Return a time with three digits in a suitable unit; `-` for none."""
    if value is None or value != value:
        return "-"
    size, unit = unit_of(value)
    return f"{three(value / size)} {unit}"


def unit_of(time: float) -> tuple[float, str]:
    """Return a suitable unit of a time: its size in s, and its name."""
    units = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
    return next(((size, name) for size, name in units if abs(time) >= _JUST_BELOW * size), (1e-9, "ns"))


def three(value: float) -> str:
    """Return a number with three significant digits, and all digits before the decimal point."""
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{digits}f}"


MOST_SHARE = 1.005
"""Largest valid share: packets at the ends of a window may push a full link slightly above 1."""


def share(value: float | None) -> str:
    """Return a share as a percentage; `-` for none, or for a value too far above 1."""
    return "-" if value is None or not value <= MOST_SHARE else f"{100 * min(value, 1.0):.1f}%"


def ratio(value: float | None) -> str:
    """Return a ratio with two decimal places; `-` for none."""
    return "-" if value is None or value != value else f"{value:.2f}"


def value(kind: str, unit: str, value: Any) -> str:  # noqa: ANN401
    """Return a value of a result table as text, by the kind and unit of its column."""
    if value is None or value != value:
        return "-"
    if kind in ("name", "number"):
        return f"{value:.0f}" if isinstance(value, float) else str(value)
    if kind == "flag":
        return "yes" if value else "no"
    if kind == "count":
        return f"{value:,.0f}" if value == int(value) else three(value)
    shown = {"share": share, "index": lambda each: f"{each:.3f}", "ratio": ratio, "time": seconds}
    return shown[kind](value) if kind in shown else number(value, unit)


def cell(value: Any) -> str:  # noqa: ANN401
    """Return any value as text for a table cell."""
    if isinstance(value, list):
        return ", ".join(cell(each) for each in value)
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)


def difference(gain: float, low: float, high: float) -> str:
    """Return the change of a loss in words, with the 95% interval of the gain."""
    if low <= 0 <= high:
        return f"no significant difference (95% interval of the gain {low:.4f} to {high:.4f})"
    word = "better" if gain > 0 else "worse"
    ends = sorted((abs(low), abs(high)))
    return f"{abs(gain):.4f} {word} (95% interval {ends[0]:.4f} to {ends[1]:.4f})"
