"""SONiC switches and the cables between them and to their hosts, by DEVICE_NEIGHBOR or LLDP."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from becalm.base.errors import ScenarioError
from becalm.base.mistakes import read_text
from becalm.opensm import names
from becalm.results import MANIFEST
from becalm.sonic.switch import Switch, switch
from becalm.sonic.tables import SIGNS, read

LLDP = re.compile(r"^(Ethernet\d+(?:/\d+)*)\s+(\S+)\s+(\S+)", re.MULTILINE)
LLDP_SIGN = re.compile(r"^LocalPort\s+RemoteDevice\s+RemotePortID", re.MULTILINE)
SWITCHES = re.compile(r"router|switch|spine|leaf|tor", re.IGNORECASE)
"""Types in DEVICE_NEIGHBOR_METADATA that are no hosts."""


TABLE = re.compile(rf'"(?:{"|".join(sorted(SIGNS))})["|]')
LOOKED_AT = 1 << 20
"""Bytes of a JSON file in which a table of SONiC must show."""


class End(NamedTuple):
    """An end of a cable: a switch or host, and its port."""

    node: str
    port: str


class Cable(NamedTuple):
    """A cable from a port of a switch."""

    near: End
    far: End
    to_host: bool
    """Whether the far end is a host."""


@dataclass
class Fabric:
    """Switches with their cables."""

    switches: dict[str, Switch]
    cables: list[Cable] = field(default_factory=list)
    """Each once; those between switches from the one whose name comes first."""
    notes: list[str] = field(default_factory=list)

    @property
    def hosts(self) -> list[str]:
        """Names of hosts, in the order of their cables."""
        return list(dict.fromkeys(cable.far.node for cable in self.cables if cable.to_host))

    def toward(self) -> dict[str, list[Cable]]:
        """Return the cables of each node, those of switches in both directions, from its own end."""
        found: dict[str, list[Cable]] = {}
        for cable in self.cables:
            found.setdefault(cable.near.node, []).append(cable)
            found.setdefault(cable.far.node, []).append(Cable(cable.far, cable.near, False))
        return found

    def hops(self, source: str, destination: str) -> list[tuple[str, str, str]]:
        """Return the hops of all shortest paths: a switch, and the ports that packets enter and leave."""
        at = self.toward()
        far = {destination: 0}
        waiting = deque([destination])
        hosts = set(self.hosts)
        while waiting:
            node = waiting.popleft()
            for cable in at.get(node, []):
                if cable.far.node not in far and (cable.far.node not in hosts or cable.far.node == source):
                    far[cable.far.node] = far[node] + 1
                    waiting.append(cable.far.node)
        if source not in far:
            return []
        found: dict[tuple[str, str, str], None] = {}
        level = [source]
        while level:
            following: dict[str, None] = {}
            for node in level:
                for entry in (cable for cable in at[node] if far.get(cable.far.node) == far[node] - 1):
                    for leave in at.get(entry.far.node, []):
                        if far.get(leave.far.node) == far[node] - 2:
                            found.setdefault((entry.far.node, entry.far.port, leave.near.port))
                            following[entry.far.node] = None
            level = list(following)
        return list(found)


def is_sonic(path: str | PathLike[str]) -> bool:
    """Whether a path is a folder, or a JSON file with a table of SONiC."""
    path = Path(path)
    if path.is_dir():
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        text = file.read(LOOKED_AT).decode(errors="replace").lstrip("\ufeff \t\r\n")
    return text.startswith("{") and TABLE.search(text) is not None


def load(paths: Iterable[str | PathLike[str]]) -> Fabric:
    """Read switches and their cables.

    A JSON file is a switch. A folder has one JSON file per switch, or one folder per switch with its JSON
    files and the output of its tools, such as `show lldp table`.

    Raises:
        FileNotFoundError: no such file or folder.
        ScenarioError: with all mistakes in a file at once; or no switch, or two of one name.

    """
    switches: dict[str, Switch] = {}
    texts: dict[str, list[Path]] = {}
    for files, other in _by_switch(paths):
        read_one = switch(read(list(files)))
        if read_one.name in switches:
            twin = switches[read_one.name].file
            problem = f"has the host name of {twin}: {read_one.name}; valid: one folder or file per switch"
            raise ScenarioError(f"{files[0]}: {problem}", str(files[0]))
        switches[read_one.name] = read_one
        texts[read_one.name] = other
    if not switches:
        listed = ", ".join(map(str, paths))
        raise ScenarioError(f"{listed}: has no JSON file of a switch; valid: config_db.json", listed)
    made = Fabric(switches)
    made.cables = list(_cables(made, {name: _lldp(files) for name, files in texts.items()}))
    return made


def _by_switch(paths: Iterable[str | PathLike[str]]) -> Iterator[tuple[list[Path], list[Path]]]:
    """Yield the JSON files and the other files of each switch."""
    for path in map(Path, paths):
        if not path.is_dir():
            yield [path], []
            continue
        if (path / MANIFEST).is_file():
            problem = f"has the results of a run; valid: SONiC switches; `becalm explain {path}` describes it"
            raise ScenarioError(f"{path}: {problem}", str(path))
        direct = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
        json = [each for each in direct if each.suffix == ".json"]
        other = [each for each in direct if each.suffix != ".json"]
        if any(each.name == "config_db.json" for each in json):
            first = sorted(json, key=lambda each: each.name != "config_db.json")
            yield first, other
        else:
            for each in json:
                yield [each], [text for text in other if text.name.startswith(each.stem)]
        for folder in sorted(each for each in path.iterdir() if each.is_dir()):
            yield from _by_switch([folder])


def _lldp(files: Iterable[Path]) -> dict[str, End]:
    """Return the neighbours of ports in the output of `show lldp table`."""
    for file in files:
        text = read_text(file)
        if LLDP_SIGN.search(text):
            return {match[1]: End(match[2], match[3]) for match in LLDP.finditer(text)}
    return {}


def _cables(fabric: Fabric, lldp: dict[str, dict[str, End]]) -> Iterator[Cable]:
    seen: set[End] = set()
    wanted = {name: list(_neighbours(each, lldp[name])) for name, each in fabric.switches.items()}
    hosts = _host_names(wanted)
    for name, each in sorted(fabric.switches.items()):
        for port, end in wanted[name]:
            near = End(name, port)
            if near in seen:
                continue
            seen.add(near)
            if end.node in fabric.switches:
                end = End(end.node, fabric.switches[end.node].named(end.port))
                if end.port not in fabric.switches[end.node].ports:
                    problem = f"{name} {port} leads to {end.node} {end.port}, which that switch does not have"
                    fabric.notes.append(problem)
                    continue
                seen.add(end)
                yield Cable(near, end, False)
            elif _is_host(each, end.node):
                yield Cable(near, End(hosts[near], end.port), True)
            else:
                fabric.notes.append(f"{name} {port} leads to {end.node}, which is not among the files")


def _host_names(wanted: Mapping[str, list[tuple[str, End]]]) -> dict[End, str]:
    """Return a name for each port's neighbour: a host of its own for each, since samples name all alike."""
    return names.different(
        {
            End(name, port): [
                names.legal(end.node),
                names.legal(f"{end.node}-{end.port}"),
                names.legal(f"{end.node}-{name}-{port}"),
            ]
            for name, ends in wanted.items()
            for port, end in ends
        }
    )


def _neighbours(each: Switch, lldp: dict[str, End]) -> Iterator[tuple[str, End]]:
    rows = each.tables.table("DEVICE_NEIGHBOR")
    for port in each.ports:
        row = rows.get(port, {})
        if row.get("name"):
            yield port, End(row["name"], row.get("port", ""))
        elif port in lldp:
            yield port, lldp[port]


def _is_host(each: Switch, name: str) -> bool:
    kind = each.tables.row("DEVICE_NEIGHBOR_METADATA", name).get("type", "")
    return not SWITCHES.search(kind)
