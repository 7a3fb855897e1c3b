"""Draws a paper's values with their tolerances, and its bounds, into the reproduced figure.

The key `drawn` of a claim sets the position of its value in the figure:

    drawn = { over = [45, 59], like = "victim flow" }

| key | meaning | default |
|---|---|---|
| `panel` | number of the panel, starting at 0, or a list of numbers | the first panel |
| `over` | range on the other axis | the entire panel |
| `along` | `"x"` if the value is on the horizontal axis | the vertical axis |
| `like` | label of the curve with the value's colour; black for bars | grey |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from becalm.base.documents import Part, one_of, wrong
from becalm.lab.expect import Region

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#666666"
FONT = 8
VALUE, BAND, LEAST, MOST = "paper's value", "paper, with tolerance", "paper: at least", "paper: at most"
LEAST_MARKS, MOST_MARKS = (10, 9), (11, 8)
"""Matplotlib's caret markers for each axis, on the side of the bound's valid values."""
_LINE: Mapping[str, Any] = {"linestyle": (0, (4, 2)), "linewidth": 1.3, "zorder": 6}


def _listed(panel: object) -> object:
    return panel if isinstance(panel, list) else [panel]


def _rising(ends: list[float]) -> list[float]:
    if ends[0] >= ends[1]:
        raise wrong("starts at or above its end")
    return ends


class Drawn(Part):
    """Position of a claim's value in its figure."""

    panels: Annotated[
        list[Annotated[int, Field(ge=0)]],
        BeforeValidator(lambda each: each if isinstance(each, list) else [each]),
    ] = Field([0], alias="panel", min_length=1, description="a number from 0, or a list of them")
    over: Annotated[list[float], AfterValidator(_rising)] | None = Field(
        None, min_length=2, max_length=2, description="two numbers, the smaller one first"
    )
    along: Annotated[str, one_of(("x", "y"))] = "y"
    like: str | None = Field(None, description="the label of a curve")


def draw(made: Figure, claims: Iterable[tuple[Drawn, Region]]) -> None:
    """Draw the expectations of claims into a figure, and add a separate legend above the panels.

    Raises:
        ValueError: the figure has no panel with that number, or the panel has no curve with that label.

    """
    used: dict[str, Artist] = {}
    for place, region in claims:
        for number in place.panels:
            if number >= len(made.axes):
                raise ValueError(f"drawn.panel = {number}: the figure has {len(made.axes)} panels")
            used |= _region(made.axes[number], place, region)
    if used:
        made.legend(
            list(used.values()), list(used), loc="outside upper center", ncols=4, frameon=False, fontsize=FONT
        )


def _region(axes: Axes, place: Drawn, region: Region) -> dict[str, Artist]:
    """Draw one value, band or bound, and return its legend entries."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colour = _colour(axes, place.like)
    flat = place.along == "y"
    limits = (axes.get_xlim(), axes.get_ylim())
    ends = (place.over[0], place.over[1]) if place.over else limits[0 if flat else 1]
    low, high = region.low, region.high
    used: dict[str, Artist] = {}
    if low is not None and high is not None and high > low:
        fill = axes.fill_between if flat else axes.fill_betweenx
        fill(ends, low, high, color=colour, alpha=0.22, linewidth=0, zorder=4 if colour == "black" else 0.5)
        used[BAND] = Patch(color=GREY, alpha=0.22, linewidth=0)
    how: dict[str, Any] = {"color": colour}
    if region.value is not None:
        _line(axes, ends, region.value, how, flat=flat)
        used = {VALUE: Line2D([], [], color=GREY, **_LINE), **used}
    elif not used:
        bound, marks, name = (high, MOST_MARKS, MOST) if low is None else (low, LEAST_MARKS, LEAST)
        how |= {"marker": marks[0 if flat else 1], "markevery": [1, 2], "markersize": 6}
        if bound is not None:
            _line(axes, ends, bound, how, flat=flat)
            used[name] = Line2D([], [], **{**how, "color": GREY, "markevery": None}, **_LINE)
    _keep(axes, limits, [each for each in (low, high, region.value) if each is not None], flat=flat)
    return used


def _line(axes: Axes, ends: tuple[float, float], value: float, how: Mapping[str, Any], *, flat: bool) -> None:
    # Place markers within the line, because its ends may be at the edges of the panel.
    shares = (0, 0.25, 0.75, 1)
    points = [ends[0] + share * (ends[1] - ends[0]) for share in shares]
    if (axes.get_xscale() if flat else axes.get_yscale()) == "log" and ends[0] > 0:
        points = [ends[0] * (ends[1] / ends[0]) ** share for share in shares]
    level = [value] * len(points)
    axes.plot(points if flat else level, level if flat else points, **how, **_LINE)


def _keep(
    axes: Axes, limits: tuple[tuple[float, float], tuple[float, float]], values: list[float], *, flat: bool
) -> None:
    """Keep the limits of the axes, but extend them if a value would be outside."""
    own, other = limits[::-1] if flat else limits
    upward = own[0] <= own[1]
    low, high = min(*own, *values), max(*own, *values)
    if upward:
        own = (low, high if high == max(own) else high + 0.04 * (high - low))
    (axes.set_ylim if flat else axes.set_xlim)(own)
    (axes.set_xlim if flat else axes.set_ylim)(other)


def _colour(axes: Axes, like: str | None) -> Any:  # noqa: ANN401
    """Return the colour of the curve with label `like`, or black for bars."""
    from matplotlib.container import BarContainer, ErrorbarContainer
    from matplotlib.lines import Line2D

    if like is None:
        return GREY
    handles, labels = axes.get_legend_handles_labels()
    named = dict(zip(map(str, labels), handles, strict=True))
    if like not in named:
        raise ValueError(f"drawn.like = {like!r}: no such label; valid: {', '.join(named) or 'none'}")
    handle: Any = named[like]
    if isinstance(handle, BarContainer):
        return "black"
    if isinstance(handle, ErrorbarContainer):
        handle = handle.lines[0]
    return handle.get_color() if isinstance(handle, Line2D) else GREY
