"""Flows with DCQCN at one bottleneck of 40 Gb/s, with packets of 1000 B and the parameters of the paper."""

from __future__ import annotations

from becalm.lab.bottleneck import Bottleneck
from becalm.theory import Dcqcn

RATE = 40.0
"""Gb/s."""
PACKET = 1000
"""Bytes of a packet with its headers."""

SHORT_LOOP, LONG_LOOP = 4.0, 85.0
"""Round trips in us, of a packet to the receiver and its notification back."""


def fixed_point(flows: int) -> Dcqcn:
    """Return the fixed point for this number of flows."""
    return Dcqcn(flows, link=RATE * 1e9 / 8 / PACKET)


def bottleneck(flows: int, loop: float, *, short: bool) -> Bottleneck:
    """Return the scene with the preset `paper` and the paper's marking and notifications, the defaults."""
    return Bottleneck(
        flows=flows,
        rate=RATE,
        packet=PACKET,
        round_trip=loop,
        marking={"ramp": {}},
        echo={"rocev2": {}},
        response={"dcqcn": {"preset": "paper"}},
        duration=100 if short else 250,
        warmup=50,
    )
