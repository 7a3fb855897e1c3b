"""Fig. 10 of gran2010 and Table II: scenario 2, three flows that share the link between the switches."""

from __future__ import annotations

from functools import partial

from becalm.lab.model import Experiment, Measured, Tables
from becalm.lab.tables import mean
from becalm.papers.gran2010.added import THREE, added
from becalm.papers.gran2010.draw import throughputs
from becalm.papers.gran2010.measure import WITHOUT, over_time, rate, spread


def experiments() -> list[Experiment]:
    """Return Fig. 10(a), and 10(b) with Table II."""
    return [_fig10a(), _fig10b()]


def _fig10a() -> Experiment:
    return Experiment(
        "gran2010/fig10a",
        "Scenario 2, flows added one per second, congestion control off",
        cost=8,
        points=lambda short: [added(2, False, short)],
        measure=over_time,
        draw=partial(throughputs, flows=THREE),
    )


def fair_shares(tables: Tables) -> float:
    """Return the ratio of the largest to the smallest rate without congestion control."""
    return spread([rate(tables, flow, 3) for flow in THREE])


def _fig10b() -> Experiment:
    return Experiment(
        "gran2010/fig10b",
        "Scenario 2, flows added one per second, congestion control on, and Table II",
        cost=16,
        points=lambda short: [added(2, control, short) for control in (False, True)],
        measure=over_time,
        draw=lambda tables: throughputs(tables, THREE, delays=True, control="on"),
    )


def loss(tables: Tables) -> Measured:
    """Return the throughput that the three flows lose with congestion control, in percent."""
    on, off = (mean([rate(tables, flow, 3, control=control) for flow in THREE]) for control in ("on", "off"))
    return 100 * (1 - on / off)


def jitter(tables: Tables, control: str) -> float:
    """Return the mean standard deviation of the three flows' samples in Gb/s."""
    return mean([rate(tables, flow, 3, "sd", control=control) for flow in THREE])


def jitter_ratio(tables: Tables) -> float:
    """Return the ratio of the samples' standard deviation to the paper's value without congestion control."""
    return jitter(tables, "on") / WITHOUT


def fair(tables: Tables) -> float:
    """Return the ratio of the largest to the smallest rate with congestion control."""
    return spread([rate(tables, flow, 3, control="on") for flow in THREE])


def triggered_by_third_flow(tables: Tables) -> list[float]:
    """Return the largest injection delay in us with 1, 2 and 3 flows."""
    return [
        max(rate(tables, flow, phase, "delay_max", control="on") for flow in THREE[:phase])
        for phase in (1, 2, 3)
    ]


def minimum(tables: Tables) -> float:
    """Return the smallest sample of a flow with congestion control in Gb/s."""
    return min(rate(tables, flow, 3, "min", control="on") for flow in THREE)


def maximum(tables: Tables) -> float:
    """Return the largest sample of a flow with congestion control in Gb/s."""
    return max(rate(tables, flow, 3, "max", control="on") for flow in THREE)
