"""How far a set of runs is: what sweeps, experiments and comparisons report while they run."""

from __future__ import annotations

from typing import NamedTuple


class SweepProgress(NamedTuple):
    """How far a set of runs is."""

    finished: int
    """Points finished, those found on disk included."""
    points: int
    """How many there are."""
    fraction: float
    """Share of the simulated time done, from 0 to 1."""
    events: int
    """Events handled by this call."""
    packet_hops: int
    """Packet-hops of this call."""
