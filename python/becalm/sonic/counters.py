"""Counters of pauses, of SONiC's and the adapters' tools, assigned to the ports of a fabric."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from becalm.base.errors import ScenarioError
from becalm.base.mistakes import Mistakes, read_lines
from becalm.sonic.fabric import End, Fabric

EXPECTED = (
    "output of `show pfc counters`, `pfcwd show stats` or `ethtool -S DEV`, or "
    "`grep . /sys/class/infiniband/*/ports/1/hw_counters/*`"
)
SUFFIXES = (".json", ".toml", ".md", ".conf")
"""Files that are not counters."""


class Place(NamedTuple):
    """A priority of a port."""

    end: End
    priority: int


class Storm(NamedTuple):
    """What a watchdog says about a queue."""

    end: End
    queue: int
    stormed: bool
    detected: int
    dropped: int
    """Packets that its action dropped, of those to the queue and of those that arrived."""


@dataclass
class Counts:
    """Counters of a fabric."""

    told: dict[Place, int] = field(default_factory=dict)
    """Frames that told an end to stop."""
    sent: dict[Place, int] = field(default_factory=dict)
    """Frames by which an end told its peer to stop."""
    paused: dict[Place, int] = field(default_factory=dict)
    """Microseconds for which an end was told to stop, where its tool counts them."""
    hosts: dict[str, dict[str, int]] = field(default_factory=dict)
    """Other counters of adapters, by host."""
    storms: list[Storm] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    """Files by node."""


_HEAD = re.compile(r"\s*Port (Rx|Tx)((?:\s+PFC\d)+)\s*")
_COUNTS = re.compile(r"\s*(\S+)((?:\s+(?:[\d,]{1,26}|N/A)){1,8})\s*")
_STORMS = re.compile(r"\s*QUEUE\s+STATUS\s+STORM DETECTED/RESTORED\s+TX OK/DROP\s+RX OK/DROP.*")
_STORM = re.compile(r"\s*(\S+):(\d)\s+(\w+)\s+(\d{1,18})/\d+\s+\d+/(\d{1,18})\s+\d+/(\d{1,18})\s+.*")
_ADAPTER = re.compile(r"\s*(rx|tx)_prio(\d)_pause(_duration)?: (\d{1,20})\s*")
_HISTORY = re.compile(r"\s*Port\s+Priority\s+RX Pause Transitions\s+Total RX Pause Time US.*")
_PAST = re.compile(r"\s*(\S+)\s+PFC(\d)\s+(?:[\d,]+|N/A)\s+([\d,]{1,26}|N/A)\s+.*")
_OTHER = re.compile(
    r"\s*(?:\S*/)?(np_\w+|rp_\w+|out_of_sequence|packet_seq_err|roce_slow_restart\w*|rx_prio\d_buf_discard"
    r"|rx_discards_phy)\s*[:= ]\s*(\d{1,20})\s*"
)


def read(
    fabric: Fabric, paths: Iterable[str | PathLike[str]], before: str | PathLike[str] | None = None
) -> Counts:
    """Read the counters of switches and hosts.

    A file belongs to the node that names it or its folder: `leaf0.txt`, `leaf0-pfc.txt`, `host3/ethtool.txt`.

    Args:
        fabric: the fabric.
        paths: files, and folders of them.
        before: a folder of earlier counters, which are subtracted.

    Raises:
        FileNotFoundError: no such file or folder.
        ScenarioError: with all mistakes in a file at once; or no file has counters.

    """
    now = _read(fabric, paths)
    if before is not None:
        _subtract(now, _read(fabric, [before]), before)
    return now


def _read(fabric: Fabric, paths: Iterable[str | PathLike[str]]) -> Counts:
    counts, listed = Counts(), list(paths)
    for path in listed:
        for file in _files(Path(path)):
            _Reader(fabric, file, counts, required=Path(path).is_file()).read()
    if not counts.files:
        where = ", ".join(map(str, listed))
        raise ScenarioError(f"{where}: has no counters of the fabric; valid: {EXPECTED}", where)
    return counts


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        for each in sorted(path.iterdir()):
            if each.is_dir() or (each.suffix not in SUFFIXES and not each.name.startswith(".")):
                yield from _files(each)
    else:
        yield path


def owner(fabric: Fabric, file: Path) -> str | None:
    """Return the node of a file: the one that its name or else its folder begins with."""
    nodes = {*fabric.switches, *fabric.hosts}
    for name in (file.name, file.parent.name):
        named = [node for node in nodes if re.match(rf"{re.escape(node)}(?![A-Za-z0-9])", name)]
        if named:
            return max(named, key=len)
    return None


def _subtract(now: Counts, then: Counts, before: str | PathLike[str]) -> None:
    for name in ("told", "sent", "paused"):
        mine, earlier = getattr(now, name), getattr(then, name)
        for place, count in mine.items():
            if count < earlier.get(place, 0):
                problem = (
                    f"{place.end.node} {place.end.port} PFC{place.priority} has {count}, less than "
                    f"{earlier[place]} before; valid: counters in chronological order, not cleared in between"
                )
                raise ScenarioError(f"{before}: {problem}", str(before))
            mine[place] = count - earlier.get(place, 0)
    for node, values in now.hosts.items():
        for name in values:
            values[name] -= min(values[name], then.hosts.get(node, {}).get(name, 0))


class _Reader:
    """A file while it is read."""

    def __init__(self, fabric: Fabric, file: Path, counts: Counts, *, required: bool) -> None:
        self.fabric, self.file, self.counts, self.required = fabric, file, counts, required
        self.mistakes = Mistakes(file)
        self.node = owner(fabric, file)
        self.kind = ""
        """What the lines below a heading have: `Rx`, `Tx`, `storms` or `past`."""
        self.priorities: list[int] = []
        self.found = False

    def read(self) -> None:
        for number, line in enumerate(read_lines(self.file), 1):
            self.line(number, line)
        if self.found and self.node is not None:
            self.counts.files[self.node] = str(self.file)
        elif self.required and not self.mistakes.list:
            self.mistakes.add(1, "counters", "", "no counters of pauses in this file", EXPECTED)
        self.mistakes.check()

    def line(self, number: int, line: str) -> None:
        if head := _HEAD.fullmatch(line):
            self.start(number, head[1])
            self.priorities = [int(each) for each in re.findall(r"PFC(\d)", head[2])]
        elif _STORMS.fullmatch(line):
            self.start(number, "storms")
        elif _HISTORY.fullmatch(line):
            self.start(number, "past")
        elif not line.strip() or set(line.strip()) <= {"-", " "}:
            # Tables with a history have an empty line after each port.
            self.kind = self.kind if line.strip() or self.kind == "past" else ""
        elif self.kind:
            self.row(number, line)
        elif match := _ADAPTER.fullmatch(line):
            self.adapter(number, match)
        elif (match := _OTHER.fullmatch(line)) and self.owned(number):
            self.counts.hosts.setdefault(self.node or "", {})[match[1]] = int(match[2])

    def start(self, number: int, kind: str) -> None:
        self.kind = kind
        self.owned(number)

    def owned(self, number: int) -> bool:
        """Whether a node owns the file; a mistake if none does."""
        if self.node is None and not self.found:
            nodes = ", ".join([*self.fabric.switches, *self.fabric.hosts][:4])
            problem = "belongs to no switch or host: neither its name nor its folder begins with one"
            self.mistakes.add(number, "counters", "", problem, f"names such as {nodes}")
        self.found = True
        return self.node is not None

    def row(self, number: int, line: str) -> None:
        pattern = {"storms": _STORM, "past": _PAST}.get(self.kind, _COUNTS)
        match = pattern.fullmatch(line)
        if match is None:
            problem = f"is not a row of this table ({self.kind})"
            self.mistakes.add(number, f"`{line.strip()[:60]}`", "", problem, "the whole output, unchanged")
        elif self.node in self.fabric.switches:
            self.take(number, match)

    def take(self, number: int, match: re.Match[str]) -> None:
        assert self.node is not None
        end = End(self.node, self.fabric.switches[self.node].named(match[1]))
        if end.port not in self.fabric.switches[self.node].ports:
            if end.port.startswith("Ethernet"):
                self.mistakes.add(number, "port", match[1], f"{self.node} has no such port")
            return
        if self.kind == "storms":
            dropped = int(match[5]) + int(match[6])
            stormed = match[3] == "stormed"
            self.counts.storms.append(Storm(end, int(match[2]), stormed, int(match[4]), dropped))
        elif self.kind == "past":
            if (value := _number(match[3])) is not None:
                self.counts.paused[Place(end, int(match[2]))] = value
        else:
            table = self.counts.told if self.kind == "Rx" else self.counts.sent
            for priority, text in zip(self.priorities, match[2].split(), strict=False):
                if (value := _number(text)) is not None:
                    table[Place(end, priority)] = value

    def adapter(self, number: int, match: re.Match[str]) -> None:
        if not self.owned(number) or self.node not in self.fabric.hosts:
            return
        end = next(cable.far for cable in self.fabric.cables if cable.far.node == self.node)
        place = Place(end, int(match[2]))
        if match[3]:
            if match[1] == "rx":
                self.counts.paused[place] = int(match[4])
        else:
            table = self.counts.told if match[1] == "rx" else self.counts.sent
            table[place] = int(match[4])


def _number(text: str) -> int | None:
    digits = text.replace(",", "")
    return int(digits) if digits.isdigit() else None
