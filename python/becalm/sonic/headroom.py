"""Headroom of a priority group: what arrives after the decision to pause a sender."""

from __future__ import annotations

import math
from typing import NamedTuple

LIGHT = 198e6
"""Speed of light in a cable, in m/s."""
QUANTUM = 64
"""Bytes of a pause quantum."""
SMALLEST = 64
"""Bytes of the smallest packet."""
UNIT = 1024
"""Sizes are rounded up to this many bytes."""
EXTRA = 2048
"""Bytes added where large packets share the cells with small ones."""

QUANTA = {
    100: 1,
    1_000: 2,
    10_000: 67,
    25_000: 80,
    40_000: 118,
    50_000: 147,
    100_000: 394,
    200_000: 453,
    400_000: 905,
    800_000: 905,
}
"""Response time to a pause by the port's Mb/s, in quanta (IEEE 802.3, clause 31B.3.7)."""


class Asic(NamedTuple):
    """Properties of a switching ASIC, as in the table ASIC_TABLE of the state database."""

    cell: int
    """Bytes of a cell of its buffer."""
    pipeline: float = 18.0
    """Latency of its pipeline, in kB of 1024 B."""
    mac_phy: float = 0.8
    """Delay of MAC and PHY, in the same unit."""
    peer: float = 3.8
    """Response time of peers at rates without quanta, in the same unit."""
    generation: int = 0
    """Generation of Spectrum; 0 if unknown."""


class Traffic(NamedTuple):
    """Packets of the lossless classes, as in the table LOSSLESS_TRAFFIC_PATTERN."""

    mtu: int = 1024
    """Bytes of their largest packet."""
    small: float = 100.0
    """Percentage of packets with 64 B."""


class Line(NamedTuple):
    """A port and its cable."""

    speed: int
    """Mb/s."""
    metres: float
    mtu: int = 9100
    lanes: int = 4
    gearbox: float = 0.0


class Headroom(NamedTuple):
    """Sizes of a lossless profile, in bytes."""

    size: int
    xon: int
    xoff: int


def on_cable(line: Line) -> float:
    """Return the bytes on a cable in both directions, one after the other: those that no response avoids."""
    return 2 * line.metres * line.speed * 1e6 / LIGHT / 8


def least(line: Line) -> float | None:
    """Return the bytes that any switch can receive after the decision to pause; None at an unknown rate.

    They are on the cable, or leave the sender within the response time of the standard; and one packet may
    already be on its way out at each end.
    """
    quanta = QUANTA.get(line.speed)
    return None if quanta is None else on_cable(line) + quanta * QUANTUM + 2 * line.mtu


def headroom(line: Line, asic: Asic, traffic: Traffic, *, shared: bool = False) -> Headroom:
    """Return the sizes that SONiC computes for a port of a Spectrum switch.

    Args:
        line: the port and its cable.
        asic: the switch's ASIC.
        traffic: packets of the lossless classes.
        shared: whether the switch has a shared headroom pool.

    """
    worst = worst_factor(asic.cell)
    xoff = _xoff(line, asic, traffic, _occupancy(traffic, worst))
    if asic.generation == 6:
        xoff += 18 * UNIT
    if not shared and traffic.small != 100:
        limit = _xoff(line, asic, traffic, worst)
        xoff = xoff + EXTRA if xoff + EXTRA < limit else xoff
    wide = line.lanes == 8
    xon = _rounded(asic.pipeline * UNIT * (2 if wide else 1))
    size = xon if shared else xoff + xon + (line.mtu if wide else 0)
    return Headroom(_rounded(size), xon, xoff)


def worst_factor(cell: int) -> int:
    """Return the largest ratio of the cells' bytes to those of the packets in them."""
    return math.ceil(cell / SMALLEST) if cell > 2 * SMALLEST else math.ceil(2 * cell / (1 + cell))


def _occupancy(traffic: Traffic, worst: int) -> float:
    small, mtu = traffic.small, traffic.mtu
    # SONiC's share of small packets by bytes, which is not quite that: it lacks a factor of `small` / 100.
    by_bytes = 100 * SMALLEST / ((small * SMALLEST + (100 - small) * mtu) / 100)
    return (100 - by_bytes + by_bytes * worst) / 100


def _xoff(line: Line, asic: Asic, traffic: Traffic, occupancy: float) -> int:
    quanta = QUANTA.get(line.speed)
    response = asic.peer * UNIT if quanta is None else quanta * QUANTUM
    gearbox = line.speed * line.gearbox / (8 * UNIT)
    tile = line.speed / 1000 * 120 / 8 if asic.generation in (4, 5) else 0
    delayed = line.mtu + on_cable(line) + 2 * gearbox + asic.mac_phy * UNIT + response + tile
    return _rounded(traffic.mtu + delayed * occupancy)


def _rounded(size: float) -> int:
    return math.ceil(size / UNIT) * UNIT
