"""santos2003: sentences of the text that no figure shows."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import polars as pl

from becalm.lab.dumbbell import FOUR_BYPASSES, NO_CONTROL, ONE_PACKET, Dumbbell
from becalm.lab.model import Experiment, Outcome, Point, Table, Tables, grid
from becalm.lab.tables import at
from becalm.papers.common.draw import bars
from becalm.papers.common.marking import INPUT_TRIGGERED
from becalm.papers.common.measure import summary
from becalm.papers.santos2003 import curves
from becalm.papers.santos2003.dynamic import scene
from becalm.papers.santos2003.static import RESPONSES

SWITCHES = 32
"""Section IV-B: the diameter of the example network."""
STARTS = {"maximum": 1.0, "slow": curves.RMIN}
"""Initial rates of a flow: R_max, or R_min, which FIMD doubles as slow start doubles a window."""
HALF = 5
"""Number of fast flows, and of slow flows, per switch."""
BURST_KIB = 32
"""A short-lived flow: 16 packets."""


def chain(_: bool, window: int) -> Table:
    """Return a scenario with a single flow from one end of a chain of switches to the other."""
    switches = [f"S{number}" for number in range(1, SWITCHES + 1)]
    ends = [["near", switches[0]], ["far", switches[-1]]]
    cables = [*ends, *map(list, pairwise(switches))]
    return {
        "run": {"duration": "5 ms", "warmup": "1 ms"},
        "topology": {
            "edges": {
                "hosts": ["near", "far"],
                "switches": switches,
                "cables": [{"between": cable} for cable in cables],
            }
        },
        "switch": {"buffer": "4 slots", "forwarding_delay": "64 ns", "arbiter": FOUR_BYPASSES},
        "marking": {"none": {}},
        "packet": {"mtu": f"{curves.PACKET_BYTES - 20} B", "header": "20 B"},
        "echo": {"ack": {}},
        "response": {"none": {"window": window}},
        "flows": [{"name": "alone", "from": ["near"], "to": ["far"]}],
    }


def _across(outcomes: list[Outcome]) -> Tables:
    rows = [
        {**outcome.labels, **outcome.results.flows.select("share", "latency_mean").row(0, named=True)}
        for outcome in outcomes
    ]
    return {"points": pl.DataFrame(rows)}


def packets_on_the_way(tables: Tables) -> float:
    """Return the number of packets that the link can send while a header crosses the network."""
    transmission = curves.PACKET_BYTES / 1e9
    return (at(tables, "latency_mean", window=1) - transmission) / transmission


def _start_points(short: bool) -> list[Point]:
    points = []
    for start, rate in STARTS.items():
        response = {"fimd": {"persistent": False, "initial": rate}}
        busy = replace(scene(0.2, short, "fimd", persistent=False, static=0), response=response)
        points.append(Point({"start": start, "path": "shared"}, busy.scenario()))
        points.append(Point({"start": start, "path": "empty"}, _burst(rate)))
    return points


def _burst(rate: float) -> Table:
    """Return a scenario with one message of 16 packets on an empty path."""
    alone = Dumbbell(local=0, remote=1, response=ONE_PACKET, victim=None, duration=20, warmup=0).scenario()
    traffic = {"batch": {"count": 1, "message": f"{BURST_KIB} KiB"}}
    control = {"marking": INPUT_TRIGGERED, "response": {"fimd": {"initial": rate}}}
    return {**alone, **control, "flows": [{**alone["flows"][0], "traffic": traffic}]}


def _starts(outcomes: list[Outcome]) -> Tables:
    """Return `points`: root utilization of the shared path and latency of the burst in us, by start."""
    shared = summary([each for each in outcomes if each.labels["path"] == "shared"])["points"]
    bursts = [
        {"start": each.labels["start"], "latency_us": each.results.flows["latency_max"].to_list()[0] * 1e6}
        for each in outcomes
        if each.labels["path"] == "empty"
    ]
    return {"points": shared.join(pl.DataFrame(bursts), on="start")}


def _with_method(short: bool, method: str) -> Table:
    scenario = Dumbbell(marking=INPUT_TRIGGERED).long(short).scenario()
    return {**scenario, "marking": {"input_triggered": {"method": method}}}


def advantage_of_counters(tables: Tables) -> list[float]:
    """Return the gain of counters over a scan in root and inter-switch utilization, and in fairness."""
    counters, scan = (_merits(tables, method) for method in ("counters", "scan"))
    return [one - other for one, other in zip(counters, scan, strict=True)]


def _merits(tables: Tables, method: str) -> list[float]:
    ratio = at(tables, "ratio", method=method)
    links = [at(tables, link, method=method) for link in ("root", "inter_switch")]
    return [*links, min(ratio, 1 / ratio)]


def _halves(scene: Dumbbell) -> Table:
    """Return the scene with each side split into `fast` flows and later `slow` flows."""
    data = scene.scenario()
    groups = []
    for flow in data["flows"]:
        for name, first in (("fast", 1), ("slow", HALF + 1)):
            hosts = [f"{flow['from'][0][0]}{first}..{flow['from'][0][0]}{first + HALF - 1}"]
            groups.append({**flow, "name": f"{name} {flow['name']}", "from": hosts})
    return {**data, "flows": groups}


def _fast_and_slow(short: bool) -> Table:
    """Return a scene with random arrivals that load the root link to 95%, and without a response."""
    scene = replace(Dumbbell(buffer=8, marking=INPUT_TRIGGERED, response=NO_CONTROL).long(short), victim=None)
    data = _halves(scene)
    for flow in data["flows"]:
        load = (2 if "fast" in flow["name"] else 1) * 0.95 / (6 * HALF)
        flow["traffic"] = {"poisson": {"load": load, "message": "2048 B"}}
    return data


def _shares_marked(outcomes: list[Outcome]) -> Tables:
    """Return `points`: ratio of the fast to the slow flows' marked shares of packets, by side."""
    (outcome,) = outcomes
    rows = []
    for side in ("local", "remote"):
        fast, slow = (_share_marked(outcome, f"{name} {side}") for name in ("fast", "slow"))
        rows.append({"side": side, "faster": fast / slow if slow else math.nan})
    return {"points": pl.DataFrame(rows)}


def _share_marked(outcome: Outcome, group: str) -> float:
    flows = outcome.results.flows.filter(pl.col("group") == group)
    return float(flows["marked"].sum()) / max(1, int(flows["delivered_packets"].sum()))


def _from_extremes(short: bool, response: str) -> Table:
    scene = Dumbbell(marking=INPUT_TRIGGERED, response={response: {}}).long(short)
    data = _halves(replace(scene, victim=None, warmup=scene.duration / 2))
    for flow in data["flows"]:
        if "slow" in flow["name"]:
            flow["response"] = {response: {"initial": curves.RMIN}}
    return data


def _slow_to_fast(outcomes: list[Outcome]) -> Tables:
    """Return `points`: ratio of rates of flows from R_min to flows from R_max, by response and side."""
    rows = []
    for outcome in outcomes:
        shares = {row["group"]: row["share"] for row in outcome.results.groups.iter_rows(named=True)}
        ratios = {side: shares[f"slow {side}"] / shares[f"fast {side}"] for side in ("local", "remote")}
        rows.append({**outcome.labels, **ratios})
    return {"points": pl.DataFrame(rows)}


EXPERIMENTS = [
    Experiment(
        "santos2003/diameter",
        "One flow across 32 switches of 64 ns, windows of one and of two packets",
        cost=0.5,
        points=grid(chain, window=(1, 2)),
        measure=_across,
        draw=bars("window", "share", "share of the link"),
        phase="",
        seeded=False,
    ),
    Experiment(
        "santos2003/start",
        "New flows at R_max against a slow start: flows that come and go, and a burst on an empty path",
        cost=3,
        points=_start_points,
        measure=_starts,
        draw=bars("start", "root", "root link utilization, ON times of 0.2 ms"),
    ),
    Experiment(
        "santos2003/scan",
        "Counters against a scan of the waiting packets, Fig. 4(b) in long runs",
        cost=3,
        points=grid(_with_method, method=("counters", "scan")),
        measure=summary,
        draw=bars("method", "ratio", "rate of remote flows / rate of local flows"),
    ),
    Experiment(
        "santos2003/unequal",
        "Flows of two rates, one twice the other, without a response",
        cost=3,
        points=lambda short: [Point({"buffer": 8}, _fast_and_slow(short))],
        measure=_shares_marked,
        draw=bars("side", "faster", "share of packets marked, fast over slow flows"),
    ),
    Experiment(
        "santos2003/unfair",
        "Half of the flows of each switch start at R_max, half at R_min",
        cost=12,
        points=grid(_from_extremes, response=RESPONSES),
        measure=_slow_to_fast,
        draw=bars("response", "remote", "rate of flows from R_min / from R_max"),
    ),
]
"""The remarks of IV-B, VI-B and V-A, and the comparison of counters with a scan (IV-A)."""
