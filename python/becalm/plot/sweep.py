"""Draws a column of a sweep's table over one of its keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from becalm.base.intervals import mean_interval
from becalm.base.quantities import axis
from becalm.plot.style import HEIGHT, WIDTH, legend, panels

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
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
"""Columns that identify the subject of a row."""
MOST = 12
"""Maximum number of curves in a panel."""
MOST_PANELS = 12
"""Maximum number of panels in a figure."""


def draw_sweep(
    table: pl.DataFrame, keys: Sequence[str], y: str, *, x: str | None = None, unit: str = ""
) -> Figure:
    """Draw a column over a key, as means over the replications with 95% intervals.

    Each value of a second key has its own panel.

    Args:
        table: a table of a sweep, with its keys as columns.
        keys: the columns that are keys.
        y: the column to draw.
        x: the key of the horizontal axis; default: the first key that changes.
        unit: unit of `y`, for the axis.

    Raises:
        ValueError: the column does not exist, no key changes, or there are too many curves or panels.

    """
    numbers = [name for name in table.columns if table[name].dtype.is_numeric() and name not in keys]
    if y not in numbers:
        raise ValueError(f"{y}: not a numeric column; valid: {', '.join(numbers)}")
    varying = [key for key in keys if table[key].n_unique() > 1]
    x = x or next(iter(varying or keys), None)
    if x is None:
        raise ValueError("the sweep changes no key")
    others = [key for key in varying if key != x]
    second = others.pop(0) if others else None
    by = [*others, *(name for name in ROWS if name in table.columns and table[name].n_unique() > 1)]
    parts = table.partition_by(second, maintain_order=True) if second else [table]
    if len(parts) > MOST_PANELS:
        raise ValueError(
            f"{len(parts)} values of {second}, but at most {MOST_PANELS} fit: filter the table first"
        )
    columns = min(len(parts), 3)
    size = (WIDTH, HEIGHT) if len(parts) == 1 else (0.6 * WIDTH, 0.7 * HEIGHT)
    made, areas = panels(-(-len(parts) // columns), columns, width=size[0], height=size[1])
    shown = _Axis(table[x].unique(maintain_order=True).to_list())
    for axes, part in zip(areas, parts, strict=False):
        curves = list(part.group_by(by, maintain_order=True)) if by else [((), part)]
        if len(curves) > MOST:
            raise ValueError(
                f"{len(curves)} curves, but at most {MOST} are distinguishable: filter the table first"
            )
        for name, curve in curves:
            shown.draw(axes, curve, x, y, ", ".join(str(each) for each in name) or None)
        axes.set_xlabel(f"{x} ({shown.unit})" if shown.unit else x)
        axes.set_ylabel(f"{y} ({unit})" if unit else y)
        if second:
            axes.set_title(f"{second} = {part[second][0]}", fontsize="medium")
    for axes in areas[len(parts) :]:
        axes.remove()
    ends = [axes.get_ylim() for axes in areas[: len(parts)]]
    for axes in areas[: len(parts)]:
        axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    if by:
        legend(made, *areas[: len(parts)], title=", ".join(by))
    return made


class _Axis:
    """The horizontal axis, with numbers and quantities at their values, and names side by side."""

    def __init__(self, values: list[Any]) -> None:
        found = axis(values)
        self.unit = found[1] if found else ""
        self.names = None if found else values
        self.places = dict(zip(values, found[0] if found else range(len(values)), strict=True))

    def draw(self, axes: Axes, curve: pl.DataFrame, x: str, y: str, name: str | None) -> None:
        """Draw the means of a curve with error bars."""
        by_value = {value[0]: part[y].drop_nulls().drop_nans().to_list() for value, part in curve.group_by(x)}
        points = sorted(
            (self.places[value], mean_interval(found)) for value, found in by_value.items() if found
        )
        bars = [[each.mean - each.low for _, each in points], [each.high - each.mean for _, each in points]]
        means = [each.mean for _, each in points]
        axes.errorbar([at for at, _ in points], means, yerr=bars, marker="o", capsize=2, label=name)
        if self.names is not None:
            axes.set_xticks(range(len(self.names)), [str(each) for each in self.names])
