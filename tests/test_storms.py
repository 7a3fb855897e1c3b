"""What storms of pauses cost with watchdogs, and their false alarms: the sweeps of the guide, smaller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import becalm
from becalm.scenario import examples
from becalm.sweeps.spec import read_spec

SWEEPS = Path(__file__).parents[1] / "scenarios" / "sweeps"
WATCHDOG = "switch.flow_control.pfc.watchdog"
SMALL: dict[str, Any] = {
    "run.duration": "2 ms",
    "topology.clos": {
        "leaves": 2,
        "spines": 2,
        "hosts_per_leaf": 6,
        "rate": "25 Gb/s",
        "delay": "500 ns",
    },
}


def storm(watchdog: dict[str, Any] | None) -> becalm.Results:
    """A host of 12 pauses its switch from 300 us to 1.5 ms."""
    changes = SMALL | {
        "flows.others.to": ["H1..H11"],
        "flows.to_H0.from": ["H6..H11"],
        "flows.to_H0.traffic.poisson.load": 0.05,
        "faults": [{"kind": {"pause_storm": {"link": "leaf0->H0"}}, "at": "300 us", "until": "1500 us"}],
        WATCHDOG: watchdog,
    }
    return becalm.run(examples.load("pause_storm").replace(changes), threads=1)


@pytest.mark.parametrize("rule", ["mellanox", "broadcom"])
def test_a_storm_is_found_after_detection_and_at_most_one_poll(rule: str) -> None:
    """What the others lose ends with the storm's detection, if packets are dropped or sent in spite of it."""
    rate = {"free": storm(None).groups["rate"][0]}
    times = {"detection": "200 us", "poll": "50 us", "rule": rule}
    for action in ("alert", "forward", "drop"):
        results = storm({**times, "action": action})
        (first,) = results.storms.filter(results.storms["peer"] == "H0")["first"]
        assert 500e-6 <= first <= 550e-6 + 1e-6
        rate[action] = results.groups["rate"][0]
        dropped = sum(int(results.storms[way].sum()) for way in ("tx_dropped", "rx_dropped"))
        assert (dropped > 0) == (action == "drop")
    assert rate["alert"] == rate["free"]
    assert min(rate["drop"], rate["forward"]) > 1.2 * rate["free"]


def test_longer_times_give_fewer_false_alarms() -> None:
    changes = {"topology.clos": SMALL["topology.clos"] | {"hosts_per_leaf": 10, "rate": "10 Gb/s"}}
    changes |= {"run.duration": "2 ms", "switch.buffer": "100 kB", "flows.incast.from": ["H1..H19"]}
    incast = examples.load("watchdog_incast").replace(changes)
    alarms = [
        becalm.run(
            incast.replace({WATCHDOG: {"detection": detection, "poll": poll, "action": "alert"}}), threads=1
        )
        .storms["detected"]
        .sum()
        for detection, poll in (("50 us", "25 us"), ("100 us", "50 us"), ("1500 us", "500 us"))
    ]
    assert alarms[0] > alarms[1] > alarms[2] == 0


@pytest.mark.parametrize(("name", "points"), [("pause_storm", 7), ("watchdogs", 10)])
def test_the_sweeps_of_the_guide_are_valid(name: str, points: int) -> None:
    made = list(read_spec(SWEEPS / f"{name}.toml").points())
    assert len(made) == points
