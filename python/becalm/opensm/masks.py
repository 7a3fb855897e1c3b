"""Masks of ports; OpenSM has one mask for all switches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from becalm.base.mistakes import Mistakes
from becalm.opensm.fabric import Fabric
from becalm.scenario import Scenario

PORTS = range(1, 255)
"""Ports that a mask may name: 0 is the switch itself, 255 is reserved."""


def mask(ports: Iterable[int]) -> str:
    """Return the mask of ports, 256 bits: bit n for port n."""
    return f"0x{sum(1 << port for port in ports):064X}"


class PortNumbers:
    """The numbers of ports in a fabric, for the masks of a scenario that was imported from it.

    Args:
        scenario: the scenario, which numbers ports in its own way.
        fabric: the fabric; without it a mask has no port or all ports.

    """

    def __init__(self, scenario: Scenario, fabric: Fabric | None) -> None:
        self.scenario = scenario
        self.fabric = fabric

    def of(self, key: str, word: str, mistakes: Mistakes) -> frozenset[int]:
        """Return the ports of a mask; note an error if they differ between switches.

        Args:
            key: dotted key of the mask in the scenario.
            word: its value there: none, all or host_ports.
            mistakes: receives the error.

        """
        if word == "none":
            return frozenset()
        if word == "all":
            return frozenset(PORTS)
        if self.fabric is None:
            problem = "needs the numbers of the ports, which a scenario does not have"
            mistakes.add(None, key, word, problem, "with --fabric and the output of ibnetdiscover")
            return frozenset()
        check_fabric(self.scenario, self.fabric, mistakes)
        by_switch = {
            switch.name: frozenset(port for port, peer in switch.ports.items() if peer.is_host)
            for switch in self.fabric.switches
        }
        (first, ports), *others = ((name, ports) for name, ports in by_switch.items() if ports)
        for name, other in others:
            if other != ports:
                where = f"hosts are at ports {_listed(ports)} of {first} and {_listed(other)} of {name}"
                problem = f"OpenSM has one mask for all switches, but {where}"
                mistakes.add(None, key, word, problem, "none or all")
                break
        return ports


def check_fabric(scenario: Scenario, fabric: Fabric, mistakes: Mistakes) -> None:
    """Note an error if the scenario was imported from another fabric.

    A scenario with a list of cables must have the fabric's cables, between nodes of the same names; for any
    other scenario the numbers of hosts and switches are compared.
    """
    facts = scenario.summary
    ours, theirs = (facts["hosts"], facts["switches"]), (len(fabric.hosts), len(fabric.switches))
    valid = "the fabric that the scenario was imported from"
    if ours != theirs:
        problem = f"has {theirs[0]} hosts and {theirs[1]} switches, the scenario {ours[0]} and {ours[1]}"
        mistakes.add(None, fabric.file, "", problem, valid)
        return
    edges = scenario.topology.get("edges")
    if edges is None:
        return
    listed = Counter(tuple(sorted(cable["between"])) for cable in edges["cables"])
    found = Counter(tuple(sorted(map(fabric.name, cable.ends))) for cable in fabric.cables)
    for word, cables in (("has", found - listed), ("does not have", listed - found)):
        if cables:
            one, other = min(cables)
            more = f", and {cables.total() - 1} more" if cables.total() > 1 else ""
            problem = f"{word} a cable from {one} to {other}{more}; the scenario describes another fabric"
            mistakes.add(None, fabric.file, "", problem, valid)
            return


def _listed(ports: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(ports)))
