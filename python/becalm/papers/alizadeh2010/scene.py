"""Flows with DCTCP at one bottleneck of 10 Gb/s, with packets of 1500 B and a round trip of 100 us."""

from __future__ import annotations

from becalm.lab.bottleneck import Bottleneck
from becalm.theory import Dctcp

RATE = 10.0
"""Gb/s."""
PACKET = 1500
"""Bytes of a packet with its headers."""
ROUND_TRIP = 100.0
"""Round trip in us on the empty network."""
THRESHOLD = 40
"""K in packets at 10 Gb/s, in figures without a sweep of K."""


def law(flows: int, threshold: float = THRESHOLD) -> Dctcp:
    """Return the closed forms for this number of flows."""
    return Dctcp(flows, RATE * ROUND_TRIP / (8e-3 * PACKET), threshold)


def bottleneck(
    flows: int,
    threshold: float = THRESHOLD,
    *,
    judged: str = "arrival",
    initial: float | None = None,
    short: bool,
) -> Bottleneck:
    """Return the scene. Packets that find more than the threshold in the queue are marked.

    Args:
        flows: number of flows.
        threshold: K in packets.
        judged: event at which the queue is read: "arrival" of a packet, as in the paper, or "departure".
        initial: the window at the start; None: the bandwidth-delay product.
        short: whether to return the reduced version.

    """
    step = threshold * PACKET / 1000
    return Bottleneck(
        flows=flows,
        rate=RATE,
        packet=PACKET,
        round_trip=ROUND_TRIP,
        marking={"ramp": {"kmin": step, "kmax": step, "judged": judged}},
        response={"dctcp": {} if initial is None else {"initial": initial}},
        duration=60 if short else 150,
        warmup=30 if short else 50,
    )
