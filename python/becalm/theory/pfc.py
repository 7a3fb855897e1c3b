"""Priority-based flow control (IEEE 802.1Qbb) in closed form: headroom, thresholds, a link that runs dry.

Sources: Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (DCQCN), SIGCOMM 2015, section
4, for the thresholds; the sum of the headroom is the usual one of switch makers. Bytes and bytes per second
throughout, unless a name says otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PAUSE_FRAME = 84
"""Bytes of a pause frame on the wire, including its preamble and the gap between frames."""
QUANTUM = 64
"""Bytes on the link in a quantum, the unit of pauses: 512 bits."""
RESPONSES = {0.1: 1, 1: 2, 10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}
"""Longest response of a sender to a pause in quanta, by its rate in Gb/s (IEEE 802.3, 31B.3.7)."""
ROCE_HEADER = 82
"""Bytes of a RoCEv2 packet without its payload: Ethernet, IP, UDP, BTH, both checksums, preamble, gap."""
LIGHT = 5e-9
"""Seconds for a metre of cable."""
CLASSES = 8
"""Number of traffic classes that PFC distinguishes."""
ROUNDING = 1e-9
"""Fraction of a packet by which a number of packets may be off."""


def response_bytes(rate: float) -> int:
    """Return the bytes on the link until a sender responds; a rate without a row uses the next row."""
    gigabits = 8 * rate / 1e9
    next_rate = min(
        (named for named in RESPONSES if gigabits <= named * (1 + ROUNDING)), default=max(RESPONSES)
    )
    return RESPONSES[next_rate] * QUANTUM


def headroom(
    rate: float,
    metres: float,
    *,
    mtu: int,
    header: int = ROCE_HEADER,
    response: float | None = None,
    forwarding: float = 0.0,
) -> float:
    """Return the bytes that reach a buffer after the crossing of XOFF: 2 MTU + 2 C d + 84 B + C r.

    One packet is the one for which the pause waits, the other the one that the sender has just begun. A
    buffer that counts a whole packet when its header arrives needs no more: the packet that crosses is on the
    cable meanwhile. A buffer that counts it when its last byte has arrived needs one packet more.

    Args:
        rate: rate of the link, in bytes per second.
        metres: length of the cable.
        mtu: payload of the largest packet.
        header: bytes of a packet in addition to it.
        response: bytes on the link until the sender responds; default: `response_bytes`.
        forwarding: seconds from a header's arrival until the buffer counts the packet.

    """
    packet = mtu + header
    if response is None:
        response = response_bytes(rate)
    return 2 * packet + PAUSE_FRAME + response + rate * (2 * LIGHT * metres + forwarding)


@dataclass(frozen=True)
class SharedBuffer:
    """The memory of a switch with PFC, after DCQCN, section 4.

    Args:
        size: bytes of memory.
        ports: number of ports.
        headroom: bytes for each port and class.
        classes: number of lossless classes.

    """

    size: float
    ports: int
    headroom: float
    classes: int = CLASSES

    @property
    def shared(self) -> float:
        """Bytes without headroom: B - 8 n h."""
        return self.size - self.classes * self.ports * self.headroom

    @property
    def xoff(self) -> float:
        """Largest static XOFF of a port and class: (B - 8 n h) / (8 n)."""
        return self.shared / (self.classes * self.ports)

    @property
    def marking(self) -> float:
        """Threshold of marking below which static XOFF never comes first: XOFF / n.

        One input may feed the queues of all n outputs.
        """
        return self.xoff / self.ports

    def dynamic_xoff(self, beta: float, used: float) -> float:
        """XOFF of a port and class as a share of what is free: beta (B - 8 n h - s) / 8."""
        return beta * (self.shared - used) / self.classes

    def dynamic_marking(self, beta: float) -> float:
        """Threshold of marking below which dynamic XOFF never comes first.

        It is beta (B - 8 n h) / (8 n (beta + 1)): a single input feeds all n outputs, in each of the classes.
        """
        return beta * self.shared / (self.classes * self.ports * (beta + 1))


def utilization(*, xoff: int, xon: int, packet: int, slow: float, fast: float, blind: float) -> float:
    """Return the share of a slow link that one flow fills through a buffer with PFC; 1 unless it runs dry.

    The flow arrives by a fast link and leaves by a slow one, in equal packets that count from the arrival of
    their headers until their last byte has left. An empty buffer fills until a packet crosses XOFF; packets
    arrive until the sender obeys; the buffer drains, to XON and further; the next packet arrives a blind time
    after XON. It never runs dry if the slow link carries at most XON in a blind time.

    Args:
        xoff: bytes above which the buffer pauses its sender.
        xon: bytes down to which it stays paused.
        packet: bytes of a packet.
        slow: rate of the link that the buffer drains into.
        fast: rate of the link that fills it, above `slow`.
        blind: seconds from a decision of the buffer until the first header arrives, or fails to arrive, as a
            result: the delay of the pause, both ways over the cable, and forwarding.

    """
    gap, service = packet / fast, packet / slow
    packets = _crossing(xoff // packet, gap / service) + math.ceil(blind / gap - ROUNDING) - 1
    # They leave back to back from time 0, and XON is reached when `xon` bytes are left.
    reached = (packets - xon // packet) * service
    busy = packets * service
    return busy / max(busy, reached + blind)


def _crossing(room: int, gap: float) -> int:
    """Return the packets that have arrived when more than `room` are there: one every `gap` services."""
    come = 1
    while come - math.floor((come - 1) * gap) <= room:
        come += 1
    return come
