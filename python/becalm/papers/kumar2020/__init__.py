"""Swift: Delay is Simple and Effective for Congestion Control in the Datacenter.

G. Kumar et al., SIGCOMM 2020. The paper reports measurements of a production network and few parameter
values. `becalm.theory.swift` derives the consequences of its Algorithm 1 and its target delay.

All claims are derived from closed forms, with bounds set before the first run. No sentence of the paper is
quoted. [kumar2020/readings.md](kumar2020/readings.md) describes what the scenes omit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from becalm.lab.bottleneck import FORWARDING, ONE_QUEUE, Bottleneck, measure
from becalm.lab.figures import DOTS, Curves, Law, single
from becalm.lab.model import Experiment, Outcome, Table, Tables, grid
from becalm.lab.tables import at
from becalm.plot import COLOURS
from becalm.theory import Swift

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PHASE = "10 us"
"""Each flow starts up to a round trip later than stated."""

SCENE = Bottleneck(
    flows=10, rate=100.0, packet=1000, round_trip=10.0, response={"swift": {}}, arbiter=ONE_QUEUE
)
LINK = SCENE.rate * 1e9 / 8 / SCENE.packet
"""Packets per second."""
BASE = 15.0
"""Target in us without hops and flows."""
LAW = Swift(base=BASE * 1e-6)
"""The closed form, for routes of two links."""
WHOLE, TENTH = 1.0, 0.1
INCREASES = (WHOLE, TENTH)
"""Additive increases in packets: the default, and a tenth of it."""
STRONG, GENTLE = 0.8, 0.2
"""Strengths of a decrease: the default, and a quarter of it. The closed form lacks this parameter."""

COUNTS = np.geomspace(10, 1000, 60)
"""Numbers of flows at which the closed form is drawn."""

SIDE = 5
"""Number of flows for each length of route."""
WITH, WITHOUT = "with", "without"
"""Hop scaling."""


def bottleneck(short: bool, flows: int, increase: float, beta: float = STRONG) -> Table:
    """Return the scene with one bottleneck. With more flows, the first burst takes longer to drain."""
    duration, warmup = (40, 20) if short else (50, 25) if flows <= 100 else (80, 50)
    swift = {"base": f"{BASE:g} us", "ai": increase, "beta": beta}
    return replace(SCENE, flows=flows, response={"swift": swift}, duration=duration, warmup=warmup).scenario()


def _swings(axes: Axes, _: Tables) -> None:
    """Draw the time that a round of increases adds to the standing round trip."""
    target = np.array([LAW.standing(round(n), LINK) for n in COUNTS])
    for place, increase in enumerate(INCREASES):
        top = target + np.array([LAW.swing(round(n), LINK, increase) for n in COUNTS])
        axes.fill_between(COUNTS, target * 1e6, top * 1e6, color=COLOURS[place], alpha=0.15)


def above_target(tables: Tables, flows: int, increase: float) -> float:
    """Return mean minus standing round trip, as a share of the time that a round of increases adds."""
    over = at(tables, "round_trip", flows=flows, increase=increase) - LAW.standing(flows, LINK)
    return over / LAW.swing(flows, LINK, increase)


def over_target(tables: Tables, flows: int, increase: float) -> float:
    """Return the ratio of the mean to the standing round trip."""
    return at(tables, "round_trip", flows=flows, increase=increase) / LAW.standing(flows, LINK)


def _routes(short: bool, scaling: str, delay: float) -> Table:
    """Return the scene with flows from N over two links, and from F over four, that share the last one.

        N1 ... N5 -> T -> R,  F1 ... F5 -> V -> U -> T

    The link `T->R` is the bottleneck. There are no queues on the two additional links. `delay` is that of a
    cable in us. Hop scaling adds to the target what a link adds to the round trip of an empty network.
    """
    near, far = (f"{side}1..{side}{SIDE}" for side in "NF")
    cables = [[near, "T"], [far, "V"], ["V", "U"], ["U", "T"], ["T", "R"]]
    per_hop = 2 * (delay + FORWARDING) if scaling == WITH else 0.0
    return {
        "run": {"duration": "20 ms", "warmup": "10 ms"}
        if short
        else {"duration": "40 ms", "warmup": "20 ms"},
        "topology": {
            "edges": {
                "hosts": [near, far, "R"],
                "switches": ["T", "U", "V"],
                "cables": [{"between": ends} for ends in cables],
                "rate": "100 Gb/s",
                "delay": f"{delay:g} us",
            }
        },
        "switch": {"buffer": "unlimited", "forwarding_delay": f"{FORWARDING:g} us", "arbiter": ONE_QUEUE},
        "packet": {"mtu": "942 B", "header": "58 B", "ack": "64 B"},
        "response": {"swift": {"base": "20 us", "per_hop": f"{per_hop:g} us"}},
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


EXPERIMENTS = [
    Experiment(
        "kumar2020/standing",
        "Swift: round trip by number of flows, simulated and by the closed form",
        cost=60,
        points=grid(bottleneck, {"flows": (10, 100)}, flows=(10, 100, 1000), increase=INCREASES),
        measure=measure,
        draw=single(
            Law(
                "closed form",
                COUNTS,
                lambda n: LAW.standing(round(n), LINK) * 1e6,
                {"color": "black"},
            ),
            _swings,
            Curves(
                "flows",
                pl.col("round_trip") * 1e6,
                by="increase",
                names={increase: f"increase of {increase:g} packet" for increase in INCREASES},
                style=DOTS,
            ),
            xlabel="flows",
            ylabel="round trip (us)",
            xscale="log",
            ylim=(0, None),
            below=3,
        ),
    ),
    Experiment(
        "kumar2020/hops",
        "Swift: rates of flows with routes of two and four links, with hop scaling and without",
        cost=30,
        # Cables of 10, 40 and 180 m.
        points=grid(_routes, scaling=(WITH, WITHOUT), delay=(0.05, 0.2, 0.9)),
        measure=_measure,
        draw=single(
            Curves(
                "delay",
                "ratio",
                by="scaling",
                names={name: f"{name} hop scaling" for name in (WITH, WITHOUT)},
            ),
            lambda axes, _: axes.axhspan(0.9, 1.1, color="black", alpha=0.08, label="within 10%"),
            xlabel="delay of a cable (us)",
            ylabel="rate with four links / with two",
            ylim=(0, 1.5),
            below=3,
        ),
    ),
]
"""The experiments on the standing queue and on routes of different lengths."""
