"""One bottleneck: hosts that send endlessly through one switch to one receiver, over identical links.

    S1 ... Sn -> T -> R

The cables' delay is chosen to give a packet and its ACK the requested round trip in an empty network. Buffers
are unlimited, so the queue of the link `T->R` depends only on the schemes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from becalm import theory
from becalm.base.quantities import seconds
from becalm.lab.model import Label, Outcome, Table, Tables
from becalm.lab.tables import only
from becalm.results import Results

SWITCH, RECEIVER = "T", "R"

FORWARDING = 0.1
"""Forwarding delay of the switch in us."""
ANSWER = 64
"""Size in bytes of an ACK and of a congestion notification packet."""
HEADER = 58
"""Header size of a RoCEv2 packet in bytes: Ethernet 14, IP 20, UDP 8, BTH 12, ICRC 4."""

ONE_QUEUE: Table = {"oldest_first": {}}
"""Arbiter for one shared queue. Packets leave in order of arrival, as closed forms of delays assume. With
round robin between senders, a flow's packets wait mainly for each other, so its delay shows its own excess.
"""


@dataclass(frozen=True)
class Bottleneck:
    """The scene, with the parameters that experiments vary."""

    flows: int
    rate: float
    """Rate of all links in Gb/s."""
    packet: int
    """Size of a data packet in bytes, including headers."""
    round_trip: float
    """Time in us from the header of a packet to the end of its ACK, in the empty network."""
    response: Table
    marking: Table = field(default_factory=lambda: {"none": {}})
    echo: Table = field(default_factory=lambda: {"ack": {}})
    arbiter: Table = field(default_factory=lambda: {"round_robin": {}})
    """Arbiter of the link: round robin between the senders, or `ONE_QUEUE`."""
    duration: float = 100.0
    """Simulated time in ms."""
    warmup: float = 20.0
    """Time in ms before the measured window."""

    @property
    def delay(self) -> float:
        """Delay in us of each of the four cables on a round trip that gives the requested round trip.

        Raises:
            ValueError: the round trip is too short for the packets.

        """
        bits = 8e-3 * (self.packet + ANSWER)
        rest = self.round_trip - 2 * FORWARDING - bits / self.rate
        if rest < 0:
            raise ValueError(f"round_trip: {self.round_trip} us; at least {self.round_trip - rest:g} us")
        return rest / 4

    @property
    def product(self) -> float:
        """Number of packets that the link sends in a round trip."""
        return self.rate * self.round_trip / (8e-3 * self.packet)

    def scenario(self) -> Table:
        """Return the scenario in the form that `becalm.Scenario` accepts."""
        senders = f"S1..S{self.flows}"
        cables = [{"between": [senders, SWITCH]}, {"between": [SWITCH, RECEIVER]}]
        edges = {"hosts": [senders, RECEIVER], "switches": [SWITCH], "cables": cables}
        return {
            "run": {"duration": f"{self.duration:g} ms", "warmup": f"{self.warmup:g} ms"},
            "topology": {
                "edges": {**edges, "rate": f"{self.rate:g} Gb/s", "delay": f"{self.delay * 1e6:.0f} ps"}
            },
            "switch": {
                "buffer": "unlimited",
                "forwarding_delay": f"{FORWARDING:g} us",
                "arbiter": self.arbiter,
            },
            "packet": {
                "mtu": f"{self.packet - HEADER} B",
                "header": f"{HEADER} B",
                "ack": f"{ANSWER} B",
            },
            "marking": self.marking,
            "echo": self.echo,
            "response": self.response,
            "flows": [{"name": "flows", "from": [senders], "to": [RECEIVER]}],
            "observe": {
                "step": f"{self.duration / 10:g} ms",
                "window": f"{self.duration / 10:g} ms",
                "links": [],
                "queues": True,
            },
        }


def measure(outcomes: Sequence[Outcome]) -> Tables:
    """Return `points` with one row per run, on the bottleneck's queue, the flows, their delays and marks."""
    return {"points": pl.DataFrame([_point(outcome) for outcome in outcomes])}


def _point(outcome: Outcome) -> dict[str, Label]:
    """Return the labels of a run and its measurements.

    These are `mean`, `min`, `p50`, `p95`, `p99` and `max` of the queue in packets, `utilization`, `jain`,
    `marked`, and the mean `round_trip` of a packet and its ACK in seconds.
    """
    results = outcome.results
    ends = {"from": SWITCH, "to": RECEIVER}
    # Notifications have a separate lane.
    queue = only(results.queues, {**ends, "vl": 0})
    link, flows = only(results.links, ends), results.flows
    sizes = results.scenario.resolved["packet"]
    packet = sum(int(str(sizes[key]).split()[0]) for key in ("mtu", "header"))
    lengths = {name: queue[name] / packet for name in ("mean", "min", "p50", "p95", "p99", "max")}
    marked, delivered = (
        np.asarray(flows[name].to_numpy(), float) for name in ("marked", "delivered_packets")
    )
    return {
        **outcome.labels,
        **lengths,
        "utilization": link["utilization"],
        "jain": theory.jain(flows["rate"].to_numpy()),
        "marked": float(marked.sum() / delivered.sum()),
        "round_trip": _round_trip(results, link["rate"] / link["utilization"]),
    }


def _round_trip(results: Results, rate: float) -> float:
    """Return the mean latency of packets plus the latency of an ACK on an empty path.

    Args:
        results: results of a run of the scene.
        rate: bytes per second of each link.

    """
    flows = results.flows.filter(pl.col("delivered_packets") > 0)
    there = np.average(flows["latency_mean"].to_numpy(), weights=flows["delivered_packets"].to_numpy())
    delay = seconds(results.scenario.topology.keys["delay"])
    return float(there) + 2 * delay + FORWARDING * 1e-6 + ANSWER / rate
