"""The smallest threshold with which two flows fill the link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from becalm.lab.bottleneck import measure
from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import at
from becalm.papers.alizadeh2010.scene import bottleneck, law
from becalm.plot import COLOURS, curves, figure, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOWS = 2
THRESHOLDS = (1, 2, 5, 10, 20, 40, 65)


def experiments() -> list[Experiment]:
    """Return the experiment on utilization by threshold."""
    return [
        Experiment(
            "alizadeh2010/threshold",
            "DCTCP: utilization by threshold, two flows",
            cost=7,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    thresholds = (5, 65) if short else THRESHOLDS
    return [Point({"threshold": k}, bottleneck(FLOWS, k, short=short).scenario()) for k in thresholds]


def lost(tables: Tables, threshold: int) -> float:
    """Return the unused share of the link's capacity."""
    return 1 - at(tables, "utilization", threshold=threshold)


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    curves(axes, tables["points"], x="threshold", y="utilization", marker="o", label="simulated")
    thresholds = np.linspace(1, max(THRESHOLDS), 200)
    lost_by_law = [law(FLOWS, float(k)).lost for k in thresholds]
    axes.plot(thresholds, 1 - np.array(lost_by_law), color=COLOURS[1], linestyle="--", label="sawtooth")
    least = law(FLOWS).least_threshold
    axes.axvline(least, color=COLOURS[-1], linestyle="--", label=f"C RTT / 7, {least:.1f}")
    axes.set(xlabel="threshold (packets of 1500 B)", ylabel="utilization of the link")
    legend(made, axes, below=3)
    return made
