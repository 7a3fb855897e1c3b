"""Captures for Wireshark: InfiniBand frames in ERF records, in a pcap file of link type 197.

A frame consists of LRH, BTH, AETH, payload, ICRC and VCRC, as on the wire. Payloads are zeros, as none are
simulated. Source: InfiniBand Architecture Specification, volume 1, release 1.3: sections 7.7 and 7.8 (LRH,
CRCs), 9.2 (BTH) and 9.3.5 (AETH), annex A10 (congestion control, CNP).

Source of the record format: Endace, Extensible Record Format Types Reference Guide. A record starts with the
time in 8 bytes, as a little-endian 32.32 fixed-point number of seconds. Type, flags, record length, loss
counter and frame length follow, in big-endian order.
"""

from __future__ import annotations

import struct
import zlib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from becalm.base.errors import BecalmError
from becalm.traces.recording import Recording

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


MAGIC = 0xA1B23C4D
"""Magic number of a pcap file with timestamps in nanoseconds."""
LINK_TYPE = 197
"""Link type of the Extensible Record Format."""
INFINIBAND = 21
"""Type of a record with an InfiniBand frame."""
_SNAP = 65535
_SECOND = 10**12
"""Picoseconds."""


def write(trace: Recording, link: str, file: Path) -> None:
    """Write the packets on a link to a file.

    A frame's timestamp is the time when its header enters the link, rounded down to 1/2^32 s. LIDs are the
    hosts' positions in the topology, from 1. The queue pair number is the flow number plus 2. Frames have
    InfiniBand headers, whatever `packet.header` is.

    Raises:
        BecalmError: the link was not recorded, or its packets are not InfiniBand frames.

    """
    names = trace.links["name"].to_list()
    if link not in names:
        raise BecalmError(f"link `{link}`: unknown; valid: names such as {names[0]}")
    packets = trace.packets
    chosen = packets.filter(packets["link"] == link)
    lids = _lids(trace)
    levels = dict(zip(trace.flows["flow"], trace.flows["sl"], strict=True))
    answers, unreliable = trace.scenario.resolved["packet"].get("answers_sl"), _unreliable(trace)
    with file.open("wb") as out:
        out.write(struct.pack("<IHHiIII", MAGIC, 2, 4, 0, 0, _SNAP, LINK_TYPE))
        for row in chosen.iter_rows(named=True):
            level = levels[row["flow"]] if row["kind"] == "data" or answers is None else answers
            fields = _fields(row, lids, level, unreliable=unreliable)
            out.write(_record(row["time"], frame(fields)))


def _record(time: int, frame: bytes) -> bytes:
    whole, part = divmod(time, _SECOND)
    erf = struct.pack("<Q", whole << 32 | (part << 32) // _SECOND)
    erf += struct.pack(">BBHHH", INFINIBAND, 4, 16 + len(frame), 0, len(frame))
    length = len(erf) + len(frame)
    return struct.pack("<IIII", whole, part // 1000, length, length) + erf + frame


def _fields(row: dict[str, Any], lids: dict[str, int], sl: int, *, unreliable: bool) -> Fields:
    source, destination = lids[row["source"]], lids[row["destination"]]
    opcode, payload = _opcode(row, unreliable=unreliable), row["payload"]
    if row["kind"] != "data":
        # Answers travel from the destination to the source.
        source, destination = destination, source
        payload = CNP_PAYLOAD if row["kind"] == "cnp" else 0
    return Fields(
        opcode=opcode,
        vl=row["vl"],
        sl=sl,
        source=source,
        destination=destination,
        qp=FIRST_QP + row["flow"],
        psn=row["sequence"],
        fecn=row["fecn"],
        becn=row["becn"],
        payload=payload,
    )


def _opcode(row: dict[str, Any], *, unreliable: bool) -> int:
    if row["kind"] == "ack":
        return ACKNOWLEDGE
    if row["kind"] == "cnp":
        return CNP
    place = {
        (True, True): ONLY,
        (True, False): FIRST,
        (False, True): LAST,
        (False, False): MIDDLE,
    }[row["first"], row["last"]]
    return place + UNRELIABLE if unreliable else place


def _lids(trace: Recording) -> dict[str, int]:
    """Return the LID of each host. Hosts are the nodes on the lowest level."""
    hosts = trace.links.filter(trace.links["from_level"] == 0)["from"].to_list()
    if len(hosts) > MOST_LIDS:
        raise BecalmError(f"{len(hosts)} hosts: more than InfiniBand's {MOST_LIDS} LIDs")
    if trace.flows.height + FIRST_QP > 1 << 24:
        raise BecalmError(f"{trace.flows.height} flows: more than InfiniBand has queue pairs")
    longest = max(trace.tables["packets"]["payload"], default=0)
    if longest > LONGEST:
        raise BecalmError(
            f"packets of {longest} B: too long for InfiniBand; valid: packet.mtu up to {LONGEST} B"
        )
    return {host: place for place, host in enumerate(hosts, 1)}


def _unreliable(trace: Recording) -> bool:
    """Whether connections are unreliable, because destinations send no ACKs."""
    return (trace.scenario.echo.get("ibta") or {}).get("transport") == "unreliable"
