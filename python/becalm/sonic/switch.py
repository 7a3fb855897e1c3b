"""A SONiC switch: its ports with their maps, and the profiles of their queues and priority groups."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from becalm.base.mistakes import Mistakes
from becalm.sonic.headroom import Asic, Line, Traffic
from becalm.sonic.tables import Tables, items, numbers, reference

CLASSES = range(8)
"""Priorities, queues of data and priority groups."""
MTU = 9100
"""Default of a port, in bytes."""
LOSSLESS_POOL = "ingress_lossless_pool"
NULL = "NULL"
"""Profile of a priority group whose headroom the switch computes."""
GLOBAL = "global"

SPECTRUM = {"2": Asic(96, generation=1), "3": Asic(144, generation=2)}
"""Properties of NVIDIA's switches by the first digit of their model, where they are known."""

_METRES = re.compile(r"(\d{1,6}(?:\.\d+)?) ?m")


class Group(NamedTuple):
    """A queue or a priority group of a port."""

    port: str
    number: int


@dataclass(frozen=True)
class Port:
    """A port of a switch."""

    name: str
    speed: int | None
    """Mb/s."""
    mtu: int
    lanes: int
    metres: float | None
    """Length of its cable."""
    pfc: frozenset[int]
    """Priorities with PFC."""
    watched: frozenset[int] | None
    """Priorities with a watchdog; None if the row has no such field."""
    up: bool

    @property
    def line(self) -> Line | None:
        """Its rate and cable; None if one of them is unknown."""
        if self.speed is None or self.metres is None:
            return None
        return Line(self.speed, self.metres, self.mtu, self.lanes)


@dataclass
class Switch:
    """A switch as its databases describe it."""

    name: str
    tables: Tables
    ports: dict[str, Port]
    queues: dict[Group, str]
    """The key of each queue in the table QUEUE."""
    groups: dict[Group, str]
    """The key of each priority group in the table BUFFER_PG."""
    numbers: dict[tuple[str, str, str], float] = field(default_factory=dict)
    """Numbers by table, key and field."""

    @property
    def file(self) -> str:
        """The first of its files."""
        return self.tables.files[0]

    def number(self, table: str, key: str, name: str) -> float | None:
        """Return a number of a row; None if it is absent."""
        return self.numbers.get((table, key, name))

    def named(self, port: str) -> str:
        """Return the name of a port, given its name or alias."""
        aliases = (name for name in self.ports if self.tables.row("PORT", name).get("alias") == port)
        return port if port in self.ports else next(aliases, port)

    def qos(self, port: str, name: str) -> str:
        """Return a field of a port in PORT_QOS_MAP, or else that of all ports; empty if both are absent."""
        rows = self.tables.table("PORT_QOS_MAP")
        for key, row in rows.items():
            if port in items(key) and name in row:
                return reference(row[name])
        return reference(rows.get(GLOBAL, {}).get(name, ""))

    def mapped(self, port: str, name: str, table: str, value: int) -> int | None:
        """Return what a map of a port makes of a number; None if the port has no map, or not for it."""
        row = self.tables.row(table, self.qos(port, name))
        found = row.get(str(value), "")
        return int(found) if found.isdigit() else None

    def profile(self, group: Group) -> str:
        """Return the name of a priority group's buffer profile; empty if it has none."""
        key = self.groups.get(group)
        return "" if key is None else reference(self.tables.row("BUFFER_PG", key).get("profile", ""))

    def pool(self, profile: str) -> str:
        """Return the name of a buffer profile's pool; that of lossless packets if it names none."""
        return reference(self.tables.row("BUFFER_PROFILE", profile).get("pool", "")) or LOSSLESS_POOL

    def is_lossless(self, profile: str) -> bool:
        """Whether a buffer profile of a priority group has headroom."""
        row = self.tables.row("BUFFER_PROFILE", profile)
        return (
            profile == NULL
            or bool(self.number("BUFFER_PROFILE", profile, "xoff"))
            or row.get("headroom_type") == "dynamic"
        )

    @cached_property
    def lossless(self) -> frozenset[Group]:
        """Its priority groups with headroom; none in the output of a template."""
        return frozenset(group for group in self.groups if self.is_lossless(self.profile(group)))

    def wred(self, group: Group) -> str:
        """Return the name of a queue's WRED profile; empty if it has none."""
        key = self.queues.get(group)
        return "" if key is None else reference(self.tables.row("QUEUE", key).get("wred_profile", ""))

    def group_of(self, port: str, priority: int) -> Group:
        """Return the priority group that a priority's pauses protect."""
        table = "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"
        found = self.mapped(port, "pfc_to_pg_map", table, priority)
        return Group(port, priority if found is None else found)

    def queue_of(self, port: str, priority: int) -> Group:
        """Return the queue that a pause of a priority stops."""
        found = self.mapped(port, "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", priority)
        return Group(port, priority if found is None else found)

    @cached_property
    def shares_headroom(self) -> bool:
        """Whether it has a shared headroom pool."""
        ratio = [
            self.number("DEFAULT_LOSSLESS_BUFFER_PARAMETER", key, "over_subscribe_ratio")
            for key in self.tables.table("DEFAULT_LOSSLESS_BUFFER_PARAMETER")
        ]
        return bool(self.number("BUFFER_POOL", LOSSLESS_POOL, "xoff")) or any(ratio)

    @cached_property
    def traffic(self) -> Traffic:
        """Packets of its lossless classes; SONiC's defaults if it has none."""
        for key in self.tables.table("LOSSLESS_TRAFFIC_PATTERN"):
            mtu = self.number("LOSSLESS_TRAFFIC_PATTERN", key, "mtu")
            small = self.number("LOSSLESS_TRAFFIC_PATTERN", key, "small_packet_percentage")
            return Traffic(int(mtu or Traffic().mtu), Traffic().small if small is None else small)
        return Traffic()

    @cached_property
    def asic(self) -> Asic | None:
        """Its ASIC, of the state database or else by its model; None if it is unknown."""
        metadata = self.tables.row("DEVICE_METADATA", "localhost")
        model = re.search(r"(?:msn|SN)([2-6])\d{3}", metadata.get("platform", "") + metadata.get("hwsku", ""))
        known = None if model is None else SPECTRUM.get(model[1])
        for key in self.tables.table("ASIC_TABLE"):
            cell = self.number("ASIC_TABLE", key, "cell_size")
            if cell:
                names = ("pipeline_latency", "mac_phy_delay", "peer_response_time")
                given = [self.number("ASIC_TABLE", key, name) for name in names]
                pipeline, mac_phy, peer = (
                    default if value is None else value
                    for default, value in zip(Asic(0)[1:4], given, strict=True)
                )
                return Asic(int(cell), pipeline, mac_phy, peer, int(model[1]) - 1 if model else 0)
        return known


NUMBERS = {
    "BUFFER_POOL": ("size", "xoff"),
    "BUFFER_PROFILE": ("size", "xon", "xoff", "xon_offset", "dynamic_th", "static_th"),
    "WRED_PROFILE": tuple(
        f"{colour}_{name}"
        for colour in ("green", "yellow", "red")
        for name in ("min_threshold", "max_threshold", "drop_probability")
    ),
    "PFC_WD": ("detection_time", "restoration_time", "POLL_INTERVAL"),
    "LOSSLESS_TRAFFIC_PATTERN": ("mtu", "small_packet_percentage"),
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": ("over_subscribe_ratio", "default_dynamic_th"),
    "ASIC_TABLE": ("cell_size", "pipeline_latency", "mac_phy_delay", "peer_response_time"),
}
"""Fields with numbers."""

REFERENCES = {
    ("QUEUE", "wred_profile"): "WRED_PROFILE",
    ("QUEUE", "scheduler"): "SCHEDULER",
    ("BUFFER_PG", "profile"): "BUFFER_PROFILE",
    ("BUFFER_PROFILE", "pool"): "BUFFER_POOL",
    ("PORT_QOS_MAP", "dscp_to_tc_map"): "DSCP_TO_TC_MAP",
    ("PORT_QOS_MAP", "tc_to_queue_map"): "TC_TO_QUEUE_MAP",
    ("PORT_QOS_MAP", "tc_to_pg_map"): "TC_TO_PRIORITY_GROUP_MAP",
    ("PORT_QOS_MAP", "pfc_to_queue_map"): "MAP_PFC_PRIORITY_TO_QUEUE",
    ("PORT_QOS_MAP", "pfc_to_pg_map"): "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
}
"""Fields that name a row of another table."""


def switch(tables: Tables) -> Switch:
    """Return the switch that tables describe.

    Raises:
        ScenarioError: with all values at once that are not what their fields need.

    """
    return _Reader(tables).switch()


class _Reader:
    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.mistakes = {file: Mistakes(file) for file in tables.files}

    def switch(self) -> Switch:
        name = self.tables.row("DEVICE_METADATA", "localhost").get("hostname", "")
        known = {
            (table, key, each): number
            for table, names in NUMBERS.items()
            for key, row in self.tables.table(table).items()
            for each in names
            if each in row and (number := self.number(table, key, each)) is not None
        }
        ports = {each: self.port(each) for each in self.ports()}
        queues, groups = (dict(self.groups(table, name, ports)) for table in ("QUEUE", "BUFFER_PG"))
        for each in self.mistakes.values():
            each.check()
        return Switch(name or Path(self.tables.files[0]).stem, self.tables, ports, queues, groups, known)

    def wrong(self, table: str, key: str, name: str, problem: str, valid: str) -> None:
        place = self.tables.place(table, key, name)
        file = self.tables.files[0] if place is None else place.file
        value = self.tables.row(table, key).get(name, "")
        where = " ".join(filter(None, (f"{table}|{key}", name)))
        self.mistakes[file].add(None if place is None else place.line, where, value, problem, valid)

    def number(self, table: str, key: str, name: str) -> float | None:
        text = self.tables.row(table, key).get(name, "")
        if re.fullmatch(r"-?\d{1,15}(\.\d{1,9})?", text):
            return float(text)
        if text:
            self.wrong(table, key, name, "is not a number", "a number such as 1024")
        return None

    def ports(self) -> list[str]:
        """Return the names of ports, of PORT or, in the output of a template, of the tables about them."""
        known = list(self.tables.table("PORT"))
        if not known:
            keys = [key for key in self.tables.table("PORT_QOS_MAP") if key != GLOBAL]
            known = list(dict.fromkeys(port for key in keys for port in items(key)))
        return [each for each in known if each.startswith("Ethernet")]

    def port(self, name: str) -> Port:
        row = self.tables.row("PORT", name)
        speed, mtu = self.number("PORT", name, "speed"), self.number("PORT", name, "mtu")
        return Port(
            name,
            None if speed is None else int(speed),
            MTU if mtu is None else int(mtu),
            len(items(row.get("lanes", ""))),
            self.metres(name),
            self.priorities(name, "pfc_enable") or frozenset(),
            self.priorities(name, "pfcwd_sw_enable"),
            row.get("admin_status", "up") == "up",
        )

    def metres(self, name: str) -> float | None:
        for key, row in self.tables.table("CABLE_LENGTH").items():
            if name in row:
                found = _METRES.fullmatch(row[name])
                if found is None:
                    self.wrong("CABLE_LENGTH", key, name, "is not a length", 'a length such as "40m"')
                    return None
                return float(found[1])
        return None

    def priorities(self, port: str, name: str) -> frozenset[int] | None:
        for key, row in self.tables.table("PORT_QOS_MAP").items():
            if port in items(key) and name in row:
                found = numbers(row[name])
                if found is None or not set(found) <= set(CLASSES):
                    self.wrong("PORT_QOS_MAP", key, name, "is not a list of priorities", "such as 3,4")
                    return frozenset()
                return frozenset(found)
        return None

    def groups(self, table: str, host: str, ports: dict[str, Port]) -> Iterator[tuple[Group, str]]:
        """Yield the queues or priority groups of the ports, and the key of each."""
        for key in self.tables.table(table):
            *before, named, last = ["", *key.split("|")]
            # A line card of a chassis also lists the ports of others, as `host|asic0|Ethernet0|3`.
            if len(before) > 1 and host and before[1].lower() != host.lower():
                continue
            found = numbers(last)
            if found is None or not named:
                self.wrong(table, key, "", "is not a port and a range", f"such as {table}|Ethernet0|3-4")
                continue
            for port in items(named):
                if port in ports:
                    yield from ((Group(port, number), key) for number in found)
