"""A closed network with one class of packets."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class ClosedNetwork:
    """Centres that every packet visits once per round trip; a window's worth of packets circulates for ever.

    All times share one unit, whatever it is.

    Raises:
        ValueError: no service time, one that is not positive and finite, or a negative delay.

    """

    service: tuple[float, ...]
    """Mean service time at each queueing centre: one server, first come, first served."""
    delay: float = 0.0
    """Time at delay centres, where packets never wait for each other."""

    def __post_init__(self) -> None:
        if not self.service:
            raise ValueError("service: empty; a closed network needs at least one queueing centre")
        wrong = [time for time in self.service if not (0 < time < math.inf)]
        if wrong:
            raise ValueError(f"service: {wrong}; every service time must be positive and finite")
        if not 0 <= self.delay < math.inf:
            raise ValueError(f"delay: {self.delay}; it must be finite and not negative")

    @property
    def bottleneck(self) -> float:
        """The longest service time."""
        return max(self.service)

    @property
    def round_trip(self) -> float:
        """Time of a round trip without waiting."""
        return math.fsum(self.service) + self.delay

    @property
    def knee(self) -> float:
        """The window at which the asymptotes of the throughput meet, in packets.

        The round trip divided by the longest service time just keeps the bottleneck busy (Kleinrock 1979).
        """
        return self.round_trip / self.bottleneck
