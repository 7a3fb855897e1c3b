"""Faults of a fabric: cables that are missing or slow beside those of their peers, routes out of balance."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from becalm.opensm.importing import circle
from becalm.opensm.rates import in_words
from becalm.scenario import Scenario
from becalm.whatif.network import Network, usual

UNBALANCED = 1.5
"""A link has too many pairs of hosts from this multiple of its peers' mean on."""
MOST_STEPS = 20_000_000
"""Steps from switch to switch that are followed, at most, to count the pairs of hosts on each link."""
SEVERAL = 3
"""Fewest peers whose majority defines the usual value."""


class Fault(NamedTuple):
    """A property of a fabric that costs throughput under any traffic."""

    kind: str
    """`missing cable`, `slow cable`, `unbalanced routes`, `credit loop` or `unchecked`."""
    where: str
    what: str


def faults(scenario: Scenario, network: Network) -> list[Fault]:
    """Look for faults of a fabric; the gravest first.

    Args:
        scenario: the one of the network.
        network: its cables and routes.

    """
    return [
        *_loops(scenario, network),
        *_slow(network),
        *_missing(network),
        *_routes(network),
    ]


def _loops(scenario: Scenario, network: Network) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for host in network.hosts:
        first.setdefault(network.ports[host][0].peer, host)
    topology = scenario.data()["topology"]
    topology["edges"]["allow_cycles"] = False
    # Packets of all hosts of a switch take the same way from there: one host represents all.
    flows = [{"name": "all", "from": list(first.values()), "to": ["*"]}]
    found = circle({"run": {"duration": "1 us"}, "topology": topology, "flows": flows})
    if found is not None:
        yield Fault("credit loop", "routes", found)


def _kind(network: Network, node: str) -> int:
    """Return the level of a switch; 0 for hosts."""
    return 0 if node in network.known else network.levels.get(node, -1)


def _slow(network: Network) -> Iterator[Fault]:
    """Compare each cable with the others between the same two levels."""
    peers: dict[tuple[int, int], list[tuple[str, int, str, float]]] = defaultdict(list)
    for node in (*network.hosts, *network.switches):
        for place, port in enumerate(network.ports[node]):
            levels = _kind(network, node), _kind(network, port.peer)
            if levels[0] < levels[1]:
                peers[levels].append((node, place, port.peer, port.rate))
    for cables in peers.values():
        normal = usual(rate for *_, rate in cables)
        for node, place, peer, rate in cables:
            if rate < normal:
                what = f"{in_words(rate)}, where its peers have {in_words(normal)}"
                yield Fault("slow cable", network.link(node, place, peer).replace("->", "-"), what)


def _missing(network: Network) -> Iterator[Fault]:
    """Compare the cables of each switch to switches of a level with those of the others of its own level."""
    by_level: dict[int, list[str]] = defaultdict(list)
    for switch in network.switches:
        by_level[_kind(network, switch)].append(switch)
    for switches in by_level.values():
        for level in sorted({_kind(network, port.peer) for name in switches for port in network.ports[name]}):
            if level > _kind(network, switches[0]):
                yield from _missing_to(network, switches, level)


def _missing_to(network: Network, switches: list[str], level: int) -> Iterator[Fault]:
    cables = {
        switch: Counter(port.peer for port in network.ports[switch] if _kind(network, port.peer) == level)
        for switch in switches
    }
    normal = usual(count.total() for count in cables.values())
    each = usual(number for count in cables.values() for number in count.values())
    joined = Counter(peer for count in cables.values() for peer in count)
    for switch, count in cables.items():
        if count.total() >= normal:
            continue
        lacking = [
            f"{count[peer]} to {peer}, where {each:g} are usual" if count[peer] else f"none to {peer}"
            for peer, number in joined.items()
            if count[peer] < each and (count[peer] or 2 * number > len(switches))
        ]
        detail = f": {'; '.join(lacking[:3])}" if lacking else ""
        what = f"{count.total()} cables to the level above, where its peers have {normal:g}{detail}"
        yield Fault("missing cable", switch, what)


def _routes(network: Network) -> Iterator[Fault]:
    if not network.routes:
        return
    leaves = Counter(network.ports[host][0].peer for host in network.hosts)
    if len(leaves) * len(network.hosts) * max(network.levels.values(), default=1) * 2 > MOST_STEPS:
        yield Fault("unchecked", "routes", "too many pairs of hosts to follow; their balance is unknown")
        return
    pairs: Counter[tuple[str, int]] = Counter()
    for leaf, sources in leaves.items():
        for host in network.hosts:
            without = _walk(network, leaf, host, sources, pairs)
            if without is not None:
                what = (
                    f"{without} has none for {host}: packets take a shortest path, and the balance is unknown"
                )
                yield Fault("unchecked", "routes", what)
                return
    yield from _unbalanced(network, pairs)


def _walk(
    network: Network, leaf: str, host: str, sources: int, pairs: Counter[tuple[str, int]]
) -> str | None:
    """Count the pairs of hosts on the links from a switch to a host.

    Return the switch that has no route there, if there is one. A scenario has no routes in a circle.
    """
    switch = leaf
    while all(port.peer != host for port in network.ports[switch]):
        port = network.routes.get(switch, {}).get(host)
        if port is None:
            return switch
        pairs[switch, port] += sources
        switch = network.ports[switch][port].peer
    return None


def _unbalanced(network: Network, pairs: Counter[tuple[str, int]]) -> Iterator[Fault]:
    """Compare the links of each switch to the same level: as many pairs of hosts should use each."""
    for switch in network.switches:
        by_level: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for place, port in enumerate(network.ports[switch]):
            if port.peer not in network.known:
                by_level[_kind(network, port.peer)].append((pairs[switch, place], place))
        for level, links in by_level.items():
            mean = sum(number for number, _ in links) / len(links)
            most, place = max(links)
            if len(links) < SEVERAL or level < _kind(network, switch) or most < UNBALANCED * mean:
                continue
            where = network.link(switch, place, network.ports[switch][place].peer)
            least = min(links)[0]
            up = f"{len(links)} links up have {mean:.0f} on average, {least} at least"
            what = f"{most} pairs of hosts, where {up}"
            yield Fault("unbalanced routes", where, what)
