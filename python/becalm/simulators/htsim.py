"""Topologies of htsim (.topo): trees of two or three tiers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike

from becalm.base.errors import ScenarioError
from becalm.base.mistakes import Mistakes, read_lines
from becalm.simulators.graph import Cable, Graph

SIGN = re.compile(r"^Nodes \d+\s*\nTiers \d+", re.MULTILINE | re.IGNORECASE)
_TIER = (
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "downlink_latency_ns",
    "switch_latency_ns",
    "bundle",
)
_OTHER = ("oversubscribed", "queue_up", "queue_down")
"""Keys that becalm does not need: they follow from others, or are sizes of queues."""
MOST = 100_000


@dataclass
class Tree:
    """A tree, as its file has it."""

    nodes: int = 0
    tiers: int = 0
    podsize: int = 0
    values: list[dict[str, int]] = field(default_factory=list)
    """Values of each tier, from the hosts up."""

    def get(self, tier: int, key: str, default: int = 0) -> int:
        """Return a value of a tier."""
        return self.values[tier].get(key, default)

    @property
    def latency(self) -> int:
        """The longest latency of a switch, in ns."""
        return max(each.get("switch_latency_ns", 0) for each in self.values)


def read(path: str | PathLike[str]) -> tuple[Tree, Graph]:
    """Read a topology of htsim.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: with all mistakes at once; or numbers that make no tree.

    """
    tree, mistakes = Tree(), Mistakes(path)
    for number, line in enumerate(read_lines(path), 1):
        words = line.partition("#")[0].lower().split()
        if words:
            _take(tree, number, words, mistakes)
    mistakes.check()
    if tree.tiers not in (2, 3) or len(tree.values) != tree.tiers or not tree.nodes:
        problem = "needs Nodes, Tiers 2 or 3, and that many tiers"
        raise ScenarioError(f"{path}: {problem}", str(path))
    for key in ("downlink_speed_gbps", "radix_down"):
        for tier in range(tree.tiers):
            if not tree.get(tier, key):
                mistakes.add(None, f"Tier {tier}", key, "is missing", "a positive number")
    mistakes.check()
    return tree, _Builder(tree, str(path)).graph()


def _take(tree: Tree, number: int, words: list[str], mistakes: Mistakes) -> None:
    key = words[0]
    if key in _OTHER:
        return
    value = words[1] if len(words) == 2 and re.fullmatch(r"\d{1,9}", words[1]) else None
    if value is None or int(value) > 1_000_000_000:
        mistakes.add(number, key, " ".join(words[1:]), "is not a whole number", "such as 16")
    elif key in ("nodes", "tiers", "podsize"):
        setattr(tree, key, int(value))
        if key == "nodes" and int(value) > MOST:
            mistakes.add(number, key, value, "is too large", f"at most {MOST}")
    elif key == "tier":
        if int(value) != len(tree.values):
            mistakes.add(number, key, value, "is out of order", str(len(tree.values)))
        tree.values.append({})
    elif key in _TIER and tree.values:
        tree.values[-1][key] = int(value)
    else:
        known = ", ".join(("Nodes", "Tiers", "Podsize", "Tier", *(each.title() for each in _TIER)))
        mistakes.add(number, words[0], value, "is unknown", known)


class _Builder:
    def __init__(self, tree: Tree, file: str) -> None:
        self.tree, self.file = tree, file
        self.tors = self.share("Nodes by Radix_Down of tier 0", tree.nodes, tree.get(0, "radix_down"))
        bundle = tree.get(1, "bundle", 1)
        up = tree.get(0, "radix_up")
        self.spines = self.share("Radix_Up of tier 0 by Bundle of tier 1", up, bundle)
        """Switches of the middle tier that each leaf has cables to."""

    def share(self, what: str, number: int, by: int) -> int:
        if not by or not number or number % by:
            raise ScenarioError(f"{self.file}: {what}: {number} / {by} is not a whole number", self.file)
        return number // by

    def graph(self) -> Graph:
        tree = self.tree
        hosts = [f"host{i}" for i in range(tree.nodes)]
        down = tree.get(0, "radix_down")
        cables = [self.cable(0, f"tor{i // down}", host) for i, host in enumerate(hosts)]
        cables += self.middle() if tree.tiers == 3 else self.joined(1, range(self.tors), range(self.spines))
        if len(cables) > MOST:
            raise ScenarioError(f"{self.file}: has more than {MOST} cables", self.file)
        names = dict.fromkeys(end for cable in cables for end in cable.ends)
        return Graph(hosts, [name for name in names if not name.startswith("host")], cables)

    def cable(self, tier: int, upper: str, lower: str) -> Cable:
        tree = self.tree
        speed = tree.get(tier, "downlink_speed_gbps") * 1e9
        return Cable((lower, upper), speed, tree.get(tier, "downlink_latency_ns") * 1e-9)

    def joined(self, tier: int, lower: range, upper: range) -> list[Cable]:
        """Return cables from all switches of a tier to all of the next one, several if they are bundled."""
        names = ("tor", "agg", "core")
        return [
            self.cable(tier, f"{names[tier]}{above}", f"{names[tier - 1]}{below}")
            for below in lower
            for above in upper
            for _ in range(self.tree.get(tier, "bundle", 1))
        ]

    def middle(self) -> list[Cable]:
        tree = self.tree
        pods = self.share("Nodes by Podsize", tree.nodes, tree.podsize)
        tors = self.share("leaves by pods", self.tors, pods)
        bundle = tree.get(2, "bundle", 1)
        cores = self.share("Radix_Up of tier 1 by Bundle of tier 2", tree.get(1, "radix_up"), bundle)
        return list(self.pods(pods, tors, cores))

    def pods(self, pods: int, tors: int, cores: int) -> Iterator[Cable]:
        for pod in range(pods):
            aggs = range(pod * self.spines, (pod + 1) * self.spines)
            yield from self.joined(1, range(pod * tors, (pod + 1) * tors), aggs)
            for place, agg in enumerate(aggs):
                yield from self.joined(2, range(agg, agg + 1), range(place * cores, (place + 1) * cores))
