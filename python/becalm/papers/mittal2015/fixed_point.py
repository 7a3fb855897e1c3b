"""Patched TIMELY: round trip and queue against the closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from becalm.lab.bottleneck import measure
from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import at, select_rows
from becalm.papers.mittal2015.scene import PATCHED, bottleneck
from becalm.plot import COLOURS, figure, legend
from becalm.plot.lines import simulated
from becalm.theory import PatchedTimely

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOWS = (2, 10, 64)
WHOLE, TENTH = 1.0, 0.1
"""Common factors of `delta` and `beta`. They reduce the steps and keep the fixed point."""
DELTA, BETA = 0.001, 0.008


def experiments() -> list[Experiment]:
    """Return the experiment on the round trip by the number of flows."""
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
    points = [
        Point({"flows": n, "steps": WHOLE}, bottleneck(n, PATCHED, 1 / n, *times).scenario())
        for n in (FLOWS[:2] if short else FLOWS)
    ]
    return points if short else [*points, _small_steps(FLOWS[-1])]


def _small_steps(flows: int) -> Point:
    """Return the scene with a tenth of both steps, which needs ten times as long to settle."""
    scene = bottleneck(flows, PATCHED, 1 / flows, 1200.0, 800.0).scenario()
    scene["response"]["timely"] |= {"delta": TENTH * DELTA, "beta": TENTH * BETA}
    return Point({"flows": flows, "steps": TENTH}, scene)


def over_formula(tables: Tables, flows: int, steps: float) -> float:
    """Return the ratio of the mean round trip to RTT*."""
    return at(tables, "round_trip", flows=flows, steps=steps) / PatchedTimely(flows).round_trip


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    counts = np.arange(1, 69)
    formula = [PatchedTimely(int(n)).round_trip * 1e6 for n in counts]
    axes.plot(counts, formula, color=COLOURS[0], label="closed form")
    table = tables["points"].with_columns(us=tables["points"]["round_trip"] * 1e6)
    for steps, name, marker in ((WHOLE, "simulated", "o"), (TENTH, "a tenth of both steps", "s")):
        rows = select_rows(table, {"steps": steps})
        colour = COLOURS[1 if steps == WHOLE else 2]
        simulated(axes, rows, x="flows", y="us", label=name, marker=marker, color=colour)
    axes.set(xlabel="flows", ylabel="round trip (us)", ylim=(0, None))
    legend(made, axes, below=3)
    return made
