"""Faults of a fabric: missing or uneven cables, cables slower than their peers, unbalanced routes."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from becalm.analysis.formats import counted
from becalm.analysis.parts import local
from becalm.base.quantities import rate_in_words
from becalm.network import Network
from becalm.scenario import Scenario

UNBALANCED = 1.5
"""A link carries too many pairs of hosts if their number is at least this multiple of its peers' mean."""
SEVERAL = 3
"""Minimum number of peers needed to determine the usual value."""

Labels = Mapping[tuple[str, int], str]
"""Human-readable names of links, by node and port."""


class Fault(NamedTuple):
    """A fault of a fabric that can cost throughput whatever the traffic."""

    kind: str
    """`missing cable`, `uneven cables`, `slow cable`, `unbalanced routes`, `credit loop` or `unchecked`."""
    where: str
    what: str


class _Link(NamedTuple):
    """A row of the network's table of links."""

    label: str
    start: str
    to: str
    level: int
    to_level: int
    capacity: float
    """In B/s."""
    pairs: float


def labels(network: Network, numbers: Mapping[tuple[str, int], int] | None = None) -> Labels:
    """Return human-readable names of links.

    Args:
        network: the network of a scenario.
        numbers: the numbers of switch ports on their devices, by node and port.

    """
    found = {}
    for row in network.links.iter_rows(named=True):
        at = row["from"], row["from_port"]
        number = None if numbers is None else numbers.get(at)
        name = row["link"].replace("->", " -> ")
        found[at] = name if number is None else f"{row['from']} port {number} -> {row['to']}"
    return found


def faults(scenario: Scenario, names: Labels | None = None) -> list[Fault]:
    """Return the faults of a fabric, the most serious first.

    Args:
        scenario: any scenario of the fabric. Its flows do not matter.
        names: names of its links; default: names from `labels`.

    """
    network = scenario.network()
    links = _links(network, labels(network) if names is None else names, local(scenario))
    routed = bool(scenario.topology.keys.get("routes"))
    return [*_loops(network), *_slow(links), *_missing(links), *(_routes(links) if routed else ())]


def uneven(scenario: Scenario) -> list[Fault]:
    """Return the switches of a fabric whose cables differ from those of their peers."""
    # These faults name switches, so links need no names.
    return list(_missing(_links(scenario.network(), defaultdict(str), local(scenario))))


def _links(network: Network, names: Labels, apart: set[str]) -> list[_Link]:
    """Return the links that have peers in the fabric: all except those of NVLink."""
    return [
        _Link(
            names[row["from"], row["from_port"]],
            *(row[key] for key in ("from", "to", "from_level", "to_level", "capacity", "pairs")),
        )
        for row in network.links.iter_rows(named=True)
        if row["from"] not in apart
    ]


def usual(values: Iterable[float]) -> float:
    """Return the most frequent value, or the largest of several."""
    counts = Counter(values)
    return max(counts, key=lambda value: (counts[value], value))


def _loops(network: Network) -> Iterator[Fault]:
    found = network.cycle(of_all=True)
    if found:
        yield Fault(
            "credit loop", "routes", f"{', '.join(found)} may each wait for the next, so packets can deadlock"
        )


def _slow(links: list[_Link]) -> Iterator[Fault]:
    """Compare each cable with other cables between the same two levels."""
    peers: dict[tuple[int, int], list[_Link]] = defaultdict(list)
    for link in links:
        if link.level < link.to_level:
            peers[link.level, link.to_level].append(link)
    for cables in peers.values():
        normal = usual(link.capacity for link in cables)
        for link in cables:
            if link.capacity < normal:
                what = f"{rate_in_words(8 * link.capacity)}, while its peers have {rate_in_words(8 * normal)}"
                yield Fault("slow cable", link.label.replace("->", "-"), what)


def _missing(links: list[_Link]) -> Iterator[Fault]:
    """Compare the numbers of cables to a level, and to each switch there, of the switches of one level."""
    by_level: dict[int, dict[str, list[_Link]]] = defaultdict(lambda: defaultdict(list))
    for link in links:
        if link.level > 0:
            by_level[link.level][link.start].append(link)
    for level, switches in sorted(by_level.items()):
        above = {link.to_level for own in switches.values() for link in own if link.to_level > level}
        for higher in sorted(above):
            cables = {
                switch: Counter(link.to for link in own if link.to_level == higher)
                for switch, own in switches.items()
            }
            yield from _missing_to(cables)


def _missing_to(cables: Mapping[str, Counter[str]]) -> Iterator[Fault]:
    normal = usual(count.total() for count in cables.values())
    each = usual(number for count in cables.values() for number in count.values())
    joined = Counter(peer for count in cables.values() for peer in count)
    for switch, count in cables.items():
        doubled = [f"{number} to {peer}" for peer, number in count.items() if number > each]
        if count.total() >= normal and not doubled:
            continue
        # Only here, because each switch is compared with all peers.
        lacking = [
            f"{count[peer]} to {peer}, while {each:g} are usual" if count[peer] else f"none to {peer}"
            for peer, number in joined.items()
            if count[peer] < each and (count[peer] or 2 * number > len(cables))
        ]
        if count.total() >= normal:
            if lacking:
                yield Fault(
                    "uneven cables", switch, f"{'; '.join(lacking[:3])}, but {', '.join(doubled[:3])}"
                )
            continue
        detail = f": {'; '.join(lacking[:3])}" if lacking else ""
        what = (
            f"{counted(count.total(), 'cable')} to the level above, while its peers have {normal:g}{detail}"
        )
        yield Fault("missing cable", switch, what)


def _routes(links: list[_Link]) -> Iterator[Fault]:
    """Compare each switch's links to the same level, which should carry equal numbers of host pairs."""
    if any(math.isnan(link.pairs) for link in links):
        yield Fault("unchecked", "routes", "too many host pairs to follow, so the balance is unknown")
        return
    by_switch: dict[tuple[str, int], list[_Link]] = defaultdict(list)
    for link in links:
        if link.level > 0 and link.to_level >= link.level:
            by_switch[link.start, link.to_level].append(link)
    for peers in by_switch.values():
        mean = sum(link.pairs for link in peers) / len(peers)
        most, least = max(peers, key=lambda link: link.pairs), min(link.pairs for link in peers)
        if len(peers) >= SEVERAL and most.pairs >= UNBALANCED * mean and mean > 0:
            up = f"the switch's {len(peers)} uplinks carry {mean:.0f} on average, the least used {least:.0f}"
            yield Fault("unbalanced routes", most.label, f"{most.pairs:.0f} pairs of hosts; {up}")
