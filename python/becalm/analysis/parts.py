"""Parts of a network that no cable connects, such as planes, rails without spine switches, and NVLink."""

from __future__ import annotations

import re
from collections import defaultdict

from becalm.network import Network
from becalm.scenario import Scenario

_RAIL_PORT = re.compile(r"N\d+V\d+")
"""Names of the NVLink ports of `topology.rail`."""


def parts(network: Network) -> list[list[str]]:
    """Return the hosts of each part of a network, the largest part first, in the order of the hosts."""
    near: dict[str, list[str]] = defaultdict(list)
    for one, two in network.links.select("from", "to").iter_rows():
        near[one].append(two)
    part: dict[str, int] = {}
    for number, host in enumerate(network.hosts):
        waiting = [] if host in part else [host]
        while waiting:
            node = waiting.pop()
            if node not in part:
                part[node] = number
                waiting += near[node]
    found: dict[int, list[str]] = defaultdict(list)
    for host in network.hosts:
        found[part[host]].append(host)
    return sorted(found.values(), key=len, reverse=True)


def local(scenario: Scenario) -> set[str]:
    """Return the NVLink ports and switches of a scenario's nodes."""
    names = [name for node in scenario.resolved["nodes"] for name in node["local"]]
    ports = set(scenario.hosts(*names)) if names else set()
    if scenario.topology.name == "rail":
        ports = {host for host in scenario.hosts() if _RAIL_PORT.fullmatch(host)}
    if not ports:
        return ports
    links = scenario.network().links.select("from", "to").iter_rows()
    return ports | {two for one, two in links if one in ports}
