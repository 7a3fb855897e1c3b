"""Priority-based flow control (IEEE 802.1Qbb) in closed form: headroom, thresholds, a link that runs dry.

The thresholds are from Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (DCQCN), SIGCOMM
2015, section 4. The headroom is the usual sum of switch vendors. Units are bytes and bytes per second unless
a name states otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PAUSE_FRAME = 84
"""Size of a pause frame on the wire in bytes, including its preamble and the interframe gap."""
QUANTUM = 64
"""Size in bytes of a quantum, the unit of pauses: 512 bits."""
RESPONSES = {0.1: 1, 1: 2, 10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}
"""Longest response time of a sender to a pause, in quanta, by rate in Gb/s (IEEE 802.3, 31B.3.7)."""
ROCE_HEADER = 82
"""Size of a RoCEv2 packet without payload, in bytes: Ethernet, IP, UDP, BTH, checksums, preamble, gap."""
LIGHT = 5e-9
"""Propagation delay in seconds per metre of cable."""
CLASSES = 8
"""Number of traffic classes that PFC distinguishes."""
ROUNDING = 1e-9
"""Tolerance of a number of packets, as a fraction of a packet."""


def response_bytes(rate: float) -> int:
    """Return the bytes on the link until a sender responds. A rate without a row uses the next row."""
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
    """Return the bytes that reach a buffer after it crosses XOFF: 2 MTU + 2 C d + 84 B + C r.

    The pause waits for one packet, and the sender has just begun the other. This is enough for a buffer that
    counts an entire packet when its header arrives, because the crossing packet is then still on the cable. A
    buffer that counts a packet after its last byte needs space for one more packet.

    Args:
        rate: rate of the link, in bytes per second.
        metres: length of the cable.
        mtu: payload of the largest packet.
        header: additional bytes of a packet.
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
        size: size of the memory in bytes.
        ports: number of ports.
        headroom: headroom per port and class in bytes.
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
        """Marking threshold below which static XOFF never acts first: XOFF / n.

        One input may feed the queues of all n outputs.
        """
        return self.xoff / self.ports

    def dynamic_xoff(self, beta: float, used: float) -> float:
        """XOFF of a port and class as a share of the free memory: beta (B - 8 n h - s) / 8."""
        return beta * (self.shared - used) / self.classes

    def dynamic_marking(self, beta: float) -> float:
        """Marking threshold below which dynamic XOFF never acts first.

        It is beta (B - 8 n h) / (8 n (beta + 1)), if a single input feeds all n outputs in each class.
        """
        return beta * self.shared / (self.classes * self.ports * (beta + 1))


def utilization(*, xoff: int, xon: int, packet: int, slow: float, fast: float, blind: float) -> float:
    """Return the share of a slow link that one flow fills through a buffer with PFC; 1 unless it runs dry.

    The flow arrives on a fast link and leaves on a slow one, in equal packets that count from the arrival of
    their headers to the departure of their last bytes. An empty buffer fills until a packet crosses XOFF.
    Packets arrive until the sender obeys. The buffer then drains past XON, and the next packet arrives a
    blind time after XON. The buffer never runs dry if the slow link carries at most XON in a blind time.

    Args:
        xoff: bytes above which the buffer pauses its sender.
        xon: bytes down to which the sender stays paused.
        packet: size of a packet in bytes.
        slow: rate of the link that the buffer drains into.
        fast: rate of the link that fills it, above `slow`.
        blind: seconds from a decision of the buffer until it affects the arrival of headers: the delay of the
            pause, the cable delay in both directions, and forwarding.

    """
    gap, service = packet / fast, packet / slow
    packets = _crossing(xoff // packet, gap / service) + math.ceil(blind / gap - ROUNDING) - 1
    # Packets leave back to back from time 0, and XON is reached when `xon` bytes are left.
    reached = (packets - xon // packet) * service
    busy = packets * service
    return busy / max(busy, reached + blind)


def _crossing(room: int, gap: float) -> int:
    """Return the number of arrivals until more than `room` packets are present, one every `gap` services."""
    come = 1
    while come - math.floor((come - 1) * gap) <= room:
        come += 1
    return come
