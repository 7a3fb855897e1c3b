"""Relations between runs that are observed differently, or for a longer time."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import polars as pl

import becalm
from becalm.base.quantities import seconds
from drawn import Tables
from meaning.equal import different, untimed
from meaning.relation import relation, run

PREFIXES = {
    "messages": "delivered",
    "snapshots": "time",
    "frames": "time",
    "frames_groups": "time",
    "paces": "time",
}
"""Tables with one row per event, and the column with its time."""
SUMS = {
    "links": ("packets", "bytes", "marked", "xmit_wait", "xmit_time_cong"),
    "hosts": ("sent_packets", "sent_bytes", "received_packets", "received_bytes", "rcv_fecn", "rcv_becn"),
    "flows": ("sent_packets", "delivered_packets", "delivered_bytes", "messages", "marked", "dropped"),
    "pauses": ("pauses", "paused"),
}
"""Columns that add up over consecutive windows."""
EVERYTHING: Tables = {
    "spans": True,
    "queues": True,
    "paces": True,
    "flows": True,
}


def everything(data: Tables) -> Tables:
    """Return all that can be recorded."""
    end = seconds(data["run"]["duration"]) * 1e9
    times = {"frames": f"{end / 4:.3f} ns", "snapshots": [f"{end / 3:.3f} ns"]}
    # A message takes time that a steady run leaves out.
    messages = {"messages": data["run"].get("fidelity") != "steady"}
    return EVERYTHING | times | messages


@relation(untimed, count=40)
def observed_more(data: Tables, draw: random.Random) -> list[Tables]:
    """What is recorded, and how often, does not change what happens."""
    little = {**data, "observe": {"step": "3 us", "window": "6 us", "links": []}}
    chosen = {key: value for key, value in everything(data).items() if draw.random() < 0.7}
    step = draw.choice(["700 ns", "1 us", "5 us", "1 ms"])
    return [little, {**data, "observe": {"step": step, "window": "1 ms", **chosen}}, data]


def sums(scenes: list[Tables]) -> Iterator[str]:
    """Compare counts of [0, T] and [T, 2T] with those of [0, 2T], and all that is recorded until T."""
    first, second, whole = map(run, scenes)
    for table, columns in SUMS.items():
        for column in columns if table in whole.tables else ():
            parts = zip(
                *(results.tables[table][column].to_list() for results in (first, second, whole)), strict=True
            )
            for row, (one, two, both) in enumerate(parts):
                if not math.isclose(one + two, both, rel_tol=1e-9, abs_tol=1e-15):
                    yield f"{table}.{column}, row {row}: {one} + {two} and {both}"
                    break
    yield from _prefixes(first, whole)


def _prefixes(first: becalm.Results, whole: becalm.Results) -> Iterator[str]:
    end = seconds(first.scenario.resolved["run"]["duration"])
    for table, column in PREFIXES.items():
        if table in first.tables and table in whole.tables:
            early = pl.col(column) < end * (1 - 1e-9)
            drop = {"acknowledged"} & set(first.tables[table].columns)
            frames = [results.tables[table].filter(early).drop(drop) for results in (first, whole)]
            yield from different(table, *frames)


@relation(sums, count=40)
def the_first_half_of_a_longer_run(data: Tables, _: random.Random) -> list[Tables] | None:
    """A run of T is the first half of a run of 2T."""
    data["run"] = {"duration": data["run"]["duration"], "seed": data["run"]["seed"]}
    twice = f"{seconds(data['run']['duration']) * 2e6:.10g} us"
    later = {**data["run"], "duration": twice, "warmup": data["run"]["duration"]}
    data["observe"] = {"step": "1 us", "window": "2 us", "links": [], **everything(data), "spans": False}
    whole = {**data, "run": {**data["run"], "duration": twice}}
    return [data, {**data, "run": later}, whole]
