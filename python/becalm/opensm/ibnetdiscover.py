"""Fabrics as `ibnetdiscover` prints them: nodes, and the cables between their ports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from os import PathLike

from becalm.errors import BecalmError
from becalm.mistakes import Mistakes, read_lines
from becalm.opensm.fabric import End, Fabric, Node, Port, fabric
from becalm.opensm.rates import EXPECTED, data_rate

_NODE = re.compile(
    r'(Switch(?=[^"]*"S)|Ca(?=[^"]*"H)|Rt(?=[^"]*"R))'  # the id that follows begins with the kind's letter
    r'\s+(\d{1,3})\s+"([SHR]-[0-9a-f]{16})"\s+#\s+"(.*)"(.*)'  # ports, id, description
)
_SWITCH_LID = re.compile(r"\s*(?:base|enhanced) port 0 lid (\d{1,5}) lmc ([0-7])\b")
_PORT = re.compile(
    r"\[(\d{1,3})\](?:\[ext \d+\])?(?:\(([0-9a-f]{1,16})\))?"  # own number and GUID
    r'\s+"([SHR]-[0-9a-f]{16})"\[(\d{1,3})\](?:\[ext \d+\])?\s*(?:\([0-9a-f]+\))?'  # the other end
    r'\s+#\s+(?:lid (\d{1,5}) lmc ([0-7])\s+)?".*"\s+lid \d+\s+(\S+)'  # own LID, speed
)
_OTHER = re.compile(r"#|(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|(Non-)?Chassis\b|Hostname:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""Characters that a scenario may not contain, not even in comments."""

LARGEST = 254
"""Maximum number of ports of a node."""

NODE_EXPECTED = 'a node such as `Switch 36 "S-0002c90000001000" # "leaf0" base port 0 lid 2 lmc 0`'
PORT_EXPECTED = 'a port such as `[1] "S-0002c90000001000"[4] # "leaf0" lid 2 4xQDR`'


def read(path: str | PathLike[str]) -> Fabric:
    """Read the output of `ibnetdiscover`, with or without grouping (`-g`).

    A host is a port of an adapter with a cable to a switch; one adapter may be several hosts. Routers, and
    adapters without cables, are omitted with a note.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once, each with its line.

    """
    reader = _Reader(path)
    nodes = reader.read(read_lines(path))
    reader.mistakes.check()
    reader.check_cables(nodes)
    reader.check_lids(nodes)
    reader.mistakes.check()
    return fabric(str(path), nodes)


class _Reader:
    """The file while it is read."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.mistakes = Mistakes(path)

    def read(self, lines: Iterable[str]) -> dict[str, Node]:
        nodes: dict[str, Node] = {}
        node = None
        for number, line in enumerate(lines, 1):
            if not line.strip() or _OTHER.match(line):
                continue
            if line.startswith("["):
                self.port(number, line, node)
                continue
            node = self.node(number, line)
            if node.id in nodes:
                problem = f"is already the node of line {nodes[node.id].line}"
                self.mistakes.add(number, node.kind, node.id, problem)
            nodes.setdefault(node.id, node)
        if not nodes and not self.mistakes.list:
            self.mistakes.add(1, "ibnetdiscover", "", "no nodes in this file", NODE_EXPECTED)
        return nodes

    def node(self, number: int, line: str) -> Node:
        found = _NODE.match(line)
        lids = _SWITCH_LID.match(found[5]) if found and found[1] == "Switch" else None
        if found is None or (found[1] == "Switch" and lids is None):
            self.mistakes.add(number, _shown(line), "", "is neither a node nor a port", NODE_EXPECTED)
            # The ports below still belong to a node, even if its line is wrong.
            return Node("?", f"? {number}", "", LARGEST, 0, 0, number)
        lid, lmc = (int(lids[1]), int(lids[2])) if lids else (0, 0)
        description = _CONTROL.sub(" ", found[4])
        return Node(found[1], found[3], description, int(found[2]), lid, lmc, number)

    def port(self, number: int, line: str, node: Node | None) -> None:
        found = _PORT.match(line)
        if found is None:
            self.mistakes.add(number, _shown(line), "", "is not a port with a cable", PORT_EXPECTED)
            return
        if node is None:
            self.mistakes.add(
                number, _shown(line), "", "is a port without a node", f"{NODE_EXPECTED} before it"
            )
            return
        own, speed = int(found[1]), found[7]
        if not 1 <= own <= node.size:
            self.mistakes.add(number, "port", str(own), "no such port", f"1 to {node.size}")
        elif own in node.ports:
            problem = f"is already the port of line {node.ports[own].line}"
            self.mistakes.add(number, "port", str(own), problem)
        try:
            data_rate(speed)
        except BecalmError:
            self.mistakes.add(number, "link", speed, "unknown width or speed", EXPECTED)
        if node.kind == "Ca" and (found[2] is None or found[5] is None):
            self.mistakes.add(
                number, "port", str(own), "has no GUID or LID", "[1](2c90300000005) ... # lid 1"
            )
        guid, lid, lmc = int(found[2] or "0", 16), int(found[5] or 0), int(found[6] or 0)
        node.ports[own] = Port(End(found[3], int(found[4])), speed, guid, lid, lmc, number)

    def check_cables(self, nodes: dict[str, Node]) -> None:
        """Check that both ends of each cable agree."""
        for node in nodes.values():
            for own, port in node.ports.items():
                here, peer = f"{node.id}[{own}]", f"{port.peer.node}[{port.peer.port}]"
                if port.peer.node not in nodes:
                    problem = "is not a node of this file; is the file complete?"
                    self.mistakes.add(port.line, port.peer.node, "", problem)
                    continue
                back = nodes[port.peer.node].ports.get(port.peer.port)
                if back is None or back.peer != End(node.id, own):
                    problem = f"is connected to {peer} here, but {peer} is not connected to it"
                    self.mistakes.add(port.line, here, "", problem, "cables with two ends")
                elif back.speed != port.speed:
                    problem = f"differs from {back.speed} in line {back.line}, the cable's other end"
                    self.mistakes.add(port.line, "link", port.speed, problem)

    def check_lids(self, nodes: dict[str, Node]) -> None:
        """Make sure that no LID occurs twice, except 0: that of ports that no subnet manager has seen."""
        of_switches = [(node.lid, node.line) for node in nodes.values() if node.lid]
        of_adapters = [
            (port.lid, port.line) for node in nodes.values() for port in node.ports.values() if port.lid
        ]
        lines: dict[int, int] = {}
        for lid, line in [*of_switches, *of_adapters]:
            if lid in lines:
                self.mistakes.add(line, "lid", str(lid), f"is already the LID of line {lines[lid]}")
            lines[lid] = line


def _shown(line: str) -> str:
    return f"`{line.strip()[:60]}`"
