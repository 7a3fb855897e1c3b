"""The test bed of gran2010, Fig. 4 to 6, and the two communication scenarios on it.

Hosts `H1` to `H3` are on switch `S1`, and `H4` to `H7` on `S2`. The link between the switches has twice the
rate of a host's link. In scenario 1, the victim `F1` goes from `H1` to `H4`, and `H2`, `H3`, `H6` and `H7`
send `F2` to `F5` to `H5`. In scenario 2, `F1` to `F3` go from `H1`, `H2` and `H3` to `H4`, `H5` and `H6`.

Points that the paper leaves open are decided here for all figures:

- a host's adapter sends and receives 13 Gb/s of payload, the limit of its PCIe slot: "limited by the PCIe
  capacity at the hosts". `H5` therefore receives more slowly than its link, and `S2` needs `Victim_Mask` on
  its host ports;
- a host works on a message for 1 us before it sends it: the adapters' "application latency of 1 us";
- switches send the oldest packet first; an input port holds 20 packets;
- an adapter acknowledges each message, and within a message every 24 packets;
- the CC timers of the adapters have different phases, and their clocks deviate by up to 100 ppm;
- throughput is sampled every 10 ms.

The figures differ in the flows, the times and the varied parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from becalm.lab.model import Change, Table
from becalm.lab.nulls import mark, respond

MTU = 2048
HEADER = 20
WIRE = (MTU + HEADER) / MTU
"""Bytes on the wire per byte of payload, in full packets."""

HOST_GBPS = 13.0
"""Send and receive rate of a host, in Gb/s of payload."""

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
"""Time of a full packet on a host's link of 16 Gb/s. The table's microseconds are divided by it."""


@dataclass(frozen=True)
class Bed:
    """A communication scenario with all parameters that figures vary. The defaults are those of Table I."""

    scenario: int = 1
    control: bool = True
    """Whether congestion control is on."""
    interval: float = 1.0
    """Time between the starts of consecutive flows in s; the first flow starts at 0."""
    tail: float = 1.0
    """Time with all flows active, in s. Means over the run begin with this time."""
    settle: float = 0.0
    """Additional delay of the means over the run, in s."""
    timer: int = 150
    rate: int = 1
    """`Marking_Rate`."""
    threshold: int = 15
    packet_size: int = 8
    minimum: int = 0
    """`CCTI_Min`."""
    mask: str = "host_ports"
    """`Victim_Mask`."""
    per_level: bool = False
    """Whether adapters control service levels instead of queue pairs."""
    ack_every: int = 24
    """Packets per ACK."""
    buffer: int = 20
    """Capacity of a switch's input port in packets."""
    divisor: float = 106.0
    """Divisor in the table's formula; the manufacturer's is 95."""
    finer: int = 1
    """Entries per entry of the paper. The index's increment and the rate of its decrements scale with it."""
    step: float = 0.01
    """Sampling step and sliding window of the series, in s."""
    victim_traffic: Table | None = None
    """Traffic of `F1`; `None`: the same as that of the other flows."""
    active: tuple[int, ...] | None = None
    """Numbers of the existing flows; `None`: all."""
    neighbour: bool = False
    """Whether `H2` also sends `F6` to `H1`. `F6` meets no congestion."""

    @property
    def starts(self) -> list[float]:
        """Start of each flow, in s."""
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
        """Return the scenario as data for `becalm.Scenario`."""
        flows = [self._flow(*pair) for pair in zip(self.numbers, self.starts, strict=True)]
        if self.neighbour:
            flows.append(_flow("F6", "H2", "H1", self.starts[-1], MESSAGES))
        return {
            "run": {"duration": _s(self.duration), "warmup": _s(self.starts[-1] + self.settle)},
            "topology": _TOPOLOGY,
            "switch": {
                "buffer": f"{self.buffer} slots",
                "forwarding_delay": "100 ns",
                "arbiter": {"oldest_first": {"max_bypass": "unlimited"}},
            },
            "adapter": _ADAPTER | ({"port_control": "sl"} if self.per_level else {}),
            "packet": {"mtu": f"{MTU} B", "header": f"{HEADER} B"},
            "echo": {"ibta": {"ack_every": self.ack_every}},
            **self._control(),
            "flows": flows,
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
            "victim_mask": self.mask,
        }
        entries = 128 * self.finer
        formula = {"numerator": 7.0, "divisor": self.divisor * self.finer, "entries": entries}
        adapter = {
            "ccti_increase": self.finer,
            "ccti_limit": entries - 1,
            "ccti_min": self.minimum,
            "ccti_timer": self.timer // self.finer,
            # Not as in section II-B, where the flows of a service level share one: see the readings.
            "timer_scope": "flow",
            "cct": {"quadratic": formula | {"packet_time": PACKET_TIME}},
        }
        return {"marking": {"ibta": switch}, "response": {"ibta": adapter}}

    def _flow(self, number: int, start: float) -> Table:
        source, destination = PATHS[self.scenario][number - 1]
        traffic = MESSAGES
        if number == 1 and self.victim_traffic is not None:
            traffic = self.victim_traffic
        return _flow(f"F{number}", source, destination, start, traffic)


def _flow(name: str, source: str, destination: str, start: float, traffic: Table) -> Table:
    return {"name": name, "from": [source], "to": [destination], "start": _s(start), "traffic": traffic}


_CAP = f"{HOST_GBPS * WIRE:.6f} Gb/s"
_ADAPTER: Table = {"injection_rate": _CAP, "drain_rate": _CAP, "message_overhead": "1 us"}

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


def _off(scenario: Table) -> Table:
    return respond({"none": {}})(mark({"none": {}})(scenario))


def _on(scenario: Table) -> Table:
    control = Bed().scenario_data()
    return respond(control["response"])(mark(control["marking"])(scenario))


def _between_switches(rate: str) -> Change:
    """Return a change of the rate of the link between the switches."""

    def change(scenario: Table) -> Table:
        edges = scenario["topology"]["edges"]
        *hosts, last = edges["cables"]
        cables = [*hosts, {**last, "rate": rate}]
        return {**scenario, "topology": {"edges": {**edges, "cables": cables}}}

    return change


NULLS = {
    "off": _off,
    "on": _on,
    "random": mark({"random": {"probability": 0.01}}),
    "narrow": _between_switches("16 Gb/s"),
    "wide": _between_switches("64 Gb/s"),
}
"""Nulls for the claims: no control, the control of Table I, the share of packets that it marks at random with
all flows of scenario 1, and a link between the switches with the rate of a host's link, or four times it."""
