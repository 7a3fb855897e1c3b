"""Workloads of other simulators, as flows of a scenario."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike
from typing import Any, Literal, NamedTuple

from becalm.mistakes import Mistakes, read_text

LARGEST_MESSAGE = 1 << 26
"""Bytes that a message of a scenario may have."""
LONGEST = 18
"""Digits that any number of a connection may have."""
_LATEST_START = {"ps": 10**12 * 86_400, "us": 10**6 * 86_400}
_PAIR = re.compile(r"(\d{1,18})->(\d{1,18})")
_FIELDS = ("id", "start", "size")
_TRIGGERS = ("trigger", "send_done_trigger", "recv_done_trigger")


class _Connection(NamedTuple):
    source: int
    destination: int
    number: int | None
    start: int
    size: int


def read_connection_matrix(
    path: str | PathLike[str],
    *,
    name: str = "connections",
    host: str = "H{}",
    start_unit: Literal["ps", "us"] = "ps",
) -> list[dict[str, Any]]:
    """Read a connection matrix of htsim, a line such as `103->32 id 1 start 0 size 2000000` per connection.

    Every connection becomes a flow of its own that sends one message.

    Args:
        path: the file.
        name: name of the group of flows.
        host: how host number `{}` is called in the scenario, as its topology names hosts.
        start_unit: what a start counts: `ps` as htsim's RoCE, NDP and EQDS programs read it, or `us` as its
            UEC program does for connections that are messages.

    Returns:
        What a scenario takes as `flows`: a list of one group.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once, each with its line. Triggers, priorities and failures of
            links are not supported.

    """
    connections = _Matrix(path).read(read_text(path), _LATEST_START[start_unit])
    rows = [
        {
            "from": host.format(each.source),
            "to": host.format(each.destination),
            "message": f"{each.size} B",
            **({"start": f"{each.start} {start_unit}"} if each.start else {}),
        }
        for each in connections
    ]
    return [{"name": name, "traffic": {"batch": {"count": 1}}, "connections": rows}]


class _Matrix:
    """A connection matrix while it is read."""

    def __init__(self, file: str | PathLike[str]) -> None:
        self.mistakes = Mistakes(file)
        self.add = self.mistakes.add

    def read(self, text: str, latest: int) -> list[_Connection]:
        lines = [(n, line.split()) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        nodes = self.header(lines, 0, "Nodes")
        count = self.header(lines, 1, "Connections")
        found = 0
        connections = []
        ids: dict[int, int] = {}
        for line, words in lines[2:]:
            if not _PAIR.fullmatch(words[0]):
                self.other(line, words)
                continue
            found += 1
            connection = self.connection(line, words, nodes, latest)
            if connection is None:
                continue
            connections.append(connection)
            self.check_id(line, connection.number, ids)
        if count is not None and found != count:
            self.add(lines[1][0], "Connections", str(count), f"but {found} follow", str(found))
        self.mistakes.check()
        return connections

    def header(self, lines: list[tuple[int, list[str]]], place: int, key: str) -> int | None:
        line, words = lines[place] if place < len(lines) else (len(lines) + 1, [])
        if len(words) == 2 and words[0] == key and re.fullmatch(r"0*[1-9]\d{0,17}", words[1]):
            return int(words[1])
        which = ("first", "second")[place]
        self.add(line, key, " ".join(words), f"bad header, the {which} line is `{key} N`", "N at least 1")
        return None

    def other(self, line: int, words: list[str]) -> None:
        """Note a line that is no connection."""
        if words[0] in ("Triggers", "trigger", "failure", "Failures"):
            self.add(line, words[0], " ".join(words[1:]), "triggers and failures are not supported", "")
        else:
            valid = "a connection such as `0->1 id 1 start 0 size 2000000`"
            self.add(line, words[0], " ".join(words[1:]), "is no connection", valid)

    def connection(self, line: int, words: list[str], nodes: int | None, latest: int) -> _Connection | None:
        before = len(self.mistakes.list)
        pair, *rest = words
        source, destination = map(int, pair.split("->"))
        for number in (source, destination):
            if nodes is not None and number >= nodes:
                self.add(line, pair, "", f"there is no host {number}", f"0 to {nodes - 1}")
        if source == destination:
            self.add(line, pair, "", "a host cannot send to itself", "")
        values = dict(self.fields(line, rest))
        self.check_range(line, values, "start", 0, latest)
        self.check_range(line, values, "size", 1, LARGEST_MESSAGE)
        if len(self.mistakes.list) > before:
            return None
        return _Connection(source, destination, values.get("id"), values["start"], values["size"])

    def fields(self, line: int, words: list[str]) -> Iterator[tuple[str, int]]:
        """Yield the fields of a connection, each once."""
        seen = set()
        for key, value in zip(words[::2], [*words[1::2], ""], strict=False):
            if key in _TRIGGERS:
                self.add(line, key, value, "triggers are not supported: a flow starts at a time", "start")
            elif key not in _FIELDS:
                self.add(line, key, value, "unknown field or not supported", ", ".join(_FIELDS))
            elif key in seen:
                self.add(line, key, value, "is given twice", "")
            elif not re.fullmatch(r"-?\d+", value):
                self.add(line, key, value, "must be a whole number", "")
            elif len(value) > LONGEST:
                self.add(line, key, value, "has too many digits", "")
            else:
                yield key, int(value)
            seen.add(key)
        for key in ("start", "size"):
            if key not in seen and not seen.intersection(_TRIGGERS):
                self.add(line, key, "", "is missing", "")

    def check_range(self, line: int, values: dict[str, int], key: str, low: int, high: int) -> None:
        if key in values and not low <= values[key] <= high:
            self.add(line, key, str(values[key]), f"must be between {low} and {high}", "")

    def check_id(self, line: int, number: int | None, ids: dict[int, int]) -> None:
        if number is None:
            return
        if number in ids:
            self.add(
                line, "id", str(number), f"is the id of line {ids[number]} already", "another id, or none"
            )
        ids.setdefault(number, line)
