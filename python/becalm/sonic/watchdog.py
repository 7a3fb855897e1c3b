"""Checks of the PFC watchdog: its priorities, and its times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from becalm.base.findings import Finding, listed
from becalm.sonic.classes import served
from becalm.sonic.switch import Switch

TABLE, GLOBAL = "PFC_WD", "GLOBAL"
RANGES = {"detection_time": (100, 5_000), "restoration_time": (100, 60_000)}
"""Limits of orchagent in ms."""
POLL = (100, 1_000)
"""Limits of the poll interval in ms."""


def check(switch: Switch) -> Iterator[Finding]:
    """Yield findings about the watchdog of a switch."""
    tables = switch.tables
    yield from _global(switch)
    default = tables.row("DEVICE_METADATA", "localhost").get("default_pfcwd_status") == "enable"
    # Without PORT, this is the output of a template, to which the watchdog does not belong.
    missing = [each for each in served(switch) if tables.table("PORT") and each not in tables.table(TABLE)]
    if missing and not default:
        reason = (
            f"is absent at {listed(missing)}: a host that pauses for good stops every queue that leads to it"
        )
        cure = "`pfcwd start_default`, or a row for each port"
        yield tables.finding("warning", (TABLE, ""), "", reason, cure)
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for key, row in tables.table(TABLE).items():
        if key != GLOBAL:
            alike[tuple(row.get(name, "") for name in (*RANGES, "action"))].append(key)
    for keys in alike.values():
        yield from _times(switch, keys)
    yield from _priorities(switch)


def _global(switch: Switch) -> Iterator[Finding]:
    row, poll = switch.tables.row(TABLE, GLOBAL), switch.number(TABLE, GLOBAL, "POLL_INTERVAL")
    if poll is not None and not POLL[0] <= poll <= POLL[1]:
        cure = f"{POLL[0]} to {POLL[1]} ms"
        yield switch.tables.finding(
            "error", (TABLE, GLOBAL), "POLL_INTERVAL", "is refused by `pfcwd interval`", cure
        )
    if row.get("BIG_RED_SWITCH", "disable").lower() == "enable":
        reason = "drops the lossless classes of all ports, stormed or not"
        yield switch.tables.finding("error", (TABLE, GLOBAL), "BIG_RED_SWITCH", reason, "disable")


def _times(switch: Switch, keys: list[str]) -> Iterator[Finding]:
    """Check the times of ports that have the same ones."""
    first, where = (TABLE, keys[0]), f"; at {listed(keys)}"
    tables = switch.tables
    times = {name: switch.number(*first, name) for name in RANGES}
    for name, (low, high) in RANGES.items():
        value = times[name]
        if value is not None and not low <= value <= high:
            yield tables.finding(
                "error", first, name, f"is refused by orchagent{where}", f"{low} to {high} ms"
            )
    detection, restoration = times["detection_time"], times["restoration_time"]
    poll = switch.number(TABLE, GLOBAL, "POLL_INTERVAL")
    if restoration is None:
        reason = f"is absent: a stormed queue is never restored{where}"
        yield tables.finding("warning", first, "restoration_time", reason, "twice the detection time")
    elif detection is not None and restoration < detection:
        reason = f"is below detection_time {detection:.0f}: a queue is restored and detected by turns{where}"
        yield tables.finding("warning", first, "restoration_time", reason, f"at least {detection:.0f}")
    shortest = min((each for each in (detection, restoration) if each is not None), default=None)
    if poll is not None and shortest is not None and poll > shortest:
        reason = f"is above the shortest time, {shortest:.0f} ms, which `pfcwd interval` refuses{where}"
        yield tables.finding("error", (TABLE, GLOBAL), "POLL_INTERVAL", reason, f"at most {shortest:.0f}")
    action = tables.row(*first).get("action", "drop").lower()
    if action not in ("drop", "forward", "alert"):
        yield tables.finding("error", first, "action", f"is unknown{where}", "drop, forward or alert")


def _priorities(switch: Switch) -> Iterator[Finding]:
    """Check that the priorities with PFC and with a watchdog are the same."""
    different: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for name in served(switch):
        port = switch.ports[name]
        if port.watched is not None and port.watched != port.pfc:
            different[tuple(sorted(port.pfc))].append(name)
    for priorities, ports in different.items():
        key = next(key for key in switch.tables.table("PORT_QOS_MAP") if ports[0] in key.split(","))
        wanted = ",".join(map(str, priorities))
        reason = f"are not the priorities with PFC, {wanted}: the others have no watchdog; at {listed(ports)}"
        yield switch.tables.finding("warning", ("PORT_QOS_MAP", key), "pfcwd_sw_enable", reason, wanted)
