"""More flows than packets that fit on the path. Each flow has the minimum window, and the excess waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from becalm.lab.bottleneck import measure
from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import at
from becalm.papers.alizadeh2010.scene import bottleneck, law
from becalm.plot import figure, legend
from becalm.plot.lines import simulated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOWS = (200, 300, 400)


def experiments() -> list[Experiment]:
    """Return the experiment on the standing queue by the number of flows."""
    return [
        Experiment(
            "alizadeh2010/incast",
            "DCTCP: standing queue of an incast, simulated and N - C RTT",
            cost=4,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    counts = FLOWS[-1:] if short else FLOWS
    return [Point({"flows": n}, bottleneck(n, initial=1.0, short=short).scenario()) for n in counts]


def above_the_law(tables: Tables, flows: int) -> float:
    """Return the mean queue minus N - C RTT, in packets."""
    return at(tables, "mean", flows=flows) - law(flows).standing_queue


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    counts = np.arange(0, max(FLOWS) + 1, 10)
    axes.plot(counts, [law(max(1, int(n))).standing_queue for n in counts], linestyle="--", label="N - C RTT")
    simulated(axes, tables["points"], x="flows", y="mean")
    axes.set(xlabel="flows", ylabel="mean queue (packets of 1500 B)")
    legend(made, axes, below=3)
    return made
