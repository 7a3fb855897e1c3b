"""pfister2005, section II: growth of a tree of full switches, and the hot traffic that causes one."""

from __future__ import annotations

import polars as pl

from becalm.lab.model import Experiment, Label, Outcome, Point, Table, Tables
from becalm.papers.common.draw import bars
from becalm.papers.pfister2005 import networks
from becalm.papers.pfister2005.draw import onsets
from becalm.papers.pfister2005.measure import Run, measured
from becalm.papers.pfister2005.scene import HOP_US, NETWORKS, PACKET_US, HotSpot, Network

LEVELS = {"32": 2, "128 (8x8)": 3}
"""Networks and their numbers of switch levels."""
BUFFERS = (4, 36)
"""Input buffer sizes in MTUs: 4, as assumed by analyses of trees, and the size of section V."""
SEVERITIES = (0.8, 1.2)
"""Loads offered to the hot link, slightly below and slightly above its capacity."""

NEAR = 0.1
"""Share of the cold ports' final loss that is still missing when a tree counts as complete."""
SAMPLES = 5
"""Number of 2 us samples in a mean."""

STAGES = 4
"""Stages of the Omega network of 256 ports, of the size that the cited analysis has."""
HOT = (0.002, 0.04, 0.08, 0.16, 0.32)
"""Parts of a link that each source sends to the hot output. The first is half of what saturates it."""
LOAD = 0.5
"""Load of its sources."""
ONSET_US = 200.0
"""Onset of the hot traffic in us."""
TREE = 0.5
"""Part of the former cold throughput that is left at most once there is a tree."""
SMOOTH = 3
"""Number of 2 us samples in a mean on the Omega network."""


def _runs(short: bool) -> list[Run]:
    names = list(LEVELS)[:1] if short else list(LEVELS)
    return [run for name in names for run in (*_growing(name), *_loaded(name))]


def _all_loaded(short: bool) -> list[Run]:
    return [run for run in _runs(short) if run.labels["what"] == "load"]


def _growing(name: str) -> list[Run]:
    """Return runs at high load in which all sources are suddenly hot, in fine steps."""
    network = NETWORKS[name]
    return [
        Run(
            {"network": name, "what": "tree", "buffer": buffer, "severity": 3.0},
            HotSpot(network, 4, start=0.2, hot=0.6, after=0.0, step=0.002, buffer=buffer),
        )
        for buffer in BUFFERS
    ]


def _loaded(name: str) -> list[Run]:
    """Return runs in which all sources offer the hot port slightly less or more than its link can carry."""
    return [
        Run(
            {"network": name, "what": "load", "buffer": 36, "severity": severity},
            HotSpot(NETWORKS[name], 2, severity=severity, hot=4.0, after=0.0),
        )
        for severity in SEVERITIES
    ]


def _measure(outcomes: list[Outcome]) -> Tables:
    """Return the tables of all figures, and `onset`, the cold ports' mean throughput over time by run."""
    growing = [outcome for outcome in outcomes if outcome.labels["what"] == "tree"]
    others = [outcome for outcome in outcomes if outcome.labels["what"] == "load"]
    return {**measured(_all_loaded)(others), "onset": pl.concat([_cold(outcome) for outcome in growing])}


def _cold(outcome: Outcome) -> pl.DataFrame:
    """Return the cold ports' mean throughput, averaged over `SAMPLES`, by time in us from the onset."""
    network: Network = NETWORKS[str(outcome.labels["network"])]
    links = outcome.results.series.filter(
        (pl.col("kind") == "link") & (pl.col("name") != network.link(network.hot))
    )
    start = 200.0
    table = links.group_by("time").agg(pl.col("share").mean()).sort("time")
    return table.select(
        (pl.col("time") * 1e6 - start).alias("us"),
        pl.col("share").rolling_mean(SAMPLES, min_samples=1),
        *(pl.lit(value).alias(name) for name, value in outcome.labels.items()),
    )


def traversals(tables: Tables, network: str, buffer: int) -> float:
    """Return the time to fill the tree, in units of a packet's time on the empty network's longest path."""
    switches = 2 * LEVELS[network] - 1
    return _filled_us(tables, {"network": network, "buffer": buffer}) / (
        PACKET_US + (2 * switches + 1) * HOP_US
    )


def _filled_us(tables: Tables, where: dict[str, Label]) -> float:
    table = tables["onset"].filter(*(pl.col(name) == value for name, value in where.items()))
    before = float(table.filter(pl.col("us").is_between(-100, 0))["share"].to_numpy().mean())
    after = float(table.filter(pl.col("us") > 500)["share"].to_numpy().mean())
    low = table.filter((pl.col("us") > 0) & (pl.col("share") <= after + NEAR * (before - after)))
    return float(low["us"].to_numpy()[0])


def _omega(hot: float) -> Table:
    """Return the Omega network whose sources send part of their load to the hot output from the onset."""
    fabric = networks.omega(STAGES)
    sources, (*cold, last) = fabric.sources[:-1], fabric.destinations

    def group(name: str, to: list[str], load: float, start: float, changes: list[Table]) -> Table:
        traffic = {"poisson": {"load": load, "message": "2048 B", "changes": changes}}
        return {"name": name, "from": sources, "to": to, "start": f"{start:g} us", "traffic": traffic}

    diverted = [{"at": f"{ONSET_US:g} us", "load": LOAD - hot}]
    return {
        "run": {"duration": "700 us", "warmup": "0 s"},
        "topology": fabric.topology,
        "switch": {
            "buffer": "4 packets",
            "forwarding_delay": "40 ns",
            "switching": "store_and_forward",
            "arbiter": {"round_robin": {}},
        },
        "adapter": {"injection": "posted"},
        "packet": {"mtu": "2048 B", "header": "0 B"},
        "flows": [group("cold", cold, LOAD, 0, diverted), group("hot", [last], hot, ONSET_US, [])],
        "observe": {"step": "2 us", "window": "2 us", "links": []},
        **networks.WITHOUT,
    }


def _omega_points(short: bool) -> list[Point]:
    return [Point({"hot": hot}, _omega(hot)) for hot in (HOT[-2:] if short else HOT)]


def _measure_omega(outcomes: list[Outcome]) -> Tables:
    """Return `points` with the traversals of a stored packet until the tree is filled, by hot share."""
    rows = []
    for outcome in outcomes:
        series = outcome.results.series.filter((pl.col("kind") == "group") & (pl.col("name") == "cold"))
        smooth = pl.col("rate").rolling_mean(SMOOTH, min_samples=1)
        table = series.sort("time").select((pl.col("time") * 1e6 - ONSET_US).alias("us"), share=smooth)
        rows.append({**outcome.labels, "traversals": _filled_omega(table, float(outcome.labels["hot"]))})
    return {"points": pl.DataFrame(rows)}


def _filled_omega(table: pl.DataFrame, hot: float) -> float:
    """Return the time to fill the tree in traversals of a stored packet; infinite if there is no tree."""
    before = float(table.filter(pl.col("us").is_between(-100, 0))["share"].to_numpy().mean())
    offered = before * (LOAD - hot) / LOAD
    after = float(table.filter(pl.col("us") > 300)["share"].to_numpy().mean())
    if after > TREE * offered:
        return float("inf")
    low = table.filter((pl.col("us") > 0) & (pl.col("share") <= after + NEAR * (offered - after)))
    return float(low["us"].to_list()[0]) / ((STAGES + 1) * PACKET_US + (2 * STAGES + 1) * HOP_US)


EXPERIMENTS = [
    Experiment(
        "pfister2005/omega",
        "Section II: growth of a tree on an Omega network of 256 ports, stored packets, buffers of 4",
        cost=10,
        points=_omega_points,
        measure=_measure_omega,
        draw=bars("hot", "traversals", "traversals of the network"),
    ),
    Experiment(
        "pfister2005/onset",
        "Section II: growth of a tree of full switches, and a hot link at its limit",
        cost=20,
        points=lambda short: [run.point() for run in _runs(short)],
        measure=_measure,
        draw=onsets,
    ),
]
"""The experiment on the onset."""
