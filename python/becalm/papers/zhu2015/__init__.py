"""Congestion Control for Large-Scale RDMA Deployments (DCQCN).

Y. Zhu et al., SIGCOMM 2015. The fixed point and its stability are from Y. Zhu, M. Ghobadi, V. Misra,
J. Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016.
`becalm.theory.dcqcn` derives them again.

All claims are derived from closed forms, with bounds set before the first run. No sentence of either paper is
quoted. [zhu2015/readings.md](zhu2015/readings.md) describes what the scenes omit, and differences between
simulation and closed forms.
"""

from __future__ import annotations

from dataclasses import replace

from becalm.lab.bottleneck import Bottleneck, measure
from becalm.lab.figures import DASHED, Curves, Law, Panel, Plot, simulated, single
from becalm.lab.model import Experiment, Table, Tables, grid
from becalm.lab.tables import at
from becalm.papers.zhu2015 import clos
from becalm.theory import Dcqcn

PHASE = "100 us"
"""Each flow starts up to 100 us later than stated, which is two intervals between notifications."""

SHORT_LOOP, LONG_LOOP = 4.0, 85.0
"""Round trips in us, of a packet to the receiver and its notification back."""
SCENE = Bottleneck(
    flows=2,
    rate=40.0,
    packet=1000,
    round_trip=SHORT_LOOP,
    # Marks and notifications have the paper's parameters, which are the defaults.
    marking={"ramp": {}},
    echo={"rocev2": {}},
    response={"dcqcn": {"preset": "paper"}},
    warmup=50,
)


def bottleneck(short: bool, flows: int, loop: float = SHORT_LOOP) -> Table:
    """Return the scene with one bottleneck."""
    return replace(SCENE, flows=flows, round_trip=loop, duration=100 if short else 250).scenario()


def fixed_point(flows: int) -> Dcqcn:
    """Return the fixed point of the fluid model for this number of flows."""
    return Dcqcn(flows, link=SCENE.rate * 1e9 / 8 / SCENE.packet)


def _queue_of_small_marking(flows: int) -> float:
    root = fixed_point(flows)
    return root.queue(root.small_marking())


def queue_over_root(tables: Tables, flows: int) -> float:
    """Return the ratio of the mean queue to that of the exact root."""
    return at(tables, "mean", flows=flows) / fixed_point(flows).queue()


LOOPS = (SHORT_LOOP, LONG_LOOP)


EXPERIMENTS = [
    Experiment(
        "zhu2015/fixed_point",
        "DCQCN: queue by number of flows, simulated and by the fluid model",
        cost=12,
        points=grid(bottleneck, {"flows": (2, 10)}, flows=(2, 4, 8, 10)),
        measure=measure,
        draw=single(
            Law("exact root", range(2, 12), lambda n: fixed_point(n).queue()),
            Law("for small probabilities", range(2, 12), _queue_of_small_marking, DASHED),
            simulated("flows", "mean"),
            xlabel="flows",
            ylabel="queue (packets of 1000 B)",
            ylim=(0, None),
            below=3,
        ),
    ),
    Experiment(
        "zhu2015/delay",
        "DCQCN: utilization and queue with loops of 4 and 85 us",
        cost=25,
        points=grid(bottleneck, {"flows": (2, 10)}, flows=(2, 4, 6, 8, 10), loop=LOOPS),
        measure=measure,
        draw=Plot(
            Panel(
                Curves("flows", "utilization", "loop", {loop: f"loop of {loop:g} us" for loop in LOOPS}),
                xlabel="flows",
                ylabel="utilization of the link",
            ),
            Panel(
                Curves("flows", "mean", "loop", {loop: f"mean, {loop:g} us" for loop in LOOPS}),
                Curves(
                    "flows",
                    "p99",
                    "loop",
                    {loop: f"99%, {loop:g} us" for loop in LOOPS},
                    style={"linestyle": ":"},
                ),
                xlabel="flows",
                ylabel="queue (packets of 1000 B)",
                ylim=(0, None),
            ),
            below=3,
        ),
    ),
    *clos.EXPERIMENTS,
]
"""The experiments on the fixed point, longer loops, and the unfairness and victims of PFC."""
