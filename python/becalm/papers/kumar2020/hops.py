"""Swift: flows with routes of two and of four links that share one link.

    N1 ... N5 -> T -> R,  F1 ... F5 -> V -> U -> T

The link `T->R` is the bottleneck. Packets from F cross two more links, on which there are no queues.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from becalm.lab.bottleneck import ONE_QUEUE
from becalm.lab.model import Experiment, Outcome, Point, Tables
from becalm.lab.tables import at, select_rows
from becalm.plot import COLOURS, curves, figure, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIDE = 5
"""Number of flows for each length of route."""
RATE = 100.0
"""Gb/s."""
DELAYS = (0.05, 0.2, 0.9)
"""Delays of cables of 10, 40 and 180 m, in us."""
FORWARDING = 0.1
"""Delay of a switch in us."""
BASE = 20.0
"""Target in us without hops and flows."""
WITH, WITHOUT = "with", "without"
STYLES = {WITH: "o", WITHOUT: "s"}


def experiments() -> list[Experiment]:
    """Return the experiment on the rates of both routes, with and without hop scaling."""
    return [
        Experiment(
            "kumar2020/hops",
            "Swift: rates of flows with routes of two and four links, with hop scaling and without",
            cost=30,
            points=_points,
            measure=_measure,
            draw=_draw,
        )
    ]


def per_hop(delay: float) -> float:
    """Return the time in us that an additional link adds to the round trip of an empty network."""
    return 2 * (delay + FORWARDING)


def _points(short: bool) -> list[Point]:
    return [
        Point(
            {"scaling": name, "delay": delay},
            _scenario(delay, per_hop(delay) if name == WITH else 0.0, short),
        )
        for name in STYLES
        for delay in DELAYS
    ]


def _scenario(delay: float, scaling: float, short: bool) -> dict[str, Any]:
    near, far = (f"{side}1..{side}{SIDE}" for side in "NF")
    cables = [[near, "T"], [far, "V"], ["V", "U"], ["U", "T"], ["T", "R"]]
    swift = {"base": f"{BASE:g} us", "per_hop": f"{scaling:g} us"}
    return {
        "run": {"duration": "20 ms", "warmup": "10 ms"}
        if short
        else {"duration": "40 ms", "warmup": "20 ms"},
        "topology": {
            "edges": {
                "hosts": [near, far, "R"],
                "switches": ["T", "U", "V"],
                "cables": [{"between": ends} for ends in cables],
                "rate": f"{RATE:g} Gb/s",
                "delay": f"{delay:g} us",
            }
        },
        "switch": {"buffer": "unlimited", "forwarding_delay": f"{FORWARDING:g} us", "arbiter": ONE_QUEUE},
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


def bias(tables: Tables, scaling: str, delay: float) -> float:
    """Return the distance of the ratio of both rates from 1."""
    return abs(at(tables, "ratio", scaling=scaling, delay=delay) - 1)


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    for i, (name, marker) in enumerate(STYLES.items()):
        table = select_rows(tables["points"], {"scaling": name})
        curves(
            axes, table, x="delay", y="ratio", label=f"{name} hop scaling", marker=marker, color=COLOURS[i]
        )
    axes.axhspan(0.9, 1.1, color="black", alpha=0.08, label="within 10%")
    axes.set(xlabel="delay of a cable (us)", ylabel="rate with four links / with two", ylim=(0, 1.5))
    legend(made, axes, below=3)
    return made
