"""Statements without a figure from section II of gran2010, on switches and adapters, run on its test bed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from becalm.lab.figures import Bars, Panel, Plot
from becalm.lab.model import Experiment, Label, Outcome, Point, Tables
from becalm.lab.nulls import respond
from becalm.lab.tables import at, curve, labelled
from becalm.manager import nearest
from becalm.papers.common.draw import bars
from becalm.papers.gran2010.cct import HOST_LINK, PACKET_US, PAPER, wanted_us
from becalm.papers.gran2010.measure import CONTRIBUTORS, point, with_all_flows
from becalm.papers.gran2010.scene import HOST_GBPS, WIRE, Bed
from becalm.plot import COLOURS

MINIMA = (0, 48, 80, 100)
"""Values of `CCTI_Min`. At 80, four contributors offer all that H5 can receive; at 100, they offer less."""

MASKS = ("all", "host_ports", "none")
ENTRIES = (1, 3, 5)
"""Numbers of entries that replace one table entry of the paper."""


def steady(scenario: int = 1) -> Bed:
    """Return a scenario in which all flows start almost at once, for its steady state."""
    return Bed(scenario, interval=0.001, tail=0.3, settle=0.1)


def throughput(parameter: str, label: str, **where: Label) -> Plot:
    """Show the throughput of the victim and of the mean contributor at each value of a parameter."""
    return _throughput(parameter, label, {"F1": "victim", "contributors": "mean contributor"}, **where)


def _throughput(parameter: str, label: str, columns: Mapping[str, str], **where: Label) -> Plot:
    colours = (*COLOURS[:5], "black")
    panel = Panel(
        Bars(parameter, columns, where, colours), xlabel=label, ylabel="throughput (Gb/s)", ylim=(0, 14.5)
    )
    return Plot(panel, width=5.6)


def like_its_neighbour(tables: Tables, control: str) -> float:
    """Return the ratio of F6's throughput to F2's with control per service level or per queue pair."""
    return at(tables, "F6", control=control) / at(tables, "F2", control=control)


def as_the_minimum_allows(tables: Tables) -> list[float]:
    """Return the ratio of the victim's throughput to the limit of the entry at `CCTI_Min` or of the host."""
    return [at(tables, "F1", minimum=value) / _allowed(value) for value in MINIMA]


def _allowed(index: int) -> float:
    """Return the payload rate in Gb/s with the delay of an entry after each packet."""
    shift, multiplier = nearest(wanted_us(index, PAPER) / PACKET_US)
    delay: float = multiplier / 2**shift
    return min(HOST_GBPS, HOST_LINK / WIRE / (1 + delay))


def _tables(short: bool) -> list[Point]:
    return [
        point(replace(steady(scenario), finer=finer), scenario=scenario, entries=128 * finer)
        for scenario in ((1,) if short else (1, 2))
        for finer in ENTRIES
    ]


def fine_enough(tables: Tables) -> list[float]:
    """Return throughput with 128 entries relative to the best: victim, contributors, all of scenario 2.

    The last value is the victim's throughput relative to that of its host.
    """
    found = [curve(tables, "entries", column, scenario=1) for column in ("F1", "contributors")]
    shared = [curve(tables, "entries", flow, scenario=2) for flow in ("F1", "F2", "F3")]
    if shared[0]:
        found.append([sum(values) for values in zip(*shared, strict=True)])
    return [*(values[0] / max(values) for values in found), found[0][0] / HOST_GBPS]


def _silent(spacing: str, short: bool) -> Point:
    """Return a point whose switches mark as in Table I and whose sources do not respond."""
    each = point(replace(steady(), tail=0.5 if short else 3.0), spacing=spacing)
    return replace(each, scenario=respond({"none": {}})(each.scenario))


def drawn(each: Point) -> Point:
    """Return a point whose switches mark packets at random, with `Marking_Rate` as a mean."""
    marking = {"ibta": each.scenario["marking"]["ibta"] | {"spacing": "drawn"}}
    return replace(each, scenario={**each.scenario, "marking": marking})


def _notifications(outcomes: list[Outcome]) -> Tables:
    """Return `points`: ratio of a contributor's share of marks to its share of the link; packets per mark."""
    tables = []
    for outcome in outcomes:
        flows = outcome.results.flows.filter(pl.col("group").is_in(CONTRIBUTORS)).sort("group")
        marks, rates = (pl.col(name) / pl.col(name).sum() for name in ("marked", "rate"))
        gap = (pl.col("delivered_packets").sum() - pl.col("marked").sum()) / pl.col("marked").sum()
        tables.append(labelled(flows.select(flow="group", over=marks / rates, gap=gap), outcome))
    return {"points": pl.concat(tables).with_columns(bar=pl.concat_str("flow", "spacing", separator=" "))}


EXPERIMENTS = [
    Experiment(
        "gran2010/level",
        "Control per queue pair and per service level: H2 sends F2 to H5 and F6 to H1",
        cost=4,
        points=lambda _: [
            point(replace(steady(), per_level=per_level, neighbour=True), control=name)
            for name, per_level in (("qp", False), ("sl", True))
        ],
        measure=with_all_flows,
        draw=_throughput("control", "control per", {flow: flow for flow in ("F1", *CONTRIBUTORS, "F6")}),
    ),
    Experiment(
        "gran2010/ccti_min",
        "Throughput by CCTI_Min, scenario 1 with all flows",
        cost=2,
        points=lambda _: [point(replace(steady(), minimum=value), minimum=value) for value in MINIMA],
        measure=with_all_flows,
        draw=throughput("minimum", "CCTI_Min"),
    ),
    Experiment(
        "gran2010/victim_mask",
        "Throughput of the victim by Victim_Mask, scenario 1 with all flows",
        cost=2,
        points=lambda _: [point(replace(steady(), mask=mask), mask=mask) for mask in MASKS],
        measure=with_all_flows,
        draw=throughput("mask", "ports in Victim_Mask"),
    ),
    Experiment(
        "gran2010/entries",
        "Longer tables: smaller and more frequent decrements of the index",
        cost=3,
        points=_tables,
        measure=with_all_flows,
        draw=throughput("entries", "entries, scenario 1", scenario=1),
    ),
    Experiment(
        "gran2010/notified",
        "Notifications of unresponsive contributors with unequal shares of the congested link",
        cost=6,
        points=lambda short: [_silent("counted", short), drawn(_silent("drawn", short))],
        measure=_notifications,
        draw=bars("bar", "over", "share of marks over share of the link"),
    ),
]
"""Control per service level, `CCTI_Min`, `Victim_Mask`, longer tables, and notifications."""
