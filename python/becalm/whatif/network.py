"""The cables and routes of a scenario with a list of cables, such as an imported fabric."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from becalm.errors import BecalmError
from becalm.opensm.fabric import Fabric
from becalm.opensm.importing import numbered, places
from becalm.scenario import Scenario

_UNITS = {"b/s": 1.0, "B/s": 8.0}
_PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


class Port(NamedTuple):
    """A port with a cable: the node at the other end, and the cable's rate in b/s."""

    peer: str
    rate: float


@dataclass
class Network:
    """Nodes, cables and routes by the names that a scenario has for them."""

    hosts: list[str]
    switches: list[str]
    ports: dict[str, list[Port]]
    """By node: its ports in the order of a scenario."""
    routes: dict[str, dict[str, int]]
    """By switch and host: the port that packets leave by; empty where packets take shortest paths."""
    numbers: dict[tuple[str, int], int] = field(default_factory=dict)
    """By node and port of the scenario: InfiniBand's number of the port, where it is known."""

    @cached_property
    def known(self) -> frozenset[str]:
        """The hosts."""
        return frozenset(self.hosts)

    @cached_property
    def levels(self) -> dict[str, int]:
        """How far each switch is from the nearest host: 1 for those with hosts."""
        level = {
            switch: 1 for switch in self.switches if any(p.peer in self.known for p in self.ports[switch])
        }
        queue = deque(level)
        while queue:
            switch = queue.popleft()
            for port in self.ports[switch]:
                if port.peer not in level and port.peer not in self.known:
                    level[port.peer] = level[switch] + 1
                    queue.append(port.peer)
        return level

    def link(self, node: str, port: int, peer: str) -> str:
        """Return the name of a direction of a cable, with its port if known or one of several."""
        number = self.numbers.get((node, port))
        if number is not None and node not in self.known:
            return f"{node} port {number} -> {peer}"
        several = sum(each.peer == peer for each in self.ports[node]) > 1
        return f"{node}[{port}] -> {peer}" if several else f"{node} -> {peer}"


def network(scenario: Scenario, fabric: Fabric | None = None) -> Network:
    """Return the network of a scenario.

    Args:
        scenario: one with `topology.edges`.
        fabric: the fabric that it was imported from, for InfiniBand's numbers of ports.

    Raises:
        BecalmError: a scenario with another topology.

    """
    edges = scenario.resolved["topology"].get("edges")
    if edges is None:
        ((name, _),) = scenario.resolved["topology"].items()
        raise BecalmError(f"{scenario.name}: topology.{name}: is not a list of cables; valid: topology.edges")
    ports: dict[str, list[Port]] = {name: [] for key in ("hosts", "switches") for name in _names(edges[key])}
    for cable in edges["cables"]:
        one, other = cable["between"]
        rate = bits_per_second(cable["rate"] or edges["rate"])
        ports[one].append(Port(other, rate))
        ports[other].append(Port(one, rate))
    hosts, switches = _names(edges["hosts"]), _names(edges["switches"])
    made = Network(hosts, switches, ports, _routes(edges["routes"], hosts))
    if fabric is not None:
        made.numbers = {
            (fabric.name(end), place): end.port for end, place in places(numbered(fabric)).items()
        }
    return made


def bits_per_second(text: str) -> float:
    """Return a rate as a scenario writes it, such as `32 Gb/s` or `4 GB/s`, in b/s."""
    found = re.fullmatch(r"([0-9.e+-]+) ?([kMGT]?)([bB]/s)", text)
    if found is None:
        raise BecalmError(f"rate `{text}`: must be a number and a unit such as Gb/s")
    return float(found[1]) * _PREFIXES[found[2]] * _UNITS[found[3]]


def _names(texts: Iterable[str]) -> list[str]:
    return [name for text in texts for name in _range(text)]


def _range(text: str) -> Iterator[str]:
    first, dots, last = text.partition("..")
    if not dots:
        yield text
        return
    prefix = first.rstrip("0123456789")
    for number in range(int(first[len(prefix) :]), int(last[len(prefix) :]) + 1):
        yield f"{prefix}{number}"


def _routes(given: list[dict[str, Any]], hosts: list[str]) -> dict[str, dict[str, int]]:
    routes: dict[str, dict[str, int]] = {}
    for entry in given:
        if entry["port"] is None:
            continue
        to = hosts if "*" in entry["to"] else _names(entry["to"])
        for switch in _names([entry["switch"]]):
            routes.setdefault(switch, {}).update(dict.fromkeys(to, entry["port"]))
    return routes


def usual(values: Iterable[float]) -> float:
    """Return the most frequent value; of several, the largest."""
    counts = Counter(values)
    return max(counts, key=lambda value: (counts[value], value))
