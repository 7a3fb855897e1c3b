"""Captures for Wireshark: InfiniBand frames in ERF records, in a pcap file of link type 197.

Source of the record format: Endace, Extensible Record Format Types Reference Guide. A record starts with the
time in 8 bytes, as a little-endian 32.32 fixed-point number of seconds. Type, flags, record length, loss
counter and frame length follow, in big-endian order.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from becalm.errors import BecalmError
from becalm.traces import frames
from becalm.traces.frames import Fields

if TYPE_CHECKING:
    from becalm.traces.recording import Recording

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
            out.write(_record(row["time"], frames.frame(fields)))


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
        payload = frames.CNP_PAYLOAD if row["kind"] == "cnp" else 0
    return Fields(
        opcode=opcode,
        vl=row["vl"],
        sl=sl,
        source=source,
        destination=destination,
        qp=frames.FIRST_QP + row["flow"],
        psn=row["sequence"],
        fecn=row["fecn"],
        becn=row["becn"],
        payload=payload,
    )


def _opcode(row: dict[str, Any], *, unreliable: bool) -> int:
    if row["kind"] == "ack":
        return frames.ACKNOWLEDGE
    if row["kind"] == "cnp":
        return frames.CNP
    place = {
        (True, True): frames.ONLY,
        (True, False): frames.FIRST,
        (False, True): frames.LAST,
        (False, False): frames.MIDDLE,
    }[row["first"], row["last"]]
    return place + frames.UNRELIABLE if unreliable else place


def _lids(trace: Recording) -> dict[str, int]:
    """Return the LID of each host. Hosts are the nodes on the lowest level."""
    hosts = trace.links.filter(trace.links["from_level"] == 0)["from"].to_list()
    if len(hosts) > frames.MOST_LIDS:
        raise BecalmError(f"{len(hosts)} hosts: more than InfiniBand's {frames.MOST_LIDS} LIDs")
    if trace.flows.height + frames.FIRST_QP > 1 << 24:
        raise BecalmError(f"{trace.flows.height} flows: more than InfiniBand has queue pairs")
    longest = max(trace.tables["packets"]["payload"], default=0)
    if longest > frames.LONGEST:
        raise BecalmError(
            f"packets of {longest} B: too long for InfiniBand; valid: packet.mtu up to {frames.LONGEST} B"
        )
    return {host: place for place, host in enumerate(hosts, 1)}


def _unreliable(trace: Recording) -> bool:
    """Whether connections are unreliable, because destinations send no ACKs."""
    echo = trace.scenario.resolved["echo"]
    return bool(echo.get("ibta", {}).get("transport") == "unreliable")
