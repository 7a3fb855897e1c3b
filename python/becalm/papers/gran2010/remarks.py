"""Sentences of gran2010 without a figure, on thresholds, feedback, tables, cost and larger networks.

- `peaks`: contributors that offer H5 less than it can receive, in random messages or evenly;
- `feedback`: the ACKs that carry BECNs, one per packet or one per 24 packets;
- `cost`: scenario 2 in its steady state, by `CCTI_Timer`;
- `steps`: the rate of a lone flow at neighbouring entries of tables with 128 and 256 entries;
- `larger`: the threshold in a fat tree of 32 hosts;
- `window`: a constant window across 32 switches, as in section I;
- `rings`: the random rings of Table III, with the same orders of the ranks in every column.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import polars as pl

from becalm.lab.model import Experiment, Label, Outcome, Point, Table, Tables
from becalm.lab.tables import at, labelled, mean
from becalm.papers.common.draw import bars
from becalm.papers.gran2010 import table3
from becalm.papers.gran2010.adapters import steady
from becalm.papers.gran2010.measure import CONTRIBUTORS, GBPS, point, with_all_flows
from becalm.papers.gran2010.scene import HOST_GBPS, WIRE, Bed

PEAK_LOAD = 0.7
"""Load that the contributors together offer H5, relative to what it can receive."""
MESSAGE = "64 KiB"
"""Message of the contributors, which is a peak where it arrives at a random time."""
TIMERS = (50, 150, 500, 2000)
ENTRY = 100
"""First entry of the compared steps, in a table of 128. Its delay is 6 packet times."""
STEPS = 4
FINER = 2
"""Entries of the longer table per entry."""
THRESHOLDS = (1, 8, 15)
SWITCHES = 32
"""Switches between the hosts of section I's example."""


def _peaks(short: bool) -> list[Point]:
    """Return scenario 1 with contributors below the capacity of H5, by threshold and by kind of traffic."""
    bed = replace(steady(), tail=0.2 if short else 0.3)
    made = []
    for traffic in ("random", "even"):
        for threshold in (1, 15):
            each = point(replace(bed, threshold=threshold), traffic=traffic, threshold=threshold)
            made.append(replace(each, scenario=_lighter(each.scenario, traffic)))
    return made


def _lighter(scenario: Table, traffic: str) -> Table:
    """Return a scenario whose contributors send random messages, or at a constant rate of the same mean."""
    rate = PEAK_LOAD * HOST_GBPS / len(CONTRIBUTORS) * WIRE
    if traffic == "even":
        hosts = [flow["from"][0] for flow in scenario["flows"] if flow["name"] != "F1"]
        cap = {"hosts": hosts, "injection_rate": f"{rate:.6f} Gb/s"}
        drain = scenario["adapter"]["drain_rate"]
        return {**scenario, "adapter": {**scenario["adapter"], "caps": [{**cap, "drain_rate": drain}]}}
    poisson: Table = {"poisson": {"load": round(rate / 16, 6), "message": MESSAGE}}
    flows = [flow if flow["name"] == "F1" else {**flow, "traffic": poisson} for flow in scenario["flows"]]
    return {**scenario, "flows": flows}


def _measure_peaks(outcomes: list[Outcome]) -> Tables:
    """Return `points`: the share of the contributors' packets that is marked, and their mean delay in us."""
    rows: list[dict[str, Label]] = []
    for outcome in outcomes:
        flows = outcome.results.flows.filter(pl.col("group").is_in(CONTRIBUTORS))
        paces = outcome.results.tables["paces"].filter(pl.col("group").is_in(CONTRIBUTORS))
        marked = int(flows["marked"].sum()) / int(flows["delivered_packets"].sum())
        delay = mean([float(value) for value in paces["delay_mean"].to_list()]) * 1e6
        rows.append({**outcome.labels, "marked": marked, "delay_us": delay})
    return {
        "points": pl.DataFrame(rows).with_columns(bar=pl.concat_str("traffic", "threshold", separator=" "))
    }


def _feedback(_: bool) -> list[Point]:
    return [
        point(replace(steady(), timer=timer, ack_every=every), timer=timer, ack_every=every)
        for timer in (50, 150)
        for every in (1, 24)
    ]


def _measure_feedback(outcomes: list[Outcome]) -> Tables:
    tables = with_all_flows(outcomes)
    bar = pl.concat_str("timer", "ack_every", separator=", ACK per ")
    return {"points": tables["points"].with_columns(bar=bar)}


def _cost(short: bool) -> list[Point]:
    bed = replace(steady(2), tail=0.3 if short else 1.0)
    return [
        point(replace(bed, control=False), timer=0),
        *(point(replace(bed, timer=timer), timer=timer) for timer in TIMERS),
    ]


def _measure_cost(outcomes: list[Outcome]) -> Tables:
    """Return `points` with the total throughput of scenario 2 in Gb/s; timer 0 is without control."""
    points = with_all_flows(outcomes)["points"]
    total = pl.sum_horizontal("F1", "F2", "F3").alias("total")
    return {"points": points.with_columns(total, bar=pl.col("timer").cast(pl.String))}


def least_loss(tables: Tables, timers: list[int]) -> float:
    """Return the smallest loss of total throughput over some timers, as a share of that without control."""
    free = at(tables, "total", timer=0)
    return min(1 - at(tables, "total", timer=timer) / free for timer in timers)


def _steps(_: bool) -> list[Point]:
    """Return lone flows at neighbouring entries. `finer` is the number of entries per entry of 128."""
    return [
        point(
            Bed(active=(1,), tail=0.01, settle=0.002, step=0.001, minimum=finer * ENTRY + step, finer=finer),
            finer=finer,
            step=step,
        )
        for finer in (1, FINER)
        for step in range(STEPS + 1)
    ]


def _measure_steps(outcomes: list[Outcome]) -> Tables:
    rows = [
        {**each.labels, "gbps": float(each.results.groups["rate"].item()) * GBPS / WIRE} for each in outcomes
    ]
    points = pl.DataFrame(rows).with_columns(bar=pl.concat_str("finer", "step", separator=" x 128, +"))
    return {"points": points}


def step_of_table(tables: Tables, finer: int) -> float:
    """Return the mean step between neighbouring entries of a table, relative to that of 128 entries."""
    return _step(tables, finer) / _step(tables, 1)


def _step(tables: Tables, finer: int) -> float:
    first, last = (at(tables, "gbps", finer=finer, step=step) for step in (0, STEPS))
    return (first - last) / STEPS


def _larger(short: bool) -> list[Point]:
    """Return a fat tree in which half of the hosts send to one host, and the others to their neighbours."""
    return [
        Point({"threshold": value}, _tree(value, "30 ms" if short else "60 ms")) for value in (0, *THRESHOLDS)
    ]


def _tree(threshold: int, duration: str) -> Table:
    bed = replace(steady(), threshold=threshold).scenario_data()
    hosts = [f"H{host}" for host in range(32)]
    greedy: Table = {"greedy": {"message": "64 KiB"}}
    hot = [host for place, host in enumerate(hosts[:-1]) if place % 2 == 0]
    cold = [host for place, host in enumerate(hosts[:-1]) if place % 2 == 1]
    flows: list[Table] = [{"name": "contributors", "from": hot, "to": [hosts[-1]], "traffic": greedy}]
    # Each victim sends to the victim in the place after the next leaf's, so all cross the middle stage.
    for place, host in enumerate(cold):
        to = cold[(place + 4) % len(cold)]
        flows.append({"name": f"victim {place}", "from": [host], "to": [to], "traffic": greedy})
    tree = {"ports": 8, "levels": 2, "rate": "16 Gb/s", "delay": "5 ns"}
    return {
        **{key: bed[key] for key in ("switch", "adapter", "packet", "echo", "marking", "response")},
        "run": {"duration": duration, "warmup": "10 ms"},
        "topology": {"tree": tree},
        "flows": flows,
        "observe": {"links": []},
    }


def _measure_larger(outcomes: list[Outcome]) -> Tables:
    """Return `points` with the victims' mean throughput in Gb/s by threshold."""
    rows: list[dict[str, Label]] = []
    for outcome in outcomes:
        groups = outcome.results.groups.filter(pl.col("group").str.starts_with("victim"))
        rates = [float(value) * GBPS / WIRE for value in groups["rate"].to_list()]
        rows.append({**outcome.labels, "victims": mean(rates)})
    return {"points": pl.DataFrame(rows).with_columns(bar=pl.col("threshold").cast(pl.String))}


def best_of_thresholds(tables: Tables, threshold: int) -> float:
    """Return the victims' throughput at a threshold minus their best at the other ones that mark."""
    others = [at(tables, "victims", threshold=value) for value in THRESHOLDS if value != threshold]
    return at(tables, "victims", threshold=threshold) - max(others)


def _chain(window: int) -> Table:
    switches = [f"S{place}" for place in range(SWITCHES)]
    ends = ["H1", *switches, "H2"]
    cables = [{"between": [one, other]} for one, other in pairwise(ends)]
    edges: Table = {"hosts": ["H1", "H2"], "switches": switches, "rate": "1 GB/s", "cables": cables}
    return {
        "run": {"duration": "2 ms", "warmup": "1 ms"},
        "topology": {"edges": edges},
        "switch": {"buffer": "8 packets", "forwarding_delay": "64 ns"},
        "packet": {"mtu": "2048 B", "header": "0 B"},
        "marking": {"none": {}},
        "response": {"none": {"window": window}},
        "flows": [{"name": "flow", "from": ["H1"], "to": ["H2"], "traffic": {"greedy": {}}}],
        "observe": {"links": []},
    }


def _measure_window(outcomes: list[Outcome]) -> Tables:
    rows = [{**each.labels, "share": float(each.results.groups["share"].item())} for each in outcomes]
    return {"points": pl.DataFrame(rows).with_columns(bar=pl.col("window").cast(pl.String))}


def _rings(_: bool) -> list[Point]:
    return table3.points_of("ring")


def _measure_rings(outcomes: list[Outcome]) -> Tables:
    """Return `points`: the random rings' latency in ms and bandwidth in MB/s, with the same orders."""
    made = []
    for outcome in outcomes:
        seed = outcome.results.scenario.resolved["run"]["seed"]
        rows = table3.rings_with(outcome, f"{seed} in every column")
        made.append(labelled(pl.DataFrame({"row": list(rows), "value": list(rows.values())}), outcome))
    points = pl.concat(made)
    return {"points": points.with_columns(bar=pl.concat_str("row", "case", separator=" "))}


EXPERIMENTS = [
    Experiment(
        "gran2010/peaks",
        "Contributors below the capacity of H5: random messages, and a constant rate",
        cost=4,
        points=_peaks,
        measure=_measure_peaks,
        draw=bars("bar", "marked", "marked packets of the contributors"),
    ),
    Experiment(
        "gran2010/feedback",
        "Throughput of the victim by the number of packets per ACK",
        cost=3,
        points=_feedback,
        measure=_measure_feedback,
        draw=bars("bar", "F1", "throughput of the victim (Gb/s)"),
    ),
    Experiment(
        "gran2010/cost",
        "Total throughput of scenario 2 by CCTI_Timer; 0: without congestion control",
        cost=8,
        points=_cost,
        measure=_measure_cost,
        draw=bars("bar", "total", "total throughput (Gb/s)"),
    ),
    Experiment(
        "gran2010/steps",
        "Rates of a lone flow at neighbouring entries of two tables",
        cost=1,
        points=_steps,
        measure=_measure_steps,
        draw=bars("bar", "gbps", "throughput (Gb/s)"),
    ),
    Experiment(
        "gran2010/larger",
        "A fat tree of 32 hosts: throughput of the victims by threshold",
        cost=8,
        points=_larger,
        measure=_measure_larger,
        draw=bars("bar", "victims", "throughput of a victim (Gb/s)"),
    ),
    Experiment(
        "gran2010/window",
        "One flow across 32 switches by the size of its window",
        cost=0.2,
        points=lambda _: [Point({"window": window}, _chain(window)) for window in (1, 2, 3)],
        measure=_measure_window,
        draw=bars("bar", "share", "share of the link"),
        phase="",
        seeded=False,
    ),
    Experiment(
        "gran2010/rings",
        "Random rings of Table III with the same orders in every column",
        cost=4,
        points=_rings,
        measure=_measure_rings,
        draw=bars("bar", "value", "latency (ms) or bandwidth (MB/s)"),
    ),
]
"""The experiments of all remarks."""
