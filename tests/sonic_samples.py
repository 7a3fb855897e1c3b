"""Configurations of SONiC switches without faults, after those that SONiC's templates and tests have."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path

Nested = dict[str, dict[str, dict[str, str]]]

PRIORITIES = (3, 4)
DSCPS = {3: "3", 4: "4", 5: "2", 8: "0", 46: "5", 48: "6"}
"""The template's map; all other DSCPs go to TC 1."""


def same(table: dict[int, int] | None = None) -> dict[str, str]:
    return {str(place): str((table or {}).get(place, place)) for place in range(8)}


def qos(ports: list[str], *, pfc_map: bool = False) -> Nested:
    """Return maps, schedulers and port settings as the common template has them."""
    row = {
        "dscp_to_tc_map": "AZURE",
        "tc_to_queue_map": "AZURE",
        "tc_to_pg_map": "AZURE",
        "pfc_to_queue_map": "AZURE",
        "pfc_enable": "3,4",
        "pfcwd_sw_enable": "3,4",
    }
    made: Nested = {
        "DSCP_TO_TC_MAP": {"AZURE": {str(dscp): DSCPS.get(dscp, "1") for dscp in range(64)}},
        "TC_TO_QUEUE_MAP": {"AZURE": same()},
        "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": same({1: 0, 2: 0, 5: 0, 6: 0})},
        "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": same()},
        "SCHEDULER": {
            "scheduler.0": {"type": "DWRR", "weight": "14"},
            "scheduler.1": {"type": "DWRR", "weight": "15"},
        },
        "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": "AZURE"}, **{port: dict(row) for port in ports}},
        "QUEUE": {
            f"{port}|{queue}": {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}
            if queue in PRIORITIES
            else {"scheduler": "scheduler.0"}
            for port in ports
            for queue in range(7)
        },
        "PFC_WD": {
            "GLOBAL": {"POLL_INTERVAL": "200"},
            **{
                port: {"action": "drop", "detection_time": "200", "restoration_time": "200"} for port in ports
            },
        },
    }
    if pfc_map:
        made["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] = {"AZURE": {"3": "3", "4": "4"}}
        for port in ports:
            made["PORT_QOS_MAP"][port]["pfc_to_pg_map"] = "AZURE"
    return made


def wred(low: int, high: int, share: int = 5) -> Nested:
    row = {"ecn": "ecn_all"}
    for colour in ("green", "yellow", "red"):
        row[f"wred_{colour}_enable"] = "true"
        row[f"{colour}_min_threshold"] = str(low)
        row[f"{colour}_max_threshold"] = str(high)
        row[f"{colour}_drop_probability"] = str(share)
    return {"WRED_PROFILE": {"AZURE_LOSSLESS": row}}


def ports(count: int, speed: int, lanes: int, metres: int) -> tuple[list[str], Nested]:
    names = [f"Ethernet{place * lanes}" for place in range(count)]
    numbers = range(count * lanes)
    return names, {
        "PORT": {
            name: {
                "admin_status": "up",
                "alias": f"Eth{place + 1}",
                "speed": str(speed),
                "mtu": "9100",
                "lanes": ",".join(map(str, numbers[place * lanes : (place + 1) * lanes])),
            }
            for place, name in enumerate(names)
        },
        "CABLE_LENGTH": {"AZURE": dict.fromkeys(names, f"{metres}m")},
    }


def traditional(name: str = "leaf0", count: int = 8) -> Nested:
    """Return a switch with profiles of a lookup file, thresholds of the common template, 100 Gb/s."""
    names, made = ports(count, 100_000, 4, 5)
    made |= qos(names) | wred(1_048_576, 2_097_152)
    made |= {
        "DEVICE_METADATA": {
            "localhost": {"hostname": name, "platform": "x86_64-other_100", "type": "ToRRouter"}
        },
        "BUFFER_POOL": {
            "ingress_lossless_pool": {
                "size": "33000000",
                "type": "ingress",
                "mode": "dynamic",
                "xoff": "4194112",
            },
            "egress_lossless_pool": {"size": "43000000", "type": "egress", "mode": "static"},
        },
        "BUFFER_PROFILE": {
            "pg_lossless_100000_5m_profile": {
                "pool": "ingress_lossless_pool",
                "size": "1248",
                "xon": "2288",
                "xoff": "160000",
                "xon_offset": "2288",
                "dynamic_th": "0",
            },
            "ingress_lossy_profile": {
                "pool": "ingress_lossless_pool",
                "size": "0",
                "static_th": "33000000",
            },
        },
        "BUFFER_PG": {
            **{f"{port}|0": {"profile": "ingress_lossy_profile"} for port in names},
            **{f"{port}|3-4": {"profile": "pg_lossless_100000_5m_profile"} for port in names},
        },
    }
    return made


def dynamic(name: str = "leaf0") -> Nested:
    """Return a Spectrum switch that computes its headroom, with a shared headroom pool."""
    names, made = ports(16, 100_000, 4, 40)
    made |= qos(names, pfc_map=True) | wred(2_000_000, 3_000_000)
    made |= {
        "DEVICE_METADATA": {
            "localhost": {
                "hostname": name,
                "platform": "x86_64-mlnx_msn3800-r0",
                "default_pfcwd_status": "enable",
                "buffer_model": "dynamic",
            }
        },
        "BUFFER_POOL": {
            "ingress_lossless_pool": {
                "type": "ingress",
                "mode": "dynamic",
                "size": "60000000",
                "xoff": "2000000",
            }
        },
        "BUFFER_PROFILE": {
            "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"}
        },
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {
            "AZURE": {"default_dynamic_th": "0", "over_subscribe_ratio": "2"}
        },
        "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024", "small_packet_percentage": "100"}},
        "BUFFER_PG": {f"{port}|3-4": {"profile": "NULL"} for port in names},
    }
    del made["PFC_WD"]
    return made


def wide(name: str = "spine0") -> Nested:
    """Return a switch of 400 Gb/s with low thresholds and lists of ports in its keys."""
    names, made = ports(32, 400_000, 8, 30)
    listed = ",".join(names)
    made |= qos(names) | wred(166_912, 282_624)
    made["QUEUE"] = {
        f"{listed}|0-2,5-6": {"scheduler": "[SCHEDULER|scheduler.0]"},
        f"{listed}|3-4": {
            "scheduler": "[SCHEDULER|scheduler.1]",
            "wred_profile": "[WRED_PROFILE|AZURE_LOSSLESS]",
        },
    }
    row = {
        key: f"[{key.upper()}|{value}]" if value == "AZURE" else value
        for key, value in made["PORT_QOS_MAP"][names[0]].items()
    }
    row["pfc_to_queue_map"] = "[MAP_PFC_PRIORITY_TO_QUEUE|AZURE]"
    made["PORT_QOS_MAP"] = {listed: row}
    made |= {
        "DEVICE_METADATA": {"localhost": {"hostname": name, "platform": "x86_64-other_400"}},
        "BUFFER_POOL": {
            "ingress_lossless_pool": {
                "size": "164619432",
                "type": "ingress",
                "mode": "dynamic",
                "xoff": "33690560",
            }
        },
        "BUFFER_PROFILE": {
            "pg_lossless_400000_30m_profile": {
                "pool": "[BUFFER_POOL|ingress_lossless_pool]",
                "size": "1518",
                "xon": "0",
                "xoff": "160000",
                "dynamic_th": "-1",
            }
        },
        "BUFFER_PG": {f"{listed}|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless_400000_30m_profile]"}},
    }
    return made


def flat(nested: Nested) -> dict[str, dict[str, str]]:
    """Return a dump with the table in each key."""
    return {f"{table}|{key}": row for table, rows in nested.items() for key, row in rows.items()}


SANE = {"traditional": traditional, "dynamic": dynamic, "wide": wide}


def write(folder: Path, document: object, name: str = "config_db.json") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=4))
    return file


def changed(nested: Nested, *changes: tuple[str, str, str, str | None]) -> Nested:
    """Return a copy with fields set, or removed if their value is None; a row goes with its last field."""
    made = copy.deepcopy(nested)
    for table, key, name, value in changes:
        row = made.setdefault(table, {}).setdefault(key, {})
        if value is None:
            del row[name]
        else:
            row[name] = value
        if not row:
            del made[table][key]
    return made


def joined(nested: Nested, **neighbours: tuple[str, str, str]) -> Nested:
    """Return a copy with neighbours: the name, port and type at the far end of each port."""
    made = copy.deepcopy(nested)
    for port, (name, far, kind) in neighbours.items():
        made.setdefault("DEVICE_NEIGHBOR", {})[port] = {"name": name, "port": far}
        made.setdefault("DEVICE_NEIGHBOR_METADATA", {})[name] = {"type": kind}
    return made


def fabric(folder: Path, base: Callable[[str], Nested] = traditional) -> Path:
    """Write two leaves with two hosts each, and a spine; return their folder."""
    leaf = {
        f"leaf{i}": joined(
            base(f"leaf{i}"),
            Ethernet0=("Servers", "eth0", "Server"),
            Ethernet4=("Servers", "eth0", "Server"),
            Ethernet28=("spine0", f"Ethernet{4 * i}", "LeafRouter"),
        )
        for i in range(2)
    }
    spine = joined(
        base("spine0"),
        Ethernet0=("leaf0", "Ethernet28", "ToRRouter"),
        Ethernet4=("leaf1", "Eth8", "ToRRouter"),
    )
    for name, each in {**leaf, "spine0": spine}.items():
        write(folder / name, each)
    return folder


def example(folder: Path) -> Path:
    """Write the switches of the documentation: two leaves of four hosts, and two spines."""
    for i in range(2):
        hosts = {f"Ethernet{4 * p}": (f"host{4 * i + p}", "eth0", "Server") for p in range(4)}
        spines = {f"Ethernet{16 + 4 * j}": (f"spine{j}", f"Ethernet{4 * i}", "LeafRouter") for j in range(2)}
        write(folder / f"leaf{i}", joined(traditional(f"leaf{i}", 6), **hosts, **spines))
        leaves = {f"Ethernet{4 * j}": (f"leaf{j}", f"Ethernet{16 + 4 * i}", "ToRRouter") for j in range(2)}
        write(folder / f"spine{i}", joined(traditional(f"spine{i}", 2), **leaves))
    return folder
