"""Leaf and spine switches without oversubscription. A leaf has one host per spine."""

from __future__ import annotations

from typing import Any, TypeAlias

Table: TypeAlias = dict[str, Any]

RATE = 12.5e9
"""Bytes per second of every link: 100 Gb/s."""
PACKET = 2068
"""Bytes of a packet, including a header of 20 B."""
ACK = 20
"""Bytes of an ACK."""

LAWS: dict[str, Table] = {
    "flow": {"flow": {}},
    "packet": {"packet": {}},
    "round robin": {"round_robin": {}},
    "least waiting": {"least_waiting": {}},
    "two choices": {"least_waiting": {"sample": 2}},
}
"""Rules of choice by their names in figures."""


def clos(leaves: int, uplinks: int, law: str, *, buffer: str = "256 slots") -> Table:
    """Return `topology` and `switch` of this network."""
    return {
        "topology": {
            "clos": {
                "leaves": leaves,
                "spines": uplinks,
                "hosts_per_leaf": uplinks,
                "rate": "100 Gb/s",
                "delay": "50 ns",
            }
        },
        "switch": {"buffer": buffer, "paths": LAWS[law]},
        # ACKs would use a hundredth of the reverse direction, which is also fully loaded.
        "echo": {"ibta": {"transport": "unreliable"}},
    }


def with_acks(scene: Table) -> Table:
    """Return a scene with an ACK for each packet in a separate class, so ACKs do not wait for data."""
    classes = {"switch": {**scene["switch"], "vls": 2}, "packet": {"answers_sl": 1}}
    return {**scene, **classes, "echo": {"ibta": {}}}
