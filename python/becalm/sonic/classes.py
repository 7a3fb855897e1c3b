"""What a switch does with packets: from DSCP to traffic class, queue, priority group and pauses."""

from __future__ import annotations

from typing import NamedTuple

from becalm.sonic.switch import CLASSES, Group, Switch

DEFAULT_CLASS = 0
"""Traffic class of packets that no map mentions."""


class Way(NamedTuple):
    """The path of a packet through the maps of a port."""

    traffic: int
    """Traffic class."""
    mapped: bool
    """Whether a map has the DSCP."""
    queue: Group
    group: Group
    """Priority group."""
    priority: int | None
    """The priority whose pauses protect the group; None if none has PFC there."""

    def told(self, dscp: int) -> str:
        """Return it in words."""
        found = f"DSCP {dscp} -> TC {self.traffic}"
        if not self.mapped:
            found += " (in no map)"
        return f"{found} -> queue {self.queue.number}, PG {self.group.number}"


def way(switch: Switch, port: str, dscp: int) -> Way:
    """Return the way of a DSCP through the maps of a port."""
    found = switch.mapped(port, "dscp_to_tc_map", "DSCP_TO_TC_MAP", dscp)
    traffic = DEFAULT_CLASS if found is None else found
    group = group_of(switch, port, traffic)
    protecting = (
        priority
        for priority in CLASSES
        if priority in switch.ports[port].pfc and switch.group_of(port, priority) == group
    )
    return Way(traffic, found is not None, queue_of(switch, port, traffic), group, next(protecting, None))


def queue_of(switch: Switch, port: str, traffic: int) -> Group:
    """Return the queue of a traffic class at a port."""
    found = switch.mapped(port, "tc_to_queue_map", "TC_TO_QUEUE_MAP", traffic)
    return Group(port, traffic if found is None else found)


def group_of(switch: Switch, port: str, traffic: int) -> Group:
    """Return the priority group of a traffic class at a port."""
    found = switch.mapped(port, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", traffic)
    return Group(port, traffic if found is None else found)


def lossless(switch: Switch, port: str) -> list[int]:
    """Return the traffic classes of a port whose priority group has PFC."""
    groups = {switch.group_of(port, priority) for priority in switch.ports[port].pfc}
    return [traffic for traffic in CLASSES if group_of(switch, port, traffic) in groups]


def served(switch: Switch) -> list[str]:
    """Return the ports with a lossless class that are not switched off."""
    return [name for name, port in switch.ports.items() if port.pfc and port.up]
