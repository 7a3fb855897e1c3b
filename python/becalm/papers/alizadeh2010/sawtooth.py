"""The queue of synchronized flows: between its smallest and its largest length, by the number of flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from becalm.lab.bottleneck import measure
from becalm.lab.model import Experiment, Point, Tables
from becalm.papers.alizadeh2010.scene import bottleneck, law
from becalm.plot import COLOURS, MARKERS, curves, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOWS = (1, 2, 5, 10, 20, 40)


def experiments() -> list[Experiment]:
    """Queue and share of marks by the number of flows."""
    return [
        Experiment(
            "alizadeh2010/sawtooth",
            "DCTCP: queue and marks by number of flows, simulated and by the sawtooth",
            cost=8,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    counts = (2, 10) if short else FLOWS
    return [Point({"flows": n}, bottleneck(n, short=short).scenario()) for n in counts]


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
        style = {"linestyle": "", "marker": MARKERS[place], "color": COLOURS[place]}
        curves(left, tables["points"], x="flows", y=name, label=f"{name}, simulated", **style)
    right.plot(counts, [each.alpha for each in laws], color=COLOURS[0], linestyle="--", label="alpha, closed form")
    style = {"linestyle": "", "marker": MARKERS[0], "color": COLOURS[0]}
    curves(right, tables["points"], x="flows", y="marked", label="marked packets, simulated", **style)
    left.set(xlabel="flows", ylabel="queue (packets of 1500 B)", ylim=(0, None))
    right.set(xlabel="flows", ylabel="share", ylim=(0, 1))
    left.legend()
    right.legend()
    return made
