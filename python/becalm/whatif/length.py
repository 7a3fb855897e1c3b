"""The simulated time of runs that take a few seconds, and scenarios that are shortened to it."""

from __future__ import annotations

from typing import Any

from becalm import manager
from becalm.scenario import Scenario

MOST_HOPS = 16e6
"""Maximum estimated number of packet-hops per run, which take a few seconds."""
HOPS = 8
"""Approximate total number of links that a packet and its ACK cross."""
SHORTEST = 200e-6
"""Minimum simulated time in s, because a tree needs time to grow."""
DECAY = 1e-3
"""Time in s in which responses without a table recover. DCQCN's fast recovery takes 0.3 to 1.5 ms."""
WARMUP = 0.25
"""Share of a run before the measurement."""


def decay(scenario: Scenario) -> float:
    """Return the time in s in which the control of a scenario recovers from congestion."""
    return manager.unwind(scenario) if scenario.response.name == "ibta" else DECAY


def least(decay: float) -> float:
    """Return the simulated time in s of a shortened run that shows what control costs."""
    return max(SHORTEST, decay / (1 - WARMUP))


def affordable(scenario: Scenario, least: float) -> float:
    """Return the simulated time in s of a run of a few seconds, if possible at least a given time."""
    facts = scenario.summary
    hops_per_second = facts["hosts"] * facts["host_rate"] / facts["packet_bytes"] * HOPS
    return min(scenario.duration, max(least, float(MOST_HOPS / hops_per_second)))


def shortened(scenario: Scenario, duration: float) -> Scenario:
    """Return a scenario with a shorter run, in which everything starts at once."""
    if duration == scenario.duration:
        return scenario
    nanoseconds = round(duration * 1e9)
    data = scenario.data()
    changes: dict[str, Any] = {
        "run.duration": f"{nanoseconds} ns",
        "run.warmup": f"{round(nanoseconds * WARMUP)} ns",
        **{
            kind: [_from_the_start(group) for group in data[kind]]
            for kind in ("flows", "jobs")
            if kind in data
        },
        **{key: None for key in ("changes", "faults", "observe") if key in data},
    }
    return scenario.replace(changes)


def _from_the_start(group: dict[str, Any]) -> dict[str, Any]:
    """Return a group that sends throughout a shortened run, at its initial rate."""
    timed = ("start", "start_spread", "stop", "stagger")
    kept = {key: value for key, value in group.items() if key not in timed}
    if "connections" in kept:
        kept["connections"] = [_from_the_start(each) for each in kept["connections"]]
    poisson = kept.get("traffic", {}).get("poisson")
    if poisson is not None:
        poisson = {key: value for key, value in poisson.items() if key != "changes"}
        kept["traffic"] = {**kept["traffic"], "poisson": poisson}
    return kept
