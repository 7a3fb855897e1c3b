"""Counters of ports as `ibdiagnet` writes them: .pm files, and the section PM_INFO of its CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike
from typing import NamedTuple

from becalm.base.mistakes import Mistakes, read_lines

_PORT = re.compile(r"Port=(\d{1,3})\s+Lid=\S+\s+GUID=0x([0-9a-fA-F]{1,16})\b")
_VALUE = re.compile(r"(\w+)=(\S+)\s*$")
_START = re.compile(r"(Port=\d|START_\w+\s*$)")

_NAMES = {
    "port_xmit_data": "PortXmitData",
    "port_rcv_data": "PortRcvData",
    "port_xmit_wait": "PortXmitWait",
    "PortXmitData": "PortXmitData",
    "PortRcvData": "PortRcvData",
    "PortXmitWait": "PortXmitWait",
    # Counters with 64 bits come last, since the last value counts.
    "port_xmit_data_extended": "PortXmitData",
    "port_rcv_data_extended": "PortRcvData",
    "port_xmit_wait_extended": "PortXmitWait",
    "PortXmitDataExtended": "PortXmitData",
    "PortRcvDataExtended": "PortRcvData",
    "PortXmitWaitExt": "PortXmitWait",
    "PortXmitWaitExtended": "PortXmitWait",
}
"""Counters by their names in ibdiagnet's files."""

_UNKNOWN = 2**64 - 2
"""Smallest value that stands for a counter that a device does not have."""

CSV_EXPECTED = "NodeGUID or PortGUID, PortNumber, and PortXmitData, PortRcvData or PortXmitWait"


class Entry(NamedTuple):
    """The counters of a port."""

    line: int
    guid: str
    """GUID of the node or of the port, in hexadecimal."""
    port: int
    values: dict[str, int]


def matches(path: str | PathLike[str]) -> bool:
    """Return whether a file has the form of ibdiagnet's .pm or CSV."""
    return any(_START.match(line) for line in read_lines(path))


def read(path: str | PathLike[str], mistakes: Mistakes) -> Iterator[Entry]:
    """Yield the counters of ports in a .pm file, or in ibdiagnet's CSV, whose other sections are skipped."""
    entry: Entry | None = None
    raw: dict[str, str] = {}
    section, columns = "", list[str]()
    for number, line in enumerate(read_lines(path), 1):
        if line.startswith(("START_", "END_")):
            section, columns = line.strip().removeprefix("START_"), []
        elif section == "PM_INFO" and line.strip():
            cells = line.strip().split(",")
            if columns:
                row = _row(number, dict(zip(columns, cells, strict=False)))
                if row is None:
                    mistakes.add(number, "PM_INFO", line.strip(), "has no GUID or port", CSV_EXPECTED)
                else:
                    yield row
            elif not ({"NodeGUID", "PortGUID"} & set(cells) and "PortNumber" in cells):
                mistakes.add(number, "PM_INFO", "", "has no such columns", CSV_EXPECTED)
                return
            else:
                columns = cells
        elif found := _PORT.match(line):
            if entry is not None:
                yield entry._replace(values=_values(raw))
            entry, raw = Entry(number, found[2], int(found[1]), {}), {}
        elif found := _VALUE.match(line):
            raw[found[1]] = found[2]
    if entry is not None:
        yield entry._replace(values=_values(raw))


def _row(number: int, cells: dict[str, str]) -> Entry | None:
    guid = cells.get("NodeGUID") or cells.get("PortGUID") or ""
    port = _number(cells.get("PortNumber", ""))
    if port is None or not re.fullmatch(r"0x[0-9a-fA-F]{1,16}", guid):
        return None
    return Entry(number, guid[2:], port, _values(cells))


def _values(raw: dict[str, str]) -> dict[str, int]:
    """Return the counters with their values; those that a device does not have are omitted."""
    numbers = {name: _number(raw[name]) for name in _NAMES if name in raw}
    return {_NAMES[name]: number for name, number in numbers.items() if number is not None}


def _number(text: str) -> int | None:
    if not re.fullmatch(r"0x[0-9a-fA-F]{1,16}|\d{1,20}", text):
        return None
    number = int(text, 16 if text.startswith("0x") else 10)
    return number if number < _UNKNOWN else None
