"""pfister2005, section II: growth of a tree of full switches, and the hot traffic that causes one."""

from __future__ import annotations

import polars as pl

from becalm.lab.model import Experiment, Label, Outcome, Tables
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


EXPERIMENTS = [
    Experiment(
        "pfister2005/onset",
        "Section II: growth of a tree of full switches, and a hot link at its limit",
        cost=20,
        points=lambda short: [run.point() for run in _runs(short)],
        measure=_measure,
        draw=onsets,
    )
]
"""The experiment on the onset."""
