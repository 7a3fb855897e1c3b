"""Forwarding tables of switches, as OpenSM, `ibdiagnet`, `dump_fts` and `ibroute` write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from typing import NamedTuple

from becalm.base.mistakes import Mistakes, read_lines
from becalm.opensm import foreign
from becalm.opensm.fabric import Fabric, Host, Switch

_TABLE = re.compile(r"Unicast lids \[[^\]]*\] of switch (.*?)\bguid 0x([0-9a-fA-F]{16})\b")
_ROUTES = re.compile(r"\w*dump_ucast_routes: *()Switch 0x([0-9a-fA-F]{16})\b")
"""Head of a switch's table in a .fdbs file of OpenSM or `ibdiagnet`."""
_ENTRY = re.compile(r"0x([0-9a-fA-F]{4}) \d{3}\b(?:.*?portguid 0x([0-9a-fA-F]{16}))?")
_OTHER = re.compile(
    r"\s*$|#|LID +: Port\b|PLFT_NUM: 0\b"
    r"|\s*Lid\s+Out\b|\s*Port\s+Info\b|\d+ (?:valid )?lids dumped|\*\*\* WARNING \*\*\*:"
)
"""Other lines: of .fdbs files, and of dumps; the last one is the end of the deprecated `dump_lfts.sh`."""

EXPECTED = (
    "`Unicast lids [0-23] of switch Lid 2 guid 0x0002c90000001000 ('leaf0'):` or an entry such as "
    "`0x0001 001 # Channel Adapter portguid 0x0002c90300000005: 'host0 HCA-1'`"
)

_PORT = slice(7, 10)
"""Position of the port in an entry."""
_PORTS = {f"{port:03}": port for port in range(256)}

_HOST = -1
"""Marker for a host, in place of the number of a switch."""

Hops = tuple[dict[int, int], dict[int, int]]
"""For a switch: the output port of packets to each LID, and the number of the switch behind each port."""

Routes = dict[tuple[str, int], list[str]]
"""By the name of a switch and the number of its port, from 1: the names of the hosts to which it leads."""


@dataclass
class Table:
    """The table of one switch."""

    guid: int
    lid: int | None
    line: int
    ports: dict[int, int] = field(default_factory=dict)
    """By LID: the output port of packets to it."""
    lines: dict[int, int] = field(default_factory=dict)
    """By LID: the line of its entry."""


class Named(NamedTuple):
    """A LID, and its port according to the dump."""

    lid: int
    guid: int | None
    """GUID of the port, if the dump has it."""


def read(path: str | PathLike[str], fabric: Fabric) -> Routes:
    """Read the forwarding tables of a fabric: the entries for its hosts.

    Entries for switches, for omitted nodes, and for all but the first LID of a host are skipped. Hosts
    without a LID have no entries.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all errors at once, each with its line: a line that no dump has; a switch,
            LID or GUID that the fabric does not have, or has elsewhere; a switch without a table, or a table
            without an entry for some host; an entry that leads nowhere, or to the wrong host.

    """
    foreign.check(path, foreign.TABLES)
    reader = _Reader(path)
    reader.read(read_lines(path))
    reader.mistakes.check()
    routes = _Matching(fabric, reader).match()
    reader.mistakes.check()
    return routes


class _Reader:
    """The file while it is read."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.mistakes = Mistakes(path)
        self.tables: dict[int, Table] = {}
        """By the GUIDs of their switches."""
        self.named: dict[Named, int] = {}
        """The owner of a LID, and the first line that names it."""
        self.known: dict[str, Named] = {}
        """The same, keyed by the text of an entry without its port; most tables share these texts."""

    def read(self, lines: Iterable[str]) -> None:
        table = None
        for number, line in enumerate(lines, 1):
            if table is not None and line.startswith("0x"):
                self.entry(number, line, table)
            elif header := _TABLE.match(line) or _ROUTES.match(line):
                table = self.table(number, header)
            elif not _OTHER.match(line):
                self.stray(number, line)

    def table(self, number: int, header: re.Match[str]) -> Table:
        lid = re.search(r"\bLid (\d{1,5})\b", header[1])
        table = Table(int(header[2], 16), int(lid[1]) if lid else None, number)
        if table.guid in self.tables:
            problem = f"already has a table in line {self.tables[table.guid].line}"
            self.mistakes.add(number, "switch", f"0x{table.guid:016x}", problem)
        self.tables[table.guid] = table
        return table

    def entry(self, number: int, line: str, table: Table) -> None:
        # A .fdbs file has `0x0001 : 011  : 01   : yes`.
        if line[6:9] == " : ":
            if line.endswith("UNREACHABLE"):
                return
            line = f"{line[:6]} {line[9:12]}"
        port = _PORTS.get(line[_PORT])
        rest = line[: _PORT.start] + line[_PORT.stop :]
        named = self.known.get(rest) or self.name(number, line, rest)
        if named is None or port is None:
            self.stray(number, line)
            return
        lid = named.lid
        if lid in table.ports:
            problem = f"already has an entry in line {table.lines[lid]}"
            self.mistakes.add(number, f"0x{lid:04x}", "", problem)
        table.ports[lid] = port
        table.lines[lid] = number

    def name(self, number: int, line: str, rest: str) -> Named | None:
        found = _ENTRY.match(line)
        if found is None:
            return None
        named = Named(int(found[1], 16), int(found[2], 16) if found[2] else None)
        self.known[rest] = named
        self.named.setdefault(named, number)
        return named

    def stray(self, number: int, line: str) -> None:
        self.mistakes.add(
            number, f"`{line.strip()[:60]}`", "", "is not a line of a forwarding table", EXPECTED
        )


class _Matching:
    """A comparison of tables with their fabric."""

    def __init__(self, fabric: Fabric, reader: _Reader) -> None:
        self.fabric = fabric
        self.mistakes = reader.mistakes
        self.tables = reader.tables
        self.named = reader.named

    def match(self) -> Routes:
        self.check_named()
        # Every table would repeat the same errors.
        self.mistakes.check()
        known = {switch.guid for switch in self.fabric.switches}
        for table in self.tables.values():
            if table.guid not in known:
                problem = f"is not a switch of {self.fabric.file}"
                self.mistakes.add(table.line, "switch", f"0x{table.guid:016x}", problem)
        routes: Routes = {}
        for switch in self.fabric.switches:
            if switch.guid not in self.tables:
                problem = "has no table in this file"
                self.mistakes.add(None, "switch", f"{switch.name} (guid 0x{switch.guid:016x})", problem)
                continue
            self.switch(switch, self.tables[switch.guid], routes)
        if not self.mistakes.list:
            self.check_cycles()
        return routes

    def check_named(self) -> None:
        """Note LIDs that have no owner, or another owner than in the dump."""
        hosts = {host.lid: host for host in _with_lids(self.fabric)}
        nodes: list[Host | Switch] = [*self.fabric.hosts, *self.fabric.switches]
        ranges = (range(node.lid, node.lid + 2**node.lmc) for node in nodes if node.lid)
        others = self.fabric.skipped_lids.union(*ranges)
        for (lid, guid), line in self.named.items():
            host = hosts.get(lid)
            if host is None and lid not in others:
                problem = f"is not a LID of {self.fabric.file}"
                self.mistakes.add(line, f"0x{lid:04x}", "", problem, "tables and fabric from the same sweep")
            elif host is not None and guid not in (None, host.guid):
                problem = f"belongs to {host.name} in {self.fabric.file}, with another port GUID"
                self.mistakes.add(line, f"0x{lid:04x}", "", problem, f"0x{host.guid:016x}")

    def switch(self, switch: Switch, table: Table, routes: Routes) -> None:
        if switch.lid and table.lid not in (None, switch.lid):
            problem = f"is not the LID of {switch.name} in {self.fabric.file}"
            self.mistakes.add(table.line, "Lid", str(table.lid), problem, str(switch.lid))
        names: dict[int, list[str]] = {port: [] for port in switch.ports}
        to_switches = {port for port, peer in switch.ports.items() if not peer.is_host}
        for host in _with_lids(self.fabric):
            port = table.ports.get(host.lid)
            if port is None:
                problem = f"has no entry for {host.name} (LID 0x{host.lid:04x})"
                self.mistakes.add(table.line, "switch", switch.name, problem, "an entry for every host")
            elif port in to_switches or switch.ports.get(port) == host.end:
                names[port].append(host.name)
            else:
                self.leads_astray(switch, table, host)
        routes |= {(switch.name, port): to for port, to in names.items() if to}

    def leads_astray(self, switch: Switch, table: Table, host: Host) -> None:
        """Note an entry that leads neither to another switch nor to the host."""
        port, line = table.ports[host.lid], table.lines[host.lid]
        peer = switch.ports.get(port)
        if peer is None:
            problem = f"sends packets for {host.name} through a port of {switch.name} that has no cable"
            valid = f"one of the ports {', '.join(map(str, switch.ports))}"
            self.mistakes.add(line, "port", f"{port:03}", problem, valid)
        else:
            problem = f"sends packets for {host.name} to {self.fabric.name(peer)}"
            self.mistakes.add(line, "port", f"{port:03}", problem)

    def check_cycles(self) -> None:
        """Note switches from which packets for a host run in a cycle."""
        switches = self.fabric.switches
        place = {switch.id: number for number, switch in enumerate(switches)}
        hops = [
            (
                self.tables[switch.guid].ports,
                {port: place.get(peer.node, _HOST) for port, peer in switch.ports.items()},
            )
            for switch in switches
        ]
        for host in _with_lids(self.fabric):
            cycle = _cycle(hops, host.lid)
            if cycle:
                table = self.tables[switches[cycle[0]].guid]
                way = " -> ".join(switches[number].name for number in (*cycle, cycle[0]))
                problem = f"sends packets for {host.name} around a cycle: {way}"
                self.mistakes.add(table.lines[host.lid], "port", f"{table.ports[host.lid]:03}", problem)


def _with_lids(fabric: Fabric) -> list[Host]:
    return [host for host in fabric.hosts if host.lid]


def _cycle(hops: list[Hops], lid: int) -> list[int]:
    """Return switches of a cycle that packets to a LID never leave; none if there is no cycle."""
    began = {_HOST: _HOST}
    for start in range(len(hops)):
        now, way = start, []
        while now not in began:
            began[now] = start
            way.append(now)
            ports, behind = hops[now]
            now = behind[ports[lid]]
        if began[now] == start:
            return way[way.index(now) :]
    return []
