"""DCQCN with a longer notification delay. Many flows oscillate, and the link becomes idle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from becalm.lab.bottleneck import measure
from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import select_rows
from becalm.papers.zhu2015.scene import LONG_LOOP, SHORT_LOOP, bottleneck
from becalm.plot import COLOURS, MARKERS, curves, legend, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOWS = (2, 4, 6, 8, 10)


def experiments() -> list[Experiment]:
    """Return the experiment on utilization and queue by the number of flows and the length of the loop."""
    return [
        Experiment(
            "zhu2015/delay",
            "DCQCN: utilization and queue with loops of 4 and 85 us",
            cost=25,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    counts = (FLOWS[0], FLOWS[-1]) if short else FLOWS
    return [
        Point({"flows": n, "loop": loop}, bottleneck(n, loop, short=short).scenario())
        for loop in (SHORT_LOOP, LONG_LOOP)
        for n in counts
    ]


def _draw(tables: Tables) -> Figure:
    made, (left, right) = panels(1, 2, width=4.6)
    for place, loop in enumerate((SHORT_LOOP, LONG_LOOP)):
        table = select_rows(tables["points"], {"loop": loop})
        style: dict[str, Any] = {"color": COLOURS[place], "marker": MARKERS[place]}
        curves(left, table, x="flows", y="utilization", label=f"loop of {loop:g} us", **style)
        curves(right, table, x="flows", y="mean", label=f"mean, {loop:g} us", **style)
        curves(right, table, x="flows", y="p99", label=f"99%, {loop:g} us", linestyle=":", **style)
    left.set(xlabel="flows", ylabel="utilization of the link")
    right.set(xlabel="flows", ylabel="queue (packets of 1000 B)", ylim=(0, None))
    legend(made, left, right, below=3)
    return made
