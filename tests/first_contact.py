"""First contact: what a stranger measures with nothing but defaults.

A case is a topology, a flow control, a response, a rate and a cable. Four scenes of it have a known result: a lone
flow between the two farthest hosts, the same two hosts in both directions, a permutation, and a ring all-reduce. Each
must reach its part of the result, or `becalm validate` must name the key that prevents it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import becalm

Table = dict[str, Any]

TOPOLOGIES: dict[str, Table] = {
    "dumbbell": {"remote": 3, "local": 3},
    "edges": {
        "hosts": ["H0..H7"],
        "switches": ["S0", "S1"],
        "cables": [
            {"between": ["H0..H3", "S0"]},
            {"between": ["H4..H7", "S1"]},
            *[{"between": ["S0", "S1"]}] * 4,
        ],
        "routes": [],
    },
    "clos": {"leaves": 2, "spines": 4, "hosts_per_leaf": 4},
    "tree": {"ports": 4, "levels": 2},
    "fat_tree": {"levels": [{"children": 4}, {"children": 2, "parents": 4}]},
    "dragonfly": {"switches_per_group": 2, "hosts_per_switch": 1, "global_links": 1},
    "torus": {"sides": [2, 4]},
}
FLOW_CONTROLS: dict[str, Table] = {
    "credits": {},
    "pfc": {"pfc": {}},
    "pfc dynamic": {"pfc": {"thresholds": {"dynamic": {}}}},
}
RESPONSES: dict[str, Table] = {
    "none": {},
    "fixed": {},
    "lipd": {"marking": {"input_triggered": {}}},
    "fimd": {"marking": {"input_triggered": {}}},
    "aimd": {"marking": {"input_triggered": {}}},
    "ibta": {"marking": {"ibta": {}}, "echo": {"ibta": {}}},
    "dcqcn": {"marking": {"ramp": {}}, "echo": {"rocev2": {}}},
    "dctcp": {"marking": {"queue_threshold": {}}},
    "hpcc": {},
    "swift": {},
    "timely": {},
    "binary_feedback": {"marking": {"interval_average": {}}},
}
RATES = (10, 100, 400, 800)
"""Gb/s."""
CABLES = {"10 m": 50, "100 m": 500, "1 km": 5000}
"""Delay in ns."""
ENDS = {"dumbbell": ("AV", "BV")}
"""The two farthest hosts, where they are not the first and the last."""
PARTS = {"lone": 0.99, "opposite": 0.97, "permutation": 0.95, "ring": 0.97}
"""The part of its result that each scene must reach."""
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
        topology = {key: value for key, value in TOPOLOGIES[self.topology].items() if value != []}
        return {
            "topology": {self.topology: topology | links},
            "switch": switch,
            "response": {self.response: {}},
            **RESPONSES[self.response],
        }
