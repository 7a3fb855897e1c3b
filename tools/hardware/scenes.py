"""Scenes whose calls are replayed, and the schemes that run on each."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import becalm
from becalm.designs import law, tabulate
from becalm.scenario import examples

Scene: TypeAlias = Callable[[dict[str, Any], float], becalm.Scenario]
"""Builds a scene from schemes and the share of the full replay's duration."""

SCHEMES: dict[str, dict[str, Any]] = {
    "naive, LIPD": {"marking": {"naive": {}}, "response": {"lipd": {"discrete": True}}},
    "input-triggered, FIMD": {
        "marking": {"input_triggered": {"full": "stored"}},
        "response": {"fimd": {"discrete": True}},
    },
    "input-output-triggered, AIMD": {
        "marking": {"input_output_triggered": {"threshold": 6}},
        "response": {"aimd": {"discrete": True, "rmin": 1 / 128, "window": 2}},
    },
    "input-triggered, IBTA": {
        "marking": {"input_triggered": {}},
        "response": tabulate.tabulate_cct(law.lipd(rmin=1 / 64)).response(window=4),
    },
}
"""Schemes with each marking policy, each table of rates, and a congestion control table."""
IBTA = {"ccti_increase": 16, "ccti_timer": 20, "ccti_limit": 60, "ccti_min": 2, "ccti_decrease": 3}
"""Settings of adapters with which flows reach both ends of the table."""


def _changed(scenario: becalm.Scenario, schemes: dict[str, Any], **changes: Any) -> becalm.Scenario:  # noqa: ANN401
    return scenario.replace({**schemes, "observe": {"step": "50 us"}, **changes})


def _ms(value: float) -> str:
    return f"{value:.6g} ms"


def dumbbell(schemes: dict[str, Any], share: float) -> becalm.Scenario:
    """Return santos2003, Fig. 4: ten remote and ten local flows to one host, and a victim."""
    flows = [
        {"name": "local", "from": ["B1..B10"], "to": ["BC"]},
        {"name": "remote", "from": ["A1..A10"], "to": ["BC"]},
        {"name": "victim", "from": ["AV"], "to": ["BV"]},
    ]
    changes = {"flows": flows, "run.duration": _ms(max(120 * share, 4))}
    return _changed(examples.load("naive_marking"), schemes, **changes)


def storage_incast(schemes: dict[str, Any], share: float) -> becalm.Scenario:
    """Return an incast from eight nodes to one storage target, with buffers sized in bytes."""
    duration = _ms(2 + max(30 * share, 1))
    return _changed(examples.load("storage_incast"), schemes, **{"run.duration": duration})


def websearch(schemes: dict[str, Any], share: float) -> becalm.Scenario:
    """Return web-search messages among 32 hosts of a Clos network."""
    traffic = {"poisson": {"load": 0.8, "sizes": "websearch"}}
    flows = [{"name": "websearch", "from": ["*"], "to": ["*"], "traffic": traffic}]
    changes = {"flows": flows, "run.duration": _ms(1.05 + max(share, 0.02))}
    return _changed(examples.load("websearch"), schemes, **changes)


def random_tree(schemes: dict[str, Any], share: float) -> becalm.Scenario:
    """Return a random tree of switches with up to eight ports, six-packet buffers, and random hot spots."""
    draw = random.Random(7)
    switches = [f"S{number}" for number in range(7)]
    hosts = [f"H{number}" for number in range(21)]
    cables = [
        {"between": [draw.choice(switches[:place]), name]} for place, name in enumerate(switches) if place
    ]
    cables += [{"between": [host, switches[place % 7]]} for place, host in enumerate(hosts)]
    hot = draw.sample(hosts, 2)
    flows: list[dict[str, Any]] = [
        {
            "name": f"to {host}",
            "from": draw.sample([each for each in hosts if each != host], 10),
            "to": [host],
        }
        for host in hot
    ]
    flows.append(
        {"name": "all", "from": ["*"], "to": ["*"], "traffic": {"poisson": {"load": 0.2, "message": "9 KiB"}}}
    )
    return becalm.Scenario(
        {
            "run": {"duration": _ms(max(40 * share, 2)), "seed": 3},
            "topology": {"edges": {"hosts": hosts, "switches": switches, "cables": cables, "rate": "1 GB/s"}},
            "switch": {"buffer": "6 slots"},
            "flows": flows,
            **schemes,
        }
    )


def random_pairs(schemes: dict[str, Any], share: float) -> becalm.Scenario:
    """Return a small random Clos network with 4 KiB packets and on-off flows to three hosts per source."""
    draw = random.Random(11)
    leaves, spines, below = draw.randint(3, 5), draw.randint(2, 3), draw.randint(4, 6)
    hosts = [f"H{number}" for number in range(leaves * below)]
    flows = [
        {"name": host, "from": [host], "to": draw.sample([each for each in hosts if each != host], 3)}
        | {"traffic": {"on_off": {"mean_on": "40 us", "mean_off": "60 us"}}}
        for host in hosts
    ]
    return becalm.Scenario(
        {
            "run": {"duration": _ms(max(6 * share, 0.5)), "seed": 5},
            "topology": {
                "clos": {"leaves": leaves, "spines": spines, "hosts_per_leaf": below, "rate": "100 Gb/s"}
            },
            "switch": {"buffer": "32 KiB", "arbiter": {"round_robin": {}}},
            "packet": {"mtu": "4096 B", "header": "30 B", "ack": "30 B"},
            "flows": flows,
            **schemes,
        }
    )


SCENES: dict[str, Scene] = {
    "dumbbell": dumbbell,
    "storage incast": storage_incast,
    "websearch": websearch,
    "random tree": random_tree,
    "random Clos": random_pairs,
}


def record(scene: str, schemes: str, share: float, file: Path) -> None:
    """Record the calls of all markers and responses of a scene in a new file."""
    chosen = SCHEMES[schemes]
    if "ibta" in chosen["response"] and scene in ("random tree", "websearch"):
        chosen = {**chosen, "response": {"ibta": {**chosen["response"]["ibta"], **IBTA}}}
    scenario = SCENES[scene](chosen, share)
    traced = becalm.trace(scenario, links=[], switches=None, most=10_000_000)
    assert not traced.full
    traced.save_calls(file)
