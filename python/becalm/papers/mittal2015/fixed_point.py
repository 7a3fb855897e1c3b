"""Patched TIMELY: round trip and queue against the closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from becalm.lab.bottleneck import measure
from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import at
from becalm.papers.mittal2015.scene import PATCHED, RATE, ROUND_TRIP, bottleneck
from becalm.plot import COLOURS, curves, figure
from becalm.theory import PatchedTimely

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOWS = (2, 10, 64)


def experiments() -> list[Experiment]:
    """The round trip by the number of flows."""
    return [
        Experiment(
            "mittal2015/fixed_point",
            "Patched TIMELY: round trip by number of flows, simulated and by the closed form",
            cost=25,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    times = (200.0, 100.0) if short else (500.0, 250.0)
    return [
        Point({"flows": n}, bottleneck(n, PATCHED, 1 / n, *times).scenario())
        for n in (FLOWS[:2] if short else FLOWS)
    ]


def over_formula(tables: Tables, flows: int) -> float:
    """Mean round trip over RTT*."""
    return at(tables, "round_trip", flows=flows) / PatchedTimely(flows).round_trip


def queue_off(tables: Tables, flows: int) -> float:
    """Mean queue over q*."""
    packets = PatchedTimely(flows).queue(RATE * 1e9 / 8, ROUND_TRIP * 1e-6) / 1000
    return at(tables, "mean", flows=flows) / packets


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    counts = np.arange(1, 69)
    formula = [PatchedTimely(int(n)).round_trip * 1e6 for n in counts]
    axes.plot(counts, formula, color=COLOURS[0], label="closed form")
    table = tables["points"].with_columns(us=tables["points"]["round_trip"] * 1e6)
    curves(axes, table, x="flows", y="us", linestyle="", marker="o", color=COLOURS[1], label="simulated")
    axes.set(xlabel="flows", ylabel="round trip (us)", ylim=(0, None))
    axes.legend()
    return made
