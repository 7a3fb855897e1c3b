"""Wait of sprayed packets for an uplink below full load, compared with M/D/1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from becalm import theory
from becalm.lab.model import Experiment, Label, Outcome, Point, Tables
from becalm.lab.tables import at
from becalm.papers.dixit2013.scene import PACKET, RATE, Table, clos
from becalm.plot import COLOURS, figure, legend
from becalm.plot.lines import simulated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOADS = (0.3, 0.6, 0.9)
UPLINKS = 16
SERVICE = PACKET / RATE
"""Time of a packet on a link, in seconds."""


def experiments() -> list[Experiment]:
    """Return the experiment on the wait by the load of the uplinks."""
    return [
        Experiment(
            "dixit2013/waits",
            "Wait of sprayed packets for one of 16 uplinks, by their load",
            cost=30,
            points=_points,
            measure=_measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    return [Point({"load": load}, _poisson(load)) for load in (LOADS[1:2] if short else LOADS)]


def _poisson(load: float) -> Table:
    """Return the scene. Every host of a leaf posts messages of one packet to a host of the other leaf.

    Messages first wait for the host's link, which serves them in posting order. The wait for the uplink is
    therefore computed from the leaf's queue, not from the total latency.
    """
    return clos(2, UPLINKS, "packet") | {
        "run": {"duration": "5 ms", "warmup": "500 us"},
        "flows": [
            {
                "name": "flows",
                "from": ["*"],
                "pattern": {"shift": {"by": UPLINKS}},
                "traffic": {"poisson": {"load": load, "message": "2048 B"}},
            }
        ],
        "observe": {"links": [], "queues": True},
    }


def _measure(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`: mean wait for an uplink in packet times, and the uplink's measured load."""
    return {"points": pl.DataFrame([_point(outcome) for outcome in outcomes])}


def _point(outcome: Outcome) -> dict[str, Label]:
    results = outcome.results
    uplinks = pl.col("from").str.starts_with("leaf") & pl.col("to").str.starts_with("spine")
    waiting = float(results.queues.filter(uplinks)["mean"].to_numpy().mean())
    used = float(results.links.filter(uplinks)["utilization"].to_numpy().mean())
    # Little's law divides waiting bytes by the bytes that arrive in a packet time.
    return {**outcome.labels, "wait": waiting / (used * PACKET), "utilization": used}


def over_closed_form(tables: Tables, load: float) -> float:
    """Return the ratio of the mean wait to that of M/D/1 with 16 sources, at the uplinks' measured load."""
    used = at(tables, "utilization", load=load)
    return at(tables, "wait", load=load) / theory.sprayed_wait(1.0, used, sources=UPLINKS)


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    loads = np.linspace(0, 0.93, 80)
    closed = [theory.sprayed_wait(1.0, float(load), sources=UPLINKS) for load in loads]
    axes.plot(loads, closed, color=COLOURS[0], label="M/D/1, 16 sources")
    simulated(axes, tables["points"], x="utilization", y="wait")
    axes.set(xlabel="load of the uplinks", ylabel="mean wait (packet times)", ylim=(0, None))
    legend(made, axes, below=3)
    return made
