"""Flows with TIMELY at one bottleneck of 10 Gb/s, with packets of 1000 B and a round trip of 20 us."""

from __future__ import annotations

from typing import Any

from becalm.lab.bottleneck import ONE_QUEUE, Bottleneck

RATE = 10.0
"""Gb/s."""
PACKET = 1000
"""Bytes of a packet with its headers."""
ROUND_TRIP = 20.0
"""Round trip in us on the empty network: `d_min`."""

PLAIN, PATCHED = "plain", "patched"
LAWS = (PLAIN, PATCHED)


def timely(law: str, initial: float) -> dict[str, Any]:
    """Return the response with its defaults, and with an initial rate as a share of the link."""
    return {"timely": {"patched": law == PATCHED, "initial": initial}}


def bottleneck(flows: int, law: str, initial: float, duration: float, warmup: float) -> Bottleneck:
    """Return the scene. Times are in ms."""
    return Bottleneck(
        flows=flows,
        rate=RATE,
        packet=PACKET,
        round_trip=ROUND_TRIP,
        response=timely(law, initial),
        arbiter=ONE_QUEUE,
        duration=duration,
        warmup=warmup,
    )
