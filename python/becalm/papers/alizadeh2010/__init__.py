"""Data Center TCP (DCTCP).

M. Alizadeh, A. Greenberg, D. A. Maltz, J. Padhye, P. Patel, B. Prabhakar, S. Sengupta, M. Sridharan,
SIGCOMM 2010.

DCTCP runs here as a window on RDMA: there is no slow start, no packet is lost, and a window never falls below
one packet. All claims are derived from the paper's closed forms (`becalm.theory.dctcp`), with bounds set
before the first run. No sentence is quoted. [alizadeh2010/readings.md](alizadeh2010/readings.md) explains
differences between simulation and closed forms.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from becalm.lab.bottleneck import Bottleneck, measure
from becalm.lab.figures import DASHED, DOTS, Curves, Law, Level, Panel, Plot, simulated, single
from becalm.lab.model import Experiment, Table, Tables, grid
from becalm.lab.tables import at
from becalm.plot import COLOURS, MARKERS
from becalm.theory import Dctcp

PHASE = "100 us"
"""Each flow starts up to a round trip later than stated."""

SCENE = Bottleneck(
    flows=2, rate=10.0, packet=1500, round_trip=100.0, response={"dctcp": {}}, duration=150, warmup=50
)
JUDGED = {"arrival": "full", "departure": "none"}
"""Events at which the queue is read for a mark, and the fill of their markers. The paper's switches read it
when a packet arrives."""


def law(flows: int, threshold: float = 40) -> Dctcp:
    """Return the closed forms for a number of flows and K in packets."""
    return Dctcp(flows, SCENE.product, threshold)


def bottleneck(
    short: bool, flows: int = 2, threshold: float = 40, judged: str = "arrival", initial: float | None = None
) -> Table:
    """Return the scene. Packets that find more than the threshold in the queue are marked.

    Args:
        short: whether to return the reduced version.
        flows: number of flows.
        threshold: K in packets.
        judged: event at which the queue is read.
        initial: the window at the start; None: the bandwidth-delay product.

    """
    step = threshold * SCENE.packet / 1000
    scene = replace(
        SCENE,
        flows=flows,
        marking={"ramp": {"kmin": step, "kmax": step, "judged": judged}},
        response={"dctcp": {} if initial is None else {"initial": initial}},
    )
    return replace(scene, duration=60, warmup=30).scenario() if short else scene.scenario()


def _judged(column: str, place: int) -> list[Curves]:
    """Return the curves of a column, for each event at which the queue is read."""
    style = {"color": COLOURS[place], "marker": MARKERS[place], **DOTS}
    return [
        Curves(
            "flows",
            column,
            label=f"{column}, judged on {event}",
            style={**style, "fillstyle": fill},
            where={"judged": event},
        )
        for event, fill in JUDGED.items()
    ]


def lost(tables: Tables, threshold: int) -> float:
    """Return the unused share of the link's capacity."""
    return 1 - at(tables, "utilization", threshold=threshold)


def above_the_law(tables: Tables, flows: int) -> float:
    """Return the mean queue minus N - C RTT, in packets."""
    return at(tables, "mean", flows=flows) - law(flows).standing_queue


COUNTS, LEAST = range(1, 41), law(2).least_threshold
EXPERIMENTS = [
    Experiment(
        "alizadeh2010/sawtooth",
        "DCTCP: queue and marks by number of flows, simulated and by the sawtooth",
        cost=10,
        points=grid(bottleneck, {"flows": (2, 10)}, flows=(1, 2, 5, 10, 20, 40), judged=tuple(JUDGED)),
        measure=measure,
        draw=Plot(
            Panel(
                Law("max, closed form", COUNTS, lambda n: law(n).largest_queue, DASHED),
                *_judged("max", 0),
                Law("min, closed form", COUNTS, lambda n: max(0.0, law(n).smallest_queue), DASHED, place=1),
                *_judged("min", 1),
                xlabel="flows",
                ylabel="queue (packets of 1500 B)",
                ylim=(0, 140),
            ),
            Panel(
                Law("alpha, closed form", COUNTS, lambda n: law(n).alpha, DASHED),
                *_judged("marked", 0),
                xlabel="flows",
                ylabel="share",
                ylim=(0, 1),
            ),
            below=3,
        ),
    ),
    Experiment(
        "alizadeh2010/threshold",
        "DCTCP: utilization by threshold, two flows",
        cost=7,
        points=grid(bottleneck, {"threshold": (5, 65)}, threshold=(1, 2, 5, 10, 20, 40, 65)),
        measure=measure,
        draw=single(
            Curves("threshold", "utilization", label="simulated"),
            Law("sawtooth", np.linspace(1, 65, 200), lambda k: 1 - law(2, k).lost, DASHED, place=1),
            Level(f"C RTT / 7, {LEAST:.1f}", LEAST, upright=True),
            xlabel="threshold (packets of 1500 B)",
            ylabel="utilization of the link",
            below=3,
        ),
    ),
    # More flows than packets that fit on the path. Each flow has the minimum window; the excess waits.
    Experiment(
        "alizadeh2010/incast",
        "DCTCP: standing queue of an incast, simulated and N - C RTT",
        cost=4,
        points=grid(partial(bottleneck, initial=1.0), {"flows": (400,)}, flows=(200, 300, 400)),
        measure=measure,
        draw=single(
            Law("N - C RTT", range(0, 401, 10), lambda n: law(max(1, n)).standing_queue, DASHED),
            simulated("flows", "mean"),
            xlabel="flows",
            ylabel="mean queue (packets of 1500 B)",
            below=3,
        ),
    ),
]
"""The experiments on the sawtooth, the threshold that fills the link, and an incast."""
