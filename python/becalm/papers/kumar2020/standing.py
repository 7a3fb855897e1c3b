"""Swift: the equilibrium round trip by the number of flows, down to windows below one packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from becalm.lab.bottleneck import ONE_QUEUE, Bottleneck, measure
from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import at, select_rows
from becalm.plot import COLOURS, MARKERS, figure, legend
from becalm.plot.lines import simulated
from becalm.theory import Swift

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATE = 100.0
"""Gb/s."""
PACKET = 1000
"""Bytes of a packet with its headers."""
LINK = RATE * 1e9 / 8 / PACKET
"""Packets per second."""
ROUND_TRIP = 10.0
"""Round trip in us on the empty network."""
BASE = 15.0
"""Target in us without hops and flows."""

FLOWS = (10, 100, 1000)
WHOLE, TENTH = 1.0, 0.1
INCREASES = (WHOLE, TENTH)
"""Additive increases in packets: the default, and a tenth of it."""
STRONG, GENTLE = 0.8, 0.2
"""Strengths of a decrease: the default, and a quarter of it. The closed form lacks this parameter."""


def experiments() -> list[Experiment]:
    """Return the experiment on the round trip by the number of flows, for both increases."""
    return [
        Experiment(
            "kumar2020/standing",
            "Swift: round trip by number of flows, simulated and by the closed form",
            cost=60,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def bottleneck(flows: int, increase: float, beta: float = STRONG, short: bool = False) -> Bottleneck:
    """Return the scene. With more flows, the first burst takes longer to drain."""
    return Bottleneck(
        flows=flows,
        rate=RATE,
        packet=PACKET,
        round_trip=ROUND_TRIP,
        response={"swift": {"base": f"{BASE:g} us", "ai": increase, "beta": beta}},
        arbiter=ONE_QUEUE,
        duration=40 if short else 50 if flows <= 100 else 80,
        warmup=20 if short else 25 if flows <= 100 else 50,
    )


def _points(short: bool) -> list[Point]:
    counts = FLOWS[:2] if short else FLOWS
    return [
        Point({"flows": n, "increase": increase}, bottleneck(n, increase, short=short).scenario())
        for increase in INCREASES
        for n in counts
    ]


def law() -> Swift:
    """Return the closed form, for routes of two links."""
    return Swift(base=BASE * 1e-6)


def above_target(tables: Tables, flows: int, increase: float) -> float:
    """Return mean minus standing round trip, as a share of the time that a round of increases adds."""
    over = at(tables, "round_trip", flows=flows, increase=increase) - law().standing(flows, LINK)
    return over / law().swing(flows, LINK, increase)


def over_target(tables: Tables, flows: int, increase: float) -> float:
    """Return the ratio of the mean to the standing round trip."""
    return at(tables, "round_trip", flows=flows, increase=increase) / law().standing(flows, LINK)


def _draw(tables: Tables) -> Figure:
    made, axes = figure()
    counts = np.geomspace(FLOWS[0], FLOWS[-1], 60)
    target = np.array([law().standing(round(n), LINK) for n in counts])
    axes.plot(counts, target * 1e6, color="black", label="closed form")
    for place, increase in enumerate(INCREASES):
        top = target + np.array([law().swing(round(n), LINK, increase) for n in counts])
        axes.fill_between(counts, target * 1e6, top * 1e6, color=COLOURS[place], alpha=0.15)
        table = select_rows(tables["points"], {"increase": increase})
        table = table.with_columns(us=table["round_trip"] * 1e6)
        style = {"color": COLOURS[place], "marker": MARKERS[place]}
        simulated(axes, table, x="flows", y="us", label=f"increase of {increase:g} packet", **style)
    axes.set(xlabel="flows", ylabel="round trip (us)", xscale="log", ylim=(0, None))
    legend(made, axes, below=3)
    return made
