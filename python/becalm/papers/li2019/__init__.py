"""HPCC: High Precision Congestion Control.

Y. Li et al., SIGCOMM 2019. `becalm.theory.hpcc` derives the equilibrium utilization of its flows from
Algorithm 1.

All claims are derived from closed forms, with bounds set before the first run. No sentence of the paper is
quoted. [li2019/readings.md](li2019/readings.md) describes what the scenes omit.
"""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from becalm.lab.bottleneck import ONE_QUEUE, Bottleneck, measure
from becalm.lab.figures import DASHED, Law, Panel, Plot, simulated
from becalm.lab.model import Experiment, Point, Tables
from becalm.lab.tables import at
from becalm.theory import Hpcc, periodic_queue

PHASE = "13 us"
"""Each flow starts up to a round trip later than stated."""

TELEMETRY = 42
"""Bytes of telemetry in a packet, in addition to its size."""
SCENE = Bottleneck(
    flows=2,
    rate=100.0,
    packet=1000,
    round_trip=13.0,
    response={"hpcc": {"rtt": "13 us", "int_bytes": TELEMETRY}},
    arbiter=ONE_QUEUE,
    # All windows are equal when measurement starts.
    duration=30,
    warmup=15,
)
PRODUCT = SCENE.rate * SCENE.round_trip * 1e3 / 8
"""C T in bytes."""
PACKET, SMALLER = SCENE.packet, 250
"""Bytes of a packet, and of a smaller one, with which random collisions are also smaller. The closed form is
the same."""


def law(flows: int) -> Hpcc:
    """Return the closed form for this number of flows."""
    return Hpcc(flows, PRODUCT)


def _points(short: bool) -> list[Point]:
    counts = (2, 16) if short else (2, 16, 64, 200)
    return [
        Point({"flows": n, "packet": packet}, replace(SCENE, flows=n, packet=packet).scenario())
        for packet in (PACKET, SMALLER)
        for n in (counts if packet == PACKET else counts[1:])
    ]


def over_law(tables: Tables, flows: int, packet: int = PACKET) -> float:
    """Return the ratio of the link's utilization to eta + N W_AI / (C T)."""
    return at(tables, "utilization", flows=flows, packet=packet) / law(flows).link


def over_law_without_size(tables: Tables, flows: int) -> float:
    """Return the same ratio, extrapolated from both sizes to packets of size zero including telemetry."""
    large, small = over_law(tables, flows), over_law(tables, flows, SMALLER)
    return small - (large - small) / (PACKET - SMALLER) * (SMALLER + TELEMETRY)


def over_periodic_queue(tables: Tables, flows: int) -> float:
    """Return the ratio of the mean queue to that of the same number of periodic senders."""
    packet = (PACKET + TELEMETRY) / PACKET
    used = at(tables, "utilization", flows=flows, packet=PACKET)
    return at(tables, "mean", flows=flows, packet=PACKET) / packet / periodic_queue(flows, used)


def law_between(tables: Tables, flows: int) -> float:
    """Return the distance of the closed form to the nearer of two ends, negative if it is not between them.

    One end is the utilization of the link, and the other adds the mean queue divided by C T. U uses the
    smaller queue of two records, and the mean of this smaller queue is at most the mean queue.
    """
    used, exact = at(tables, "utilization", flows=flows, packet=PACKET), law(flows).utilization
    return min(exact - used, used + queue_kb(tables, flows) * 1000 / PRODUCT - exact)


def queue_kb(tables: Tables, flows: int, packet: int = PACKET) -> float:
    """Return the mean queue in kB."""
    return at(tables, "mean", flows=flows, packet=packet) * packet / 1000


COUNTS = range(1, 251)
NAMES = {size: f"simulated, packets of {size} B" for size in (PACKET, SMALLER)}
EXPERIMENTS = [
    Experiment(
        "li2019/utilization",
        "HPCC: utilization and queue by number of flows, simulated and by the closed form",
        cost=15,
        points=_points,
        measure=measure,
        draw=Plot(
            Panel(
                Law("closed form", COUNTS, lambda n: law(n).link),
                simulated("flows", "utilization", by="packet", names=NAMES),
                xlabel="flows",
                ylabel="utilization of the link",
                ylim=(0.94, 1.005),
            ),
            Panel(
                Law("closed form", COUNTS, lambda n: law(n).queue / 1000),
                Law("closed form, held back by rates", COUNTS, lambda n: law(n).paced_queue / 1000, DASHED),
                simulated("flows", pl.col("mean") * pl.col("packet") / 1000, by="packet", names=NAMES),
                xlabel="flows",
                ylabel="mean queue (kB)",
                ylim=(0, None),
            ),
            below=2,
        ),
    )
]
"""The experiment on the utilization law."""
