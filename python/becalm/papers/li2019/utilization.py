"""HPCC: utilization and queue of one link by the number of flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from becalm.lab.bottleneck import ONE_QUEUE, Bottleneck, measure
from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import at, select_rows
from becalm.plot import COLOURS, MARKERS, legend, panels
from becalm.plot.lines import simulated
from becalm.theory import Hpcc, periodic_queue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATE = 100.0
"""Gb/s."""
PACKET = 1000
"""Bytes of a packet with its headers, without telemetry."""
TELEMETRY = 42
"""Bytes of telemetry in a packet."""
ROUND_TRIP = 13.0
"""Round trip T in us."""
PRODUCT = RATE * ROUND_TRIP * 1e3 / 8
"""C T in bytes."""

FLOWS = (2, 16, 64, 200)
SMALLER = 250
"""Bytes of a smaller packet, with which random collisions are also smaller. The closed form is the same."""
MOST = 250
"""Largest number of flows for which the closed form is drawn."""


def experiments() -> list[Experiment]:
    """Return the experiment on utilization and queue by the number of flows."""
    return [
        Experiment(
            "li2019/utilization",
            "HPCC: utilization and queue by number of flows, simulated and by the closed form",
            cost=15,
            points=_points,
            measure=measure,
            draw=_draw,
        )
    ]


def _points(short: bool) -> list[Point]:
    counts = FLOWS[:2] if short else FLOWS
    return [
        Point({"flows": n, "packet": packet}, bottleneck(n, packet).scenario())
        for packet in (PACKET, SMALLER)
        for n in (counts if packet == PACKET else counts[1:])
    ]


def bottleneck(flows: int, packet: int = PACKET) -> Bottleneck:
    """Return the scene. Measurement starts when all windows are equal."""
    return Bottleneck(
        flows=flows,
        rate=RATE,
        packet=packet,
        round_trip=ROUND_TRIP,
        response={"hpcc": {"rtt": f"{ROUND_TRIP:g} us", "int_bytes": TELEMETRY}},
        arbiter=ONE_QUEUE,
        duration=30,
        warmup=15,
    )


def over_law(tables: Tables, flows: int, packet: int = PACKET) -> float:
    """Return the ratio of the link's utilization to eta + N W_AI / (C T)."""
    return at(tables, "utilization", flows=flows, packet=packet) / Hpcc(flows, PRODUCT).link


def over_law_without_size(tables: Tables, flows: int) -> float:
    """Return the same ratio, extrapolated from both sizes to packets of size zero including telemetry."""
    large, small = over_law(tables, flows), over_law(tables, flows, SMALLER)
    return small - (large - small) / (PACKET - SMALLER) * (SMALLER + TELEMETRY)


def over_periodic_queue(tables: Tables, flows: int) -> float:
    """Return the ratio of the mean queue to that of the same number of periodic senders."""
    packet = (PACKET + TELEMETRY) / PACKET
    return (
        at(tables, "mean", flows=flows, packet=PACKET)
        / packet
        / periodic_queue(flows, at(tables, "utilization", flows=flows, packet=PACKET))
    )


def law_between(tables: Tables, flows: int) -> float:
    """Return the distance of the closed form to the nearer of two ends, negative if it is not between them.

    One end is the utilization of the link, and the other adds the mean queue divided by C T. U uses the
    smaller queue of two records, and the mean of this smaller queue is at most the mean queue.
    """
    used = at(tables, "utilization", flows=flows, packet=PACKET)
    law = Hpcc(flows, PRODUCT).utilization
    return min(law - used, used + queue_kb(tables, flows) * 1000 / PRODUCT - law)


def queue_kb(tables: Tables, flows: int, packet: int = PACKET) -> float:
    """Return the mean queue in kB."""
    return at(tables, "mean", flows=flows, packet=packet) * packet / 1000


def _draw(tables: Tables) -> Figure:
    made, (left, right) = panels(1, 2, width=4.6)
    counts = np.arange(1, MOST + 1)
    laws = [Hpcc(int(n), PRODUCT) for n in counts]
    left.plot(counts, [law.link for law in laws], color=COLOURS[0], label="closed form")
    right.plot(counts, [law.queue / 1000 for law in laws], color=COLOURS[0], label="closed form")
    paced = [law.paced_queue / 1000 for law in laws]
    right.plot(counts, paced, color=COLOURS[0], linestyle="--", label="closed form, held back by rates")
    table = tables["points"].with_columns(kb=tables["points"]["mean"] * tables["points"]["packet"] / 1000)
    for place, packet in enumerate((PACKET, SMALLER)):
        style = {"marker": MARKERS[place], "color": COLOURS[place + 1]}
        rows = select_rows(table, {"packet": packet})
        for axes, y in ((left, "utilization"), (right, "kb")):
            simulated(axes, rows, x="flows", y=y, label=f"simulated, packets of {packet} B", **style)
    left.set(xlabel="flows", ylabel="utilization of the link", ylim=(0.94, 1.005))
    right.set(xlabel="flows", ylabel="mean queue (kB)", ylim=(0, None))
    legend(made, right, left, below=2)
    return made
