"""The threshold from which on two flows fill the link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from becalm.lab.bottleneck import measure
from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import at, select_rows
from becalm.papers.alizadeh2010.scene import BURST, bottleneck, law
from becalm.plot import COLOURS, MARKERS, curves, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOWS = 2
THRESHOLDS = (1, 2, 5, 10, 20, 40, 65)


def experiments() -> list[Experiment]:
    """Utilization by threshold."""
    return [
        Experiment(
            "alizadeh2010/threshold",
            "DCTCP: utilization by threshold, two flows",
            cost=12,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    thresholds = (5, 65) if short else THRESHOLDS
    return [
        Point({"threshold": k, "burst": burst}, bottleneck(FLOWS, k, burst=burst, short=short).scenario())
        for burst in (1, BURST)
        for k in thresholds
    ]


def lost(tables: Tables, threshold: int, burst: int) -> float:
    """Share of the link that is not used."""
    return 1 - at(tables, "utilization", threshold=threshold, burst=burst)


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    for place, burst in enumerate((1, BURST)):
        table = select_rows(tables["points"], {"burst": burst})
        style = {"marker": MARKERS[place], "color": COLOURS[place]}
        curves(axes, table, x="threshold", y="utilization", label=f"bursts of {burst}", **style)
    least = law(FLOWS).least_threshold
    axes.axvline(least, color=COLOURS[-1], linestyle="--", label=f"C RTT / 7, {least:.1f}")
    axes.set(xlabel="threshold (packets of 1500 B)", ylabel="utilization of the link")
    axes.legend()
    return made
