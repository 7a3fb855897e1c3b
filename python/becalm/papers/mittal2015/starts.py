"""Two flows with TIMELY: final rates by initial rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from becalm.lab.bottleneck import RECEIVER, measure
from becalm.lab.model import Experiment, Outcome, Point, Tables
from becalm.lab.tables import select_rows
from becalm.papers.mittal2015.scene import LAWS, bottleneck, timely
from becalm.plot import COLOURS, legend, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STARTS = {
    "5 + 5": (0.5, 0.5, 0.0),
    "7 + 3": (0.7, 0.3, 0.0),
    "9 + 1": (0.9, 0.1, 0.0),
    "10 + 10": (0.96, 0.96, 10.0),
}
"""Initial rates of both flows as shares of the link, and start of the second in ms, by name in Gb/s.

The largest rate of the law is 0.96 of the link.
"""
TIMES = (700.0, 450.0)
"""Duration and warm-up in ms. The patched law needs about 100 ms to make shares equal."""


def experiments() -> list[Experiment]:
    """Return the experiment on both laws from four starts."""
    return [
        Experiment(
            "mittal2015/starts",
            "TIMELY: final rates of two flows from four starts, plain and patched",
            cost=60,
            points=_points,
            measure=_measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    return [
        Point({"law": law, "start": start}, _scenario(law, start, 0.5 if short else 1.0))
        for law in LAWS
        for start in STARTS
    ]


def _scenario(law: str, start: str, share: float) -> dict[str, object]:
    first, second, later = STARTS[start]
    scene = bottleneck(2, law, first, *(share * time for time in TIMES)).scenario()
    flow = {"to": [RECEIVER]}
    scene["flows"] = [
        {"name": "first", "from": ["S1"], "response": timely(law, first), **flow},
        {"name": "second", "from": ["S2"], "response": timely(law, second), "start": f"{later:g} ms", **flow},
    ]
    # Every group has its own response.
    del scene["response"]
    return scene


def _measure(outcomes: Sequence[Outcome]) -> Tables:
    """Return the table of the bottleneck, with the rates of `first` and `second` in Gb/s."""
    points = measure(outcomes)["points"]
    rates = [[rate * 8e-9 for rate in outcome.results.groups["rate"].to_list()] for outcome in outcomes]
    columns = {name: [pair[i] for pair in rates] for i, name in enumerate(("first", "second"))}
    return {"points": points.with_columns(**{name: pl.Series(values) for name, values in columns.items()})}


def unfair_starts(tables: Tables, law: str, below: float) -> float:
    """Return the number of starts that end with a fairness index below a bound."""
    return float((select_rows(tables["points"], {"law": law})["jain"] < below).sum())


def least_fair(tables: Tables, law: str) -> float:
    """Return the smallest fairness index of all starts."""
    return float(select_rows(tables["points"], {"law": law})["jain"].to_numpy().min())


def _draw(tables: Tables) -> Figure:
    made, areas = panels(1, len(LAWS), width=4.2)
    places = np.arange(len(STARTS))
    for axes, law in zip(areas, LAWS, strict=True):
        table = select_rows(tables["points"], {"law": law})
        for i, name in enumerate(("first", "second")):
            axes.bar(
                places + 0.4 * i - 0.2, table[name].to_numpy(), 0.38, color=COLOURS[i], label=f"{name} flow"
            )
        axes.set(
            title=law, xticks=places, xticklabels=list(STARTS), xlabel="first rates (Gb/s)", ylim=(0, 10)
        )
    areas[0].set(ylabel="final rate (Gb/s)")
    legend(made, areas[0], below=2)
    return made
