"""All checks of a RoCE fabric of SONiC switches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from typing import Any, NamedTuple

from becalm.base.errors import BecalmError
from becalm.base.findings import Finding, Severity, in_order, listed
from becalm.sonic import buffers, marks, queues, watchdog
from becalm.sonic.classes import served
from becalm.sonic.fabric import Cable, Fabric, load
from becalm.sonic.headroom import Asic
from becalm.sonic.hosts import CNP_DSCP, Host
from becalm.sonic.switch import NULL, REFERENCES, Port, Switch
from becalm.sonic.tables import reference


class Asked(NamedTuple):
    """What to check a fabric for."""

    host: Host | None = None
    """What hosts do to their packets; None if unknown: their class is then not checked."""
    pair: tuple[str, str] | None = None
    """Two hosts: their class is checked on their shortest paths only."""
    busy: int | None = None
    """Ports that are busy at once, for dynamic thresholds; None for all with a lossless class."""
    cell: int | None = None
    """Bytes of a cell of the switches' buffers; None for that of the files."""


def check(paths: Iterable[str | PathLike[str]], asked: Asked | None = None) -> list[Finding]:
    """Read the files of switches, and return the findings in the order of files and lines.

    Raises:
        FileNotFoundError: no such file or folder.
        ScenarioError: with all mistakes in a file at once.
        BecalmError: the pair's hosts are not in the files, or have no path.

    """
    return findings(load(paths), asked or Asked())


def findings(fabric: Fabric, asked: Asked) -> list[Finding]:
    """Return the findings of `check` about a fabric."""
    found: list[Finding] = []
    for switch in fabric.switches.values():
        found += _references(switch)
        asic = switch.asic if asked.cell is None else Asic(asked.cell)
        found += buffers.check(switch, asic)
        found += marks.check(switch, asked.busy)
        found += queues.check(switch, CNP_DSCP if asked.host is None else asked.host.cnp)
        found += watchdog.check(switch)
    found += _cables(fabric, asked.host)
    found += _classes(fabric, asked)
    return in_order(found)


def _references(switch: Switch) -> Iterator[Finding]:
    for (table, name), to in REFERENCES.items():
        for key, row in switch.tables.table(table).items():
            named = reference(row.get(name, ""))
            # Files of a template lack the tables that other templates write.
            if named in ("", NULL) or named in switch.tables.table(to) or not switch.tables.table(to):
                continue
            reason, cure = f"{to} has no such row", listed(switch.tables.table(to))
            yield switch.tables.finding("error", (table, key), name, reason, cure)


def _classes(fabric: Fabric, asked: Asked) -> Iterator[Finding]:
    """Check the class of hosts at all ports, or at those on the paths of a pair."""
    if asked.pair is None:
        at = {name: served(switch) for name, switch in fabric.switches.items()}
    else:
        at = {}
        for source, destination in (asked.pair, asked.pair[::-1]):
            for name, *ports in hops(fabric, source, destination):
                at.setdefault(name, []).extend(ports)
    if asked.host is not None:
        for name, ports in at.items():
            yield from queues.of_host(fabric.switches[name], list(dict.fromkeys(ports)), asked.host)


def hops(fabric: Fabric, source: str, destination: str) -> list[tuple[str, str, str]]:
    """Return the hops of the shortest paths between two hosts.

    Raises:
        BecalmError: one of them is not in the files, or they have no path.

    """
    for name in (source, destination):
        if name not in fabric.hosts:
            valid = listed(fabric.hosts) or "files with DEVICE_NEIGHBOR or `show lldp table`"
            raise BecalmError(f"--pair {name}: no switch has a cable to this host; valid: {valid}")
    found = fabric.hops(source, destination)
    if not found:
        raise BecalmError(f"--pair {source} {destination}: the files have no path between these hosts")
    return found


def _cables(fabric: Fabric, host: Host | None) -> Iterator[Finding]:
    """Check the ends of each cable: the same priorities, rates and lengths, and packets that fit."""
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
