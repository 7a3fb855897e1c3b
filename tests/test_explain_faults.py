"""Explanations of faults in time, and of what watchdogs did."""

from __future__ import annotations

from typing import Any

import pytest

import becalm

STORM = {"kind": {"pause_storm": {"link": "leaf1->H3"}}, "at": "300 us", "until": "1700 us"}
DOWN = {"kind": {"link_down": {"link": "leaf0->spine0"}}, "at": "300 us", "until": "400 us"}


def scene(fault: dict[str, Any], watchdog: dict[str, Any] | None = None) -> becalm.Scenario:
    """Four hosts on each of two leaves; the first leaf's hosts send to those of the second."""
    pfc = {"watchdog": watchdog} if watchdog else {}
    return becalm.Scenario(
        {
            "run": {"duration": "2 ms"},
            "topology": {"clos": {"leaves": 2, "spines": 2, "hosts_per_leaf": 2, "rate": "10 Gb/s"}},
            "switch": {"paths": {"flow": {}}, "flow_control": {"pfc": pfc}},
            "flows": [
                {
                    "name": "f",
                    "from": ["H0", "H1"],
                    "to": ["H2", "H3"],
                    "traffic": {"poisson": {"load": 0.5}},
                }
            ],
            "faults": [fault],
        }
    )


def explained(scenario: becalm.Scenario) -> str:
    return " ".join(str(becalm.explain(becalm.run(scenario, threads=1), max_time=0)).split())


def test_a_storm_is_named_with_its_origin_and_what_the_watchdog_did() -> None:
    text = explained(scene(STORM))
    assert "H3 paused leaf1 without end, from 300 us to 1.70 ms" in text
    assert "pause storm" in text
    assert "watchdog of" not in text
    watchdog = {"detection": "100 us", "poll": "50 us"}
    text = explained(scene(STORM, watchdog))
    assert "The watchdog of leaf1 found a storm of pauses from H3" in text
    assert "The pauses begin at H3." in text
    assert "It dropped" in text
    assert "It only counted." in explained(scene(STORM, {**watchdog, "action": "alert"}))


def test_a_watchdog_without_a_storm_says_so() -> None:
    assert "The watchdogs found no storm of pauses." in explained(scene(DOWN, {"detection": "500 us"}))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (DOWN, "The cable between leaf0 and spine0 was down"),
        ({"kind": {"host_stop": {"hosts": ["H2", "H3"]}}, "at": "1 ms"}, "H2 and 1 other host neither sent"),
        (
            {"kind": {"slow_receiver": {"hosts": ["H2"], "drain_rate": "1 Gb/s"}}, "at": "1 ms"},
            "H2 received slowly",
        ),
        (
            {"kind": {"switch_stop": {"switches": ["spine0"]}}, "at": "300 us"},
            "spine0 stopped; real cables lose",
        ),
    ],
)
def test_faults_are_named(fault: dict[str, Any], said: str) -> None:
    assert said in explained(scene(fault))


def test_what_a_watchdog_discards_is_the_reason_of_its_flows() -> None:
    """Without congestion, packets of the flows that cross the port are lost."""
    text = explained(scene(STORM, {"detection": "100 us", "poll": "50 us"}))
    assert "flows to and from H3 got" in text
    assert "does not know why" not in text


@pytest.mark.parametrize(
    "kind",
    [
        STORM["kind"],
        {"slow_receiver": {"hosts": ["H3"], "drain_rate": "1 Gb/s"}},
        {"host_stop": {"hosts": ["H3"]}},
    ],
)
def test_the_cure_of_a_fault_is_its_repair(kind: dict[str, Any]) -> None:
    fault = {"kind": kind, "at": "300 us", "until": "1700 us"}
    results = becalm.run(scene(fault), threads=1)
    text = " ".join(str(becalm.explain(results)).split())
    assert "repair H3, which `[[faults]]` broke" in text
    assert "make the host receive faster" not in text
