"""Fig. 9 of gran2010: the victim's throughput against the size of its messages."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from becalm.lab.figures import Curves, single
from becalm.lab.model import Experiment, Label, Outcome, Point, Table, Tables
from becalm.lab.tables import at, axis
from becalm.papers.gran2010.measure import GBPS, point
from becalm.papers.gran2010.scene import HEADER, MTU, Bed

SIZES = tuple(4**power for power in range(11))
SHORT_SIZES = (1, 64, 4096, 65536)

CASES = {"none": (False, (1,)), "off": (False, None), "on": (True, None)}
"""Congestion control and active flows of the three curves."""


def _points(short: bool) -> list[Point]:
    return [
        point(_bed(size, control, active), case=case, size=size)
        for size in (SHORT_SIZES if short else SIZES)
        for case, (control, active) in CASES.items()
    ]


def _bed(size: int, control: bool, active: tuple[int, ...] | None) -> Bed:
    """Return a bed that varies only the victim's message size, because 1 B messages cause no congestion."""
    traffic: Table = {"greedy": {"message": f"{size} B"}}
    bed = Bed(interval=0.001, tail=0.1, settle=0.05, victim_traffic=traffic)
    # A single victim with messages of one packet gets an ACK for each, regardless of the adapter's setting.
    several = active is None or size > MTU
    return replace(bed, control=control, active=active, ack_every=bed.ack_every if several else 1)


def _measure(outcomes: list[Outcome]) -> Tables:
    """Return `points`: the victim's throughput in Mb/s of payload by case and size."""
    return {"points": pl.DataFrame([_row(outcome) for outcome in outcomes])}


def _row(outcome: Outcome) -> dict[str, Label]:
    size = int(outcome.labels["size"])
    packets = -(-size // MTU)
    groups = outcome.results.groups.filter(pl.col("group") == "F1")
    wire = float(groups["rate"].item()) * GBPS * 1e3
    return {**outcome.labels, "mbps": wire * size / (size + packets * HEADER)}


def ratios(tables: Tables, above: str, below: str) -> list[float]:
    """Return the ratio of the throughput in two cases, by message size."""
    values = axis(tables, "size")
    return [
        at(tables, "mbps", case=above, size=size) / at(tables, "mbps", case=below, size=size)
        for size in values
    ]


EXPERIMENTS = [
    Experiment(
        "gran2010/fig9",
        "Throughput of the victim against its message size, scenario 1 with all flows",
        cost=15,
        points=_points,
        measure=_measure,
        draw=single(
            Curves(
                "size",
                "mbps",
                "case",
                {"on": "CC active", "off": "CC inactive", "none": "no congestion"},
                styles={
                    "off": {"linestyle": "--"},
                    "none": {"linestyle": ":", "markersize": 9, "markerfacecolor": "none"},
                },
            ),
            xlabel="message size (B)",
            ylabel="throughput of the victim (Mb/s)",
            xscale="log",
            yscale="log",
        ),
    )
]
"""Fig. 9."""
