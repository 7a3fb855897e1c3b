"""santos2002, section IV: what marking events mark, by the calls of switch B's marker; how packets arrive.

All flows have the same rate and send packets at random times, as in the argument of section IV-C: "the
arrival process and mean rate of remote packets did not change with buffer size".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from becalm.lab.dumbbell import NO_CONTROL, ONE_PACKET, Dumbbell
from becalm.lab.model import Experiment, Outcome, Point, Table, Tables
from becalm.lab.tables import at, curve
from becalm.papers.common.draw import bars
from becalm.papers.common.marking import INPUT_TRIGGERED, NAIVE, output_triggered
from becalm.papers.common.measure import summary
from becalm.traces import trace

SIZES = (4, 6, 8, 10)
"""Buffer sizes in slots, up to the largest in Fig. 4 that ten flows and a victim can fill."""
LARGE = 16
"""A buffer that never fills, in slots, so that all marking is output-triggered."""
THRESHOLDS = (4, 8)
LOAD = 0.95
DURATION = 40.0
"""Simulated time in ms."""
ROWS = 1_000_000
"""Most rows of a trace. The calls of 40 ms are a fifth of this."""
WINDOW_PS = 5 * 2_068_000
"""Five packet times in ps: the time in which a burst fills a buffer of four packets."""
CABLES = {"short": "0 s", "long": "1 us"}
"""Propagation delays of every cable."""
CROWDS = ((10, 10), (5, 15), (15, 5))
"""Numbers of local and of remote flows under the naive mechanism."""


def _fair(short: bool, marking: Table, buffer: int) -> Table:
    scene = Dumbbell(marking=marking, buffer=buffer, response=NO_CONTROL, load=LOAD / 20, victim=None)
    return replace(
        scene, duration=DURATION / 2 if short else DURATION, warmup=0, step=10, window=10
    ).scenario()


def _points(short: bool) -> list[Point]:
    full = [
        Point({"policy": "input", "buffer": buffer}, _fair(short, INPUT_TRIGGERED, buffer))
        for buffer in SIZES
    ]
    long = [
        Point({"policy": f"{threshold}", "buffer": LARGE}, _fair(short, output_triggered(threshold), LARGE))
        for threshold in THRESHOLDS
    ]
    return [*full, *long]


@dataclass
class _Event:
    """The packets that wait for the root link at a marking event, by the switch of their flow."""

    local: int
    remote: int


def _measure(outcomes: list[Outcome]) -> Tables:
    """Return `points`: arrivals, marking events, the mean numbers of packets at an event, and burstiness."""
    return {"points": pl.DataFrame([_row(outcome) for outcome in outcomes])}


def _row(outcome: Outcome) -> dict[str, object]:
    calls = trace(outcome.results.scenario, flows=[], links=[], switches=["A", "B"], most=ROWS).calls
    data = calls.filter(pl.col("size") > 1000)
    ports = outcome.results.buffers
    shared = int(ports.filter(pl.col("switch") == "B", pl.col("peer") == "A")["port"][0])
    root = int(ports.filter(pl.col("switch") == "B", pl.col("peer") == "BC")["port"][0])
    here = data.filter(pl.col("switch") == "B", pl.col("output") == root)
    events, arrived = _events(here, shared, outcome.results.scenario.resolved["marking"])
    local, remote = (_mean([getattr(event, side) for event in events]) for side in ("local", "remote"))
    times = here.filter(pl.col("call") == "arrived")
    before = data.filter(pl.col("switch") == "A", pl.col("call") == "arrived")
    bursts = {
        "burst_local": _dispersion(times.filter(pl.col("input") != shared)),
        "burst_remote": _dispersion(times.filter(pl.col("input") == shared)),
        "burst_before": _dispersion(before),
    }
    rate = len(events) / arrived if arrived else math.nan
    return {
        **outcome.labels,
        "rate": rate,
        "events": local + remote,
        "local": local,
        "remote": remote,
        **bursts,
    }


def _events(calls: pl.DataFrame, shared: int, marking: Table) -> tuple[list[_Event], int]:
    """Return the marking events of input- or output-triggered marking, and the number of arrivals."""
    ((policy, keys),) = marking.items()
    waiting = {True: 0, False: 0}
    events: list[_Event] = []
    arrived = 0
    columns = ("call", "input", "waits", "room", "present")
    for call, source, waits, room, present in calls.select(columns).iter_rows():
        remote = source == shared
        if call == "arrived":
            arrived += 1
            waiting[remote] += 1
        elif call == "departing":
            waiting[remote] -= 1
        full = policy.startswith("input") and call == "stored" and waits and room == 0
        long = policy == "input_output_triggered" and call == "arrived" and waits
        if full or (long and present > keys["threshold"]):
            events.append(_Event(local=waiting[False], remote=waiting[True]))
    return events, arrived


def _mean(values: list[int]) -> float:
    return sum(values) / len(values) if values else math.nan


def _dispersion(arrivals: pl.DataFrame) -> float:
    """Return the ratio of variance to mean of the number of arrivals in windows of five packet times."""
    times = arrivals["time"].to_numpy()
    counts = np.bincount((times // WINDOW_PS).astype(np.int64))[:-1]
    return float(counts.var() / counts.mean())


def by_size(tables: Tables, column: str) -> list[float]:
    """Return a column with input-triggered marking, by increasing buffer size."""
    return curve(tables, "buffer", column, policy="input")


def faster_than_linearly(tables: Tables) -> list[float]:
    """Return the number of marking events per arrival, times the buffer size, by increasing size."""
    return [size * rate for size, rate in zip(SIZES, by_size(tables, "rate"), strict=True)]


def by_threshold(tables: Tables, column: str) -> list[float]:
    """Return a column with output thresholds of 4 and of 8 packets, and buffers that never fill."""
    return [at(tables, column, policy=f"{threshold}") for threshold in THRESHOLDS]


def growth(tables: Tables, column: str) -> float:
    """Return the ratio of a column with a threshold of 8 packets to that with 4."""
    low, high = by_threshold(tables, column)
    return high / low


def slots_marked(tables: Tables, column: str) -> list[float]:
    """Return the mean number of packets at an input-triggered event as a share of the buffer, by its size."""
    return [number / size for size, number in zip(SIZES, by_size(tables, column), strict=True)]


def smoothed(tables: Tables, column: str) -> float:
    """Return the ratio of a burstiness to that of the local flows' arrivals, with 16 slots, threshold 8."""
    where = {"policy": f"{THRESHOLDS[-1]}"}
    return at(tables, column, **where) / at(tables, "burst_local", **where)


def _crowd(local: int, remote: int) -> Point:
    scene = Dumbbell(marking=NAIVE, local=local, remote=remote)
    return Point({"local_flows": local, "remote_flows": remote}, scene.scenario())


def each_remote_flow(tables: Tables, remote_flows: list[int]) -> list[float]:
    """Return the ratio of a remote flow's mean rate to a local flow's, by the number of remote flows."""
    rows = tables["points"].filter(pl.col("remote_flows").is_in(remote_flows)).sort("remote_flows")
    ratios = rows.select(
        pl.col("remote") / pl.col("remote_flows") / (pl.col("local") / pl.col("local_flows"))
    ).to_series()
    return [float(ratio) for ratio in ratios]


def victims_marked(tables: Tables) -> float:
    """Return the marked share of the victim's packets relative to that of the remote flows' packets."""
    victim, remote = (at(tables, f"{name}_marked_share", remote_flows=10) for name in ("victim", "remote"))
    return victim / remote


def _locals_only(threshold: int) -> Point:
    marking = output_triggered(threshold)
    scene = Dumbbell(local=10, remote=1, buffer=LARGE, marking=marking, response=ONE_PACKET, victim=None)
    data = scene.scenario()
    flows = [flow for flow in data["flows"] if flow["name"] == "local"]
    return Point({"threshold": threshold}, {**data, "flows": flows})


def _path(delay: str) -> Table:
    scene = Dumbbell(local=0, remote=1, response=ONE_PACKET, victim=None, duration=20, warmup=2)
    data = scene.scenario()
    return {**data, "topology": {"dumbbell": {**data["topology"]["dumbbell"], "delay": delay}}}


def product_in_packets(tables: Tables, cables: str) -> float:
    """Return the product of bandwidth and round-trip time in packets, from a window of one packet."""
    return 1 / at(tables, "remote", cables=cables)


EXPERIMENTS = [
    Experiment(
        "santos2002/events",
        "What a marking event marks, against buffer size and output threshold; flows do not respond",
        cost=6,
        points=_points,
        measure=_measure,
        draw=bars("buffer", "events", "packets that wait at a marking event"),
    ),
    Experiment(
        "santos2002/shared",
        "The naive mechanism with other numbers of flows that share an input port",
        cost=1,
        points=lambda _: [_crowd(*flows) for flows in ((19, 1), *CROWDS)],
        measure=summary,
        draw=bars("remote_flows", "remote", "share of the root link, remote flows"),
    ),
    Experiment(
        "santos2002/local_only",
        "Ten local flows with a window of one packet and no remote flows",
        cost=0.5,
        points=lambda _: [_locals_only(threshold) for threshold in (8, LARGE)],
        measure=summary,
        draw=bars("threshold", "local_marked", "marked packets of local flows"),
    ),
    Experiment(
        "santos2002/product",
        "One flow with a window of one packet on the empty path, with short and with long cables",
        cost=0.2,
        points=lambda _: [Point({"cables": name}, _path(delay)) for name, delay in CABLES.items()],
        measure=summary,
        draw=bars("cables", "remote", "share of the link"),
    ),
]
"""Section IV's arguments on marking events, and footnote 1."""
