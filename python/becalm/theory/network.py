"""A closed network with one class of packets."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class ClosedNetwork:
    """Centres that every packet visits once per round trip. A window of packets circulates forever.

    All times have the same, arbitrary unit.

    Raises:
        ValueError: there is no service time, one is not positive and finite, or the delay is negative.

    """

    service: tuple[float, ...]
    """Mean service time at each queueing centre, which has one server, first come, first served."""
    delay: float = 0.0
    """Time at delay centres, where packets never wait for each other."""

    def __post_init__(self) -> None:
        if not self.service:
            raise ValueError("service: empty; a closed network needs at least one queueing centre")
        wrong = [time for time in self.service if not (0 < time < math.inf)]
        if wrong:
            raise ValueError(f"service: {wrong}; every service time must be positive and finite")
        if not 0 <= self.delay < math.inf:
            raise ValueError(f"delay: {self.delay}; must be finite and not negative")

    @property
    def bottleneck(self) -> float:
        """The longest service time."""
        return max(self.service)

    @property
    def round_trip(self) -> float:
        """Round-trip time without waiting."""
        return math.fsum(self.service) + self.delay

    @property
    def knee(self) -> float:
        """The window at which the asymptotes of the throughput meet, in packets.

        A window of the round trip divided by the longest service time just keeps the bottleneck busy
        (Kleinrock 1979).
        """
        return self.round_trip / self.bottleneck
