"""The path of Ramakrishnan and Jain 1990, section 3.2: four routers and a satellite, shared by all users.

    S1 ... Sn -> R1 -2-> R2 -5-> R3 -3-> R4 -4-> R5 -> D        R3 to R4 by satellite: 62.5 units

A unit of time is 1 us, and a packet has 1000 B on average. The service times follow from the links'
rates. Routers are store-and-forward, with unlimited buffers and one first-come, first-served queue per
output. Points that the paper leaves open are decided here:

- acknowledgements return from R5 to R1 on a separate link with a delay of one unit, because the knees, 15.5
  and 3, are (2 + 5 + 3 + 4 + 62.5 + 1) / 5 and (2 + 5 + 3 + 4 + 1) / 5;
- the times of links to hosts (0.0008 units) and of acknowledgements of 1 B are negligible;
- a packet keeps its size, unless service times are sampled at each hop;
- users begin with a window of one packet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from becalm.lab.model import Change, Table
from becalm.lab.nulls import mark, respond
from becalm.theory import ClosedNetwork

Law: TypeAlias = "str | Table"
"""Distribution of a quantity around its mean: `"exponential"`, `{"erlang": 4}` ..."""

PACKET = 1000
"""Mean size of a packet in B."""
SERVICE = (2.0, 5.0, 3.0, 4.0)
"""Service times of the hops in units, for a packet of mean size."""
SATELLITE = 62.5
"""Delay of the satellite hop in units."""
SATELLITE_HOP = 3
"""Number of the satellite hop, starting at 1."""
REST = 1.0
"""Return delay of the acknowledgements, in units."""
INSTANT = "1250 GB/s"
"""Rate of links with negligible delay."""

REGENERATION: Table = {"regeneration_cycle": {}}
FEEDBACK: Table = {"binary_feedback": {}}
UNMARKED: Table = {"none": {}}
EXPONENTIAL = "exponential"


@dataclass(frozen=True)
class User:
    """A source of packets. Times are in units."""

    start: float = 0.0
    packets: int | None = None
    """Number of packets that it sends; `None`: unlimited."""
    response: Table | None = None
    """Its response; `None`: the same as that of the other users."""


@dataclass(frozen=True)
class Path:
    """The path with all parameters that the figures vary. Times are in units."""

    users: tuple[User, ...] = (User(),)
    service: tuple[float, ...] = SERVICE
    satellite: float = SATELLITE
    rest: float = REST
    sizes: Law | None = None
    """Distribution of packet sizes; `None`: constant."""
    redrawn: Law | None = None
    """Distribution of the service times, sampled at each hop; `None`: they follow from the packets' sizes."""
    marking: Table = field(default_factory=lambda: REGENERATION)
    response: Table = field(default_factory=lambda: FEEDBACK)
    source: float | None = None
    """Time that a source needs for a packet; `None`: negligible."""
    changes: tuple[tuple[float, int, float], ...] = ()
    """Change of a hop's service time, as time, hop and new service time."""
    duration: float = 10_000.0
    warmup: float = 0.0
    step: float = 10.0
    """Sampling step of the windows."""

    @property
    def network(self) -> ClosedNetwork:
        """Return the path as a closed queueing network."""
        return ClosedNetwork(self.service, self.satellite + self.rest)

    def scenario(self) -> Table:
        """Return the scenario as data for `becalm.Scenario`."""
        data: Table = {
            "run": {"duration": units(self.duration), "warmup": units(self.warmup)},
            "topology": {"edges": self._edges()},
            "switch": self._switch(),
            "packet": {"mtu": f"{self._largest()} B", "header": "0 B", "ack": "1 B"},
            "marking": self.marking,
            "echo": {"ack": {}},
            "response": self.response,
            "flows": [self._flow(place, user) for place, user in enumerate(self.users, 1)],
            "observe": {"step": units(self.step), "window": units(self.step), "links": [], "paces": True},
        }
        if self.source is not None:
            data["adapter"] = {"injection_rate": rate(self.source)}
        if self.changes:
            data["changes"] = [self._change(*change) for change in self.changes]
        return data

    def _largest(self) -> int:
        """Return the largest packet in bytes; an exponential size exceeds it with probability e^-1048."""
        return PACKET if self.sizes is None else 1 << 20

    def _switch(self) -> Table:
        first_come = {"oldest_first": {"max_bypass": "unlimited"}}
        table: Table = {"buffer": "unlimited", "forwarding_delay": "0 s", "switching": "store_and_forward"}
        table |= {"arbiter": first_come}
        return table if self.redrawn is None else {**table, "service": self.redrawn}

    def _edges(self) -> Table:
        last = len(self.service) + 1
        hosts = [f"S{place}" for place in range(1, len(self.users) + 1)]
        cables = [
            *({"between": [host, "R1"]} for host in hosts),
            *(self._hop(hop, time) for hop, time in enumerate(self.service, 1)),
            {"between": [f"R{last}", "D"]},
            {"between": [f"R{last}", "R1"], "delay": units(self.rest)},
        ]
        # Packets traverse all routers, and acknowledgements return directly.
        routes = [
            *({"switch": f"R{hop}", "to": ["D"], "via": f"R{hop + 1}"} for hop in range(1, last)),
            {"switch": f"R{last}", "to": hosts, "via": "R1"},
        ]
        switches = [f"R{place}" for place in range(1, last + 1)]
        return {
            "hosts": [*hosts, "D"],
            "switches": switches,
            "rate": INSTANT,
            "cables": cables,
            "routes": routes,
        }

    def _hop(self, hop: int, time: float) -> Table:
        cable = {"between": [f"R{hop}", f"R{hop + 1}"], "rate": rate(time)}
        return {**cable, "delay": units(self.satellite)} if hop == SATELLITE_HOP else cable

    def _flow(self, place: int, user: User) -> Table:
        sizes = {} if self.sizes is None else {"sizes": self.sizes}
        traffic: Table = {"greedy": {"message": f"{PACKET} B", **sizes}}
        if user.packets is not None:
            traffic = {"batch": {"count": user.packets, **traffic["greedy"]}}
        flow = {
            "name": user_name(place),
            "from": [f"S{place}"],
            "to": ["D"],
            "start": units(user.start),
            "traffic": traffic,
        }
        return flow if user.response is None else {**flow, "response": user.response}

    def _change(self, at: float, hop: int, time: float) -> Table:
        return {"link": f"R{hop}->R{hop + 1}", "at": units(at), "rate": rate(time)}


def feedback(**parameters: Any) -> Table:  # noqa: ANN401
    """Return the response with parameters other than the paper's."""
    return {"binary_feedback": parameters}


def window(packets: int) -> Table:
    """Return a fixed window."""
    return {"none": {"window": packets}}


def user_name(place: int) -> str:
    """Return the name of a user's group, starting with 1."""
    return f"user {place}"


def rate(time: float) -> str:
    """Return the rate at which a packet of mean size needs `time` units."""
    return f"{PACKET / time:.12g} MB/s"


def units(time: float) -> str:
    """Return a time in units in the form of a scenario's value."""
    return f"{time:.12g} us"


def _no_satellite(scenario: Table) -> Table:
    edges = scenario["topology"]["edges"]
    cables = [
        {key: value for key, value in cable.items() if key != "delay" or "rate" not in cable}
        for cable in edges["cables"]
    ]
    return {**scenario, "topology": {"edges": {**edges, "cables": cables}}}


def _set(part: str, scheme: str, **keys: Any) -> Change:  # noqa: ANN401
    """Return a change of a scheme's keys, wherever the scenario has this scheme."""

    def change(scenario: Table) -> Table:
        if scheme not in scenario[part]:
            return scenario
        return {**scenario, part: {scheme: {**scenario[part][scheme], **keys}}}

    return change


def _threshold_of_2(scenario: Table) -> Table:
    by_length = _set("marking", "queue_hysteresis", centre=2)
    return _set("marking", "regeneration_cycle", threshold=2)(by_length(scenario))


INSTANTANEOUS: Table = {"queue_hysteresis": {"centre": 1, "width": 0}}
NULLS = {
    # Half of the packets, the cutoff of a user.
    "random": mark({"random": {"probability": 0.5}}),
    "as the paper chose": respond(FEEDBACK),
    "additive": respond(feedback(decrease={"additive": {"by": 1}})),
    "no satellite": _no_satellite,
    "threshold of 2": _threshold_of_2,
    "instantaneous": mark(INSTANTANEOUS),
    "no check": _set("response", "binary_feedback", check_source=False),
    "fast source": lambda scenario: {key: part for key, part in scenario.items() if key != "adapter"},
}
"""Nulls for the claims: no feedback bits, random bits, or other users.

Without bits, a window grows without limit, by one packet every two windows.
"""
