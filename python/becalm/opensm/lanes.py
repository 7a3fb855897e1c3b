"""Virtual lanes of service levels, as in OpenSM's `opensm-sl2vl.dump`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from os import PathLike
from typing import NamedTuple

from becalm.base.mistakes import Mistakes, read_lines
from becalm.opensm import foreign
from becalm.opensm.fabric import Fabric

_NODE = re.compile(r'(Switch|Channel Adapter|Router) 0x([0-9a-fA-F]{16}), base LID (\d{1,5}), ".*"\s*$')
_ROW = re.compile(r"(\d{1,3})\s+(\d{1,3})\s*:((?:\s+\d{1,2}){16})\s*$")
_OTHER = re.compile(r"\s*$|#")

EXPECTED = (
    '`Switch 0x0002c90000001000, base LID 2, "leaf0"`, or ports and 16 lanes, '
    "`1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7`"
)
DROPS = 15
"""The lane of a level whose packets are dropped."""


class Lanes(NamedTuple):
    """The lanes of the service levels that a fabric's paths use."""

    of: dict[int, int]
    """The lane of each level."""
    note: str = ""
    """What differs from the fabric, if anything."""

    @property
    def vls(self) -> int:
        """Number of lanes of a link."""
        return max(self.of.values()) + 1


class _Row(NamedTuple):
    """The lanes of packets between two ports of a node, by level."""

    line: int
    where: str
    lanes: tuple[int, ...]


def assumed(levels: Iterable[int]) -> Lanes:
    """Return the lanes of levels if only the levels are known: one lane for each."""
    of = {level: place for place, level in enumerate(sorted({0, *levels}))}
    if len(of) == 1:
        return Lanes(of)
    return Lanes(of, f"each of the {len(of)} service levels is taken to have a virtual lane of its own")


def read(path: str | PathLike[str], fabric: Fabric, levels: Iterable[int]) -> Lanes:
    """Read the lanes of the service levels that a fabric's paths use.

    becalm's packets stay on the lane of their level. If the tables of the ports differ for these levels, each
    level gets a lane of its own, and a note says so.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all errors at once, each with its line: a line that no dump has, a switch or
            adapter that the fabric does not have, a level whose packets are dropped.

    """
    foreign.check(path, foreign.LANES)
    mistakes = Mistakes(path)
    used = sorted({0, *levels})
    rows = list(_rows(read_lines(path), fabric, mistakes))
    for row in rows:
        for level in used:
            if row.lanes[level] >= DROPS:
                problem = f"packets of service level {level} are dropped here (VL {DROPS})"
                mistakes.add(row.line, row.where, "", problem, "lanes 0 to 14 for the levels of path records")
    mistakes.check()
    maps = {tuple(row.lanes[level] for level in used) for row in rows}
    if len(maps) == 1:
        vls = max(maps.pop()) + 1
        # Levels that no path uses keep their place in the list.
        return Lanes({level: min(rows[0].lanes[level], vls - 1) for level in range(used[-1] + 1)})
    what = "has no table" if not maps else f"has {len(maps)} different tables, so packets change lanes"
    apart = assumed(used)
    note = f"{mistakes.file} {what}: in becalm, each of {len(apart.of)} service levels stays on its own lane"
    return Lanes(apart.of, note)


def _rows(lines: Iterable[str], fabric: Fabric, mistakes: Mistakes) -> Iterator[_Row]:
    """Yield the rows of the dump between ports with cables of a fabric."""
    switches = {switch.guid: switch for switch in fabric.switches}
    hosts = {host.guid for host in fabric.hosts if host.guid}
    name, ports = "", frozenset[int]()
    for number, line in enumerate(lines, 1):
        if node := _NODE.match(line):
            kind, guid, lid = node[1], int(node[2], 16), int(node[3])
            switch = switches.get(guid)
            # A list of ports has no GUIDs of adapters.
            known = switch or (not hosts or guid in hosts) or lid in fabric.skipped_lids or kind == "Router"
            if not known:
                problem = f"is not in {fabric.file}"
                mistakes.add(number, kind, f"0x{guid:016x}", problem, "lanes and fabric from the same sweep")
            name = switch.name if switch else ""
            ports = frozenset(switch.ports) if switch else frozenset((0,)) if guid in hosts else frozenset()
        elif row := _ROW.match(line):
            if int(row[1]) in ports and int(row[2]) in ports:
                where = f"{name or 'adapter'}, port {row[1]} to port {row[2]}"
                yield _Row(number, where, tuple(int(lane) for lane in row[3].split()))
        elif not _OTHER.match(line):
            problem = "is not a line of a table of lanes"
            mistakes.add(number, f"`{line.strip()[:60]}`", "", problem, EXPECTED)
