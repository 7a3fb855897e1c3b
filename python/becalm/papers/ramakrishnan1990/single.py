"""Ramakrishnan and Jain 1990, section 5.3: the share of packets that a single router marks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from becalm.lab.figures import DOTS, Curves, Law, single
from becalm.lab.model import Experiment, Outcome, Point, Table, Tables
from becalm.lab.tables import at, curve
from becalm.papers.ramakrishnan1990.measure import summary
from becalm.papers.ramakrishnan1990.scene import EXPONENTIAL, INSTANT, PACKET, rate, units
from becalm.plot import COLOURS
from becalm.traces import trace

LOADS = np.linspace(0, 0.99, 200)
SHOWN: tuple[tuple[str, str, Callable[[float], float]], ...] = (
    ("power", "power (packets / unit$^2$)", lambda load: load * (1 - load)),
    ("marked", "share of packets marked, C = 1", lambda load: load),
)
"""Columns of the figure, their labels, and their values for M/M/1."""


UTILIZATIONS = tuple(round(0.1 * place, 1) for place in range(1, 10))


WIDTHS = (0, 2, 4)
"""Widths of a hysteresis around a queue length of 2, in packets."""
SIGNALS = 20_000
"""Duration in units of the runs whose signals are counted."""


def _router_points(short: bool) -> list[Point]:
    duration = 200_000 if short else 400_000
    loads = [("M/M/1", load, 1) for load in UTILIZATIONS] + [("M/M/1", 0.5, 2)]
    loads += [("M/D/1", 0.5, threshold) for threshold in (1, 2)]
    loads += [("D/D/1", load, threshold) for load in (0.5, 0.9) for threshold in (1, 2)] + [("D/D/1", 1.0, 1)]
    return [
        Point(
            {"queue": queue, "utilization": load, "threshold": threshold},
            _router(queue, load, threshold, duration),
        )
        for queue, load, threshold in loads
    ]


def _router(queue: str, utilization: float, threshold: int, duration: float) -> Table:
    """Return a router with a service time of one unit. Regular arrivals use a link of the same rate.

    The paper's argument uses the packets that an arrival finds for M/M/1, and the average for D/D/1.
    """
    random = queue.startswith("M")
    traffic: Table = {"greedy": {"message": f"{PACKET} B"}}
    if random:
        load = utilization * float(rate(1).split()[0]) / (float(INSTANT.split()[0]) * 1e3)
        traffic = {"poisson": {"load": load, "message": f"{PACKET} B"}}
    arrivals = INSTANT if random else rate(1 / utilization)
    cables = [{"between": ["S1", "R1"], "rate": arrivals}, {"between": ["R1", "D"], "rate": rate(1)}]
    switch = {
        "buffer": "unlimited",
        "forwarding_delay": "0 s",
        "switching": "store_and_forward",
        "arbiter": {"oldest_first": {"max_bypass": 4}},
    }
    marking = {"queue_hysteresis": {"centre": threshold, "width": 0}}
    if not random:
        marking = {"regeneration_cycle": {"threshold": threshold}}
    return {
        "run": {"duration": units(duration), "warmup": units(duration / 100)},
        "topology": {"edges": {"hosts": ["S1", "D"], "switches": ["R1"], "cables": cables}},
        "switch": switch | ({"service": EXPONENTIAL} if queue == "M/M/1" else {}),
        "packet": {"mtu": f"{PACKET} B", "header": "0 B", "ack": "1 B"},
        "marking": marking,
        "echo": {"ack": {}},
        "response": {"none": {}},
        "flows": [{"name": "user 1", "from": ["S1"], "to": ["D"], "traffic": traffic}],
        "observe": {"step": units(duration / 10), "window": units(duration / 10), "links": []},
    }


def best_load(tables: Tables) -> float:
    """Return the utilization with the most power, for M/M/1."""
    powers = curve(tables, "utilization", "power", queue="M/M/1", threshold=1)
    return UTILIZATIONS[int(np.argmax(powers))]


def depends_on(tables: Tables, threshold: int) -> list[float]:
    """Return the effect on the share of marked packets of the service's distribution, and of the threshold.

    The first value compares M/M/1 with M/D/1 at this threshold, the second a threshold of 1 with this one.
    """
    chosen, constant, one = (
        at(tables, "marked", queue=queue, utilization=0.5, threshold=each)
        for queue, each in (("M/M/1", threshold), ("M/D/1", threshold), ("M/M/1", 1))
    )
    return [abs(chosen - constant), abs(one - chosen)]


def _signal_points(_: bool) -> list[Point]:
    points = []
    for width in WIDTHS:
        scene = _router("M/M/1", 0.5, 1, SIGNALS)
        points.append(
            Point({"width": width}, {**scene, "marking": {"queue_hysteresis": {"centre": 2, "width": width}}})
        )
    return points


def _signals(outcomes: list[Outcome]) -> Tables:
    """Return `points`: changes of the congestion state per packet, from consecutive packets on the link."""
    rows = []
    for outcome in outcomes:
        packets = trace(outcome.results.scenario, links=["R1->D"], most=2 * SIGNALS).packets
        marked = packets.sort("time")["fecn"].to_numpy()
        rows.append({**outcome.labels, "changes": float((marked[1:] != marked[:-1]).mean())})
    return {"points": pl.DataFrame(rows)}


def half_at_most_power(tables: Tables) -> list[float]:
    """Return the share of marked packets at the load with the most power, for M/M/1 and D/D/1."""
    loads = {"M/M/1": best_load(tables), "D/D/1": 1.0}
    return [at(tables, "marked", queue=queue, threshold=1, utilization=load) for queue, load in loads.items()]


EXPERIMENTS = [
    Experiment(
        "ramakrishnan1990/probability",
        "A single router: power and share of marked packets by utilization",
        cost=5,
        points=_router_points,
        measure=lambda outcomes: summary(outcomes, rest=0.0),
        draw=single(
            *(
                part
                for place, (column, label, exact) in enumerate(SHOWN)
                for part in (
                    Law(f"{label}: theory", LOADS, exact, place=place),
                    Curves(
                        "utilization",
                        column,
                        label=f"{label}: simulated",
                        style={**DOTS, "color": COLOURS[place], "marker": "o"},
                        where={"queue": "M/M/1", "threshold": 1},
                    ),
                )
            ),
            xlabel="utilization",
            ylim=(0, 1),
        ),
    ),
    Experiment(
        "ramakrishnan1990/signals",
        "A single router with hysteresis: changes between marked and unmarked packets",
        cost=1,
        points=_signal_points,
        measure=_signals,
        draw=single(
            Curves("width", "changes", label="changes per packet"),
            xlabel="width of the hysteresis H (packets)",
            ylabel="on and off signals per packet",
            ylim=(0, None),
        ),
    ),
]
"""The experiments on the probabilities of section 5.3, and on the signals of section 4."""
