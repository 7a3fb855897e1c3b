"""First contact: what a stranger measures with nothing but defaults.

A case is a topology, a flow control, a response, a rate and a cable. Four scenes of it have a known result: a
lone flow between the two farthest hosts, the same two hosts in both directions, a permutation, and a ring
all-reduce. Each must reach its part of the result, or `becalm validate` must name the key that prevents it.
Where paths share a link, as in a dragonfly, the link is congested; how well a response shares it is a
property of the response, not of a default, so such scenes are only counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import polars as pl

import becalm
from becalm.network import Network

Table = dict[str, Any]

TOPOLOGIES: dict[str, Table] = {
    "dumbbell": {"remote": 3, "local": 3},
    "edges": {
        "hosts": ["H0..H7"],
        "switches": ["S0", "S1"],
        "cables": [
            {"between": ["H0..H3", "S0"]},
            {"between": ["H4..H7", "S1"]},
            {"between": ["S0", "S1"]},
        ],
    },
    "clos": {"leaves": 2, "spines": 4, "hosts_per_leaf": 4},
    "tree": {"ports": 4, "levels": 2},
    "fat_tree": {"levels": [{"children": 4}, {"children": 2, "parents": 4}]},
    "dragonfly": {"switches_per_group": 2, "hosts_per_switch": 1, "global_links": 1},
    "torus": {"sides": [2, 4]},
}
FLOW_CONTROLS: dict[str, Table] = {
    "credits": {},
    "cbfc": {"cbfc": {}},
    "pfc": {"pfc": {}},
    "pfc dynamic": {"pfc": {"thresholds": {"dynamic": {}}}},
}
MARKS: Table = {"marking": {"queue_threshold": {"root_only": False}}}
RESPONSES: dict[str, Table] = {
    "none": {},
    "fixed": {"response": {"fixed": {"rate": 1.0}}},
    "lipd": MARKS,
    "fimd": MARKS,
    "aimd": MARKS,
    "ibta": MARKS | {"echo": {"ibta": {}}},
    "dcqcn": {"marking": {"ramp": {}}, "echo": {"rocev2": {}}},
    "dctcp": MARKS,
    "hpcc": {},
    "nscc": {"marking": {"ramp": {}}, "echo": {"uet": {}}},
    "swift": {},
    "timely": {},
    "binary_feedback": MARKS,
}
RATES = (10, 100, 400, 800)
"""Gb/s."""
CABLES = {"10 m": 50, "100 m": 500, "1 km": 5000}
"""Delay in ns."""
PARTS = {"lone": 0.99, "opposite": 0.97, "permutation": 0.95, "ring": 0.97}
"""The part of its result that each scene must reach."""
SHARED = 0.95
"""The part where paths share a link."""
MESSAGE = 2**21
"""Bytes of the all-reduce."""


@dataclass(frozen=True)
class Case:
    """A combination of defaults."""

    topology: str
    control: str
    response: str
    rate: int
    cable: str

    def data(self) -> Table:
        """Return a scenario without traffic."""
        links = {"rate": f"{self.rate} Gb/s", "delay": f"{CABLES[self.cable]} ns"}
        switch: Table = {"flow_control": FLOW_CONTROLS[self.control]} if FLOW_CONTROLS[self.control] else {}
        if self.topology in ("dragonfly", "torus"):
            # Paths can form cycles here, so packets change lanes.
            switch["vls"] = 2
        response: Table = {self.response: {}}
        topology = {self.topology: TOPOLOGIES[self.topology] | links}
        return {"topology": topology, "switch": switch, "response": response, **RESPONSES[self.response]}

    def __str__(self) -> str:
        return f"{self.topology}, {self.control}, {self.response}, {self.rate} Gb/s, {self.cable}"


@dataclass(frozen=True)
class Reached:
    """What a scene reached, as a part of its known result, and the warnings about it."""

    scene: str
    part: float
    load: float
    """Number of flows on the most loaded link."""
    warnings: list[str]

    @property
    def shared(self) -> bool:
        """Whether paths share a link."""
        return self.load > 1.001

    @property
    def full(self) -> bool:
        """Whether the scene reaches its part."""
        return self.part >= min(PARTS[self.scene], SHARED if self.shared else 1.0)

    @property
    def explained(self) -> bool:
        """Whether a warning names a share that the scene nearly reaches, or exceeds, or a slow start.

        A job's messages each start and end with a partly used window, so it reaches less than a stream.
        """
        nearly = 0.7 if self.scene == "ring" else 0.9
        stated = [float(share) / 100 for each in self.warnings for share in STATED.findall(each)]
        slow = any(SLOW in each for each in self.warnings)
        return slow or any(self.part >= nearly * share - 0.02 for share in stated)


STATED = re.compile(r"(?:at most|as little as) ([\d.]+)% ")
"""The share that a warning about a buffer, a window or a target states."""
SLOW = "fills its slowest link only after"


def cases() -> list[Case]:
    """Return all combinations."""
    return [Case(*parts) for parts in product(TOPOLOGIES, FLOW_CONTROLS, RESPONSES, RATES, CABLES)]


def reached(case: Case) -> Iterator[Reached]:
    """Run the scenes of a case."""
    data = case.data()
    pairs = _network(data, {"from": ["*"], "to": ["*"]})
    hops = pairs.flow_paths.group_by("flow").len().sort("flow")["len"].to_list()
    ends = pairs.flows.row(hops.index(max(hops)), named=True)
    there, back = (ends["source"], ends["destination"]), (ends["destination"], ends["source"])
    loop = 2 * max(hops) * CABLES[case.cable] * 1e-9
    for scene, ways in (("lone", [there]), ("opposite", [there, back])):
        flows = [{"name": f"{start}", "from": [start], "to": [end]} for start, end in ways]
        yield streams(case, scene, data | {"flows": flows}, loop)
    # Where many hosts share a cable, a larger shift would measure how a response shares it.
    by = 1 if case.topology in ("dumbbell", "edges") else len(pairs.hosts) // 2
    every: Table = {"name": "all", "from": ["*"], "pattern": {"shift": {"by": by}}}
    yield streams(case, "permutation", data | {"flows": [every]}, loop)
    yield _ring(case, data)


def _network(data: Table, group: Table) -> Network:
    flows = [{"name": "f", "traffic": {"batch": {"count": 1}}, **group}]
    return becalm.Scenario({**data, "run": {"duration": "1 us"}, "flows": flows}).network()


def streams(case: Case, scene: str, data: Table, loop: float) -> Reached:
    """Run greedy flows; the result is the mean share of the rate that the most loaded link allows."""
    packet = 2068 * 8e-9 / case.rate
    unit = max(loop, 50 * packet)
    run = {"duration": f"{40 * unit * 1e6:.6f} us", "warmup": f"{20 * unit * 1e6:.6f} us"}
    observe = {"links": [], "step": f"{unit * 1e6:.6f} us", "window": f"{2 * unit * 1e6:.6f} us"}
    scenario = becalm.Scenario({**data, "run": run, "observe": observe})
    paths = scenario.network().flow_paths
    most = paths.group_by("link").agg(pl.col("share").sum())["share"].to_numpy().max()
    rates = becalm.run(scenario, threads=1).flows["rate"].to_numpy()
    rate = rates.min() if scene == "opposite" else rates.mean()
    return Reached(scene, rate * most / (case.rate * 1e9 / 8), most, scenario.warnings)


def _ring(case: Case, data: Table) -> Reached:
    """Run a ring all-reduce; the result is its closed form over its time."""
    ring = _network(data, {"from": ["*"], "pattern": {"shift": {"by": 1}}})
    paths, n = ring.flow_paths, len(ring.hosts)
    most = paths.group_by("link").agg(pl.col("share").sum())["share"].to_numpy().max()
    hops = int(paths.group_by("flow").len()["len"].to_numpy().max())
    packet = 2068 * 8e-9 / case.rate
    distance = hops * CABLES[case.cable] * 1e-9 + (hops - 1) * 40e-9
    expected = 2 * (n - 1) * (most * MESSAGE / n / 2048 * packet + distance)
    job = {"name": "ring", "hosts": ["*"], "collective": {"all_reduce": {"bytes": f"{MESSAGE} B"}}}
    # A window of one packet on a long cable takes thousands of times as long.
    run = {"duration": f"{1e5 * expected * 1e6:.6f} us", "end": "jobs"}
    observe = {
        "links": [],
        "step": f"{1e4 * expected * 1e6:.6f} us",
        "window": f"{2e4 * expected * 1e6:.6f} us",
    }
    scenario = becalm.Scenario({**data, "run": run, "jobs": [job], "observe": observe})
    time = becalm.run(scenario, threads=1).jobs["time"][0]
    return Reached("ring", expected / time if time and time == time else 0.0, most, scenario.warnings)
