"""Decodes congestion control packets in wire format.

Formats: InfiniBand Architecture Specification, Volume 1, Annex A10.
"""

from __future__ import annotations

import struct
from typing import Any

SWITCH_SETTING, PORT_SETTING, ADAPTER_SETTING, TABLE = 0x14, 0x15, 0x16, 0x17
"""Attributes; OpenSM sets all but the second."""
BLOCK = 64
"""Table entries per packet."""

_HEAD = struct.Struct(">BBBBHHQHHI Q 32x")
_SWITCH = struct.Struct(">I 32s 32s BBHHH")
_LEVEL = struct.Struct(">HBBBx2x")
_PORT = struct.Struct(">BBH")


def decoded(mad: bytes) -> dict[str, Any]:
    """Return the fields of a packet."""
    version, mclass, class_version, method, _, _, _, attribute, _, modifier, key = _HEAD.unpack_from(mad)
    head = {"attribute": attribute, "modifier": modifier, "cc_key": key}
    assert (version, mclass, class_version, method) == (1, 0x21, 2, 2)
    data = mad[_HEAD.size :]
    if attribute == SWITCH_SETTING:
        used, victims, credit, threshold, size, late, delay, rate = _SWITCH.unpack_from(data)
        return head | {
            "control_map": used,
            "victim_mask": int.from_bytes(victims, "big"),
            "credit_mask": int.from_bytes(credit, "big"),
            "threshold": threshold >> 4,
            "packet_size": size,
            "credit_starvation_threshold": late >> 12,
            "credit_starvation_return_delay": (delay >> 14, delay & 0x3FFF),
            "marking_rate": rate,
        }
    if attribute == ADAPTER_SETTING:
        control, levels = struct.unpack_from(">HH", data)
        entries = [_LEVEL.unpack_from(data, 4 + 8 * level) for level in range(16)]
        return head | {"port_control": control, "control_map": levels, "levels": entries}
    if attribute == PORT_SETTING:
        ports = [_PORT.unpack_from(data, 4 * port) for port in range(32)]
        return head | {
            "ports": {
                32 * modifier + place: {
                    "control_type": first >> 6 & 1,
                    "threshold": first & 15,
                    "packet_size": size,
                    "marking_rate": rate,
                }
                for place, (first, size, rate) in enumerate(ports)
                if first >> 7
            }
        }
    assert attribute == TABLE
    limit, *words = struct.unpack_from(f">H2x{BLOCK}H", data)
    return head | {"limit": limit, "entries": [(word >> 14, word & 0x3FFF) for word in words]}
