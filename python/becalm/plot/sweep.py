"""A column of a sweep's table over one of its keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from becalm.plot.style import figure

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

ROWS = (
    "group",
    "name",
    "kind",
    "host",
    "from",
    "from_port",
    "to",
    "switch",
    "port",
    "peer",
    "vl",
    "flow",
    "run",
)
"""Columns that say what a row of a table is about."""
MOST = 12
"""Curves of a figure, at most."""

_NUMBER = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?\d+)?)\s*(\S*)\s*")


def draw_sweep(
    table: pl.DataFrame, keys: Sequence[str], y: str, *, x: str | None = None, unit: str = ""
) -> Figure:
    """Draw a column over a key: means over the replications, bars from the smallest to the largest.

    Args:
        table: a table of a sweep, with its keys as columns.
        keys: the columns that are keys.
        y: the column to draw.
        x: the key of the horizontal axis; the first that changes if not given.
        unit: of `y`, for the axis.

    Raises:
        ValueError: no such column, no key that changes, or more curves than can be told apart.

    """
    import polars as pl

    numbers = [name for name in table.columns if table[name].dtype.is_numeric() and name not in keys]
    if y not in numbers:
        raise ValueError(f"{y}: no column of numbers; valid: {', '.join(numbers)}")
    varying = [key for key in keys if table[key].n_unique() > 1]
    x = x or next(iter(varying or keys), None)
    if x is None:
        raise ValueError("the sweep changes no key")
    by = [*(key for key in varying if key != x), *(name for name in ROWS if name in table.columns)]
    by = [name for name in by if table[name].n_unique() > 1]
    whole = table.group_by(x, *by, maintain_order=True).agg(
        pl.col(y).mean().alias("mean"), pl.col(y).min().alias("low"), pl.col(y).max().alias("high")
    )
    curves = whole.group_by(by, maintain_order=True) if by else [((), whole)]
    listed = list(curves)
    if len(listed) > MOST:
        raise ValueError(f"{len(listed)} curves; at most {MOST} can be told apart: filter the table first")
    made, axes = figure()
    places, ticks = _axis(table[x].to_list())
    for name, curve in listed:
        at = [places[value] for value in curve[x].to_list()]
        order = sorted(range(len(at)), key=at.__getitem__)
        mean, low, high = ([curve[column][place] for place in order] for column in ("mean", "low", "high"))
        below = [middle - end for middle, end in zip(mean, low, strict=True)]
        above = [end - middle for middle, end in zip(mean, high, strict=True)]
        text = ", ".join(str(each) for each in name) or None
        axes.errorbar(
            [at[place] for place in order], mean, yerr=[below, above], marker="o", capsize=2, label=text
        )
    if ticks is not None:
        axes.set_xticks(range(len(ticks)), [str(each) for each in ticks])
    axes.set_xlabel(x if ticks is not None else f"{x}{_unit(table[x].to_list())}")
    axes.set_ylabel(f"{y} ({unit})" if unit else y)
    if by:
        handles, labels = axes.get_legend_handles_labels()
        made.legend(handles, labels, title=", ".join(by), fontsize="small", loc="outside right center")
    return made


def _axis(values: list[Any]) -> tuple[dict[Any, float], list[Any] | None]:
    """Return the place of every value, and what to write at the ticks where values are no numbers."""
    seen = list(dict.fromkeys(values))
    parts = [_NUMBER.fullmatch(str(value)) for value in seen]
    units = {part[2] for part in parts if part}
    if all(parts) and len(units) == 1:
        return {value: float(part[1]) for value, part in zip(seen, parts, strict=True) if part}, None
    return {value: float(place) for place, value in enumerate(seen)}, seen


def _unit(values: list[Any]) -> str:
    part = _NUMBER.fullmatch(str(values[0]))
    return f" ({part[2]})" if part and part[2] else ""
