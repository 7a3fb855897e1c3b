"""InfiniBand frames of packets: LRH, BTH, AETH, payload, ICRC and VCRC, as on the wire.

Source: InfiniBand Architecture Specification, volume 1, release 1.3: sections 7.7 and 7.8 (LRH, CRCs),
9.2 (BTH) and 9.3.5 (AETH), annex A10 (congestion control, CNP). Payloads are zeros, as none are simulated.
"""

from __future__ import annotations

import struct
import zlib
from functools import cache
from typing import NamedTuple

FIRST, MIDDLE, LAST, ONLY = 0x00, 0x01, 0x02, 0x04
"""Opcodes of a SEND."""
ACKNOWLEDGE, CNP = 0x11, 0x81
UNRELIABLE = 0x20
"""Added to the opcode of a SEND on an unreliable connection."""
PARTITION = 0xFFFF
"""Default partition key."""
FIRST_QP = 2
"""First queue pair number. Queue pairs 0 and 1 are for management."""
LONGEST = 4096
"""Longest payload of a packet in bytes."""
MOST_LIDS = 0xBFFF
"""Unicast LIDs."""
CNP_PAYLOAD = 16


class Fields(NamedTuple):
    """Contents of a frame's headers."""

    opcode: int
    vl: int
    sl: int
    source: int
    """LID, like `destination`."""
    destination: int
    qp: int
    psn: int
    fecn: bool
    becn: bool
    payload: int
    """Bytes."""


def frame(fields: Fields) -> bytes:
    """Return a complete frame."""
    extension = _aeth(fields.psn) if fields.opcode == ACKNOWLEDGE else b""
    pad = -fields.payload % 4
    words = (8 + 12 + len(extension) + fields.payload + pad + 4) // 4
    lrh = struct.pack(">BBHHH", fields.vl << 4, fields.sl << 4 | 2, fields.destination, words, fields.source)
    congestion = fields.fecn << 7 | fields.becn << 6
    bth = struct.pack(
        ">BBHB3sB3s",
        fields.opcode,
        0x40 | pad << 4,
        PARTITION,
        congestion,
        fields.qp.to_bytes(3, "big"),
        0x80 if fields.opcode <= ONLY else 0,
        (fields.psn & 0xFFFFFF).to_bytes(3, "big"),
    )
    body = fields.payload + pad
    invariant = _icrc(lrh, bth + extension, body)
    return lrh + bth + extension + bytes(body) + invariant + _vcrc(lrh + bth + extension, body, invariant)


def _aeth(psn: int) -> bytes:
    """Return the ACK extended transport header, with no credit limit and the number of messages."""
    return struct.pack(">B3s", 0x1F, (psn & 0xFFFFFF).to_bytes(3, "big"))


def _icrc(lrh: bytes, headers: bytes, body: int) -> bytes:
    """Return the invariant CRC: a CRC-32 in which the bits that switches change count as ones."""
    masked = bytes([lrh[0] | 0xF0]) + lrh[1:] + headers[:4] + b"\xff" + headers[5:] + bytes(body)
    return struct.pack("<I", zlib.crc32(masked))


def _vcrc(headers: bytes, body: int, invariant: bytes) -> bytes:
    """Return the variant CRC: CRC-16 with polynomial 0x100B over the frame, bit-reversed like the CRC-32."""
    state, moved = _crc16(headers, 0xFFFF), 0
    for bit, image in enumerate(_through_zeros(body)):
        if state >> bit & 1:
            moved ^= image
    return struct.pack("<H", _crc16(invariant, moved) ^ 0xFFFF)


def _crc16(data: bytes, state: int) -> int:
    for byte in data:
        state = (state >> 8) ^ _TABLE[(state ^ byte) & 0xFF]
    return state


@cache
def _through_zeros(count: int) -> tuple[int, ...]:
    """Return the effect of each bit of the CRC's state after `count` zero bytes."""
    return tuple(_crc16(bytes(count), 1 << bit) for bit in range(16))


def _entry(byte: int) -> int:
    for _ in range(8):
        # 0x100B with its bits reversed.
        byte = byte >> 1 ^ (0xD008 if byte & 1 else 0)
    return byte


_TABLE = [_entry(byte) for byte in range(256)]
