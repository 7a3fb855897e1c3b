"""Networks of other simulators: hosts, switches and cables, with round-trip times and TOML."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from becalm.base.quantities import rate_in_words
from becalm.opensm.names import natural, ranges


class Cable(NamedTuple):
    """A cable between two nodes."""

    ends: tuple[str, str]
    rate: float
    """b/s."""
    delay: float
    """Seconds."""


@dataclass
class Graph:
    """A network."""

    hosts: list[str]
    switches: list[str]
    cables: list[Cable] = field(default_factory=list)

    @cached_property
    def near(self) -> Mapping[str, list[tuple[str, Cable]]]:
        """The neighbours of each node, and the cables to them."""
        found: dict[str, list[tuple[str, Cable]]] = {name: [] for name in (*self.hosts, *self.switches)}
        for cable in self.cables:
            one, two = cable.ends
            found[one].append((two, cable))
            found[two].append((one, cable))
        return found

    @cached_property
    def leaves(self) -> dict[str, tuple[str, Cable]]:
        """The switch of each host, and the cable to it."""
        return {host: self.near[host][0] for host in self.hosts}

    def fastest_host(self) -> float:
        """Return the rate of the fastest adapter, in b/s."""
        return max(cable.rate for _, cable in self.leaves.values())

    def several_paths(self) -> bool:
        """Whether a switch has several ports on shortest paths to a host."""
        return any(
            len([1 for other, _ in self.near[node] if far.get(other, math.inf) == far[node] - 1]) > 1
            for far in (self._distances(leaf) for leaf in {leaf for leaf, _ in self.leaves.values()})
            for node in far
        )

    def _distances(self, target: str) -> dict[str, int]:
        """Return the distance of each switch to a switch, in cables."""
        far, waiting, switches = {target: 0}, [target], set(self.switches)
        for node in waiting:
            for other, _ in self.near[node]:
                if other in switches and other not in far:
                    far[other] = far[node] + 1
                    waiting.append(other)
        return far

    def longest_round_trip(self, payload: int) -> float:
        """Return the longest base round trip of a packet between two hosts, as HPCC's ns-3 counts it.

        It has all delays in both directions, and the times to send the payload in one direction.
        """
        costs: dict[str, float] = {}
        for leaf, cable in self.leaves.values():
            costs[leaf] = max(costs.get(leaf, 0.0), _cost(cable, payload))
        longest = 0.0
        for leaf, own in costs.items():
            far = self._costs(leaf, payload)
            others = (far[other] + cost for other, cost in costs.items() if other in far and other != leaf)
            longest = max(longest, own + max(others, default=own))
        return longest

    def _costs(self, target: str, payload: int) -> dict[str, float]:
        """Return the largest costs of the shortest paths from each switch to a switch."""
        far = self._distances(target)
        costs = {target: 0.0}
        for node in list(far)[1:]:
            costs[node] = max(
                costs[other] + _cost(cable, payload)
                for other, cable in self.near[node]
                if far.get(other, math.inf) == far[node] - 1
            )
        return costs

    def toml(self) -> Iterator[str]:
        """Yield `[topology.edges]`."""
        ((rate, delay), _), *_ = Counter((each.rate, each.delay) for each in self.cables).most_common(1)
        yield "[topology.edges]"
        yield f"hosts = [{_listed(self.hosts)}]"
        yield f"switches = [{_listed(self.switches)}]"
        yield f'rate = "{rate_in_words(rate)}"'
        yield f'delay = "{delay * 1e9:.9g} ns"'
        yield "cables = ["
        for cable in self.cables:
            fast = f', rate = "{rate_in_words(cable.rate)}"' if cable.rate != rate else ""
            late = f', delay = "{cable.delay * 1e9:.9g} ns"' if cable.delay != delay else ""
            between = ", ".join(f'"{end}"' for end in cable.ends)
            yield f"    {{ between = [{between}]{fast}{late} }},"
        yield "]"


def _cost(cable: Cable, payload: int) -> float:
    return 2 * cable.delay + 8 * payload / cable.rate


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{each}"' for each in ranges(sorted(names, key=natural)))
