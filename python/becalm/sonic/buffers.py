"""Checks of buffers: headroom for each cable, lossless groups with and without PFC, sizes of pools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from becalm.base.findings import Finding, Severity, listed
from becalm.sonic.classes import served
from becalm.sonic.headroom import Asic, Line, headroom, least, on_cable
from becalm.sonic.switch import LOSSLESS_POOL, NULL, Group, Switch


class _Case(NamedTuple):
    """Ports that need the same headroom from the same profile."""

    profile: str
    line: Line


def check(switch: Switch, asic: Asic | None) -> Iterator[Finding]:
    """Yield findings about headroom, lossless groups and pools.

    Args:
        switch: the switch.
        asic: its ASIC; None if unknown: a profile then only needs what any switch does.

    """
    yield from _groups(switch)
    yield from _headrooms(switch, asic)
    yield from _pools(switch, asic)


def _groups(switch: Switch) -> Iterator[Finding]:
    """Check that priorities with PFC and groups with headroom are the same."""
    there = switch.lossless
    without: dict[int, list[str]] = defaultdict(list)
    for port in served(switch):
        for priority in sorted(switch.ports[port].pfc):
            if switch.group_of(port, priority) not in there:
                without[priority].append(port)
    if without and not there:
        place = ("BUFFER_PG", "")
        reason = (
            f"has no lossless group, as in the output of a template: SONiC adds them at run time for PFC at "
            f"{listed(dict.fromkeys(port for ports in without.values() for port in ports))}, and headroom is "
            "not checked"
        )
        yield switch.tables.finding("note", place, "", reason, "a dump of the running switch")
        without.clear()
    for priority, ports in without.items():
        key = _qos_key(switch, ports[0])
        reason = (
            f"pauses priority {priority}, whose group has no headroom in BUFFER_PG: packets that arrive "
            f"after the pause are lost; at {listed(ports)}"
        )
        cure = f"BUFFER_PG|{ports[0]}|{switch.group_of(ports[0], priority).number} with a lossless profile"
        yield switch.tables.finding("error", ("PORT_QOS_MAP", key), "pfc_enable", reason, cure)
    paused = {switch.group_of(p.name, each) for p in switch.ports.values() for each in p.pfc}
    unpaused: dict[int, list[Group]] = defaultdict(list)
    for group in switch.groups:
        if group in there - paused and switch.ports[group.port].up:
            unpaused[group.number].append(group)
    for number, groups in unpaused.items():
        reason = (
            f"has headroom, but group {number} has no priority with PFC: it loses packets when it is full; "
            f"at {listed(group.port for group in groups)}"
        )
        cure = f"pfc_enable with {number} in PORT_QOS_MAP, or a lossy profile"
        yield switch.tables.finding("error", ("BUFFER_PG", switch.groups[groups[0]]), "profile", reason, cure)


def _qos_key(switch: Switch, port: str) -> str:
    rows = switch.tables.table("PORT_QOS_MAP")
    return next((key for key in rows if port in key.split(",")), port)


def _headrooms(switch: Switch, asic: Asic | None) -> Iterator[Finding]:
    cases: dict[_Case, list[str]] = defaultdict(list)
    unknown: dict[str, None] = {}
    for group in switch.groups:
        port, profile = switch.ports[group.port], switch.profile(group)
        if not port.up or profile == NULL or not switch.number("BUFFER_PROFILE", profile, "xoff"):
            continue
        if port.line is None:
            unknown[port.name] = None
        else:
            cases[_Case(profile, port.line)].append(port.name)
    for case, ports in cases.items():
        yield from _headroom(switch, asic, case, list(dict.fromkeys(ports)))
    if unknown:
        reason = f"headroom is not checked: no speed or no cable length of {listed(unknown)}"
        yield switch.tables.finding("note", ("CABLE_LENGTH", ""), "", reason, "PORT and CABLE_LENGTH")


def _headroom(switch: Switch, asic: Asic | None, case: _Case, ports: list[str]) -> Iterator[Finding]:
    line, row = case.line, ("BUFFER_PROFILE", case.profile)
    xoff = switch.number(*row, "xoff") or 0
    where = f"at {line.speed / 1000:g} Gb/s and {line.metres:g} m, at {listed(ports)}"
    flying, needed = on_cable(line), least(line)
    given = None if asic is None else headroom(line, asic, switch.traffic, shared=switch.shares_headroom)
    wanted = given.xoff if given is not None else needed or flying
    cure = f"{wanted:.0f} B or more"
    if xoff < flying:
        reason = (
            f"is less than the {flying:.0f} B on the cable in both directions: pauses lose packets {where}"
        )
        yield switch.tables.finding("error", row, "xoff", reason, cure)
    elif needed is not None and xoff < needed:
        reason = (
            f"is less than {needed:.0f} B, those on the cable, of the response time in IEEE 802.3 and of two "
            f"packets: a slow peer loses packets {where}"
        )
        yield switch.tables.finding("warning", row, "xoff", reason, cure)
    elif given is not None and xoff < given.xoff:
        reason = (
            f"is less than SONiC's formula has for cells of {asic.cell if asic else 0} B, {given.xoff} B: "
            f"small packets lose {where}"
        )
        yield switch.tables.finding("warning", row, "xoff", reason, cure)


def _pools(switch: Switch, asic: Asic | None) -> Iterator[Finding]:
    """Check that thresholds and reserved sizes fit into their pools."""
    for name in switch.tables.table("BUFFER_PROFILE"):
        pool = switch.pool(name)
        size, lossless = switch.number("BUFFER_POOL", pool, "size"), switch.is_lossless(name)
        for key in ("static_th", "size", "xoff"):
            value = switch.number("BUFFER_PROFILE", name, key)
            if size and value and value > size:
                reason = f"is larger than its pool {pool}, {size:.0f} B: "
                reason += "no group pauses" if lossless else "the pool is the only limit"
                cure = f"at most {size:.0f}"
                severity: Severity = "error" if lossless or key != "static_th" else "note"
                yield switch.tables.finding(severity, ("BUFFER_PROFILE", name), key, reason, cure)
        exponent = switch.number("BUFFER_PROFILE", name, "dynamic_th")
        if exponent is not None and not -8 <= exponent <= 7:
            reason = "is not a power that SONiC has: the threshold is 2^dynamic_th times the free memory"
            yield switch.tables.finding("error", ("BUFFER_PROFILE", name), "dynamic_th", reason, "-8 to 7")
    yield from _reserved(switch, asic)


def _reserved(switch: Switch, asic: Asic | None) -> Iterator[Finding]:
    pool = switch.number("BUFFER_POOL", LOSSLESS_POOL, "size")
    reserved = sum(_size(switch, asic, group) for group in switch.groups)
    if pool and reserved > pool:
        reason = f"is less than the {reserved:.0f} B that the priority groups reserve"
        cure = "shorter cables in CABLE_LENGTH, fewer lossless groups, or a shared headroom pool (xoff)"
        yield switch.tables.finding("error", ("BUFFER_POOL", LOSSLESS_POOL), "size", reason, cure)


def _size(switch: Switch, asic: Asic | None, group: Group) -> float:
    profile, line = switch.profile(group), switch.ports[group.port].line
    if profile != NULL:
        return switch.number("BUFFER_PROFILE", profile, "size") or 0
    if asic is None or line is None:
        return 0
    return headroom(line, asic, switch.traffic, shared=switch.shares_headroom).size
