"""Likely roots of congestion and host loads, from the counters of a real fabric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from becalm.base.errors import BecalmError
from becalm.opensm.counters import Counters, feeders
from becalm.opensm.fabric import End, Fabric
from becalm.opensm.names import ranges
from becalm.opensm.rates import data_rate
from becalm.scenario import Scenario

BUSY = 0.8
"""A port is near its rate if it sends at least this share of its rate."""
WAITED = 0.1
"""A port waits long if its wait is at least this share of the longest wait of any port."""
LEAST = 0.005
"""Smaller loads count as none, since they are subnet management."""


class Root(NamedTuple):
    """A port that is a likely root of congestion."""

    port: str
    """Name of the port, such as `leaf0 port 1 -> host0`."""
    busy: float
    """Rate at which the port sent, as a share of its capacity."""
    waited: int
    """Ticks that the port itself waited."""
    waiting: list[str]
    """The ports that send to its switch and waited long, longest wait first."""
    why: str


def rates(fabric: Fabric) -> dict[End, float]:
    """Return the capacity of each port in B/s."""
    return {end: data_rate(cable.speed) / 8 for cable in fabric.cables for end in cable.ends}


def roots(fabric: Fabric, counters: Mapping[End, Counters], seconds: float) -> list[Root]:
    """Return the likely roots of congestion, those with the longest waits before them first.

    Ports that feed the root's switch wait long. The root itself either sends near its rate, or it leads to a
    host and waits long because the host receives too slowly. A port to a switch that waits long is a branch.

    Args:
        fabric: the fabric of the ports.
        counters: the counters of the ports.
        seconds: the time covered by the counters.

    Raises:
        BecalmError: a port sent more than its cable can carry in this time.

    """
    speed = rates(fabric)
    _check_time(fabric, counters, speed, seconds)
    waits = {end: each.waited or 0 for end, each in counters.items()}
    much = max(1.0, WAITED * max(waits.values(), default=0))
    peer = {one: other for cable in fabric.cables for one, other in (cable.ends, cable.ends[::-1])}
    found: list[tuple[int, Root]] = []
    for end, own in counters.items():
        if end.is_host or own.sent is None:
            continue
        busy = own.sent / seconds / speed[end]
        waiting = sorted(
            (each for each in feeders(fabric, end) if waits.get(each, 0) >= much), key=waits.__getitem__
        )
        slow = peer[end].is_host and waits[end] >= much and busy < BUSY
        full = busy >= BUSY and (waits[end] < much or peer[end].is_host)
        if not waiting or not (slow or full):
            continue
        why = "the host receives too slowly" if slow else "near its rate"
        names = [_named(fabric, each, peer[each]) for each in reversed(waiting)]
        root = Root(_named(fabric, end, peer[end]), busy, waits[end], names, why)
        found.append((sum(waits[each] for each in waiting), root))
    return [root for _, root in sorted(found, key=lambda each: (-each[0], each[1].port))]


def _named(fabric: Fabric, end: End, peer: End) -> str:
    port = "" if end.is_host else f" port {end.port}"
    return f"{fabric.name(end)}{port} -> {fabric.name(peer)}"


def _check_time(
    fabric: Fabric, counters: Mapping[End, Counters], speed: Mapping[End, float], seconds: float
) -> None:
    for end, own in counters.items():
        carried = speed[end] * seconds
        if own.sent is not None and own.sent > 1.05 * carried:
            port, needed = f"{fabric.name(end)} port {end.port}", own.sent / speed[end]
            raise BecalmError(
                f"seconds {seconds:g}: the traffic of {port} needs {needed:.3g} s at its rate; "
                "valid: the time between the dumps, or since the counters were cleared"
            )


def loads(fabric: Fabric, counters: Mapping[End, Counters], seconds: float) -> dict[str, float]:
    """Return the load of each host as a share of its link rate, from its own counters or its switch's.

    Hosts without counters are omitted.
    """
    speed = rates(fabric)
    found = {}
    for host in fabric.hosts:
        own, switch = counters.get(host.end), counters.get(host.attached)
        sent = own.sent if own is not None and own.sent is not None else None
        if sent is None and switch is not None:
            sent = switch.received
        if sent is not None:
            found[host.name] = sent / seconds / speed[host.end]
    return found


def with_loads(scenario: Scenario, by_host: Mapping[str, float]) -> Scenario:
    """Return the scenario with a background in which each host sends at its load, evenly to all hosts.

    Counters do not show the destinations of packets. A group `hot_spot` stays. All other groups are replaced
    by groups of hosts with the same load, in steps of 1%.

    Raises:
        BecalmError: no host sends anything.

    """
    alike: dict[float, list[str]] = defaultdict(list)
    for host, load in by_host.items():
        if load >= LEAST:
            alike[max(0.01, round(load, 2))].append(host)
    if not alike:
        raise BecalmError(
            "counters: no host sends anything; valid: counters of the hosts or of their switches"
        )
    groups: list[dict[str, Any]] = [
        {
            "name": f"load_{round(100 * load)}",
            "from": ranges(hosts),
            "to": ["*"],
            "traffic": {"poisson": {"load": load}},
        }
        for load, hosts in sorted(alike.items())
    ]
    kept = [group for group in scenario.data().get("flows", []) if group["name"] == "hot_spot"]
    return scenario.replace({"flows": groups + kept})
