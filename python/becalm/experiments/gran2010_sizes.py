"""Fig. 9 of gran2010: the victim's throughput against the size of its messages."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from becalm.experiments.expect import at_least, between, near, rising
from becalm.experiments.gran2010_draw import sizes
from becalm.experiments.gran2010_measure import GBPS, point
from becalm.experiments.gran2010_scene import HEADER, MTU, Bed, Table
from becalm.experiments.measure import at, axis, curve
from becalm.experiments.model import Experiment, Label, Outcome, Point, Statement, Tables

SIZES = tuple(4**power for power in range(11))
SHORT_SIZES = (1, 64, 4096, 65536)

OVERHEAD: Table = {"message_overhead": "1 us"}
"""What a host does per message, from the adapters' "application latency of 1 us"; the paper does not say."""

CASES = {"none": (False, (1,)), "off": (False, None), "on": (True, None)}
"""Congestion control and active flows of the three curves."""


def experiments() -> list[Experiment]:
    """Fig. 9."""
    return [
        Experiment(
            "gran2010/fig9",
            "The victim against the size of its messages, scenario 1 with all flows",
            cost=15,
            points=_points,
            measure=_measure,
            draw=sizes,
            statements=_statements(),
        )
    ]


def _points(short: bool) -> list[Point]:
    return [
        point(_bed(size, control, active), case=case, size=size)
        for size in (SHORT_SIZES if short else SIZES)
        for case, (control, active) in CASES.items()
    ]


def _bed(size: int, control: bool, active: tuple[int, ...] | None) -> Bed:
    """Only the victim's size varies: contributors with messages of 1 B would not congest anything."""
    traffic: Table = {"greedy": {"message": f"{size} B"}}
    bed = Bed(interval=0.001, tail=0.1, settle=0.05, adapter=OVERHEAD, victim_traffic=traffic)
    # A victim alone with messages of one packet has an ACK for each, whatever the adapter would do.
    several = active is None or size > MTU
    return replace(bed, control=control, active=active, ack_every=bed.ack_every if several else 1)


def _measure(outcomes: list[Outcome]) -> Tables:
    """`points`: the victim's throughput in Mb/s of payload by case and size."""
    return {"points": pl.DataFrame([_row(outcome) for outcome in outcomes])}


def _row(outcome: Outcome) -> dict[str, Label]:
    size = int(outcome.labels["size"])
    packets = -(-size // MTU)
    groups = outcome.results.groups.filter(pl.col("group") == "F1")
    wire = float(groups["rate"].item()) * GBPS * 1e3
    return {**outcome.labels, "mbps": wire * size / (size + packets * HEADER)}


def _ratios(found: Tables, above: str, below: str) -> list[float]:
    values = axis(found, "size")
    return [
        at(found, "mbps", case=above, size=size) / at(found, "mbps", case=below, size=size) for size in values
    ]


def _statements() -> tuple[Statement, ...]:
    return (
        Statement(
            "order_of_magnitude",
            "activating CC results in an order of magnitude improvement in throughput for this flow, "
            "independent of the packet size",
            10,
            lambda found: _ratios(found, "on", "off"),
            between(3.2, 32),
            note="Throughput with congestion control over that without, from the smallest message to the "
            "largest; half an order of magnitude either way.",
        ),
        Statement(
            "like_no_congestion",
            "The throughput that the victim flow F1 achieves with CC enabled, coincides with the "
            "throughput the same flow achieves when there is no congestion in the network",
            1,
            lambda found: _ratios(found, "on", "none"),
            near(1, 0.05),
            note="With congestion control over alone.",
        ),
        Statement(
            "inferior_without",
            "while a congested network without CC yields inferior results",
            "> 1",
            lambda found: _ratios(found, "none", "off"),
            at_least(1.5),
            note="Alone over congested without congestion control; the curves lie visibly apart.",
        ),
        Statement(
            "rising_with_size",
            "Figure 9 shows how a victim of HOL blocking, the F1 flow from the last section, benefits "
            "from the CC, depending on the packet size being used",
            "rising",
            lambda found: curve(found, "size", "mbps", case="on"),
            rising(130),
            note="Throughput in Mb/s with congestion control by message size; steps of 1% of 13 Gb/s pass.",
        ),
    )
