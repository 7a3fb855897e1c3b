"""The test bed of gran2010, Fig. 4 to 6, and the two communication scenarios on it.

Hosts `H1` to `H3` are on switch `S1`, `H4` to `H7` on `S2`; the link between the switches has twice the rate
of a host's. In scenario 1 the victim `F1` goes from `H1` to `H4`, and `H2`, `H3`, `H6` and `H7` send `F2` to
`F5` to `H5`. In scenario 2 `F1` to `F3` go from `H1`, `H2`, `H3` to `H4`, `H5`, `H6`.

What the paper leaves open is decided here, once:

- a host's adapter fetches and takes in 13 Gb/s of payload, what its PCIe slot can do: "limited by the PCIe
  capacity at the hosts"; so `H5` drains slower than its link, and `S2` needs `Victim_Mask` on its host ports;
- switches send the oldest packet first, which four at the most may overtake; an input port holds 32 packets;
- an adapter acknowledges a message, and within it every 16 packets. This is fitted to one sentence: a timer
  below about 150 us lets the tree form, whatever the marking rate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Table: TypeAlias = dict[str, Any]

MTU = 2048
HEADER = 20
WIRE = (MTU + HEADER) / MTU
"""Bytes on the wire per byte of payload, in full packets."""

HOST_GBPS = 13.0
"""What a host can send and receive, in Gb/s of payload."""

PATHS: Mapping[int, tuple[tuple[str, str], ...]] = {
    1: (("H1", "H4"), ("H2", "H5"), ("H3", "H5"), ("H6", "H5"), ("H7", "H5")),
    2: (("H1", "H4"), ("H2", "H5"), ("H3", "H6")),
}
"""Source and destination of `F1`, `F2`, ... by scenario."""

INTER_SWITCH = "S1->S2"
HOT_LINK = "S2->H5"

MESSAGES: Table = {"greedy": {"message": "64 KiB"}}
"""Traffic at maximum speed: "a packet size of 65536 bytes and a MTU of 2048"."""

PACKET_TIME = "1.034 us"
"""Time of a full packet on a host's link of 16 Gb/s: what the table's microseconds are divided by."""


@dataclass(frozen=True)
class Bed:
    """A communication scenario with everything that the figures vary; the defaults are those of Table I."""

    scenario: int = 1
    control: bool = True
    """Whether congestion control is on."""
    interval: float = 1.0
    """Time between the starts of two flows in s; the first starts at 0."""
    tail: float = 1.0
    """Time with all flows active, in s: the means over the run begin with it."""
    settle: float = 0.0
    """How much later the means over the run begin, in s."""
    timer: int = 150
    rate: int = 1
    """`Marking_Rate`."""
    threshold: int = 15
    packet_size: int = 8
    ack_every: int = 16
    """Packets that one ACK stands for."""
    buffer: int = 32
    """Packets that an input port of a switch holds."""
    divisor: float = 106.0
    """Divisor of the table's formula; the manufacturer's is 95."""
    step: float = 0.01
    """Sampling step and sliding window of the series, in s."""
    victim_traffic: Table | None = None
    """Traffic of `F1`, if not as that of the others."""
    adapter: Table | None = None
    """More of what the adapters are like."""
    active: tuple[int, ...] | None = None
    """Numbers of the flows that there are; `None`: all."""

    @property
    def starts(self) -> list[float]:
        """When each flow starts, in s."""
        return [place * self.interval for place in range(len(self.numbers))]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the flows: 1 for `F1`."""
        return self.active or tuple(range(1, len(PATHS[self.scenario]) + 1))

    @property
    def duration(self) -> float:
        """Simulated time in s."""
        return self.starts[-1] + self.tail

    def scenario_data(self) -> Table:
        """Return the scenario as `becalm.Scenario` takes it."""
        cap = f"{HOST_GBPS * WIRE:.6f} Gb/s"
        return {
            "run": {"duration": _s(self.duration), "warmup": _s(self.starts[-1] + self.settle)},
            "topology": _TOPOLOGY,
            "switch": {
                "buffer": f"{self.buffer} packets",
                "forwarding_delay": "100 ns",
                "arbiter": {"oldest_first": {"max_bypass": 4}},
            },
            "adapter": {"injection_rate": cap, "drain_rate": cap, **(self.adapter or {})},
            "packet": {"mtu": f"{MTU} B", "header": f"{HEADER} B"},
            "echo": {"ibta": {"ack_every": self.ack_every}},
            **self._control(),
            "flows": [self._flow(*pair) for pair in zip(self.numbers, self.starts, strict=True)],
            "observe": {
                "step": _s(self.step),
                "window": _s(self.step),
                "links": [INTER_SWITCH, HOT_LINK],
                "paces": True,
            },
        }

    def _control(self) -> Table:
        if not self.control:
            return {"marking": {"none": {}}, "response": {"none": {}}}
        switch = {
            "threshold": self.threshold,
            "marking_rate": self.rate,
            "packet_size": self.packet_size,
            "victim_mask": "host_ports",
        }
        adapter = {
            "ccti_increase": 1,
            "ccti_limit": 127,
            "ccti_min": 0,
            "ccti_timer": self.timer,
            "cct": {"quadratic": {"numerator": 7.0, "divisor": self.divisor, "packet_time": PACKET_TIME}},
        }
        return {"marking": {"ibta": switch}, "response": {"ibta": adapter}}

    def _flow(self, number: int, start: float) -> Table:
        source, destination = PATHS[self.scenario][number - 1]
        traffic = MESSAGES
        if number == 1 and self.victim_traffic is not None:
            traffic = self.victim_traffic
        return {
            "name": f"F{number}",
            "from": [source],
            "to": [destination],
            "start": _s(start),
            "traffic": traffic,
        }


_TOPOLOGY: Table = {
    "edges": {
        "hosts": ["H1..H7"],
        "switches": ["S1", "S2"],
        "rate": "16 Gb/s",
        "cables": [
            *({"between": [f"H{host}", "S1" if host <= 3 else "S2"]} for host in range(1, 8)),
            {"between": ["S1", "S2"], "rate": "32 Gb/s"},
        ],
    }
}


def _s(value: float) -> str:
    return f"{value * 1e6:.10g} us"
