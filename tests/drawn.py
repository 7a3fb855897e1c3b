"""Random valid scenarios with all kinds of topologies, flow control, traffic, schemes and recordings."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import becalm

DATA = Path(__file__).parent / "data"
Tables = dict[str, Any]

TOPOLOGIES: dict[str, Tables] = {
    "dumbbell": {"remote": 3, "local": 2},
    "clos": {"leaves": 2, "spines": 2, "hosts_per_leaf": 3, "rate": "8 Gb/s", "delay": "50 ns"},
    "tree": {"ports": 4, "levels": 2, "rate": "8 Gb/s", "delay": "10 ns"},
    "fat_tree": {"levels": [{"children": 3}, {"children": 2, "parents": 2}]},
    "dragonfly": {"switches_per_group": 2, "hosts_per_switch": 2, "global_links": 1, "rate": "8 Gb/s"},
    "torus": {"sides": [2, 3], "rate": "8 Gb/s"},
    "edges": {
        "hosts": ["H0..H4"],
        "switches": ["S0", "S1"],
        "cables": [
            {"between": ["H0..H1", "S0"]},
            {"between": ["H2..H4", "S1"]},
            {"between": ["S0", "S1"]},
        ],
    },
}
FLOW_CONTROL: dict[str, Tables] = {"credit": {}, "pfc": {"flow_control": {"pfc": {}}, "buffer": "64 KiB"}}
TRAFFIC = ("flows", "messages", "jobs", "traces")


def hosts(topology: str) -> list[str]:
    """Return the names of five hosts."""
    return ["A1", "A2", "A3", "B1", "BC"] if topology == "dumbbell" else [f"H{i}" for i in range(5)]


def load_of(kind: str, names: list[str], draw: random.Random) -> Tables:
    """Return flows and jobs for a kind of traffic."""
    many, hot = names[:3], names[-1]
    if kind == "flows":
        greedy = {"name": "hot", "from": many, "to": [hot]}
        other = {"name": "other", "from": [names[3]], "to": [names[0]], "traffic": {"poisson": {"load": 0.3}}}
        return {"flows": [greedy, other]}
    if kind == "messages":
        size = draw.choice(["100 B", "9000 B", "64 KiB"])
        batch = {"batch": {"count": 20, "message": size, "sizes": draw.choice(["fixed", "exponential"])}}
        return {"flows": [{"name": "batch", "from": many, "to": [hot], "traffic": batch}]}
    job: Tables = {"name": "job", "hosts": names[:4], "record_ops": draw.random() < 0.5}
    if kind == "traces":
        return {"jobs": [{**job, "chakra": str(DATA / "chakra" / draw.choice(["step", "all_reduce"]))}]}
    size = draw.choice(["1 KiB", "256 KiB"])
    chosen = draw.choice(["all_to_all", "all_reduce", "all_gather", "barrier", "broadcast", "reduce_scatter"])
    job["collective"] = {chosen: {} if chosen == "barrier" else {"bytes": size}}
    return {"jobs": [{**job, "repeat": draw.choice([1, 3])}]}


def drawn(draw: random.Random, topology: str, control: str, traffic: str) -> Tables:
    """Return a scenario with these parts, which may contradict each other."""
    names = hosts(topology)
    switch = {"buffer": draw.choice(["4 packets", "16 KiB", "unlimited"]), **FLOW_CONTROL[control]}
    if topology in ("dragonfly", "torus"):
        # Paths can form cycles here, so packets change lanes.
        switch["vls"] = 2
    if draw.random() < 0.4:
        switch["paths"] = {draw.choice(["destination", "flow", "packet", "round_robin", "least_waiting"]): {}}
    data: Tables = {
        "run": {"duration": "100 us", "seed": draw.randrange(100), "replications": draw.choice([1, 1, 2])},
        "topology": {topology: TOPOLOGIES[topology]},
        "switch": switch,
        **load_of(traffic, names, draw),
    }
    if draw.random() < 0.3 and traffic not in ("flows", "messages"):
        data |= load_of("flows", names, draw)
    schemes: list[Tables] = [
        {},
        {"marking": {"queue_threshold": {}}, "response": {"dcqcn": {}}, "echo": {"rocev2": {}}},
        {"marking": {"ibta": {}}, "response": {"ibta": {}}, "echo": {"ibta": {}}},
        {"marking": {"input_triggered": {}}, "response": {"lipd": {}}},
        {"response": {"swift": {}}},
    ]
    data |= draw.choice(schemes)
    observe: Tables = {"step": "10 us", "window": "20 us"}
    for key, value in (
        ("frames", "10 us"),
        ("spans", True),
        ("messages", True),
        ("queues", True),
        ("paces", True),
        ("snapshots", ["50 us"]),
        ("links", []),
        ("flows", True),
    ):
        if draw.random() < 0.4:
            observe[key] = value
    data["observe"] = observe
    return data


def valid(draw: random.Random, topology: str, control: str, traffic: str) -> becalm.Scenario:
    """Return the first valid scenario with these parts."""
    for _ in range(200):
        try:
            return becalm.Scenario(drawn(draw, topology, control, traffic), name="drawn.toml")
        except becalm.ScenarioError as error:
            last = error
    raise AssertionError(f"no valid scenario of {topology}, {control}, {traffic}: {last}")


def scenes(count: int, seed: int = 1) -> list[becalm.Scenario]:
    """Return `count` valid scenarios that cycle through topologies, flow control and kinds of traffic."""
    draw = random.Random(seed)
    parts = [(a, b, c) for a in TOPOLOGIES for b in FLOW_CONTROL for c in TRAFFIC]
    return [valid(draw, *parts[number % len(parts)]) for number in range(count)]
