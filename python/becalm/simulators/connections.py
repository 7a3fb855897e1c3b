"""Connection matrices of htsim as flows or as a job of a scenario."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from os import PathLike
from typing import Any, Literal, NamedTuple

from becalm.base.mistakes import Mistakes, read_text

LARGEST_MESSAGE = 1 << 40
"""Maximum size of a scenario's messages in bytes."""
LONGEST = 18
"""Maximum number of digits of a number in a connection."""
_LATEST_START = {"ps": 10**12 * 86_400, "us": 10**6 * 86_400}
_NANOSECONDS = {"ps": Fraction(1, 1000), "us": Fraction(1000)}
_PAIR = re.compile(r"(\d{1,18})->(\d{1,18})")
_TRIGGER = re.compile(r"trigger id (\d{1,18}) (oneshot|multishot|barrier)(?: count (\d{1,9}))?")
_HEADERS = ("Nodes", "Connections", "Triggers", "Failures")
_NUMBERS = ("id", "size", "trigger", "send_done_trigger", "recv_done_trigger")
_FIELDS = ("id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger")
_NONE = "hosts know only their own messages"


class _Connection(NamedTuple):
    line: int
    source: int
    destination: int
    number: int | None
    start: Fraction | None
    """Start as written in the file; None if a trigger starts it."""
    size: int
    """Size in bytes; 0 for an endless connection."""
    trigger: int | None
    fires: tuple[int, ...]
    """Triggers that fire when the connection ends."""


def read_connection_matrix(
    path: str | PathLike[str],
    *,
    name: str = "connections",
    host: str = "H{}",
    start_unit: Literal["ps", "us"] = "ps",
) -> list[dict[str, Any]]:
    """Read an htsim connection matrix, with lines such as `103->32 id 1 start 0 size 2000000`.

    Every connection becomes a separate flow that sends one message, or sends endlessly if its size is 0.

    Args:
        path: the file.
        name: name of the group of flows; endless flows form a group `NAME_endless`.
        host: name of host number `{}` in the scenario, as given by its topology.
        start_unit: unit of a start: `ps`, as in htsim's RoCE, NDP and EQDS programs, or `us`, as in its UEC
            program for connections that are messages.

    Returns:
        A list of groups for `flows` of a scenario.

    Raises:
        FileNotFoundError: the file does not exist.
        ScenarioError: the file is invalid; the error lists all mistakes with their lines. For connections
            that triggers start, use `read_connection_job`. Priorities and link failures are not supported.

    """
    matrix = _Matrix(path)
    connections = matrix.read(read_text(path), _LATEST_START[start_unit])
    for each in connections:
        if each.start is None:
            problem = "a flow must have a start time; becalm.read_connection_job reads triggers"
            matrix.add(each.line, "trigger", str(each.trigger), problem, "start")
    matrix.mistakes.check()
    groups: list[dict[str, Any]] = []
    for group, traffic, chosen in (
        (name, {"batch": {"count": 1}}, [each for each in connections if each.size]),
        (f"{name}_endless", {"greedy": {}}, [each for each in connections if not each.size]),
    ):
        rows = [
            {
                "from": host.format(each.source),
                "to": host.format(each.destination),
                **({"message": f"{each.size} B"} if each.size else {}),
                **({"start": f"{_shown(each.start)} {start_unit}"} if each.start else {}),
            }
            for each in chosen
        ]
        if rows:
            groups.append({"name": group, "traffic": traffic, "connections": rows})
    return groups


def read_connection_job(
    path: str | PathLike[str],
    *,
    name: str = "connections",
    host: str = "H{}",
    start_unit: Literal["ps", "us"] = "ps",
) -> list[dict[str, Any]]:
    """Read an htsim connection matrix as a job, whose messages can wait for others through triggers.

    A trigger fires at both ends of a flow: at its source when the last packet has left, and at its
    destination when that packet has arrived. It starts flows of that host. (htsim waits for the last
    acknowledgement.) With a `multishot`, the first flow in the file that fires the trigger starts the first
    flow that waits for it.

    Args:
        path: the file.
        name: name of the job.
        host: name of host number `{}` in the scenario, as given by its topology.
        start_unit: unit of a start, as for `read_connection_matrix`; starts are rounded to nanoseconds.

    Returns:
        A list of one job for `jobs` of a scenario.

    Raises:
        FileNotFoundError: the file does not exist.
        ScenarioError: the file is invalid; the error lists all mistakes with their lines.

    """
    matrix = _Matrix(path)
    connections = matrix.read(read_text(path), _LATEST_START[start_unit])
    text, hosts = _Schedule(matrix, connections, _NANOSECONDS[start_unit]).text()
    matrix.mistakes.check()
    return [
        {
            "name": name,
            "hosts": [host.format(each) for each in hosts],
            "placement": "list",
            "goal": {"text": text},
        }
    ]


class _Matrix:
    """Reads a connection matrix."""

    def __init__(self, file: str | PathLike[str]) -> None:
        self.mistakes = Mistakes(file)
        self.add = self.mistakes.add
        self.headers: dict[str, tuple[int, int]] = {}
        """By name: the number, and the line."""
        self.triggers: dict[int, tuple[str, int, int]] = {}
        """By id: the kind, how often it is fired before it does anything, and the line."""

    def read(self, text: str, latest: int) -> list[_Connection]:
        lines = [(n, line.split()) for n, line in enumerate(text.splitlines(), 1)]
        lines = [(n, words) for n, words in lines if words and not words[0].startswith("#")]
        rest = [(n, words) for n, words in lines if not self.header(n, words)]
        for key in _HEADERS[:2]:
            if key not in self.headers:
                self.add(None, key, "", f"is missing: the file must begin with `{key} N`", "N at least 1")
        nodes = max(0, self.headers.get("Nodes", (0, 0))[0]) or None
        pairs = [(n, words) for n, words in rest if _PAIR.fullmatch(words[0])]
        for line, words in rest:
            if not _PAIR.fullmatch(words[0]):
                self.other(line, words)
        ids: dict[int, int] = {}
        connections = []
        for line, words in pairs:
            connection = self.connection(line, words, nodes, latest)
            if connection is not None:
                connections.append(connection)
                self.check_id(line, connection.number, ids)
        for key, found in (("Connections", len(pairs)), ("Triggers", len(self.triggers))):
            count, line = self.headers.get(key, (found, 0))
            if count != found:
                self.add(line, key, str(count), f"but {found} follow", str(found))
        self.mistakes.check()
        return connections

    def header(self, line: int, words: list[str]) -> bool:
        key = words[0]
        if key not in _HEADERS:
            return False
        least = 1 if key == "Nodes" else 0
        number = int(words[1]) if len(words) == 2 and re.fullmatch(r"\d{1,18}", words[1]) else -1
        if number < least:
            self.add(line, key, " ".join(words[1:]), f"bad header: must be `{key} N`", f"N at least {least}")
        elif key in self.headers:
            self.add(line, key, words[1], f"already exists in line {self.headers[key][1]}")
        elif key == "Failures" and number:
            self.add(line, key, words[1], "failures of links are not supported", "0")
        self.headers.setdefault(key, (number, line))
        return True

    def other(self, line: int, words: list[str]) -> None:
        """Read a line that is not a connection: a trigger."""
        if words[0] == "failure":
            self.add(line, words[0], " ".join(words[1:]), "failures of links are not supported")
            return
        found = _TRIGGER.fullmatch(" ".join(words))
        if found is None:
            valid = (
                "a connection such as `0->1 id 1 start 0 size 2000000`, "
                "or a trigger such as `trigger id 1 oneshot`"
            )
            self.add(line, words[0], " ".join(words[1:]), "is neither a connection nor a trigger", valid)
            return
        number, kind, count = int(found[1]), found[2], int(found[3] or 1)
        if number in self.triggers:
            self.add(line, "trigger id", str(number), f"already exists in line {self.triggers[number][2]}")
        self.triggers[number] = (kind, count, line)

    def connection(self, line: int, words: list[str], nodes: int | None, latest: int) -> _Connection | None:
        before = len(self.mistakes.list)
        pair, *rest = words
        source, destination = map(int, pair.split("->"))
        for number in (source, destination):
            if nodes is not None and number >= nodes:
                self.add(line, pair, "", f"there is no host {number}", f"0 to {nodes - 1}")
        if source == destination:
            self.add(line, pair, "", "a host cannot send to itself")
        values = dict(self.fields(line, rest))
        self.check_range(line, values, "start", 0, latest)
        self.check_range(line, values, "size", 0, LARGEST_MESSAGE)
        if len(self.mistakes.list) > before:
            return None
        fires = [int(values[key]) for key in _NUMBERS[3:] if key in values]
        trigger = int(values["trigger"]) if "trigger" in values else None
        own = int(values["id"]) if "id" in values else None
        size = int(values["size"])
        return _Connection(line, source, destination, own, values.get("start"), size, trigger, tuple(fires))

    def fields(self, line: int, words: list[str]) -> Iterator[tuple[str, Fraction]]:
        """Yield each field of a connection once."""
        seen = set()
        for key, value in zip(words[::2], [*words[1::2], ""], strict=False):
            # htsim accepts a decimal number as a start.
            form, what = (r"-?\d+(\.\d*)?", "a number") if key == "start" else (r"-?\d+", "a whole number")
            if key not in _FIELDS:
                self.add(line, key, value, "unknown field or not supported", ", ".join(_FIELDS))
            elif key in seen:
                self.add(line, key, value, "is given twice")
            elif not re.fullmatch(form, value):
                self.add(line, key, value, f"must be {what}")
            elif len(value) > LONGEST:
                self.add(line, key, value, "has too many digits")
            else:
                yield key, Fraction(value)
            seen.add(key)
        if "size" not in seen:
            self.add(line, "size", "", "is missing")
        if {"start", "trigger"} <= seen:
            problem = "a flow with a trigger starts when the trigger fires"
            self.add(line, "start", "", problem, "one of the two")
        if not seen & {"start", "trigger"}:
            self.add(line, "start", "", "is missing")

    def check_range(self, line: int, values: dict[str, Fraction], key: str, low: int, high: int) -> None:
        if key in values and not low <= values[key] <= high:
            self.add(line, key, _shown(values[key]), f"must be between {low} and {high}")

    def check_id(self, line: int, number: int | None, ids: dict[int, int]) -> None:
        if number is None:
            return
        if number in ids:
            self.add(line, "id", str(number), f"is already used in line {ids[number]}", "another id, or none")
        ids.setdefault(number, line)


class _Schedule:
    """A GOAL schedule of connections. Each is a send and a receive, which other connections may wait for."""

    def __init__(self, matrix: _Matrix, connections: list[_Connection], unit: Fraction) -> None:
        self.add = matrix.add
        self.triggers = matrix.triggers
        self.connections = connections
        self.unit = unit
        self.firing: dict[int, list[int]] = {}
        """By trigger: the connections whose ends fire it, in order."""
        self.started: dict[int, list[int]] = {}
        """By trigger: the connections that it starts."""
        for at, each in enumerate(connections):
            for number in each.fires:
                self.firing.setdefault(number, []).append(at)
            if each.trigger is not None:
                self.started.setdefault(each.trigger, []).append(at)

    def text(self) -> tuple[str, list[int]]:
        """Return the schedule, and the hosts of its ranks."""
        hosts = sorted({host for each in self.connections for host in (each.source, each.destination)})
        rank = {host: number for number, host in enumerate(hosts)}
        lines: dict[int, list[str]] = {host: [] for host in hosts}
        for at, each in enumerate(self.connections):
            if each.size == 0:
                self.add(each.line, "size", "0", "an endless flow cannot be part of a job", "at least 1")
            lines[each.source].append(f"s{at}: send {each.size}b to {rank[each.destination]} tag {at}")
            lines[each.destination].append(f"r{at}: recv {each.size}b from {rank[each.source]} tag {at}")
        for host in hosts:
            lines[host] += self.clock(host)
        for number in sorted({*self.firing, *self.started, *self.triggers}):
            for target, earlier in self.waits(number):
                source = self.connections[target].source
                end = f"s{earlier}" if self.connections[earlier].source == source else f"r{earlier}"
                lines[source].append(f"s{target} requires {end}")
        ranks = (f"rank {rank[host]} {{\n" + "\n".join(lines[host]) + "\n}\n" for host in hosts)
        return f"num_ranks {len(hosts)}\n" + "".join(ranks), hosts

    def clock(self, host: int) -> Iterator[str]:
        """Yield the starts of a host's flows as a sequence of computations."""
        starts = [
            (round(each.start * self.unit), at)
            for at, each in enumerate(self.connections)
            if each.source == host and each.start
        ]
        now, last = 0, None
        for start, at in sorted(starts):
            if start > now:
                label = f"t{at}"
                yield f"{label}: calc {start - now}"
                if last is not None:
                    yield f"{label} requires {last}"
                now, last = start, label
            if last is not None:
                yield f"s{at} requires {last}"

    def waits(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield the connections that a trigger starts, each with the connection whose end it waits for."""
        kind, count, line = self.triggers.get(number, ("", 0, None))
        firing, started = self.firing.get(number, []), self.started.get(number, [])
        if not kind:
            first = self.connections[[*firing, *started][0]]
            self.add(first.line, "trigger", str(number), "does not exist")
            return
        needed = {"oneshot": 1, "barrier": count, "multishot": len(started)}[kind]
        enough = len(firing) >= needed if kind == "multishot" else len(firing) == needed
        if started and not enough:
            problem = f"is fired by {len(firing)} flows"
            self.add(line, f"trigger id {number}", kind, problem, str(needed))
            return
        pairs = zip(started, firing, strict=False) if kind == "multishot" else product(started, firing)
        for target, earlier in pairs:
            source = self.connections[target].source
            ends = self.connections[earlier]
            if source not in (ends.source, ends.destination):
                problem = (
                    f"starts a flow of host {source}, but {ends.source}->{ends.destination} fires it: {_NONE}"
                )
                self.add(line, f"trigger id {number}", "", problem)
                continue
            yield target, earlier


def _shown(number: Fraction | None) -> str:
    """Return a number as text, without decimals if it is whole."""
    number = number or Fraction(0)
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.6f}".rstrip("0")
