"""Fabrics as `ibnetdiscover` prints them: nodes, and the cables between their ports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from os import PathLike

from becalm.base.errors import BecalmError
from becalm.base.mistakes import Mistakes, read_lines
from becalm.opensm import cable_lists, foreign, nodes
from becalm.opensm.fabric import LARGEST, LONGEST_LINE, End, Fabric, Node, Port, fabric
from becalm.opensm.rates import EXPECTED, data_rate

_NODE = re.compile(
    r'(Switch|Ca|Hca|Rt)\s*(\d{1,3})\s+"([^"]+)"(?:\s+#\s+"(.*)"(.*))?'
)  # kind, ports, id, description
_ID = re.compile(r"([SHR])-[0-9a-fA-F]{16}")
_LETTERS = {"Switch": "S", "Ca": "H", "Hca": "H", "Rt": "R"}
"""First letters of ids, by the kind of node. `ibsim` also calls an adapter Hca."""
_SWITCH_LID = re.compile(r"\s*(?:base|enhanced) port 0 lid (\d{1,5}) lmc ([0-7])\b")
_PORT = re.compile(
    r"\[(\d{1,3})\](?:\[ext \d+\])?(?:\(([0-9a-fA-F]{1,16})\))?"  # own number and GUID
    r'\s*"([^"]+)"\[(\d{1,3})\](?:\[ext \d+\])?\s*(?:\([0-9a-fA-F]+\))?'  # the other end
    r'\s*(?:#\s+(?:lid (\d{1,5}) lmc ([0-7])\s+)?".*"(?:\s+lid \d+)?(?:\s+(\S+))?|$)'  # own LID, speed
)
_OTHER = re.compile(
    r"#|(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|(Non-)?Chassis\b|Hostname:"
    r'|=~=~|[^"]*[$#%>]\s+(sudo\s+)?\S*ibnetdiscover\b|[^"]*[\w\]~][$#%>]\s*(exit|logout)?\s*$'
)
"""Other lines: comments and GUIDs; the head of a terminal's log, and prompts of a shell."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""Characters that a scenario may not contain, not even in comments."""

NODE_EXPECTED = 'a node such as `Switch 36 "S-0002c90000001000" # "leaf0" base port 0 lid 2 lmc 0`'
PORT_EXPECTED = 'a port such as `[1] "S-0002c90000001000"[4] # "leaf0" lid 2 4xQDR`'


def read(path: str | PathLike[str], *, unique_lids: bool = False) -> Fabric:
    """Read a fabric: output of `ibnetdiscover`, or another list of its cables.

    The output may be grouped (`-g`), or a list of ports (`-p`). A topology of `ibsim` has the same form as
    the output. The other lists are the .lst files of OpenSM and `ibdiagnet`.

    A host is a port of an adapter with a cable to a switch; one adapter may be several hosts. Routers, and
    adapters without cables, are omitted with a note. Hosts without a LID are counted in a note.

    Args:
        path: the file.
        unique_lids: whether a LID of two ports is an error, as for forwarding tables; else it is a note.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once, each with its line; one mistake for a file of another kind.

    """
    foreign.check(path, foreign.FABRIC)
    mistakes = Mistakes(path)
    if cable_lists.matches(path):
        listed = cable_lists.read(path, mistakes)
    else:
        listed = _Reader(mistakes).read(read_lines(path, LONGEST_LINE))
    mistakes.check()
    notes = nodes.check(listed, mistakes, unique_lids=unique_lids)
    mistakes.check()
    return fabric(str(path), listed, notes)


class _Reader:
    """The file while it is read."""

    def __init__(self, mistakes: Mistakes) -> None:
        self.mistakes = mistakes

    def read(self, lines: Iterable[str]) -> dict[str, Node]:
        read: dict[str, Node] = {}
        node = None
        for number, line in enumerate(lines, 1):
            if not line.strip() or _OTHER.match(line):
                continue
            if line.startswith("["):
                self.port(number, line, node)
                continue
            node = self.node(number, line)
            if node.id in read:
                problem = f"is already the node of line {read[node.id].line}"
                self.mistakes.add(number, node.kind, node.id, problem)
            read.setdefault(node.id, node)
        if not read and not self.mistakes.list:
            self.mistakes.add(1, "ibnetdiscover", "", "no nodes in this file", NODE_EXPECTED)
        return nodes.with_ids(read)

    def node(self, number: int, line: str) -> Node:
        found = _NODE.match(line)
        lids = _lids(found) if found else None
        if found is None or lids is None:
            self.mistakes.add(number, _shown(line), "", "is neither a node nor a port", NODE_EXPECTED)
            # The ports below still belong to a node, even if its line is wrong.
            return Node("?", f"? {number}", "", LARGEST, 0, 0, number)
        kind = "Ca" if found[1] == "Hca" else found[1]
        description = _CONTROL.sub(" ", found[3] if found[4] is None else found[4])
        return Node(kind, _id(found[3]), description, int(found[2]), *lids, number)

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
        own, speed = int(found[1]), found[7] or ""
        if not 1 <= own <= node.size:
            self.mistakes.add(number, "port", str(own), "no such port", f"1 to {node.size}")
        elif own in node.ports:
            problem = f"is already the port of line {node.ports[own].line}"
            self.mistakes.add(number, "port", str(own), problem)
        try:
            data_rate(speed or nodes.ASSUMED_SPEED)
        except BecalmError:
            self.mistakes.add(number, "link", speed, "unknown width or speed", EXPECTED)
        if node.kind == "Ca" and found[2] is None and found[5] is not None:
            self.mistakes.add(number, "port", str(own), "has no GUID", "[1](2c90300000005) ... # lid 1")
        guid, lid, lmc = int(found[2] or "0", 16), nodes.lid(found[5] or "0"), int(found[6] or 0)
        node.ports[own] = Port(End(_id(found[3]), int(found[4])), speed, guid, lid, lmc, number)


def _lids(found: re.Match[str]) -> tuple[int, int] | None:
    """Return LID and LMC of a node's line, 0 if it has none; None if the line is wrong."""
    named = _ID.fullmatch(found[3])
    if named is not None and named[1] != _LETTERS[found[1]]:
        return None
    if found[1] != "Switch" or not (found[5] or "").strip():
        return 0, 0
    lids = _SWITCH_LID.match(found[5])
    return (nodes.lid(lids[1]), int(lids[2])) if lids else None


def _id(text: str) -> str:
    """Return a node's id with its GUID in lower case; a name, as `ibsim` may have, as it is."""
    return text[0] + text[1:].lower() if _ID.fullmatch(text) else text


def _shown(line: str) -> str:
    return f"`{line.strip()[:60]}`"
