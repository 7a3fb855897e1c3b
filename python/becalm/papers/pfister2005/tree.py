"""pfister2005, section II: the tree of full switches itself, on 32 ports with all sources hot.

The experiment `tree` has the states of buffers, links and latencies once the tree stands, and how fast it
grows and dissolves. Each packet takes a random way up, so that hot traffic reaches its switch on all ways.
With one way per destination, as in all other scenes, only one switch of the middle stage is in the tree.
The experiment `needed` has the hot traffic that saturates an output, by network size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import polars as pl

from becalm.lab.model import Experiment, Label, Outcome, Point, Tables
from becalm.lab.tables import at, labelled, select_rows
from becalm.papers.common.draw import bars
from becalm.papers.pfister2005.measure import Run, measured
from becalm.papers.pfister2005.scene import IN_FIG3, NETWORKS, HotSpot

NETWORK = NETWORKS["32"]
LEAVES, TOPS = 8, 4
CASES = (2, 4)
"""Cases of Table 1 with all sources hot."""
BUFFERS = (36, 72, 144)
"""Input buffers in MTUs: that of section V, and larger ones."""
START, HOT, AFTER = 0.5, 5.0, 5.0
"""Start and duration of the hot period, and time after it, in ms."""
FORMED = 2.5
"""Start of the means of a tree that stands, in ms."""
STEP = 0.01
"""Sampling step of a tree that grows and dissolves, in ms."""
SAMPLES = 5
"""Number of samples in a mean over time."""
PART = 0.9
"""Part of the final loss that a complete tree has caused, and that is gone once it is dissolved."""
TREE = 0.5
"""Part of the former throughput that cold ports keep at most if there is a tree."""

SIZES = ("8", "32", "128 (16x16)")
SEVERITIES = (0.8, 0.9, 1.0, 1.1, 1.2, 1.4)
"""Loads that all sources together offer the hot link."""
LOST = 0.05
"""Loss of the cold ports from which an output counts as saturated."""


def _points(short: bool) -> list[Point]:
    """Return trees that stand, for all buffers, then trees that grow and dissolve."""
    hot, after = (HOT * 0.48, AFTER * 0.3) if short else (HOT, AFTER)
    made = []
    for case in CASES:
        for control, keys in (("off", None), ("on", IN_FIG3)):
            for buffer in BUFFERS:
                spot = HotSpot(NETWORK, case, keys, start=START, hot=hot, after=0.0, buffer=buffer)
                data = spot.scenario()
                data["run"]["warmup"] = f"{FORMED} ms"
                data["switch"]["paths"] = {"packet": {}}
                labels: dict[str, Label] = {
                    "what": "standing",
                    "case": case,
                    "control": control,
                    "buffer": buffer,
                }
                made.append(Point(labels, data))
            spot = HotSpot(NETWORK, case, keys, start=START, hot=hot, after=after, step=STEP)
            grown: dict[str, Label] = {"what": "growing", "case": case, "control": control, "buffer": 36}
            data = spot.scenario()
            data["switch"]["paths"] = {"packet": {}}
            made.append(Point({**grown, "hot_ms": hot}, data))
    return made


def _measure(outcomes: list[Outcome]) -> Tables:
    """Return `points` of the trees that stand, and `cold`, the cold ports' throughput over time."""
    standing = [each for each in outcomes if each.labels["what"] == "standing"]
    growing = [each for each in outcomes if each.labels["what"] == "growing"]
    points = pl.DataFrame([{**each.labels, **dict(_state(each))} for each in standing])
    named = points.with_columns(bar=pl.concat_str("case", "control", "buffer", separator=" "))
    return {"points": named, "cold": pl.concat([_over_time(each) for each in growing])}


def _state(outcome: Outcome) -> Iterator[tuple[str, float]]:
    """Yield how full the switches of each stage are, how long links to the hot switch wait, and latencies.

    Of each stage, the switch counts whose fullest input buffer is the least full.
    """
    buffers = outcome.results.buffers.with_columns(full=pl.col("mean_packets") / outcome.labels["buffer"])
    hot_leaf = NETWORK.link(NETWORK.hot).split("->")[0]
    leaves, tops = ([f"L{level}S{place}" for place in range(n)] for level, n in ((1, LEAVES), (2, TOPS)))
    others = [leaf for leaf in leaves if leaf != hot_leaf]
    stages = {
        "last": buffers.filter((pl.col("switch") == hot_leaf) & pl.col("peer").is_in(tops)),
        "middle": buffers.filter(pl.col("switch").is_in(tops)),
        "first": buffers.filter(pl.col("switch").is_in(others) & pl.col("peer").str.starts_with("H")),
        "entered": buffers.filter(pl.col("switch").is_in(leaves)),
    }
    for name, stage in stages.items():
        yield name, float(stage.group_by("switch").agg(pl.col("full").max())["full"].to_numpy().min())
    inputs = outcome.results.links.filter((pl.col("to") == hot_leaf) & pl.col("from").is_in(tops))
    yield "stalled", float(inputs["stalled_share"].to_numpy().min())
    yield "latency_us", 1e6 * float(outcome.results.groups.filter(group="cold")["latency_mean"].item())


def _over_time(outcome: Outcome) -> pl.DataFrame:
    hot = NETWORK.link(NETWORK.hot)
    links = outcome.results.series.filter((pl.col("kind") == "link") & (pl.col("name") != hot))
    table = links.group_by("time").agg(pl.col("share").mean()).sort("time")
    smooth = pl.col("share").rolling_mean(SAMPLES, min_samples=1)
    return labelled(table.select((pl.col("time") * 1e3).alias("ms"), smooth), outcome)


def filling_us(tables: Tables, **where: Label) -> float:
    """Return the time from the onset until the tree is complete, in us; infinite if there is no tree."""
    return 1e3 * _times(tables, where)[0]


def dissolving_over_filling(tables: Tables, **where: Label) -> float:
    """Return the ratio of the time in which the tree dissolves to that in which it grows; nan without one."""
    filling, dissolving = _times(tables, where)
    return dissolving / filling


def _times(tables: Tables, where: dict[str, Label]) -> tuple[float, float]:
    """Return how long the tree of a run grows and dissolves, in ms."""
    table = select_rows(tables["cold"], where)
    stop = START + float(table["hot_ms"].to_list()[0])
    ms, share = pl.col("ms"), pl.col("share")
    before = float(table.filter(ms.is_between(START / 2, START))["share"].to_numpy().mean())
    loaded = float(table.filter(ms.is_between(stop - 1, stop))["share"].to_numpy().mean())
    if loaded > TREE * before:
        return math.inf, math.nan
    complete = table.filter((ms > START) & (share <= loaded + (1 - PART) * (before - loaded)))
    gone = table.filter((ms > stop) & (share >= loaded + PART * (before - loaded)))
    end = float(gone["ms"].to_list()[0]) if gone.height else stop + AFTER
    return float(complete["ms"].to_list()[0]) - START, end - stop


def _runs_needed(short: bool) -> list[Run]:
    return [
        Run(
            {"network": name, "severity": severity},
            HotSpot(NETWORKS[name], 2, severity=severity, hot=2.0 if short else 4.0, after=0.0),
        )
        for name in (SIZES[:2] if short else SIZES)
        for severity in SEVERITIES
    ]


def needed_by_size(tables: Tables, network: str, than: str) -> float:
    """Return a network's share of an input's traffic that saturates an output, times its number of ports.

    It is relative to another network, so that 1 means that the share is proportional to 1/ports.
    """
    return _needed(tables, network) / _needed(tables, than)


def _needed(tables: Tables, network: str) -> float:
    """Return the lowest load of the hot link with which cold ports lose `LOST`, between the runs' loads."""
    kept = [at(tables, "cold_late", network=network, severity=severity) for severity in SEVERITIES]
    for place in range(1, len(kept)):
        low, high = kept[place - 1], kept[place]
        if high <= 1 - LOST < low:
            part = (low - (1 - LOST)) / (low - high)
            return SEVERITIES[place - 1] + part * (SEVERITIES[place] - SEVERITIES[place - 1])
    return math.nan


def _measure_needed(outcomes: list[Outcome]) -> Tables:
    tables = measured(_runs_needed)(outcomes)
    points = tables["points"].with_columns(bar=pl.concat_str("network", "severity", separator=" "))
    return {**tables, "points": points}


EXPERIMENTS = [
    Experiment(
        "pfister2005/tree",
        "Section II: the tree of full switches on 32 ports, all sources hot",
        cost=8,
        points=_points,
        measure=_measure,
        draw=bars("bar", "first", "how full the first switches are"),
    ),
    Experiment(
        "pfister2005/needed",
        "Section II: hot traffic that saturates an output, by network size",
        cost=10,
        points=lambda short: [run.point() for run in _runs_needed(short)],
        measure=_measure_needed,
        draw=bars("bar", "cold_late", "cold throughput / offered"),
    ),
]
"""The experiments on the tree, and on the traffic that causes one."""
