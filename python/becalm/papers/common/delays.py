"""Both papers' statement on delays: with small buffers, they are similar with and without congestion."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from becalm.lab.dumbbell import NO_CONTROL, ONE_PACKET, Dumbbell
from becalm.lab.model import Experiment, Outcome, Point, Tables
from becalm.lab.tables import only
from becalm.papers.common.draw import bars

NORMAL = 0.8
"""Load of the root link in normal operation. It is high, but causes no congestion."""
DEEP = 64
"""Slots of a buffer that is not small."""
FLOWS = 10


def experiment(paper: str) -> Experiment:
    """Return the experiment of a paper."""
    return Experiment(
        f"{paper}/delays",
        "Time in switch B with normal load, with congestion, and with congestion and buffers of 64 packets",
        cost=2,
        points=_points,
        measure=_measure,
        draw=bars("case", "delay", "packet times in the switch"),
    )


def _points(_: bool) -> list[Point]:
    small = Dumbbell(local=FLOWS, remote=FLOWS, response=ONE_PACKET, victim=None)
    scenes = {
        "normal": replace(small, load=NORMAL / (2 * FLOWS)),
        "congested": small,
        "deep": replace(small, response=NO_CONTROL, buffer=DEEP),
    }
    return [Point({"case": case}, scene.scenario()) for case, scene in scenes.items()]


def _measure(outcomes: list[Outcome]) -> Tables:
    """Return `points`: time in the switch by Little's law, from its queue and the rate of the root link."""
    rows = []
    for outcome in outcomes:
        results = outcome.results
        inside = sum(results.buffers.filter(pl.col("switch") == "B")["mean_packets"].to_list())
        sent = only(results.links, {"from": "B", "to": "BC"})["utilization"]
        rows.append({**outcome.labels, "delay": inside / sent})
    return {"points": pl.DataFrame(rows)}
