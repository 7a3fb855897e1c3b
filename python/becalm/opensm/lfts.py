"""Forwarding tables of switches, as OpenSM dumps them and as `dump_lfts.sh` and `ibroute` print them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from os import PathLike
from typing import NamedTuple

from becalm.mistakes import Mistakes, read_text
from becalm.opensm.fabric import Fabric, Host, Switch

_TABLE = re.compile(r"Unicast lids \[[^\]]*\] of switch (.*?)\bguid 0x([0-9a-f]{16})\b(.*)")
_ENTRY = re.compile(r"0x([0-9a-f]{4}) (\d{3})\b(?:.*?portguid 0x([0-9a-f]{16}))?")
_OTHER = re.compile(r"\s*$|#|\s*Lid\s+Out\b|\s*Port\s+Info\b|\d+ (?:valid )?lids dumped")

EXPECTED = (
    "`Unicast lids [0-23] of switch Lid 2 guid 0x0002c90000001000 ('leaf0'):` or an entry such as "
    "`0x0001 001 # Channel Adapter portguid 0x0002c90300000005: 'host0 HCA-1'`"
)

Routes = dict[tuple[str, int], list[str]]
"""By the name of a switch and the number of its port, from 1: the names of the hosts that it leads to."""


class Entry(NamedTuple):
    """Where packets to a LID go."""

    port: int
    guid: int | None
    """GUID of the port with that LID, where the dump tells it."""
    line: int


@dataclass
class Table:
    """The table of one switch."""

    guid: int
    lid: int | None
    line: int
    entries: dict[int, Entry] = field(default_factory=dict)
    """By LID."""


def read(path: str | PathLike[str], fabric: Fabric) -> Routes:
    """Read the forwarding tables of a fabric: the entries for its hosts.

    Entries for switches and for what the fabric leaves out are passed over, and so are those for other LIDs
    than the first of a host that has several.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once, each with its line: a line that is none of a dump; a switch,
            LID or GUID that the fabric does not have, or has elsewhere; a switch without a table, or a table
            without an entry for some host; an entry that leads nowhere, or to the wrong host.

    """
    mistakes = Mistakes(path)
    tables = _tables(read_text(path), mistakes)
    mistakes.check()
    routes = _Matching(fabric, mistakes).match(tables)
    mistakes.check()
    return routes


def _tables(text: str, mistakes: Mistakes) -> dict[int, Table]:
    """Return the tables by the GUIDs of their switches."""
    tables: dict[int, Table] = {}
    table = None
    for number, line in enumerate(text.splitlines(), 1):
        header, entry = _TABLE.match(line), _ENTRY.match(line)
        if header:
            lid = re.search(r"\bLid (\d+)", header[1])
            table = Table(int(header[2], 16), int(lid[1]) if lid else None, number)
            if table.guid in tables:
                problem = f"has a table in line {tables[table.guid].line} already"
                mistakes.add(number, "switch", f"0x{table.guid:016x}", problem)
            tables[table.guid] = table
        elif entry and table:
            guid = int(entry[3], 16) if entry[3] else None
            table.entries[int(entry[1], 16)] = Entry(int(entry[2]), guid, number)
        elif not _OTHER.match(line):
            mistakes.add(number, f"`{line.strip()[:60]}`", "", "is no line of a forwarding table", EXPECTED)
    return tables


class _Matching:
    """Tables and the fabric that they are for, while one is held against the other."""

    def __init__(self, fabric: Fabric, mistakes: Mistakes) -> None:
        self.fabric = fabric
        self.mistakes = mistakes
        self.hosts = {host.lid: host for host in fabric.hosts}
        further = (range(host.lid + 1, host.lid + 2**host.lmc) for host in fabric.hosts)
        own = (range(switch.lid, switch.lid + 2**switch.lmc) for switch in fabric.switches)
        self.others = fabric.skipped_lids.union(*further, *own)
        self.by_id = {switch.id: switch for switch in fabric.switches}
        self.strangers: set[int] = set()

    def match(self, tables: dict[int, Table]) -> Routes:
        known = {switch.guid for switch in self.fabric.switches}
        for table in tables.values():
            if table.guid not in known:
                problem = f"is no switch of {self.fabric.file}"
                self.mistakes.add(table.line, "switch", f"0x{table.guid:016x}", problem)
        routes: Routes = {}
        for switch in self.fabric.switches:
            if switch.guid not in tables:
                problem = "has no table in this file"
                self.mistakes.add(None, "switch", f"{switch.name} (guid 0x{switch.guid:016x})", problem)
                continue
            self.switch(switch, tables[switch.guid], routes)
        if not self.mistakes.list:
            for host in self.fabric.hosts:
                self.check_circles(host, tables)
        return routes

    def switch(self, switch: Switch, table: Table, routes: Routes) -> None:
        if table.lid not in (None, switch.lid):
            problem = f"is not the LID of {switch.name} in {self.fabric.file}"
            self.mistakes.add(table.line, "Lid", str(table.lid), problem, str(switch.lid))
        for lid, entry in table.entries.items():
            self.check_known(lid, entry)
        for host in self.fabric.hosts:
            if host.lid not in table.entries:
                problem = f"has no entry for {host.name} (LID 0x{host.lid:04x})"
                self.mistakes.add(table.line, "switch", switch.name, problem, "an entry for every host")
                continue
            entry = table.entries[host.lid]
            if self.leads_there(switch, entry, host):
                routes.setdefault((switch.name, entry.port), []).append(host.name)

    def check_known(self, lid: int, entry: Entry) -> None:
        """Note a LID that is nobody's, or another one's than the dump says."""
        host = self.hosts.get(lid)
        if host is None and lid in self.others | self.strangers:
            return
        if host is None:
            self.strangers.add(lid)
            self.mistakes.add(entry.line, f"0x{lid:04x}", "", f"is no LID of {self.fabric.file}")
        elif entry.guid not in (None, host.guid):
            problem = f"belongs to {host.name} in {self.fabric.file}, with another port GUID"
            self.mistakes.add(entry.line, f"0x{lid:04x}", "", problem, f"0x{host.guid:016x}")

    def leads_there(self, switch: Switch, entry: Entry, host: Host) -> bool:
        """Tell whether an entry leads to another switch or to the host itself; note if not."""
        peer = switch.ports.get(entry.port)
        if peer is None:
            problem = f"leads packets for {host.name} through a port of {switch.name} without a cable"
            valid = f"one of the ports {', '.join(map(str, switch.ports))}"
            self.mistakes.add(entry.line, "port", f"{entry.port:03}", problem, valid)
        elif peer.is_host and peer != host.end:
            problem = f"leads packets for {host.name} to {self.fabric.name(peer)}"
            self.mistakes.add(entry.line, "port", f"{entry.port:03}", problem)
        return peer is not None and (peer == host.end or not peer.is_host)

    def check_circles(self, host: Host, tables: dict[int, Table]) -> None:
        """Note a switch from which packets for a host come back to where they have been."""
        arrives: set[str] = set()
        for switch in self.fabric.switches:
            way: dict[str, Switch] = {}
            now: Switch | None = switch
            while now is not None and now.id not in arrives:
                if now.id in way:
                    entry = tables[now.guid].entries[host.lid]
                    names = [each.name for each in way.values()]
                    circle = " -> ".join([*names[names.index(now.name) :], now.name])
                    problem = f"leads packets for {host.name} in a circle: {circle}"
                    self.mistakes.add(entry.line, "port", f"{entry.port:03}", problem)
                    return
                way[now.id] = now
                peer = now.ports[tables[now.guid].entries[host.lid].port]
                now = None if peer.is_host else self.by_id[peer.node]
            arrives |= way.keys()
