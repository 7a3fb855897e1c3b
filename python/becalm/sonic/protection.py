"""Headroom and watchdog of SONiC switches as keys of a scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from becalm.base.findings import listed
from becalm.sonic.classes import served
from becalm.sonic.switch import NULL, Switch
from becalm.sonic.watchdog import GLOBAL, POLL, TABLE

DEFAULT = 200
"""Times of `pfcwd start_default` in ms, for each 32 ports."""
NEVER = 1_000_000
"""Restoration time in ms of a row without one: its queue is never restored."""
T = TypeVar("T")
MELLANOX = ("mlnx", "mellanox", "nvidia", "msn", "sn2", "sn3", "sn4", "sn5", "sn6")


class Watchdog(NamedTuple):
    """The watchdog of a port; times in ms."""

    rule: str
    detection: float
    restoration: float
    poll: float
    action: str


def watchdogs(switch: Switch) -> Iterator[Watchdog | None]:
    """Yield the watchdog of each port with a lossless class; None for a port without one."""
    tables = switch.tables
    metadata = tables.row("DEVICE_METADATA", "localhost")
    model = f"{metadata.get('platform', '')} {metadata.get('hwsku', '')}".lower()
    rule = "mellanox" if any(word in model for word in MELLANOX) else "broadcom"
    starts = metadata.get("default_pfcwd_status") == "enable"
    span = DEFAULT * max(1, (len(switch.ports) - 1) // 32 + 1)
    for port in served(switch):
        detection = switch.number(TABLE, port, "detection_time")
        if port not in tables.table(TABLE) or detection is None:
            yield Watchdog(rule, span, span, min(span, POLL[1]), "drop") if starts else None
            continue
        restoration = switch.number(TABLE, port, "restoration_time")
        poll = switch.number(TABLE, GLOBAL, "POLL_INTERVAL")
        action = tables.row(TABLE, port).get("action", "drop").lower()
        yield Watchdog(
            rule,
            detection,
            NEVER if restoration is None else restoration,
            min(DEFAULT if poll is None else poll, detection),
            action if action in ("drop", "forward", "alert") else "drop",
        )


def headrooms(switch: Switch) -> Iterator[int]:
    """Yield the headroom in bytes of each lossless group whose profile states it."""
    for port in served(switch):
        for priority in sorted(switch.ports[port].pfc):
            profile = switch.profile(switch.group_of(port, priority))
            size = None if profile == NULL else switch.number("BUFFER_PROFILE", profile, "xoff")
            if size:
                yield int(size)


def keys(switches: Mapping[str, Switch], notes: list[str]) -> Iterator[str]:
    """Yield lines of `[switch.flow_control.pfc]` with the settings of most ports, and note the others."""
    sizes = {name: list(headrooms(each)) for name, each in switches.items()}
    if size := _usual(sizes, "headroom", notes):
        yield f'headroom = "{size} B" # xoff of the lossless profile'
    dogs = {name: list(watchdogs(each)) for name, each in switches.items()}
    dog = _usual(dogs, "watchdog", notes)
    if dog is None:
        return
    yield ""
    yield "[switch.flow_control.pfc.watchdog] # see storms of ms with shorter times"
    yield f'rule = "{dog.rule}"'
    yield f'detection = "{dog.detection:.12g} ms"'
    yield f'restoration = "{dog.restoration:.12g} ms"'
    yield f'poll = "{dog.poll:.12g} ms"'
    yield f'action = "{dog.action}"'


def _usual(found: Mapping[str, Iterable[T]], what: str, notes: list[str]) -> T | None:
    """Return the most frequent setting; a note names the switches that have others."""
    counts = Counter(each for own in found.values() for each in own)
    if not counts:
        return None
    ((usual, _),) = counts.most_common(1)
    other = [name for name, own in found.items() if set(own) - {usual}]
    if other:
        notes.append(f"{listed(other)}: ports with another {what} than most, which the scenario has for all")
    return usual
