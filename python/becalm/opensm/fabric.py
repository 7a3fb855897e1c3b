"""Fabrics: nodes and ports as discovered; switches, hosts and cables as a scenario has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from becalm.opensm import names

AGGREGATION = "Aggregation Node"
"""End of the descriptions of aggregation adapters inside switches, which are not hosts."""


LARGEST = 254
"""Maximum number of ports of a node."""
LONGEST_LINE = 2000
"""Maximum number of characters of a line in a list of nodes or cables. Programs write at most about 500."""

LISTED = 3
"""Number of omitted nodes that a note names."""
_REASONS = {
    "router": ("becalm models one subnet",) * 2,
    "aggregation node": ("it is not a host", "they are not hosts"),
    "adapter": ("it has no cable to a switch", "they have no cable to a switch"),
}
"""Reasons for the omission of a node, and of several."""


class End(NamedTuple):
    """An end of a cable: a node and the number of its port, from 1."""

    node: str
    port: int

    @property
    def is_host(self) -> bool:
        """Whether the node is an adapter."""
        return self.node.startswith("H")


@dataclass(frozen=True)
class Port:
    """A port with a cable."""

    peer: End
    speed: str
    """Width and speed, such as `4xQDR`."""
    guid: int
    """GUID of an adapter's port; 0 for a switch's port, which has none of its own."""
    lid: int
    """LID of an adapter's port; 0 for a switch's port: a switch has one LID, that of the node."""
    lmc: int
    line: int


@dataclass
class Node:
    """A switch, adapter or router as the file has it."""

    kind: str
    """Switch, Ca or Rt."""
    id: str
    """Its kind and GUID, such as `S-0002c90000001000`."""
    description: str
    size: int
    """Number of its ports, with and without cables."""
    lid: int
    lmc: int
    line: int
    ports: dict[int, Port] = field(default_factory=dict)

    @property
    def guid(self) -> int:
        """Its GUID as a number."""
        return int(self.id[2:], 16)


@dataclass(frozen=True)
class Switch:
    """A switch of a fabric."""

    name: str
    id: str
    guid: int
    lid: int
    lmc: int
    ports: dict[int, End]
    """The other end of each port's cable, by the number of the port, from 1."""


@dataclass(frozen=True)
class Host:
    """A port of an adapter that is joined to a switch."""

    name: str
    end: End
    attached: End
    """The port of a switch at the other end of its cable."""
    guid: int
    lid: int
    lmc: int
    description: str
    """That of the adapter."""


@dataclass(frozen=True)
class Cable:
    """A cable between two switches, or a host and a switch."""

    ends: tuple[End, End]
    speed: str


@dataclass(frozen=True)
class Fabric:
    """Switches, hosts and cables, with notes on omitted nodes."""

    file: str
    switches: list[Switch]
    """In natural order of their names."""
    hosts: list[Host]
    """Likewise."""
    cables: list[Cable]
    """In the order of their first ends: switch by switch, port by port."""
    skipped_lids: frozenset[int]
    """LIDs of nodes that were left out."""
    notes: list[str]

    def name(self, end: End) -> str:
        """Return the name of the node at an end of a cable."""
        return self.names[end if end.is_host else end.node]

    @cached_property
    def names(self) -> dict[str | End, str]:
        """Names of switches by their ids, and of hosts by their ends."""
        return {switch.id: switch.name for switch in self.switches} | {
            host.end: host.name for host in self.hosts
        }


def fabric(file: str, nodes: Mapping[str, Node], notes: Iterable[str] = ()) -> Fabric:
    """Name the hosts and switches of a fabric, and select the cables between them.

    Args:
        file: the file from which it was read.
        nodes: all nodes, by their ids.
        notes: notes on the file; those on omitted nodes are added.

    """
    switches = [node for node in nodes.values() if node.kind == "Switch"]
    adapters = [node for node in nodes.values() if node.kind == "Ca"]
    hosts = [
        End(node.id, number)
        for node in adapters
        if not node.description.endswith(AGGREGATION)
        for number, port in node.ports.items()
        if port.peer.node in nodes and nodes[port.peer.node].kind == "Switch"
    ]
    chosen = names.different(
        {
            **{
                node.id: [names.short(node.description), names.legal(node.description), node.id]
                for node in switches
            },
            **{end: _host_names(nodes[end.node], end.port) for end in hosts},
        }
    )
    switches.sort(key=lambda node: names.natural(chosen[node.id]))
    hosts.sort(key=lambda end: names.natural(chosen[end]))
    return Fabric(
        file,
        [_switch(node, chosen) for node in switches],
        [_host(nodes[end.node], end, chosen) for end in hosts],
        list(_cables(switches, chosen)),
        frozenset(_skipped_lids(nodes, set(hosts))),
        [*_notes(nodes, set(hosts)), *notes],
    )


def _host_names(node: Node, port: int) -> list[str]:
    whole = names.legal(node.description)
    numbered = f"{whole}-p{port}" if whole else ""
    return [names.short(node.description), whole, numbered, f"{node.id}-p{port}"]


def _links(node: Node, chosen: dict[str | End, str]) -> Iterator[tuple[int, Port]]:
    """Yield the ports of a switch with cables to other nodes of the fabric, by number."""
    for number, port in sorted(node.ports.items()):
        if port.peer in chosen or (port.peer.node in chosen and port.peer.node != node.id):
            yield number, port


def _switch(node: Node, chosen: dict[str | End, str]) -> Switch:
    ports = {number: port.peer for number, port in _links(node, chosen)}
    return Switch(chosen[node.id], node.id, node.guid, node.lid, node.lmc, ports)


def _host(node: Node, end: End, chosen: dict[str | End, str]) -> Host:
    port = node.ports[end.port]
    return Host(chosen[end], end, port.peer, port.guid, port.lid, port.lmc, node.description)


def _cables(switches: list[Node], chosen: dict[str | End, str]) -> Iterator[Cable]:
    """Yield every cable once, with the host first, or the switch that comes first."""
    order = {node.id: place for place, node in enumerate(switches)}
    for node in switches:
        for number, port in _links(node, chosen):
            own = End(node.id, number)
            if port.peer in chosen:
                yield Cable((port.peer, own), port.speed)
            elif order[node.id] < order[port.peer.node]:
                yield Cable((own, port.peer), port.speed)


def _skipped_lids(nodes: Mapping[str, Node], hosts: set[End]) -> Iterator[int]:
    for node in nodes.values():
        for own, port in node.ports.items() if node.kind != "Switch" else ():
            if End(node.id, own) not in hosts:
                yield from range(port.lid, port.lid + 2**port.lmc)


def _notes(nodes: Mapping[str, Node], hosts: set[End]) -> Iterator[str]:
    by_kind: dict[str, list[str]] = {}
    for node in nodes.values():
        kind = _omission(node, hosts)
        if kind is not None:
            by_kind.setdefault(kind, []).append(f'"{node.description}" ({node.id})')
    yield from (_omitted(kind, listed) for kind, listed in by_kind.items())
    without = sum(nodes[end.node].ports[end.port].lid == 0 for end in hosts)
    if without:
        count = f"{without} of {len(hosts)} hosts"
        yield f"{count} have no LID yet (0 or 65535): packets to them take shortest paths"
    wide = sum(port.lmc > 0 for node in nodes.values() for port in node.ports.values())
    if wide:
        yield f"{wide} ports have several LIDs (LMC above 0): packets take the route of the first LID"


def _omission(node: Node, hosts: set[End]) -> str | None:
    """Return what an omitted node is; None if it is not omitted."""
    if node.kind == "Rt":
        return "router"
    if node.kind == "Ca" and node.description.endswith(AGGREGATION):
        return "aggregation node"
    if node.kind == "Ca" and not any(End(node.id, own) in hosts for own in node.ports):
        return "adapter"
    return None


def _omitted(kind: str, listed: list[str]) -> str:
    if len(listed) == 1:
        return f"{kind} {listed[0]} is omitted: {_REASONS[kind][0]}"
    more = ", ..." if len(listed) > LISTED else ""
    return f"{len(listed)} {kind}s are omitted: {_REASONS[kind][1]}: {', '.join(listed[:LISTED])}{more}"
