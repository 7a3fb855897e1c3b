"""Checks of the two ends of each cable: the same priorities, rates and lengths, and packets that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from becalm.findings import Finding, Severity
from becalm.sonic.fabric import Cable, Fabric
from becalm.sonic.hosts import Host
from becalm.sonic.switch import Port


def check(fabric: Fabric, host: Host | None) -> Iterator[Finding]:
    """Yield findings about the cables of a fabric.

    Args:
        fabric: the fabric.
        host: what hosts do to their packets, if known.

    """
    for cable in fabric.cables:
        if cable.to_host:
            if host is not None:
                yield from _of_host(fabric, cable, host)
        else:
            yield from _between(fabric, cable)


_WHAT: tuple[tuple[str, str, str, Callable[[Port], Any]], ...] = (
    (
        "PORT_QOS_MAP",
        "pfc_enable",
        "one end pauses what the other does not stop: packets are lost",
        lambda p: p.pfc,
    ),
    ("PORT", "mtu", "the end with the smaller packets discards the larger ones", lambda p: p.mtu),
    ("PORT", "speed", "the cable stays down", lambda p: p.speed),
    ("CABLE_LENGTH", "", "headroom differs", lambda p: p.metres),
)
"""What must be the same at both ends: the table, the field, the effect if it is not, and its value."""


def _between(fabric: Fabric, cable: Cable) -> Iterator[Finding]:
    near, far = (fabric.switches[end.node] for end in (cable.near, cable.far))
    own, other = near.ports[cable.near.port], far.ports[cable.far.port]
    for table, name, effect, value in _WHAT:
        one, two = value(own), value(other)
        if one == two or None in (one, two):
            continue
        key, shown = cable.near.port, name
        if table == "CABLE_LENGTH":
            key = next((key for key, row in near.tables.table(table).items() if own.name in row), "")
            shown = own.name
        elif table == "PORT_QOS_MAP":
            key = next((key for key in near.tables.table(table) if own.name in key.split(",")), own.name)
        reason = f"is {_text(two)} at the other end, {cable.far.node} {cable.far.port}: {effect}"
        severity: Severity = "warning" if table == "CABLE_LENGTH" else "error"
        yield near.tables.finding(severity, (table, key), shown, reason, "the same at both ends")


def _text(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, frozenset):
        return ",".join(map(str, sorted(value))) or "absent"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _of_host(fabric: Fabric, cable: Cable, host: Host) -> Iterator[Finding]:
    switch = fabric.switches[cable.near.node]
    port = switch.ports[cable.near.port]
    if host.mtu is not None and host.mtu > port.mtu:
        reason = f"is below the hosts' {host.mtu} B: the switch discards their largest packets"
        yield switch.tables.finding("error", ("PORT", port.name), "mtu", reason, f"at least {host.mtu}")
