"""Counters of ports, of `perfquery`, `ibqueryerrors` or `ibdiagnet`, assigned to the ports of a fabric."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import NamedTuple

from becalm.base.mistakes import Mistakes, read_lines
from becalm.opensm import foreign, ibdiagnet
from becalm.opensm.fabric import End, Fabric

WORD = 4
"""Bytes per unit of PortXmitData and PortRcvData."""
FULL = 2**32 - 1
"""Largest value of a 32-bit counter, which stops there."""
ALL_PORTS = 255
"""Port number that denotes the sum over all ports."""

APART, WORTH_COMPARING = 0.1, 1_000_000
"""The share by which the two ends of a link may differ, and the bytes from which they are compared."""

_LID = re.compile(r"# Port (extended )?counters: Lid (\d{1,5}) port (\d{1,3})\b")
_VALUE = re.compile(r"([A-Za-z0-9]+):\.*(0x[0-9a-fA-F]{1,16}|\d{1,20})\s*$")
_GUID = re.compile(r"\s*GUID 0x([0-9a-fA-F]{1,16}) port (\d{1,3}|ALL):(.*)")
_ITEM = re.compile(r"\[([A-Za-z0-9]+) == (\d{1,20})\b[^\]]*\]")
_OTHER = re.compile(
    r"\s*$|##|#|(Errors|Data Counters) for |\s*Link info:|\s*Errors for |ibwarn:|ibqueryerrors:|perfquery:"
)

EXPECTED = (
    "`# Port counters: Lid 3 port 1 (CapMask: 0x1300)` and `PortXmitWait:....0` below it, as of perfquery, "
    "or `GUID 0x2c90000001000 port 1: [PortXmitWait == 1234]`, as of ibqueryerrors, or ibdiagnet's .pm"
)


class Counters(NamedTuple):
    """The counters of a port; None if the dump has none."""

    sent: int | None
    """PortXmitData in bytes."""
    received: int | None
    """PortRcvData in bytes."""
    waited: int | None
    """PortXmitWait in ticks. Their length depends on the device: use them only to compare ports."""


class _Read(NamedTuple):
    """A counter in a file."""

    value: int
    line: int


_Ports = dict[End, dict[str, _Read]]


def read(
    path: str | PathLike[str], fabric: Fabric, before: str | PathLike[str] | None = None
) -> dict[End, Counters]:
    """Read counters of ports, and assign them to the ports of a fabric.

    Args:
        path: output of `perfquery` for some ports, with or without `-x`, or of `ibqueryerrors`; also several
            of them in one file. If a counter has several values, that of `-x` counts, or else the last. Or a
            .pm file of `ibdiagnet`, or its CSV.
        fabric: the fabric of the ports.
        before: an earlier dump, which is subtracted. Without it, counts start at the last reset.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all errors at once, each with its line: a line that no dump has; a LID,
            GUID or port that the fabric does not have; a counter that has stopped at its largest value, or
            that is smaller than before.

    """
    now = _file(path, fabric)
    earlier = {} if before is None else _file(before, fabric)
    mistakes = Mistakes(path)
    found = {}
    for end, values in now.items():
        then = earlier.get(end, {})
        if before is not None and not then:
            continue
        names = ("PortXmitData", "PortRcvData", "PortXmitWait")
        sent, received, waited = (_difference(fabric, end, n, values, then, mistakes) for n in names)
        found[end] = Counters(_times(sent), _times(received), waited)
    mistakes.check()
    return found


def _times(words: int | None) -> int | None:
    return None if words is None else words * WORD


def _difference(
    fabric: Fabric,
    end: End,
    name: str,
    now: Mapping[str, _Read],
    then: Mapping[str, _Read],
    mistakes: Mistakes,
) -> int | None:
    if name not in now:
        return None
    value, line = now[name]
    where = f"{name} of {fabric.name(end)} port {end.port}"
    if value == FULL:
        problem = "has stopped at its largest 32-bit value"
        mistakes.add(line, where, str(value), problem, "counters cleared before, or perfquery -x")
    before = then[name].value if name in then else 0
    if value < before:
        problem = f"is less than {before} in the earlier dump, line {then[name].line}"
        mistakes.add(
            line,
            where,
            str(value),
            problem,
            "dumps in chronological order, without a reset of the counters in between",
        )
    return value - before


def _file(path: str | PathLike[str], fabric: Fabric) -> _Ports:
    foreign.check(path, foreign.COUNTERS)
    reader = _Reader(path, fabric)
    if ibdiagnet.matches(path):
        for entry in ibdiagnet.read(path, reader.mistakes):
            reader.entry(entry)
    else:
        for number, line in enumerate(read_lines(path), 1):
            reader.line(number, line)
    if not reader.ports and not reader.mistakes.list:
        reader.mistakes.add(1, "counters", "", "no counters of ports in this file", EXPECTED)
    reader.mistakes.check()
    return reader.ports


class _Reader:
    """A dump while it is read."""

    def __init__(self, path: str | PathLike[str], fabric: Fabric) -> None:
        self.mistakes = Mistakes(path)
        self.file = fabric.file
        self.hosts = {host.lid: host.end for host in fabric.hosts if host.lid}
        self.switches = {switch.lid: switch.id for switch in fabric.switches if switch.lid}
        self.there = {end for cable in fabric.cables for end in cable.ends}
        self.guids = {int(end.node[2:], 16): end.node for end in self.there}
        self.port_guids = {host.guid: host.end for host in fabric.hosts if host.guid}
        self.ports: _Ports = {}
        self.current: dict[str, _Read] | None = None
        """Destination of the following values of perfquery."""
        self.wide = False
        """Whether these values have 64 bits."""
        self.wides: set[tuple[int, str]] = set()
        """The 64-bit values read so far, by the port's counters."""

    def line(self, number: int, line: str) -> None:
        if found := _LID.match(line):
            lid, port = int(found[2]), int(found[3])
            end = self.hosts.get(lid) or (End(self.switches[lid], port) if lid in self.switches else None)
            self.wide = found[1] is not None
            self.current = self.at(number, ("LID", str(lid)), end, port)
        elif found := _GUID.match(line):
            port = ALL_PORTS if found[2] == "ALL" else int(found[2])
            values = {name: int(value) for name, value in _ITEM.findall(found[3])}
            self.entry(ibdiagnet.Entry(number, found[1], port, values))
        elif found := _VALUE.match(line):
            self.value(number, found[1], int(found[2], 16 if found[2].startswith("0x") else 10))
        elif not _OTHER.match(line):
            self.mistakes.add(number, f"`{line.strip()[:60]}`", "", "is not a line of counters", EXPECTED)

    def entry(self, entry: ibdiagnet.Entry) -> None:
        """Take the counters of a port whose GUID is given, or that of its node."""
        own = self.at(entry.line, ("GUID", f"0x{entry.guid}"), self.end(entry), entry.port)
        if own is not None:
            own.update({name: _Read(value, entry.line) for name, value in entry.values.items()})

    def end(self, entry: ibdiagnet.Entry) -> End | None:
        guid = int(entry.guid, 16)
        node, own = self.guids.get(guid), self.port_guids.get(guid)
        # The GUID of an adapter's port may be that of its node, or even that of another adapter's node.
        if node is not None and (own is None or End(node, entry.port) in self.there):
            return End(node, entry.port)
        return own

    def at(self, number: int, what: tuple[str, str], end: End | None, port: int) -> dict[str, _Read] | None:
        """Return the destination for the counters of a port; None if there is none."""
        if end is None:
            problem = f"is not in {self.file}"
            self.mistakes.add(number, *what, problem, "counters and fabric read at the same time")
            return None
        if port in (0, ALL_PORTS):
            return None
        if end not in self.there or end.port != port:
            problem = f"has no cable in {self.file}, at {' '.join(what)}"
            self.mistakes.add(number, "port", str(port), problem)
            return None
        return self.ports.setdefault(end, {})

    def value(self, number: int, name: str, value: int) -> None:
        if self.current is None:
            return
        key = id(self.current), name
        if self.wide or key not in self.wides:
            self.current[name] = _Read(value, number)
        if self.wide:
            self.wides.add(key)


def doubts(fabric: Fabric, counted: Mapping[End, Counters]) -> Iterator[str]:
    """Yield reasons why counters cannot be from this fabric: what leaves one end of a cable must arrive."""
    directions = [direction for cable in fabric.cables for direction in (cable.ends, cable.ends[::-1])]
    pairs = [
        (counted[out].sent, counted[into].received)
        for out, into in directions
        if out in counted and into in counted
    ]
    known = [(sent, received) for sent, received in pairs if sent is not None and received is not None]
    busy = [pair for pair in known if max(pair) >= WORTH_COMPARING]
    apart = sum(abs(sent - received) > APART * max(sent, received) for sent, received in busy)
    if 2 * apart > len(busy):
        yield (
            f"the two ends of {apart} of {len(busy)} links counted different amounts: the counters are "
            f"not from {fabric.file}, or were read at different times"
        )


def feeders(fabric: Fabric, end: End) -> Iterator[End]:
    """Yield the ports that send to the switch of a port: the other ends of the switch's other cables."""
    for switch in fabric.switches:
        if switch.id == end.node:
            yield from (peer for port, peer in switch.ports.items() if port != end.port)
