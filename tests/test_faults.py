"""Cables that go down and up under the laws of paths that a source or a dragonfly chooses."""

from __future__ import annotations

from typing import Any

import pytest

import becalm

CLOS = {"clos": {"leaves": 2, "spines": 4, "hosts_per_leaf": 4, "delay": "500 ns", "rate": "10 Gb/s"}}
DRAGONFLY = {
    "dragonfly": {
        "switches_per_group": 3,
        "hosts_per_switch": 2,
        "global_links": 1,
        "rate": "10 Gb/s",
        "delay": "100 ns",
        "global_delay": "300 ns",
    }
}


@pytest.mark.parametrize("flow_control", ["credits", "pfc"])
@pytest.mark.parametrize(
    ("law", "topology", "link"),
    [
        ({"destination": {}}, CLOS, "leaf0->spine3"),
        ({"entropy": {"balancer": "oblivious"}}, CLOS, "leaf0->spine3"),
        ({"entropy": {"balancer": "reps"}}, CLOS, "leaf0->spine3"),
        ({"valiant": {}}, DRAGONFLY, "G0R1->G0R0"),
        ({"ugal": {}}, DRAGONFLY, "G0R1->G0R0"),
    ],
)
def test_every_message_arrives_although_a_cable_was_down(
    law: dict[str, Any], topology: dict[str, Any], link: str, flow_control: str
) -> None:
    """Only a law that chooses by packet may deliver packets early."""
    scenario = becalm.Scenario(
        {
            "run": {"duration": "20 ms", "end": "delivered"},
            "topology": topology,
            "switch": {
                "vls": 4 if topology is DRAGONFLY else 1,
                "paths": law,
                "flow_control": {flow_control: {}},
            },
            "flows": [
                {
                    "name": "f",
                    "from": ["*"],
                    "pattern": {"shift": {"by": 4}},
                    "traffic": {"batch": {"count": 10, "message": "16 KiB"}},
                }
            ],
            "faults": [{"kind": {"link_down": {"link": link}}, "at": "20 us", "until": "300 us"}],
        }
    )
    results = becalm.run(scenario, threads=1)
    assert results.tables["flows"]["messages"].sum() == 10 * len(scenario.hosts())
    assert results.faults["held"].sum() > 0
    if "destination" in law:
        assert results.tables["flows"]["out_of_order"].sum() == 0
        assert "flows kept their order" in results.guards
