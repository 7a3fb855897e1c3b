"""Swift: flows with routes of two and of four links that share one link.

    N1 ... N5 -> T -> R,  F1 ... F5 -> V -> U -> T

The link `T->R` is the bottleneck. Packets from F cross two links more, where nothing waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from becalm.lab.model import Experiment, Outcome, Point, Tables
from becalm.lab.tables import at
from becalm.plot import COLOURS, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDE = 5
"""Flows with routes of either length."""
RATE = 100.0
"""Gb/s."""
DELAY, FORWARDING = 0.9, 0.1
"""Delay of a cable and of a switch in us."""
PER_HOP = 2 * (DELAY + FORWARDING)
"""Time in us by which a further link lengthens the round trip of an empty network."""
BASE = 20.0
"""Target in us without hops; small windows add nothing to it here."""
SCALED = {"with": PER_HOP, "without": 0.0}
"""Addition to the target for each link in us."""


def experiments() -> list[Experiment]:
    """The shares of both routes, with hop scaling and without."""
    return [
        Experiment(
            "kumar2020/hops",
            "Swift: rates of flows with routes of two and four links, with hop scaling and without",
            cost=15,
            points=_points,
            measure=_measure,
            draw=_draw,
        )
    ]


def _points(_: bool) -> list[Point]:
    return [Point({"scaling": name}, _scenario(per_hop)) for name, per_hop in SCALED.items()]


def _scenario(per_hop: float) -> dict[str, Any]:
    near, far = (f"{side}1..{side}{SIDE}" for side in "NF")
    cables = [[near, "T"], [far, "V"], ["V", "U"], ["U", "T"], ["T", "R"]]
    swift = {"base": f"{BASE:g} us", "per_hop": f"{per_hop:g} us", "fs_range": "0 us", "ai": 0.1}
    return {
        "run": {"duration": "120 ms", "warmup": "60 ms"},
        "topology": {
            "edges": {
                "hosts": [near, far, "R"],
                "switches": ["T", "U", "V"],
                "cables": [{"between": ends} for ends in cables],
                "rate": f"{RATE:g} Gb/s",
                "delay": f"{DELAY:g} us",
            }
        },
        "switch": {"buffer": "unlimited", "forwarding_delay": f"{FORWARDING:g} us"},
        "packet": {"mtu": "942 B", "header": "58 B", "ack": "64 B"},
        "response": {"swift": swift},
        "flows": [
            {"name": "two links", "from": [near], "to": ["R"]},
            {"name": "four links", "from": [far], "to": ["R"]},
        ],
        "observe": {"step": "10 ms", "window": "10 ms", "links": []},
    }


def _measure(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`: mean rates `near` and `far` in Gb/s, and their `ratio`."""
    rows = []
    for outcome in outcomes:
        near, far = (8e-9 / SIDE * rate for rate in outcome.results.groups["rate"].to_list())
        rows.append({**outcome.labels, "near": near, "far": far, "ratio": far / near})
    return {"points": pl.DataFrame(rows)}


def bias(tables: Tables, scaling: str) -> float:
    """How far the ratio of both rates is from 1."""
    return abs(at(tables, "ratio", scaling=scaling) - 1)


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    places = np.arange(len(SCALED))
    for i, (name, label) in enumerate((("near", "two links"), ("far", "four links"))):
        axes.bar(
            places + 0.4 * i - 0.2, tables["points"][name].to_numpy(), 0.38, color=COLOURS[i], label=label
        )
    axes.set(xticks=places, xticklabels=[f"{name} hop scaling" for name in SCALED])
    axes.set(ylabel="rate of a flow (Gb/s)", ylim=(0, None))
    axes.legend(title="route")
    return made
