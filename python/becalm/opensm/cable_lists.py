"""Lists of cables, one a line: `ibnetdiscover -p`, and the .lst files of OpenSM and `ibdiagnet`."""

from __future__ import annotations

import re
from os import PathLike
from typing import NamedTuple

from becalm.base.errors import BecalmError
from becalm.base.mistakes import Mistakes, read_lines
from becalm.opensm import nodes
from becalm.opensm.fabric import LARGEST, LONGEST_LINE, End, Node, Port
from becalm.opensm.rates import EXPECTED, data_rate

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

_PORT = r"(CA|SW|RT)\s+(\d{1,5})\s+(\d{1,3})\s+0x([0-9a-fA-F]{16})"
"""A port of `ibnetdiscover -p`: kind, LID, number, GUID."""
_PORTS = re.compile(rf"\s*{_PORT}\s+(\S+)\s+(\S+)\s+-\s+{_PORT}\s+\(\s*'(.*)' - '(.*)'\s*\)\s*$")
_ALONE = re.compile(rf"\s*{_PORT}\s+\S+\s+\S+\s+'.*'\s*$")
"""A port without a cable."""

_END = (
    r"\{\s*(CA|SW|RT|Rt)\S*\s+Ports:[0-9a-fA-F]+\s+SystemGUID:\S+\s+NodeGUID:([0-9a-fA-F]{1,16})"
    r"\s+PortGUID:([0-9a-fA-F]{1,16})\s+VenID:\S*\s+DevID:\S*\s+Rev:\S*\s+(?:\{(.*?)\}\s+)?"
    r"LID:([0-9a-fA-F]{1,4})\s+PN:([0-9a-fA-F]{1,2})\s*\}"
)
"""An end of a cable in a .lst file: kind, GUIDs of node and port, description, LID and number."""
_LINK = re.compile(rf"\s*{_END}\s*{_END}\s*PHY=(\S+)\s+LOG=\S+\s+SPD=(\S+)")

_SPEEDS = {
    "2.5": "SDR",
    "5": "DDR",
    "10": "QDR",
    "14": "FDR",
    "25": "EDR",
    "50": "HDR",
    "100": "NDR",
    "200": "XDR",
}
"""Speeds of a lane in Gb/s, as .lst files have them. Their FDR10 has its own name."""

_KINDS = {"CA": ("Ca", "H"), "SW": ("Switch", "S"), "RT": ("Rt", "R")}

EXPECTED_LINE = (
    "`CA 4 1 0x0002c90300000005 4x QDR - SW 1 1 0x0002c90000001000 ( 'host0' - 'leaf0' )`, as of "
    "`ibnetdiscover -p`, or `{ CA Ports:01 ... PN:01 } { SW ... } PHY=4x LOG=ACT SPD=10`, as in .lst files"
)


class _End(NamedTuple):
    """A port at an end of a cable, with its node."""

    kind: str
    node_guid: int
    guid: int
    description: str
    lid: int
    number: int

    @property
    def at(self) -> End:
        """The node's id and the port's number."""
        return End(f"{_KINDS[self.kind][1]}-{self.node_guid:016x}", self.number)


def matches(path: str | PathLike[str]) -> bool:
    """Return whether the first line with text belongs to a list of cables."""
    lines = read_lines(path, LONGEST_LINE)
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return any(form.match(first) for form in (_PORTS, _ALONE, _LINK))


def read(path: str | PathLike[str], mistakes: Mistakes) -> dict[str, Node]:
    """Read a list of cables, and return its nodes by their ids.

    `ibnetdiscover -p` has no GUIDs of adapters: each port of an adapter becomes a node of its own. A cable
    may be listed once, or once from each end. Ports without a cable are skipped.
    """
    listed: dict[str, Node] = {}
    for number, line in enumerate(read_lines(path, LONGEST_LINE), 1):
        if not line.strip() or line.startswith("#") or _ALONE.match(line):
            continue
        cable = _of_ports(line) or _of_lst(line)
        if cable is None:
            shown = f"`{line.strip()[:60]}`"
            mistakes.add(number, shown, "", "is not a line of a list of cables", EXPECTED_LINE)
            continue
        one, other, speed = cable
        try:
            data_rate(speed or nodes.ASSUMED_SPEED)
        except BecalmError:
            mistakes.add(number, "link", speed, "unknown width or speed", EXPECTED)
        for own, peer in ((one, other), (other, one)):
            _add(listed, own, peer.at, speed, number, mistakes)
    return listed


def _of_ports(line: str) -> tuple[_End, _End, str] | None:
    found = _PORTS.match(line)
    if found is None:
        return None
    one = _End(found[1], int(found[4], 16), int(found[4], 16), found[11], nodes.lid(found[2]), int(found[3]))
    guid = int(found[10], 16)
    other = _End(found[7], guid, guid, found[12], nodes.lid(found[8]), int(found[9]))
    return one, other, _speed(found[5], found[6])


def _of_lst(line: str) -> tuple[_End, _End, str] | None:
    found = _LINK.match(line)
    if found is None:
        return None
    ends = []
    for kind, node, guid, description, lid, number in (found.groups()[:6], found.groups()[6:12]):
        numbers = (int(node, 16), int(guid, 16))
        ends.append(
            _End(kind.upper(), *numbers, description or "", nodes.lid(str(int(lid, 16))), int(number, 16))
        )
    return ends[0], ends[1], _speed(found[13], _SPEEDS.get(found[14], found[14]))


def _speed(width: str, speed: str) -> str:
    return "" if "?" in width + speed else f"{width}{speed}"


def _add(listed: dict[str, Node], own: _End, peer: End, speed: str, line: int, mistakes: Mistakes) -> None:
    kind = _KINDS[own.kind][0]
    of_switch = kind == "Switch"
    description = _CONTROL.sub(" ", own.description)
    new = Node(kind, own.at.node, description, LARGEST, own.lid if of_switch else 0, 0, line)
    node = listed.setdefault(new.id, new)
    before = node.ports.get(own.number)
    if before is not None and before.peer != peer:
        problem = f"has another cable in line {before.line}"
        mistakes.add(line, f"{node.id}[{own.number}]", "", problem, "a cable for each port")
        return
    if before is None:
        guid, lid = (0, 0) if of_switch else (own.guid, own.lid)
        node.ports[own.number] = Port(peer, speed, guid, lid, 0, line)
