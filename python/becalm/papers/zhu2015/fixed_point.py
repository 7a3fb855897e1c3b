"""The queue of DCQCN against the fixed point of its fluid model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from becalm.lab.bottleneck import measure
from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import at
from becalm.papers.zhu2015.scene import SHORT_LOOP, bottleneck, fixed_point
from becalm.plot import COLOURS, figure, legend
from becalm.plot.lines import simulated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOWS = (2, 4, 8, 10)


def experiments() -> list[Experiment]:
    """Return the experiment on the queue by the number of flows."""
    return [
        Experiment(
            "zhu2015/fixed_point",
            "DCQCN: queue by number of flows, simulated and by the fluid model",
            cost=12,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    counts = (FLOWS[0], FLOWS[-1]) if short else FLOWS
    return [Point({"flows": n}, bottleneck(n, SHORT_LOOP, short=short).scenario()) for n in counts]


def queue_over_root(tables: Tables, flows: int) -> float:
    """Return the ratio of the mean queue to that of the exact root."""
    return at(tables, "mean", flows=flows) / fixed_point(flows).queue()


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    counts = np.arange(2, 12)
    roots = [fixed_point(int(n)) for n in counts]
    axes.plot(counts, [root.queue() for root in roots], color=COLOURS[0], label="exact root")
    small = [root.queue(root.small_marking()) for root in roots]
    axes.plot(counts, small, color=COLOURS[0], linestyle="--", label="for small probabilities")
    simulated(axes, tables["points"], x="flows", y="mean")
    axes.set(xlabel="flows", ylabel="queue (packets of 1000 B)", ylim=(0, None))
    legend(made, axes, below=3)
    return made
