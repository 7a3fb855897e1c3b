"""Checks of classes: the queue of notification packets, the queues that pauses stop, the class of a host."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from becalm.base.findings import Finding, listed
from becalm.sonic.classes import Way, group_of, lossless, queue_of, served, way
from becalm.sonic.hosts import Host
from becalm.sonic.switch import Group, Switch

MAPS = {
    "DSCP_TO_TC_MAP": "dscp_to_tc_map",
    "TC_TO_QUEUE_MAP": "tc_to_queue_map",
    "TC_TO_PRIORITY_GROUP_MAP": "tc_to_pg_map",
}
"""Maps, and the fields of PORT_QOS_MAP that name them."""


def check(switch: Switch, cnp: int) -> Iterator[Finding]:
    """Yield findings about the classes of a switch by itself.

    Args:
        switch: the switch.
        cnp: DSCP of congestion notification packets.

    """
    yield from _notifications(switch, cnp)
    yield from _stopped(switch)


def _notifications(switch: Switch, dscp: int) -> Iterator[Finding]:
    if not switch.tables.table("DSCP_TO_TC_MAP"):
        return
    found: dict[tuple[str, int, str, str], list[str]] = defaultdict(list)
    for port in served(switch):
        on = way(switch, port, dscp)
        profile, scheduler = switch.wred(on.queue), _scheduler(switch, on.queue)
        if on.priority is not None:
            kind = "lossless"
        elif profile:
            kind = "marked"
        elif scheduler.upper() not in ("STRICT", ""):
            kind = "shared"
        else:
            continue
        found[kind, on.queue.number, profile, scheduler].append(port)
    for (kind, place, profile, scheduler), ports in found.items():
        key = switch.qos(ports[0], MAPS["DSCP_TO_TC_MAP"])
        row = ("DSCP_TO_TC_MAP", key)
        what = f"notification packets (DSCP {dscp}) wait in queue {place}"
        if kind == "lossless":
            reason = f"{what}, which is lossless: pauses and the queues that they report delay them"
            yield switch.tables.finding("warning", row, str(dscp), _at(reason, ports), "a TC of their own")
        elif kind == "marked":
            reason = f"{what} with WRED profile {profile}, which drops them: they are not ECN-capable"
            yield switch.tables.finding("error", row, str(dscp), _at(reason, ports), "a queue without WRED")
        else:
            row, key = ("QUEUE", switch.queues.get(Group(ports[0], place), "")), "scheduler"
            reason = f"{what}, which is served by {scheduler} and not first"
            yield switch.tables.finding("note", row, key, _at(reason, ports), "type STRICT, if they are late")


def _at(reason: str, ports: Iterable[str]) -> str:
    return f"{reason}; at {listed(ports)}"


def _scheduler(switch: Switch, queue: Group) -> str:
    """Return the type of a queue's scheduler; empty if it has none."""
    key = switch.queues.get(queue)
    name = "" if key is None else switch.tables.row("QUEUE", key).get("scheduler", "")
    return switch.tables.row("SCHEDULER", name.strip("[]").rpartition("|")[2]).get("type", "")


def _stopped(switch: Switch) -> Iterator[Finding]:
    """Check that the pauses of a priority stop the queue of its class."""
    wrong: dict[tuple[int, int, int], list[str]] = defaultdict(list)
    for port in served(switch):
        for traffic in lossless(switch, port):
            queue = queue_of(switch, port, traffic)
            group = group_of(switch, port, traffic)
            own = [p for p in switch.ports[port].pfc if switch.group_of(port, p) == group]
            stopped = {switch.queue_of(port, each) for each in own}
            if queue not in stopped:
                wrong[traffic, queue.number, min(own)].append(port)
    for (traffic, place, priority), ports in wrong.items():
        name = switch.qos(ports[0], "tc_to_queue_map")
        reason = (
            f"sends lossless TC {traffic} to queue {place}, which pauses of priority {priority} do not stop: "
            "the next switch loses its packets"
        )
        row, cure = ("TC_TO_QUEUE_MAP", name), f"queue {switch.queue_of(ports[0], priority).number}"
        yield switch.tables.finding("error", row, str(traffic), _at(reason, ports), cure)


def of_host(switch: Switch, ports: Iterable[str], host: Host) -> Iterator[Finding]:
    """Yield findings about the class of a host's data at ports of a switch."""
    if host.dscp is None:
        return
    lossy: dict[tuple[str, Way], list[str]] = defaultdict(list)
    for port in ports:
        on = way(switch, port, host.dscp)
        if on.priority is None or (switch.lossless and on.group not in switch.lossless):
            alike = on._replace(queue=Group("", on.queue.number), group=Group("", on.group.number))
            lossy[switch.qos(port, "dscp_to_tc_map"), alike].append(port)
        elif (wrong := _priority(host, on.priority)) is not None:
            yield _told(host, *wrong)
    for (key, on), names in lossy.items():
        reason = f"DSCP {host.dscp} is lossy here: {on.told(host.dscp)}, without PFC; at {listed(names)}"
        whole = switch.tables.row("DSCP_TO_TC_MAP", key)
        free = sorted({each for name in names for each in lossless(switch, name)})
        good = [dscp for dscp, traffic in whole.items() if traffic in map(str, free)]
        cure = f"TC {' or '.join(map(str, free)) or 'of a priority with PFC'}"
        if good:
            cure += f", or hosts that send DSCP {' or '.join(good[:4])}"
        yield switch.tables.finding("error", ("DSCP_TO_TC_MAP", key), str(host.dscp), reason, cure)


def _priority(host: Host, paused: int) -> tuple[str, str, str, str] | None:
    """Return what is wrong with a host's reaction to pauses: key, value, reason and cure."""
    if host.dscp is None:
        return None
    own = host.priority(host.dscp)
    if own is not None and own != paused:
        reason = (
            f"DSCP {host.dscp} is priority {own} in the adapter, but the switch pauses priority {paused}: "
            "the adapter keeps sending, and headroom overflows"
        )
        return "dscp2prio", str(own), reason, f"DSCP {host.dscp} as priority {paused}, in adapter or switch"
    if host.pfc is not None and paused not in host.pfc:
        reason = f"the adapter ignores the pauses of DSCP {host.dscp}, those of priority {paused}"
        return (
            "pfc",
            ",".join("01"[each in host.pfc] for each in range(8)),
            reason,
            f"PFC for priority {paused}",
        )
    return None


def _told(host: Host, key: str, value: str, reason: str, cure: str) -> Finding:
    line = host.lines.get(key, host.lines.get("tos"))
    return Finding("error", host.origin, line, "", key, value, reason, cure)
