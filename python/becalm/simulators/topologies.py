"""Topology files of HPCC's ns-3 and its relatives."""

from __future__ import annotations

import re
from os import PathLike

from becalm.base.mistakes import Mistakes, read_lines
from becalm.simulators.graph import Cable, Graph

FIRST = re.compile(r"\d{1,9}(?:[ \t]+\d{1,9}){2,3}\s*")
"""Nodes, switches and cables; PowerTCP's has the switches of the lowest level before the cables."""
EXPECTED = "`nodes switches cables`, a line with the switches, then lines such as `0 320 100Gbps 1000ns 0`"
MOST = 100_000
"""Maximum number of nodes and of cables."""

_UNITS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_RATE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(?:([kMGT]?)(?:bps|b/s))?")
_DELAY = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(s|ms|us|ns|ps)")
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}


def rate(text: str) -> float | None:
    """Return a rate such as `100Gbps`, `50Mb/s` or `25000000000.0` in b/s; None if it is none."""
    found = _RATE.fullmatch(text)
    return None if found is None else float(found[1]) * _UNITS[found[2] or ""]


def delay(text: str) -> float | None:
    """Return a delay such as `0.001ms` in seconds; None if it is none."""
    found = _DELAY.fullmatch(text)
    return None if found is None else float(found[1]) * _SECONDS[found[2]]


def read(path: str | PathLike[str]) -> Graph:
    """Read a topology: hosts are named `host0`, switches `switch320`, after their numbers.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once, each with its line.

    """
    reader = _Reader(path)
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            reader.line(number, line.split())
    return reader.graph()


class _Reader:
    def __init__(self, path: str | PathLike[str]) -> None:
        self.mistakes = Mistakes(path)
        self.counts: list[int] = []
        """Nodes, switches and cables."""
        self.switches: dict[int, None] = {}
        self.cables: list[Cable] = []
        self.degree: dict[int, int] = {}
        self.several: list[tuple[int, int]] = []
        """Hosts with several cables, and the lines of their second ones."""

    def wrong(self, number: int, value: str, problem: str, valid: str = EXPECTED) -> None:
        self.mistakes.add(number, "", value, problem, valid)

    def line(self, number: int, words: list[str]) -> None:
        if not self.counts:
            self.first(number, words)
        elif len(self.switches) < self.counts[1]:
            self.named(number, words)
        elif len(self.cables) < self.counts[2]:
            self.cable(number, words)

    def first(self, number: int, words: list[str]) -> None:
        if not FIRST.fullmatch(" ".join(words)) or max(map(int, words)) > MOST:
            self.wrong(number, " ".join(words), "is not the first line of a topology")
            self.mistakes.check()
        self.counts = [int(words[0]), int(words[1]), int(words[-1])]
        if not 0 < self.counts[1] < self.counts[0] or not self.counts[2]:
            self.wrong(number, " ".join(words), "has no switches, no hosts or no cables")
            self.mistakes.check()

    def named(self, number: int, words: list[str]) -> None:
        for word in words:
            if not word.isdigit() or len(word) > 9 or int(word) >= self.counts[0]:
                self.wrong(number, word, "is not the number of a switch", f"0 to {self.counts[0] - 1}")
                self.mistakes.check()
            self.switches[int(word)] = None

    def cable(self, number: int, words: list[str]) -> None:
        """Take a cable: its ends, rate, delay and error rate."""
        text = " ".join(words)
        if len(words) != 5 or not all(word.isdigit() and len(word) < 10 for word in words[:2]):
            self.wrong(number, text, "is not a cable", "`source destination rate delay error_rate`")
            self.mistakes.check()
        ends = [int(word) for word in words[:2]]
        fast, late = rate(words[2]), delay(words[3])
        for end in ends:
            if end >= self.counts[0]:
                self.wrong(number, str(end), "is not a node", f"0 to {self.counts[0] - 1}")
            self.degree[end] = self.degree.get(end, 0) + 1
            if end not in self.switches and self.degree[end] == 2:
                self.several.append((number, end))
        if ends[0] == ends[1] or not set(ends) & self.switches.keys():
            self.wrong(number, text, "does not lead to a switch", "cables with a switch at one end or both")
        if not fast:
            self.wrong(number, words[2], "is not a rate", "such as 100Gbps")
        if late is None:
            self.wrong(number, words[3], "is not a delay", "such as 1000ns")
        if not re.fullmatch(r"0*\.?0*", words[4]):
            self.wrong(number, words[4], "is an error rate; becalm's links lose nothing", "0")
        one, two = (self.name(end) for end in ends)
        self.cables.append(Cable((one, two), fast or 1.0, late or 0.0))

    def name(self, node: int) -> str:
        return f"switch{node}" if node in self.switches else f"host{node}"

    def graph(self) -> Graph:
        if not self.counts:
            self.wrong(1, "", "is empty")
        elif len(self.cables) < self.counts[2] and not self.mistakes.list:
            problem = f"has {len(self.cables)} cables, but the first line says {self.counts[2]}"
            self.wrong(1, "", problem, "as many lines as cables")
        if self.several:
            number, host = self.several[0]
            problem = f"is one of {len(self.several)} hosts with several cables"
            self.wrong(number, str(host), problem, "a cable for each host: becalm's hosts have one")
        self.mistakes.check()
        hosts = [node for node in range(self.counts[0]) if node not in self.switches]
        for node in hosts:
            if node not in self.degree:
                self.wrong(1, f"host {node}", "has no cable", "a cable for each host")
        self.mistakes.check()
        switches = sorted(self.switches)
        return Graph([self.name(n) for n in hosts], [self.name(n) for n in switches], self.cables)
