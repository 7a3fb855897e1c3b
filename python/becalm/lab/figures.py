"""Figures of experiments as tables of their panels, and of the curves, bars and closed forms in each panel.

    draw = single(
        Law("N - C RTT", range(100, 401), lambda flows: flows - 83.3),
        simulated("flows", "mean"),
        xlabel="flows",
        ylabel="mean queue (packets)",
    )

draws a figure with one panel from the tables of an experiment. A figure with several panels is a `Plot`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from becalm.lab.model import Label, Tables
from becalm.lab.tables import select_rows
from becalm.plot import COLOURS, MARKERS, curves, legend, panels
from becalm.plot.style import HEIGHT, WIDTH

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Part: TypeAlias = "Callable[[Axes, Tables], object]"
"""A function that draws tables into a panel: one of the classes below, or a function of a paper."""
Style: TypeAlias = Mapping[str, Any]
"""Line options of matplotlib."""

DASHED: Style = {"linestyle": "--"}
PLAIN: Style = {"marker": ""}
"""A line without markers, for series over time."""
DOTS: Style = {"linestyle": "none"}
"""Markers without a line, for simulated values next to a closed form."""


@dataclass(frozen=True)
class Curves:
    """Column `y` of a table over column `x`, with one curve for each value of column `by`."""

    x: str | pl.Expr
    y: str | pl.Expr
    by: str | pl.Expr | None = None
    names: Mapping[Any, str] = field(default_factory=dict)
    """Labels by value of `by`, in the order of the legend; empty: the values, as they appear in the table."""
    _: KW_ONLY
    label: str = ""
    """Label of the curve, if there is only one."""
    first: int = 0
    """Place of the first curve's colour in `COLOURS`."""
    style: Style = field(default_factory=dict)
    """Style of all curves. By default, each curve has the next colour and the next marker."""
    styles: Mapping[Any, Style] = field(default_factory=dict)
    """Styles by value of `by`."""
    where: Mapping[str, Label] = field(default_factory=dict)
    """Labels of the rows to draw; empty: all rows."""
    table: str = "points"

    def __call__(self, axes: Axes, tables: Tables) -> None:
        """Draw the curves that the table contains."""
        rows = select_rows(tables[self.table], self.where)
        if self.by is None:
            curves(axes, rows.select(x=self.x, y=self.y), x="x", y="y", label=self.label, **self._style(0))
            return
        rows = rows.select(x=self.x, y=self.y, by=self.by)
        values = rows["by"].unique(maintain_order=True).to_list()
        order = list(self.names or values)
        styles = {value: {**self._style(i), **self.styles.get(value, {})} for i, value in enumerate(order)}
        order = [value for value in order if value in values]
        curves(axes, rows, x="x", y="y", by="by", order=order, labels=self.names, styles=styles)

    def _style(self, place: int) -> dict[str, Any]:
        colour = COLOURS[(self.first + place) % len(COLOURS)]
        return {"color": colour, "marker": MARKERS[place % len(MARKERS)], **self.style}


def simulated(x: str | pl.Expr, y: str | pl.Expr, **more: Any) -> Curves:  # noqa: ANN401
    """Return simulated values as markers, next to a closed form in the first colour."""
    return Curves(x, y, **{"label": "simulated", "first": 1, "style": DOTS, **more})


@dataclass(frozen=True)
class Law:
    """A closed form: a line through its values at some `x`."""

    label: str
    x: Iterable[float]
    value: Callable[[Any], float]
    style: Style = field(default_factory=dict)
    place: int = 0
    """Place of its colour in `COLOURS`."""

    def __call__(self, axes: Axes, _: Tables) -> None:
        """Draw the line."""
        places = list(self.x)
        style = {"color": COLOURS[self.place], "label": self.label, **self.style}
        axes.plot(places, [self.value(x) for x in places], **style)


@dataclass(frozen=True)
class Level:
    """A dashed line across the panel: at a value of the vertical axis, or of the other axis if `upright`."""

    label: str
    value: float
    upright: bool = False
    colour: str = COLOURS[-1]

    def __call__(self, axes: Axes, _: Tables) -> None:
        """Draw the line."""
        line = axes.axvline if self.upright else axes.axhline
        line(self.value, color=self.colour, linestyle="--", label=self.label)


@dataclass(frozen=True)
class Bars:
    """A group of bars for each row of the points: one bar for each column."""

    x: str
    """Column with the names of the groups."""
    columns: Mapping[str, str]
    """Labels by column."""
    where: Mapping[str, Label] = field(default_factory=dict)
    colours: Sequence[str] = COLOURS

    def __call__(self, axes: Axes, tables: Tables) -> None:
        """Draw the bars."""
        rows = select_rows(tables["points"], self.where)
        count = len(self.columns)
        width, step = (0.5, 0.0) if count == 1 else (0.76 / count, 0.8 / count)
        for place, (column, label) in enumerate(self.columns.items()):
            left = [row + step * (place - (count - 1) / 2) for row in range(rows.height)]
            axes.bar(left, rows[column].to_list(), width, color=self.colours[place], label=label)
        axes.set_xticks(range(rows.height), [str(name) for name in rows[self.x]])


class Panel:
    """The parts of a panel, and the properties of its axes, such as `xlabel`, `ylim` and `title`."""

    def __init__(self, *parts: Part, **axes: Any) -> None:  # noqa: ANN401
        self._parts = parts
        self._axes = axes

    def draw(self, axes: Axes, tables: Tables) -> None:
        """Draw the parts, then set the properties."""
        for part in self._parts:
            part(axes, tables)
        axes.set(**self._axes)


class Plot:
    """A figure with panels, row by row, and one legend. Calling it with an experiment's tables draws it."""

    def __init__(
        self,
        *panels: Panel,
        columns: int | None = None,
        width: float | None = None,
        height: float = HEIGHT,
        below: int = 0,
        heading: str | None = None,
    ) -> None:
        """Describe the figure.

        Args:
            panels: the panels.
            columns: panels in a row; None: all.
            width: width of a panel in inches; None: narrower if there are several.
            height: height of a panel in inches.
            below: number of columns for a legend below the panels; 0 for a legend on the right.
            heading: heading of the legend.

        """
        self._panels = panels
        self._columns = columns or len(panels)
        self._size = {"width": width or (WIDTH if len(panels) == 1 else 4.6), "height": height}
        self._legend: dict[str, Any] = {"below": below, "title": heading}

    def __call__(self, tables: Tables) -> Figure:
        """Draw the figure."""
        rows = math.ceil(len(self._panels) / self._columns)
        made, areas = panels(rows, self._columns, **self._size)
        for panel, axes in zip(self._panels, areas, strict=False):
            panel.draw(axes, tables)
        for axes in areas[len(self._panels) :]:
            axes.set_axis_off()
        if any(axes.get_legend_handles_labels()[0] for axes in areas):
            legend(made, *areas, **self._legend)
        return made


def single(*parts: Part, below: int = 0, heading: str | None = None, **axes: Any) -> Plot:  # noqa: ANN401
    """Return a figure with one panel: see `Plot` for the legend, and `Panel` for the rest."""
    return Plot(Panel(*parts, **axes), below=below, heading=heading)
