"""Checks of a fabric's nodes: cables with two ends, unique LIDs, known speeds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from becalm.base.mistakes import Mistakes
from becalm.opensm.fabric import End, Node

_ID = re.compile(r"[SHR]-[0-9a-f]{16}")
_LETTERS = {"Switch": "S", "Ca": "H", "Rt": "R"}

UNASSIGNED = 0xFFFF
"""The LID, besides 0, of a port that no subnet manager has set up yet."""

ASSUMED_SPEED = "4xEDR"
"""Speed of all links if the file has none at all."""


def lid(text: str) -> int:
    """Return a LID; 0 if the port has none yet."""
    number = int(text)
    return 0 if number == UNASSIGNED else number


def with_ids(nodes: Mapping[str, Node]) -> dict[str, Node]:
    """Return nodes with an id and GUIDs for those that have only a name, as in a topology of `ibsim`."""
    ids = {
        name: name if node.kind == "?" or _ID.fullmatch(name) else f"{_LETTERS[node.kind]}-{place:016x}"
        for place, (name, node) in enumerate(nodes.items(), 1)
    }
    for name, node in nodes.items():
        node.id = ids[name]
        for own, port in node.ports.items():
            peer = End(ids.get(port.peer.node, port.peer.node), port.peer.port)
            node.ports[own] = replace(port, peer=peer)
    return {node.id: node for node in nodes.values()}


def check(nodes: Mapping[str, Node], mistakes: Mistakes, *, unique_lids: bool) -> list[str]:
    """Note mistakes in cables and LIDs, set missing speeds, and return notes on what was assumed.

    Args:
        nodes: by their ids; their ports get a speed if they have none.
        mistakes: receives the mistakes.
        unique_lids: whether a LID of two ports is a mistake, or only worth a note.

    """
    _check_cables(nodes, mistakes)
    notes = _set_speeds(nodes)
    doubles = list(_doubles(nodes))
    if unique_lids:
        for number, line, first in doubles:
            mistakes.add(line, "lid", str(number), f"is already the LID of line {first}")
    elif doubles:
        number, line, first = doubles[0]
        notes.append(
            f"{len(doubles)} ports have the LID of another port, such as LID {number} in lines {first} and "
            f"{line}; becalm does not read forwarding tables for them"
        )
    return notes


def _check_cables(nodes: Mapping[str, Node], mistakes: Mistakes) -> None:
    """Check that both ends of each cable agree."""
    for node in nodes.values():
        for own, port in node.ports.items():
            here, peer = f"{node.id}[{own}]", f"{port.peer.node}[{port.peer.port}]"
            if port.peer.node not in nodes:
                problem = "is not a node of this file; is the file complete?"
                mistakes.add(port.line, port.peer.node, "", problem)
                continue
            back = nodes[port.peer.node].ports.get(port.peer.port)
            if back is None or back.peer != End(node.id, own):
                problem = f"is connected to {peer} here, but {peer} is not connected to it"
                mistakes.add(port.line, here, "", problem, "cables with two ends")
            elif back.speed and port.speed and back.speed != port.speed:
                problem = f"differs from {back.speed} in line {back.line}, the cable's other end"
                mistakes.add(port.line, "link", port.speed, problem)


def _set_speeds(nodes: Mapping[str, Node]) -> list[str]:
    """Give ports without a speed that of their cable's other end, or else the usual one; return a note."""
    counts = Counter(port.speed for node in nodes.values() for port in node.ports.values())
    missing = counts.pop("", 0)
    if not missing:
        return []
    usual = counts.most_common(1)[0][0] if counts else ASSUMED_SPEED
    for node in nodes.values():
        for own, port in node.ports.items():
            if not port.speed:
                peer = nodes.get(port.peer.node)
                back = peer.ports.get(port.peer.port) if peer else None
                node.ports[own] = replace(port, speed=(back.speed if back else "") or usual)
    which = "the usual one of the others" if counts else "an assumption: the file has no speed at all"
    return [f"no speed in {missing} lines with a port: they get {usual}, {which}"]


def _doubles(nodes: Mapping[str, Node]) -> Iterator[tuple[int, int, int]]:
    """Yield LIDs that occur twice, with the second line and the first one."""
    of_switches = [(node.lid, node.line) for node in nodes.values() if node.lid]
    of_adapters = [
        (port.lid, port.line) for node in nodes.values() for port in node.ports.values() if port.lid
    ]
    lines: dict[int, int] = {}
    for number, line in [*of_switches, *of_adapters]:
        if number in lines:
            yield number, line, lines[number]
        lines[number] = line
