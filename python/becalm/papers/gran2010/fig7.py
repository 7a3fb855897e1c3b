"""Fig. 7 and 8 of gran2010: scenario 1, a victim and four contributors."""

from __future__ import annotations

from functools import partial

from becalm.lab.model import Experiment, Tables
from becalm.papers.gran2010.added import ALL, THREE, added
from becalm.papers.gran2010.draw import shares, throughputs
from becalm.papers.gran2010.measure import CONTRIBUTORS, WITHOUT, over_time, rate, spread
from becalm.papers.gran2010.scene import HOST_GBPS


def experiments() -> list[Experiment]:
    """Return Fig. 7(a), 7(b) and 8."""
    return [_fig7a(), _fig7b(), _fig8()]


def _fig7a() -> Experiment:
    return Experiment(
        "gran2010/fig7a",
        "Scenario 1, flows added one per second, congestion control off",
        cost=8,
        points=lambda short: [added(1, False, short)],
        measure=over_time,
        draw=partial(throughputs, flows=ALL),
    )


def victim_like_f2_and_f3(tables: Tables) -> list[float]:
    """Return the ratio of the largest to the smallest rate of F1, F2 and F3 with 3, 4 and 5 flows."""
    return [spread([rate(tables, flow, phase) for flow in THREE]) for phase in (3, 4, 5)]


def halved_again(tables: Tables) -> list[float]:
    """Return the ratio of the rates of F1, F2 and F3 with 4 flows to those with 3."""
    return [rate(tables, flow, 4) / rate(tables, flow, 3) for flow in THREE]


def parking_lot(tables: Tables) -> float:
    """Return the ratio of the rate of F2 and F3 together to that of F4, with 4 flows."""
    return (rate(tables, "F2", 4) + rate(tables, "F3", 4)) / rate(tables, "F4", 4)


def _fig7b() -> Experiment:
    return Experiment(
        "gran2010/fig7b",
        "Scenario 1, flows added one per second, congestion control on",
        cost=20,
        points=lambda short: [added(1, control, short) for control in (False, True)],
        measure=over_time,
        draw=lambda tables: throughputs(tables, ALL, delays=True, control="on"),
    )


def victim_constant(tables: Tables) -> list[float]:
    """Return the ratio of standard deviation to mean of the victim's samples, for 1 to 5 flows."""
    return [
        rate(tables, "F1", phase, "sd", control="on") / rate(tables, "F1", phase, control="on")
        for phase in (1, 2, 3, 4, 5)
    ]


def oscillation(tables: Tables) -> list[float]:
    """Return the ratio of each contributor's standard deviation to the paper's without control."""
    return [rate(tables, flow, 5, "sd", control="on") / WITHOUT for flow in CONTRIBUTORS]


def gain(tables: Tables, flow: str, phase: int) -> float:
    """Return the ratio of a flow's rate in a phase with congestion control to that without."""
    return rate(tables, flow, phase, control="on") / rate(tables, flow, phase, control="off")


def _fig8() -> Experiment:
    return Experiment(
        "gran2010/fig8",
        "Shares of the congested link with all five flows, congestion control off and on",
        cost=20,
        points=lambda short: [added(1, control, short) for control in (False, True)],
        measure=over_time,
        draw=shares,
    )


def _share(tables: Tables, flow: str, control: str) -> float:
    total = sum(rate(tables, other, 5, control=control) for other in CONTRIBUTORS)
    return rate(tables, flow, 5, control=control) / total


def a_third_each(tables: Tables) -> list[float]:
    """Return the shares of F4, of F5, and of F2 and F3 together, without congestion control."""
    return [
        _share(tables, "F4", "off"),
        _share(tables, "F5", "off"),
        _share(tables, "F2", "off") + _share(tables, "F3", "off"),
    ]


def equal_shares(tables: Tables) -> float:
    """Return the ratio of the contributors' largest to smallest share with congestion control."""
    return spread([_share(tables, flow, "on") for flow in CONTRIBUTORS])


def contributors_fill_the_link(tables: Tables) -> float:
    """Return the ratio of the contributors' total rate to the rate at which H5 can receive."""
    return sum(rate(tables, flow, 5, control="on") for flow in CONTRIBUTORS) / HOST_GBPS
