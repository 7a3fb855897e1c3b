"""Ramakrishnan and Jain 1990, section 5.3: how many packets a single router marks."""

from __future__ import annotations

import numpy as np

from becalm.experiments.expect import at_least, at_most, near
from becalm.experiments.measure import at, curve
from becalm.experiments.model import Experiment, Point, Statement, Tables
from becalm.experiments.ramakrishnan1990_draw import router
from becalm.experiments.ramakrishnan1990_measure import summary
from becalm.experiments.ramakrishnan1990_scene import (
    EXPONENTIAL,
    INSTANT,
    PACKET,
    Table,
    rate,
    units,
)


def experiments() -> list[Experiment]:
    """The probabilities of section 5.3."""
    return [_probability()]


def _probability() -> Experiment:
    return Experiment(
        "ramakrishnan1990/probability",
        "A single router: power by utilization, and how many packets it marks",
        cost=5,
        points=_router_points,
        measure=lambda outcomes: summary(outcomes, rest=0.0),
        draw=router,
        statements=_router_statements(),
    )


UTILIZATIONS = tuple(round(0.1 * place, 1) for place in range(1, 10))


def _router_points(short: bool) -> list[Point]:
    duration = 200_000 if short else 400_000
    loads = [("M/M/1", load, 1) for load in UTILIZATIONS] + [("M/M/1", 0.5, 2)]
    loads += [("D/D/1", load, threshold) for load in (0.5, 0.9) for threshold in (1, 2)] + [("D/D/1", 1.0, 1)]
    return [
        Point(
            {"queue": queue, "utilization": load, "threshold": threshold},
            _router(queue, load, threshold, duration),
        )
        for queue, load, threshold in loads
    ]


def _router(queue: str, utilization: float, threshold: int, duration: float) -> Table:
    """Return a router with a service time of one unit; regular arrivals come on a link that is no faster.

    The paper's argument is about the packets that an arrival finds at M/M/1, and about the average at D/D/1.
    """
    random = queue == "M/M/1"
    traffic: Table = {"greedy": {"message": f"{PACKET} B"}}
    if random:
        load = utilization * float(rate(1).split()[0]) / (float(INSTANT.split()[0]) * 1e3)
        traffic = {"poisson": {"load": load, "message": f"{PACKET} B"}}
    arrivals = INSTANT if random else rate(1 / utilization)
    cables = [{"between": ["S1", "R1"], "rate": arrivals}, {"between": ["R1", "D"], "rate": rate(1)}]
    switch = {"buffer": "unlimited", "forwarding_delay": "0 s", "switching": "store_and_forward"}
    marking = {"queue_hysteresis": {"centre": threshold, "width": 0}}
    if not random:
        marking = {"regeneration_cycle": {"threshold": threshold}}
    return {
        "run": {"duration": units(duration), "warmup": units(duration / 100)},
        "topology": {"edges": {"hosts": ["S1", "D"], "switches": ["R1"], "cables": cables}},
        "switch": switch | ({"service": EXPONENTIAL} if random else {}),
        "packet": {"mtu": f"{PACKET} B", "header": "0 B", "ack": "1 B"},
        "marking": marking,
        "echo": {"ack": {}},
        "response": {"none": {}},
        "flows": [{"name": "user 1", "from": ["S1"], "to": ["D"], "traffic": traffic}],
        "observe": {"step": units(duration / 10), "window": units(duration / 10), "links": []},
    }


def _marked(found: Tables, queue: str, threshold: int, utilization: float) -> float:
    return at(found, "marked", queue=queue, threshold=threshold, utilization=utilization)


def _best_load(found: Tables) -> float:
    powers = curve(found, "utilization", "power", queue="M/M/1", threshold=1)
    return UTILIZATIONS[int(np.argmax(powers))]


def _router_statements() -> tuple[Statement, ...]:
    rounding = "The standard error of the share over a run is about 0.002."
    return (
        Statement(
            "most_power_at_half_load",
            "The value of rho, at which power at the router is maximized, is 0.5 [12]",
            0.5,
            _best_load,
            near(0.5, 0),
            note="Of the utilizations 0.1, 0.2, ... 0.9, M/M/1.",
        ),
        Statement(
            "threshold_1",
            "when C = 1, Prob(bit set) = 1 - P(0) = rho = 0.5",
            0.5,
            lambda found: _marked(found, "M/M/1", 1, 0.5),
            near(0.5, 0.01),
            note=f"Share of marked packets; the threshold applies to what a packet finds. {rounding}",
        ),
        Statement(
            "threshold_2",
            "and when C = 2, Prob(bit set) = 0.25",
            0.25,
            lambda found: _marked(found, "M/M/1", 2, 0.5),
            near(0.25, 0.01),
            note=f"Likewise. {rounding}",
        ),
        Statement(
            "every_packet_at_full_load",
            "when the interarrival and service times are deterministic, power is maximized when the "
            "utilization rho = 1. With a threshold C of 1, Prob(bit set) = 1.0",
            1.0,
            lambda found: _marked(found, "D/D/1", 1, 1.0),
            near(1.0, 0.001),
            note="With the average over regeneration cycles; the first cycle knows no average yet.",
        ),
        Statement(
            "no_packet_below",
            "But, when rho < 1, for C >= 1, Prob(bit set) = 0.0",
            0.0,
            lambda found: [_marked(found, "D/D/1", c, load) for c in (1, 2) for load in (0.5, 0.9)],
            at_most(0),
            note="At utilizations of 0.5 and 0.9 with thresholds of 1 and 2.",
        ),
        Statement(
            "half_at_most_power",
            "Thus, using a threshold C equal to 1, Prob(bit set) >= 0.5, when maximizing power for both the "
            "M/M/1 and D/D/1 cases",
            0.5,
            lambda found: [_marked(found, "M/M/1", 1, _best_load(found)), _marked(found, "D/D/1", 1, 1.0)],
            at_least(0.49),
            note=f"0.5 less the tolerance above. {rounding}",
        ),
    )
