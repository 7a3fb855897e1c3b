"""On the Impact of Packet Spraying in Data Center Networks.

A. Dixit, P. Prakash, Y. C. Hu, R. R. Kompella, IEEE INFOCOM, 2013. The paper compares random packet spraying
with ECMP. Here both run on a lossless fabric, as does adaptive routing.

All claims are derived from closed forms of `becalm.theory`, with bounds set before the first run. No sentence
of the paper is quoted, because its fabrics drop packets and its transport is TCP.
[dixit2013/readings.md](dixit2013/readings.md) explains shares of a link that also carries ACKs, and the
number of samples that one per cent requires.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from becalm import theory
from becalm.lab.figures import DASHED, Bars, Curves, Law, simulated, single
from becalm.lab.model import Experiment, Label, Outcome, Point, Table, Tables, grid
from becalm.lab.tables import at
from becalm.results import Results

PHASE = "20 us"
"""Each flow starts up to 20 us later than stated, which is about a hundred packet times."""

PACKET, ACK = 2068, 20
"""Bytes of a packet, including a header of 20 B, and of an ACK."""
LAWS: dict[str, Table] = {
    "flow": {"flow": {}},
    "packet": {"packet": {}},
    "round robin": {"round_robin": {}},
    "least waiting": {"least_waiting": {}},
    "two choices": {"least_waiting": {"sample": 2}},
}
"""Rules of choice by their names in figures."""
ACKS = "packet, ACKs"
"""Spraying with an ACK for each packet, in a separate traffic class, so ACKs do not wait for data."""
RUNS = {**{law: law for law in LAWS}, ACKS: "packet"}
"""Rules of choice by the names of the runs of a permutation."""
HOSTS, FEWER = 256, 32
"""Numbers of hosts, with hashing and otherwise. Hashing needs a mean over many groups of flows."""
DRAWS = 60
"""Runs with hashed flows for each seed.

The share of n uplinks that n flows use has a standard deviation of 0.25, 0.161, 0.112 and 0.079 for n = 2, 4,
8 and 16. With 60 runs of 256 hosts and five seeds, there are 38400, 19200, 9600 and 4800 groups. The relative
error of the mean is 0.17 to 0.18%, and the 95% confidence interval over five seeds is half a percent on
either side. The tolerance is 1%.
"""
MANY = 16
"""Number of uplinks at which the wait is measured."""
INCAST_DRAWS = 8
"""Runs of the incast for each rule and seed. Hashes may distribute four flows over one to four spines."""


def clos(
    leaves: int, uplinks: int, law: str, *, hosts: int | None = None, buffer: str = "256 slots"
) -> Table:
    """Return `topology`, `switch` and `echo` of leaf and spine switches.

    By default, a leaf has one host per spine, so there is no oversubscription.
    """
    network = {"leaves": leaves, "spines": uplinks, "hosts_per_leaf": hosts or uplinks}
    return {
        "topology": {"clos": {**network, "rate": "100 Gb/s", "delay": "50 ns"}},
        "switch": {"buffer": buffer, "paths": LAWS[law]},
        # ACKs would use a hundredth of the reverse direction, which is also fully loaded.
        "echo": {"ibta": {"transport": "unreliable"}},
    }


def _permutations(short: bool) -> list[Point]:
    uplinks, runs = ((2, 8), ("flow", "packet")) if short else ((2, 4, 8, 16), tuple(RUNS))
    return [
        Point({"uplinks": n, "paths": run}, _permutation(n, run), draw)
        for n in uplinks
        for run in runs
        for draw in range(DRAWS if run == "flow" and not short else 1)
    ]


def _permutation(uplinks: int, run: str) -> Table:
    """Return the scene in which every host sends to the host in the same position on the next leaf.

    At full load, the queues of random arrivals grow as the square root of time, and queued packets do not
    count as delivered. Runs with sprayed packets are therefore longer. Hashed flows have their final rates
    once all have started.
    """
    hashed = run == "flow"
    leaves = max(2, (HOSTS if hashed else FEWER) // uplinks)
    end, warmup = ("25 us", "5 us") if hashed else ("2500 us", "500 us")
    scene = clos(leaves, uplinks, RUNS[run]) | {
        "run": {"duration": end, "warmup": warmup},
        "flows": [{"name": "flows", "from": ["*"], "pattern": {"shift": {"by": uplinks}}}],
        "observe": {"links": []},
    }
    if run != ACKS:
        return scene
    classes = {"switch": {**scene["switch"], "vls": 2}, "packet": {"answers_sl": 1}}
    return {**scene, **classes, "echo": {"ibta": {}}}


def _shares(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`: means over the runs of the hosts' link shares and of packets out of order."""
    rows = pl.DataFrame([_share(outcome) for outcome in outcomes])
    means = pl.col("share", "early").mean(), pl.col("least").min()
    return {"points": rows.group_by("uplinks", "paths", maintain_order=True).agg(*means)}


def _share(outcome: Outcome) -> dict[str, Label]:
    flows = outcome.results.flows
    shares = flows["share"].to_numpy()
    early = float(flows["out_of_order"].to_numpy().sum() / flows["delivered_packets"].to_numpy().sum())
    return {**outcome.labels, "share": float(np.mean(shares)), "least": float(np.min(shares)), "early": early}


def share_over_closed_form(tables: Tables, uplinks: int) -> float:
    """Return the ratio of the hosts' share with hashed flows to 1 - (1 - 1/n)^n."""
    return at(tables, "share", uplinks=uplinks, paths="flow") / theory.used_paths(uplinks)


def beside_acks(tables: Tables, uplinks: int) -> float:
    """Return the ratio of the hosts' share to the share that ACKs, one per packet, leave of a link."""
    return at(tables, "share", uplinks=uplinks, paths=ACKS) / (PACKET / (PACKET + ACK))


def _poisson(_: bool, load: float) -> Table:
    """Return the scene. Every host of a leaf posts messages of one packet to a host of the other leaf.

    Messages first wait for the host's link, which serves them in posting order. The wait for the uplink is
    therefore computed from the leaf's queue, not from the total latency.
    """
    return clos(2, MANY, "packet") | {
        "run": {"duration": "5 ms", "warmup": "500 us"},
        "flows": [
            {
                "name": "flows",
                "from": ["*"],
                "pattern": {"shift": {"by": MANY}},
                "traffic": {"poisson": {"load": load, "message": "2048 B"}},
            }
        ],
        "observe": {"links": [], "queues": True},
    }


def _waits(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`: mean wait for an uplink in packet times, and the uplink's measured load."""
    return {"points": pl.DataFrame([_wait(outcome) for outcome in outcomes])}


def _wait(outcome: Outcome) -> dict[str, Label]:
    results = outcome.results
    uplinks = pl.col("from").str.starts_with("leaf") & pl.col("to").str.starts_with("spine")
    waiting = float(results.queues.filter(uplinks)["mean"].to_numpy().mean())
    used = float(results.links.filter(uplinks)["utilization"].to_numpy().mean())
    # Little's law divides waiting bytes by the bytes that arrive in a packet time.
    return {**outcome.labels, "wait": waiting / (used * PACKET), "utilization": used}


def _mean_wait(load: float) -> float:
    """Return the mean wait of M/D/1 with 16 sources, in packet times."""
    return theory.sprayed_wait(1.0, load, sources=MANY)


def wait_over_closed_form(tables: Tables, load: float) -> float:
    """Return the ratio of the mean wait to that of M/D/1 with 16 sources, at the uplinks' measured load."""
    return at(tables, "wait", load=load) / _mean_wait(at(tables, "utilization", load=load))


def _incast(law: str) -> Table:
    """Return the scene of an incast on one leaf, and of flows to the receiver's neighbours."""
    pairs = [{"from": f"H{i}", "to": f"H{i + 8}"} for i in range(4, 8)]
    return clos(2, 4, law, hosts=8, buffer="32 slots") | {
        "run": {"duration": "2 ms", "warmup": "500 us"},
        "flows": [
            {"name": "incast", "from": ["H0..H3"], "to": ["H8"]},
            {"name": "others", "connections": pairs},
        ],
        "observe": {"links": []},
    }


def _spread(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points`, means over the runs.

    The columns are branches between switches, their mean share of time, the others' rates, and victims.
    """
    rows = pl.DataFrame([_branches(outcome) for outcome in outcomes])
    return {"points": rows.group_by("paths", maintain_order=True).agg(pl.exclude("paths").mean())}


def _branches(outcome: Outcome) -> dict[str, Label]:
    results = outcome.results
    between = ~pl.col("from").str.starts_with("H") & ~pl.col("to").str.starts_with("H")
    branches = results.tree.filter(between & (pl.col("role") == "branch"))
    others = results.flows.filter(pl.col("group") == "others")["share"]
    return {
        **outcome.labels,
        "branches": branches.height,
        "branch_share": float(branches["branch_share"].to_numpy().mean()) if branches.height else 0.0,
        "others": float(others.to_numpy().mean()),
        "least": float(others.to_numpy().min()),
        "victims": _victims(results),
    }


def _victims(results: Results) -> int:
    """Return the number of others whose paths can cross a branch but no root, regardless of their loss."""
    network = results.scenario.network()
    paths = network.flow_paths.with_columns(role=results.tree["role"].gather(network.flow_paths["link"]))
    root, branch = ((pl.col("role") == role).any() for role in ("root", "branch"))
    met = paths.group_by("flow").agg(root=root, branch=branch)
    others = network.flows.with_row_index("flow").filter(pl.col("group") == "others")["flow"]
    return met.filter(pl.col("flow").is_in(others.implode()), pl.col("branch"), ~pl.col("root")).height


EXPERIMENTS = [
    Experiment(
        "dixit2013/collisions",
        "A permutation's share of its links, by the number of equal uplinks",
        cost=60,
        points=_permutations,
        measure=_shares,
        draw=single(
            Law("1 - (1 - 1/n)^n", range(2, 17), theory.used_paths, {**DASHED, "color": "black"}),
            Curves("uplinks", "share", "paths", {run: run for run in RUNS}),
            xlabel="equal uplinks",
            ylabel="share of the hosts' links",
            ylim=(0, 1.05),
            below=3,
        ),
        # A start spread of a dozen packet times allows many short runs.
        phase="2 us",
    ),
    Experiment(
        "dixit2013/waits",
        "Wait of sprayed packets for one of 16 uplinks, by their load",
        cost=30,
        points=grid(_poisson, {"load": (0.6,)}, load=(0.3, 0.6, 0.9)),
        measure=_waits,
        draw=single(
            Law("M/D/1, 16 sources", np.linspace(0, 0.93, 80), _mean_wait),
            simulated("utilization", "wait"),
            xlabel="load of the uplinks",
            ylabel="mean wait (packet times)",
            ylim=(0, None),
            below=3,
        ),
    ),
    Experiment(
        "dixit2013/victims",
        "Four hosts send to one, four others to its neighbours, over four spines",
        cost=10,
        points=lambda short: [
            Point({"paths": law}, _incast(law), draw)
            for law in ("flow", "packet", "least waiting")
            for draw in range(2 if short else INCAST_DRAWS)
        ],
        measure=_spread,
        draw=single(
            Bars("paths", {"others": "mean of the others", "least": "least of them"}),
            ylabel="share of their links",
            ylim=(0, 1.05),
            below=2,
        ),
    ),
]
"""The experiments on collisions of hashed flows, waits of sprayed packets, and victims."""
