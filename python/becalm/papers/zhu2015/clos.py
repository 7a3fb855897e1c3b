"""A Clos network of 40 Gb/s with PFC: four switches with hosts, two pairs above them, and two on top.

    A1 ... A5 - T1    T2 - B    C1, C2 - T3    T4 - D, R

T1 and T2 are below L1 and L2, T3 and T4 are below L3 and L4, and L1 to L4 are below S1 and S2. A hash of the
flow chooses among equal ports. Switches have the memory of `theory.pfc.SharedBuffer` with 12 MB for 32 ports:
XOFF depends on the free memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from becalm import theory
from becalm.lab.model import Outcome, Tables
from becalm.quantities import seconds
from becalm.scenario import Scenario
from becalm.theory.pfc import SharedBuffer

Table: TypeAlias = dict[str, Any]

RATE = 40.0
"""Gb/s of every link."""
MEMORY = SharedBuffer(size=12e6, ports=32, headroom=22.4e3)
BETA = 8.0
"""A class may use beta / 8 of the free memory."""
TOP = (("T1", "T2"), ("T3", "T4"))
"""Switches with hosts, by the pair of switches above them."""

PFC, DCQCN = "PFC alone", "DCQCN"
CONTROLS: dict[str, Table] = {
    PFC: {},
    DCQCN: {"marking": {"ramp": {}}, "echo": {"rocev2": {}}, "response": {"dcqcn": {"preset": "paper"}}},
}
"""Additions to the scene. DCQCN and its marks have the paper's parameters, which are the defaults."""
TIMES = {PFC: ("65 ms", "60 ms"), DCQCN: ("150 ms", "50 ms")}
"""Duration and warm-up.

With only PFC, megabytes of buffers along each path must fill, and some of them fill only at the small rates
that other flows leave. DCQCN needs tens of ms to make flows equal.
"""
SHORT = {**TIMES, DCQCN: ("90 ms", "50 ms")}
"""Duration and warm-up of the reduced version."""
DRAWS = {PFC: 4, DCQCN: 1}
"""Random samples of the paths for each seed."""
GBPS = 8e-9
"""Gb/s per B/s."""


def scenario(flows: Sequence[Table], control: str, short: bool = False) -> Table:
    """Return the scene with these groups of flows."""
    duration, warmup = (SHORT if short else TIMES)[control]
    return {
        "run": {"duration": duration, "warmup": warmup},
        "topology": {"edges": _edges()},
        "switch": {
            "forwarding_delay": "500 ns",
            "paths": {"flow": {}},
            "flow_control": {"pfc": {"thresholds": {"dynamic": _thresholds()}}},
        },
        "packet": {"mtu": "942 B", "header": "58 B", "ack": "64 B"},
        "flows": list(flows),
        "observe": {"links": [], "step": "5 ms", "window": "5 ms"},
        **CONTROLS[control],
    }


def _edges() -> Table:
    hosts = (("A1..A5", "T1"), ("B", "T2"), ("C1..C2", "T3"), ("D", "T4"), ("R", "T4"))
    cables = [{"between": [name, switch]} for name, switch in hosts]
    for pair, below in enumerate(TOP):
        for above in (f"L{2 * pair + 1}", f"L{2 * pair + 2}"):
            cables += [{"between": [above, end]} for end in (*below, "S1", "S2")]
    switches = ["T1..T4", "L1..L4", "S1..S2"]
    names = [name for name, _ in hosts]
    return {
        "hosts": names,
        "switches": switches,
        "cables": cables,
        "rate": f"{RATE:g} Gb/s",
        "delay": "500 ns",
    }


def _thresholds() -> Table:
    return {"alpha": BETA / MEMORY.classes, "shared": f"{MEMORY.shared:.0f} B"}


def measure(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`, a row for each flow of each run.

    The columns are the rate `gbps`, the port-fair rate `by_ports`, the max-min fair rate `fair`, and the
    run's `pauses` per second.
    """
    return {"points": pl.concat([_flows(outcome) for outcome in outcomes])}


def _flows(outcome: Outcome) -> pl.DataFrame:
    results = outcome.results
    paths = paths_of(results.scenario)
    run = results.scenario.resolved["run"]
    window = seconds(run["duration"]) - seconds(run["warmup"])
    labels = {name: pl.lit(value) for name, value in outcome.labels.items()}
    table = results.flows.select("group", "source", gbps=pl.col("rate") * GBPS)
    return table.with_columns(
        by_ports=pl.Series(theory.port_fair_rates(paths, RATE)),
        fair=pl.Series(theory.max_min_rates(paths, RATE)),
        pauses=pl.lit(float(results.tables["pauses"]["pauses"].sum()) / window),
        **labels,
    )


def paths_of(scenario: Scenario) -> list[list[str]]:
    """Return the names of each flow's links, starting at its source."""
    network = scenario.network()
    names, paths = network.links["link"].to_list(), network.flow_paths
    found: list[list[str]] = [[] for _ in range(network.flows.height)]
    for flow, link in zip(paths["flow"], paths["link"], strict=True):
        found[flow].append(names[link])
    return found


def off_the_ports(tables: Tables) -> float:
    """Return the largest relative deviation of a flow's rate from the port-fair rate, with only PFC."""
    table = tables["points"].filter(pl.col("control") == PFC)
    return float((table["gbps"] / table["by_ports"] - 1).abs().to_numpy().max())


def pauses_left(tables: Tables) -> float:
    """Return the ratio of pauses per second with DCQCN to those with only PFC, over the common runs."""
    shared = pl.col("draw") < DRAWS[DCQCN]
    means = [
        tables["points"].filter(shared & (pl.col("control") == control))["pauses"].to_numpy().mean()
        for control in (DCQCN, PFC)
    ]
    return float(means[0] / means[1])


def jain_by_draw(table: pl.DataFrame) -> list[float]:
    """Return the fairness index of the flows of each run."""
    return [theory.jain(np.asarray(run["gbps"].to_numpy(), float)) for _, run in table.group_by("draw")]
