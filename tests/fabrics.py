"""Small InfiniBand fabrics for the tests, in the tools' output formats."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import becalm
from becalm.opensm.importing import Imported, import_fabric

DATA = Path(__file__).parent / "data"

Cable = tuple[str, int, str, int]
"""Node, port, node, port. Node `S1` is a switch, `H1` an adapter, `R1` a router."""

TREE: list[Cable] = [
    ("H1", 1, "S1", 3),
    ("H2", 1, "S1", 1),
    ("H3", 1, "S2", 7),
    ("H4", 1, "S2", 5),
    ("S1", 9, "S3", 2),
    ("S1", 10, "S3", 1),
    ("S2", 2, "S3", 4),
    ("S2", 8, "S3", 3),
]
"""Two leaves under a root, with two cables each. Port numbers are unordered and have gaps."""

KINDS = {"S": ("Switch", "switch", 1), "H": ("Ca", "ca", 2), "R": ("Rt", "rt", 3)}


def guid(node: str) -> int:
    """Return the GUID of a node; port n has this GUID plus n."""
    return KINDS[node[0]][2] << 40 | int(node[1:]) << 8


def discovered(
    cables: list[Cable],
    descriptions: Mapping[str, str] | None = None,
    *,
    lids: Mapping[str, int] | None = None,
    lmc: int = 0,
    speed: str = "4xQDR",
    ext: bool = False,
) -> str:
    """Return the output of `ibnetdiscover` for these cables; each port of an adapter has its own LID."""
    described, lids = descriptions or {}, lids or all_lids(cables)
    ports: dict[str, dict[int, tuple[str, int]]] = defaultdict(dict)
    for node, port, peer, other in cables:
        ports[node][port] = (peer, other)
        ports[peer][other] = (node, port)
    lines = ["#", "# Topology file: generated on some day", "#", "# Initiated from node 1 port 2"]
    for node in sorted(ports, key=lambda each: (KINDS[each[0]][2], each)):
        word, prefix, _ = KINDS[node[0]]
        text = described.get(node, node)
        head = f'{word}\t36 "{node[0]}-{guid(node):016x}"\t\t# "{text}"'
        if node[0] == "S":
            head += f" base port 0 lid {lids[node]} lmc 0"
        lines += ["", "vendid=0x2c9", "devid=0xb924", f"{prefix}guid=0x{guid(node):x}", head]
        for port, (peer, other) in sorted(ports[node].items()):
            far = f'"{peer[0]}-{guid(peer):016x}"[{other}]{f"[ext {other}]" if ext else ""}'
            text = described.get(peer, peer)
            if node[0] == "S":
                to = f"({guid(peer) + other:x}) " if peer[0] != "S" else ""
                lid = lids[peer if peer[0] == "S" else f"{peer}/{other}"]
                own = f"[{port}]{f'[ext {port}]' if ext else ''}"
                lines.append(f'{own}\t{far}{to}\t\t# "{text}" lid {lid} {speed}')
            else:
                own, lid = f"[{port}]({guid(node) + port:x}) ", lids[f"{node}/{port}"]
                lines.append(f'{own}\t{far}\t\t# lid {lid} lmc {lmc} "{text}" lid 1 {speed}')
    return "\n".join(lines) + "\n"


def all_lids(cables: list[Cable], step: int = 1) -> dict[str, int]:
    """Return LIDs of switches and of adapters' ports (`H1/1`), `step` apart."""
    ends = {(node, port) for cable in cables for node, port in (cable[:2], cable[2:])}
    names = {node if node[0] == "S" else f"{node}/{port}" for node, port in ends}
    return {name: step * place for place, name in enumerate(sorted(names), 1)}


def dumped(cables: list[Cable], pick: Callable[[str, str, list[int]], int], *, form: str = "opensm") -> str:
    """Return a dump of shortest paths; `pick` chooses among the ports of a switch to a destination.

    `form`: `opensm` for OpenSM's file, `ibroute` for the output of `ibroute`.
    """
    lids = all_lids(cables)
    lines = []
    for switch in [name for name in lids if name[0] == "S"]:
        lines.append(
            f"Unicast lids [0-{len(lids)}] of switch Lid {lids[switch]} guid 0x{guid(switch):016x} ('x'):"
        )
        lines += ["  Lid  Out   Destination", "       Port     Info "] if form == "ibroute" else []
        for name, lid in lids.items():
            node, _, port = name.partition("/")
            out = pick(switch, name, shortest(cables, switch, node)) if node != switch else 0
            kind = "Switch" if node[0] == "S" else "Channel Adapter"
            what = f"{kind} portguid 0x{guid(node) + int(port or 0):016x}: '{node}'"
            lines.append(f"0x{lid:04x} {out:03} " + (f": ({what})" if form == "ibroute" else f"# {what}"))
        lines.append(f"{len(lids)} {'valid ' if form == 'ibroute' else ''}lids dumped")
    return "\n".join(lines) + "\n"


def shortest(cables: list[Cable], switch: str, node: str) -> list[int]:
    """Return the ports of a switch on shortest paths to a node."""
    peers: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for one, port, other, far in cables:
        peers[one].append((port, other))
        peers[other].append((far, one))
    distance, queue = {node: 0}, deque([node])
    while queue:
        now = queue.popleft()
        for _, peer in peers[now]:
            if peer not in distance and (peer[0] == "S" or peer == node):
                distance[peer] = distance[now] + 1
                queue.append(peer)
    nearer = distance.get(switch, 0) - 1
    return sorted(port for port, peer in peers[switch] if distance.get(peer) == nearer)


def written(folder: Path, text: str, dump: str | None = None) -> tuple[Path, Path | None]:
    file = folder / "fabric.txt"
    file.write_text(text)
    if dump is None:
        return file, None
    tables = folder / "lfts.dump"
    tables.write_text(dump)
    return file, tables


def taken(folder: Path, text: str, dump: str | None = None) -> Imported:
    return import_fabric(*written(folder, text, dump))


def complaints(folder: Path, text: str, dump: str | None = None) -> list[str]:
    with pytest.raises(becalm.BecalmError) as caught:
        import_fabric(*written(folder, text, dump))
    return str(caught.value).replace(f"{folder}/", "").splitlines()
