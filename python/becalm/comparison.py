"""The schemes of all papers side by side, on the same two scenes.

    for scene, table in comparison.compare().items():
        print(scene, table)

The *dumbbell* is that of Santos 2002 and 2003, with ten local flows, ten remote flows and the victim, all
greedy. The *tree* has four leaves with eight hosts each under eight spines: full bisection. Five hosts of
each leaf send to one hot host as fast as they may. The others, the victims, send to each other at half the
rate of a link, which all their paths could carry. Input buffers hold four packets, in both scenes fewer than
there are flows behind them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping

import polars as pl

from becalm import manager
from becalm.lab.dumbbell import NO_CONTROL, ONE_PACKET, ROOT, Dumbbell, Table
from becalm.lab.model import Label, Outcome, Point
from becalm.lab.runner import Lab
from becalm.progress import SweepProgress
from becalm.results import Results
from becalm.scenario import Scenario
from becalm.theory import jain

UNMARKED: Table = {"marking": {"none": {}}, "echo": {"ack": {}}}
INPUT_TRIGGERED: Table = {"marking": {"input_triggered": {}}, "echo": {"ack": {}}}
REGENERATION: Table = {"marking": {"regeneration_cycle": {}}, "echo": {"ack": {}}}

SCHEMES: Mapping[str, Table | str] = {
    "none": {**UNMARKED, "response": NO_CONTROL},
    "window of 1": {**UNMARKED, "response": ONE_PACKET},
    "LIPD": {**INPUT_TRIGGERED, "response": {"lipd": {}}},
    "FIMD": {**INPUT_TRIGGERED, "response": {"fimd": {}}},
    "AIMD": {**INPUT_TRIGGERED, "response": {"aimd": {}}},
    "IBTA, Pfister": "pfister2005",
    "IBTA, Gran": "gran2010",
    "binary feedback": {**REGENERATION, "response": {"binary_feedback": {}}},
}
"""Marking, echo and response of each scheme with the parameters of its paper; or the guideline that says
what they should be for the scene."""

LEAVES, LEAF = 4, 8
"""Leaves of the tree, and hosts on each."""
HOT_HOST = LEAVES * LEAF - 1
HOT = [f"H{host}" for host in range(HOT_HOST) if host % LEAF < 5]
COLD = [f"H{host}" for host in range(HOT_HOST) if host % LEAF >= 5]
COLD_LOAD = 0.5
SOURCES = 20
"""Flows to the hot host in each scene."""


def compare(
    short: bool = False,
    seed: int = 1,
    threads: int | None = None,
    progress: Callable[[SweepProgress], object] | None = None,
) -> dict[str, pl.DataFrame]:
    """Run all schemes on all scenes.

    Returns:
        A table per scene, with one row per scheme: `victims`, what arrived of what the victims offered;
        `root`, the utilization of the link to the hot host; `jain`, fairness among the flows to it; `buffer`,
        the mean number of packets in the fullest input buffer; `victims_latency` and `hot_latency`, means in
        s.

    Raises:
        FabricError: a run that cannot go on.
        KeyboardInterrupt: Ctrl-C.

    """
    chosen = points(short)
    lab = Lab(seed, threads)
    lab.run(chosen, progress)
    outcomes = lab.outcomes(chosen)
    return {
        scene: pl.DataFrame([_row(outcome) for outcome in outcomes if outcome.labels["scene"] == scene])
        for scene in SCENES
    }


def points(short: bool) -> list[Point]:
    """Return every scheme on every scene."""
    return [
        Point({"scene": scene, "scheme": scheme}, _controlled(make(short), tables))
        for scene, make in SCENES.items()
        for scheme, tables in SCHEMES.items()
    ]


def _controlled(scene: Table, scheme: Table | str) -> Table:
    if not isinstance(scheme, str):
        return {**scene, **scheme}
    bare = Scenario({**scene, **UNMARKED, "response": NO_CONTROL})
    recommendation = manager.recommend(bare, hot_spot_degree=SOURCES, guideline=scheme)
    return tomllib.loads(recommendation.apply(bare).to_toml())


def _dumbbell(short: bool) -> Table:
    duration = _duration(short)
    return Dumbbell(duration=duration, warmup=duration * 5 / 8, victim=(duration / 2, duration)).scenario()


def _tree(short: bool) -> Table:
    duration, cold = _duration(short), {"poisson": {"load": COLD_LOAD}}
    return {
        "run": {"duration": f"{duration} ms", "warmup": f"{duration * 5 / 8} ms"},
        "topology": {"clos": {"leaves": LEAVES, "spines": LEAF, "hosts_per_leaf": LEAF}},
        "switch": {"buffer": "4 packets", "arbiter": {"round_robin": {}}},
        "flows": [
            {"name": "hot", "from": HOT, "to": [f"H{HOT_HOST}"], "stagger": "100 us"},
            {"name": "victims", "from": COLD, "to": COLD, "start": f"{duration / 2} ms", "traffic": cold},
        ],
        "observe": {"links": []},
    }


def _duration(short: bool) -> float:
    """Simulated time in ms; the victims start at half of it, means are over the last three eighths."""
    return 40.0 if short else 200.0


SCENES: Mapping[str, Callable[[bool], Table]] = {"dumbbell": _dumbbell, "tree": _tree}
_ROOTS = {"dumbbell": ROOT, "tree": f"leaf{LEAVES - 1}->H{HOT_HOST}"}


def _row(outcome: Outcome) -> dict[str, Label]:
    results = outcome.results
    is_victim = pl.col("group").str.contains("victim")
    victims, others = results.victims.filter(is_victim), results.flows.filter(~is_victim)
    sender, receiver = _ROOTS[str(outcome.labels["scene"])].split("->")
    root = results.links.filter((pl.col("from") == sender) & (pl.col("to") == receiver))
    return {
        "scheme": outcome.labels["scheme"],
        "victims": float(victims["delivered"].to_numpy().sum() / victims["offered"].to_numpy().sum()),
        "victims_latency": _latency(results, is_victim),
        "root": root["utilization"].item(),
        "jain": jain(others["rate"].to_numpy()),
        "hot_latency": _latency(results, ~is_victim),
        "buffer": float(results.buffers["mean_packets"].to_numpy().max()),
    }


def _latency(results: Results, chosen: pl.Expr) -> float:
    """Mean over the messages of all chosen flows, in s."""
    flows = results.flows.filter(chosen & (pl.col("messages") > 0))
    messages = flows["messages"].to_numpy()
    return float(flows["latency_mean"].to_numpy() @ messages / messages.sum())
