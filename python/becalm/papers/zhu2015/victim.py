"""Rate of a flow that shares no bottleneck with an incast but is paused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from becalm.lab.model import Experiment, Point, Tables
from becalm.papers.zhu2015.clos import CONTROLS, DRAWS, measure, scenario
from becalm.plot import COLOURS, MARKERS, figure, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

JOINING = (0, 1, 2)
"""Numbers of senders next to the receiver that join the incast, which share no link with the victim."""


def experiments() -> list[Experiment]:
    """Return the experiment on the victim's rate by the number of senders that join, over path samples."""
    return [
        Experiment(
            "zhu2015/victim",
            "Rate of a victim of pauses, by the number of senders that join an incast elsewhere",
            cost=80,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    return [
        Point(
            {"control": control, "joining": joining, "draw": draw},
            scenario(_flows(joining), control, short),
            draw,
        )
        for control in CONTROLS
        for joining in JOINING
        for draw in range(1 if short else DRAWS[control])
    ]


def _flows(joining: int) -> list[dict[str, Any]]:
    """Return four hosts that send to R, the victim from A5 to B, and the hosts that join."""
    flows = [
        {"name": "victim", "from": ["A5"], "to": ["B"]},
        {"name": "incast", "from": ["A1..A4"], "to": ["R"]},
    ]
    more = [{"name": "joining", "from": [f"C{number}" for number in range(1, joining + 1)], "to": ["R"]}]
    return flows + (more if joining else [])


def _victims(tables: Tables, control: str, joining: int) -> pl.DataFrame:
    chosen = {"control": control, "joining": joining, "group": "victim"}
    return tables["points"].filter(*(pl.col(name) == value for name, value in chosen.items()))


def means(tables: Tables, control: str) -> list[float]:
    """Return the victim's mean rate in Gb/s with 0, 1 and 2 joining senders."""
    return [float(_victims(tables, control, n)["gbps"].to_numpy().mean()) for n in JOINING]


def over_fair(tables: Tables, control: str, joining: int) -> float:
    """Return the ratio of the victim's mean rate to its mean max-min fair rate."""
    table = _victims(tables, control, joining)
    return float(table["gbps"].to_numpy().mean() / table["fair"].to_numpy().mean())


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    for place, control in enumerate(CONTROLS):
        rates = [_victims(tables, control, n)["gbps"].to_numpy() for n in JOINING]
        middle = np.array([np.median(each) for each in rates])
        spread = [middle - [each.min() for each in rates], [each.max() for each in rates] - middle]
        where = np.array(JOINING) + 0.08 * place - 0.04
        style: dict[str, Any] = {"color": COLOURS[place], "marker": MARKERS[place], "capsize": 4}
        axes.errorbar(where, middle, yerr=spread, label=control, **style)
    ideal = [np.median(_victims(tables, next(iter(CONTROLS)), n)["fair"].to_numpy()) for n in JOINING]
    axes.plot(JOINING, ideal, "k--", label="max-min fair, median")
    axes.set(
        xlabel="senders that join elsewhere",
        ylabel="rate of the victim (Gb/s): median, range",
        xticks=JOINING,
    )
    axes.set(ylim=(0, 42))
    legend(made, axes, below=3)
    return made
