"""Minimum and maximum of the queue of synchronized flows, by the number of flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from becalm.lab.bottleneck import measure
from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import select_rows
from becalm.papers.alizadeh2010.scene import bottleneck, law
from becalm.plot import COLOURS, MARKERS, curves, legend, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOWS = (1, 2, 5, 10, 20, 40)
JUDGED = ("arrival", "departure")
"""Events at which the queue is read for a mark. The paper's switches read it when a packet arrives."""


def experiments() -> list[Experiment]:
    """Return the experiment on the queue and the share of marks by the number of flows."""
    return [
        Experiment(
            "alizadeh2010/sawtooth",
            "DCTCP: queue and marks by number of flows, simulated and by the sawtooth",
            cost=10,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    counts = (2, 10) if short else FLOWS
    return [
        Point({"flows": n, "judged": judged}, bottleneck(n, judged=judged, short=short).scenario())
        for judged in JUDGED
        for n in counts
    ]


def _draw(tables: Tables) -> Figure:
    made, (left, right) = panels(1, 2, width=4.6)
    counts = np.arange(1, max(FLOWS) + 1)
    laws = [law(int(n)) for n in counts]
    for place, (name, values) in enumerate(
        (
            ("max", [each.largest_queue for each in laws]),
            ("min", [max(0.0, each.smallest_queue) for each in laws]),
        )
    ):
        left.plot(counts, values, color=COLOURS[place], linestyle="--", label=f"{name}, closed form")
        for when, fill in zip(JUDGED, ("full", "none"), strict=True):
            style: dict[str, Any] = {
                "linestyle": "",
                "marker": MARKERS[place],
                "color": COLOURS[place],
                "fillstyle": fill,
            }
            table = select_rows(tables["points"], {"judged": when})
            curves(left, table, x="flows", y=name, label=f"{name}, judged on {when}", **style)
    alpha = [each.alpha for each in laws]
    right.plot(counts, alpha, color=COLOURS[0], linestyle="--", label="alpha, closed form")
    for when, fill in zip(JUDGED, ("full", "none"), strict=True):
        style = {"linestyle": "", "marker": MARKERS[0], "color": COLOURS[0], "fillstyle": fill}
        table = select_rows(tables["points"], {"judged": when})
        curves(right, table, x="flows", y="marked", label=f"marked, judged on {when}", **style)
    left.set(xlabel="flows", ylabel="queue (packets of 1500 B)", ylim=(0, 140))
    right.set(xlabel="flows", ylabel="share", ylim=(0, 1))
    legend(made, left, right, below=3)
    return made
