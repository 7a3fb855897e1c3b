"""Service levels of paths: the subnet administrator's path records, as `saquery -p` prints them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from os import PathLike

from becalm.base.mistakes import Mistakes, read_lines
from becalm.opensm import foreign
from becalm.opensm.fabric import Fabric, Host, Switch
from becalm.opensm.names import ranges

_HEAD = re.compile(r"\s*PathRecord dump:")
_FIELD = re.compile(r"\s*(\w+?)\.{2,}\s*(\S+)\s*$")
_OTHER = re.compile(r"\s*$|#|[^.]*[$#%>]\s+(?:sudo\s+)?\S*saquery\b|.*[\w\]~][$#%>]\s*(?:exit)?\s*$")
"""Other lines: empty ones, comments, and prompts of a shell."""
_WANTED = ("slid", "dlid", "sl")

EXPECTED = "`PathRecord dump:`, or a field such as `sl......................0x1`"
HIGHEST = 15
"""The highest service level."""

Levels = dict[tuple[str, str], int]
"""The service level of a path, by the names of its source and destination."""

_Record = dict[str, tuple[int, str]]
"""The values of a record's fields, with their lines."""


def read(path: str | PathLike[str], fabric: Fabric) -> tuple[Levels, list[str]]:
    """Read the service levels of the paths between a fabric's hosts, and notes on them.

    Paths from or to other nodes are skipped, and those of all but the first LID of a host. A path without a
    record has level 0; a note counts these.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all errors at once, each with its line: a line that no record has; a record
            without LIDs or level; a LID that the fabric does not have.

    """
    foreign.check(path, foreign.PATHS)
    reader = _Reader(path, fabric)
    for record in reader.records(read_lines(path)):
        reader.add(record)
    reader.mistakes.check()
    return reader.levels, list(reader.notes())


class _Reader:
    """The file while it is read."""

    def __init__(self, path: str | PathLike[str], fabric: Fabric) -> None:
        self.mistakes = Mistakes(path)
        self.fabric = fabric
        self.levels: Levels = {}
        self.several: set[tuple[str, str]] = set()
        """Paths whose records have different levels."""
        self.hosts = {host.lid: host for host in fabric.hosts if host.lid}
        nodes: list[Host | Switch] = [*fabric.hosts, *fabric.switches]
        spans = (range(node.lid, node.lid + 2**node.lmc) for node in nodes if node.lid)
        self.lids = fabric.skipped_lids.union(*spans)
        self.told: set[str] = set()
        """LIDs whose error is recorded: other records would repeat it."""

    def records(self, lines: Iterable[str]) -> Iterator[_Record]:
        record: _Record | None = None
        for number, line in enumerate(lines, 1):
            if _HEAD.match(line):
                if record is not None:
                    yield record
                record = {"": (number, line.strip())}
            elif record is not None and (field := _FIELD.match(line)):
                record[field[1]] = (number, field[2])
            elif not _OTHER.match(line):
                problem = "is not a line of a path record"
                self.mistakes.add(number, f"`{line.strip()[:60]}`", "", problem, EXPECTED)
        if record is not None:
            yield record

    def add(self, record: _Record) -> None:
        missing = [name for name in _WANTED if name not in record]
        if missing:
            line, head = record[""]
            self.mistakes.add(line, head, "", f"this record has no {' and no '.join(missing)}")
            return
        numbers = [self.number(name, *record[name]) for name in _WANTED]
        if None in numbers:
            return
        source, destination = (self.host(name, *record[name]) for name in ("slid", "dlid"))
        level = numbers[2]
        if source is None or destination is None or source is destination or level is None:
            return
        pair = (source.name, destination.name)
        if self.levels.setdefault(pair, level) != level:
            self.several.add(pair)

    def number(self, name: str, line: int, text: str) -> int | None:
        most = HIGHEST if name == "sl" else 0xFFFF
        if re.fullmatch(r"0x[0-9a-fA-F]{1,8}|\d{1,8}", text) and int(text, 0 if "x" in text else 10) <= most:
            return int(text, 0 if "x" in text else 10)
        self.mistakes.add(line, name, text, "is not a number of this field", f"0 to {most}")
        return None

    def host(self, name: str, line: int, text: str) -> Host | None:
        lid = int(text, 0 if "x" in text else 10)
        if lid not in self.lids and text not in self.told:
            self.told.add(text)
            problem = f"is not a LID of {self.fabric.file}"
            if lid == 0:
                problem = "is not a LID: the output is cut, or the subnet manager does not know the port"
            self.mistakes.add(line, name, text, problem, "records and fabric from the same sweep")
        return self.hosts.get(lid)

    def notes(self) -> Iterator[str]:
        paths = len(self.hosts) * (len(self.hosts) - 1)
        if len(self.levels) < paths:
            without = paths - len(self.levels)
            yield f"{without} of {paths} paths have no path record: their service level is taken to be 0"
        if self.several:
            count = f"{len(self.several)} paths have" if len(self.several) > 1 else "a path has"
            yield f"{count} records with several service levels, of which the first one is used"


def entries(levels: Levels, fabric: Fabric) -> Iterator[tuple[list[str], list[str], int]]:
    """Yield sources, destinations and level of the paths with a level above 0, as scenarios list hosts.

    Sources with the same destinations on a level share an entry.
    """
    names = [host.name for host in fabric.hosts]
    place = {name: number for number, name in enumerate(names)}
    to: dict[tuple[str, int], list[str]] = defaultdict(list)
    by_place = sorted(levels.items(), key=lambda each: [place[name] for name in each[0]])
    for (source, destination), level in by_place:
        if level > 0:
            to[source, level].append(destination)
    shared: dict[tuple[int, tuple[str, ...]], list[str]] = defaultdict(list)
    for (source, level), found in sorted(to.items(), key=lambda each: (place[each[0][0]], each[0][1])):
        shared[level, tuple(found)].append(source)
    for (level, destinations), sources in shared.items():
        yield ranges(sources), ranges(destinations), level
