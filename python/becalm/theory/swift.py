"""The target of Swift, and the round trip at which N flows settle at one bottleneck.

G. Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM
2020, section 3.5. The target grows as windows shrink:

    target(W) = base + hops per_hop + max(0, min(A / sqrt(W) + B, range))
    A = range / (1/sqrt(W_min) - 1/sqrt(W_max)),  B = -A / sqrt(W_max)

N flows that fill the link have windows of W = C RTT / N, and the round trip settles where it is the target of
that window. It oscillates: up by N increases, down by a decrease of each. So its mean lies between the target
and a round of increases above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Swift:
    """Parameters of the target. Times are in seconds, windows in packets."""

    base: float
    """The target without hops and flows."""
    per_hop: float = 1e-6
    """Addition for each link of the route."""
    hops: int = 2
    """Links of the route."""
    range: float | None = None
    """Largest addition for small windows; five times the base if None."""
    smallest: float = 0.1
    """Window with the largest addition."""
    largest: float = 100.0
    """Window without addition."""

    def __post_init__(self) -> None:
        if not 0 < self.smallest < self.largest:
            raise ValueError(f"smallest, largest: {self.smallest}, {self.largest}; 0 < smallest < largest")

    def target(self, window: float) -> float:
        """Return the target of a window.

        Raises:
            ValueError: a window that is not positive.

        """
        if window <= 0:
            raise ValueError(f"window: {window}; it must be positive")
        longest = 5 * self.base if self.range is None else self.range
        a = longest / (1 / math.sqrt(self.smallest) - 1 / math.sqrt(self.largest))
        added = a / math.sqrt(window) - a / math.sqrt(self.largest)
        return self.base + self.hops * self.per_hop + min(max(added, 0.0), longest)

    def standing(self, flows: int, link: float) -> float:
        """Return the round trip that is the target of its own window.

        The target falls as the round trip grows, so there is exactly one.

        Args:
            flows: N, all with the same route.
            link: packets per second of the bottleneck.

        """
        low, high = 0.0, self.target(self.smallest)
        for _ in range(200):
            middle = (low + high) / 2
            if middle > 0 and self.target(link * middle / flows) <= middle:
                high = middle
            else:
                low = middle
        return high

    def swing(self, flows: int, link: float, increase: float = 1.0) -> float:
        """Return the time by which a round of increases of all flows lengthens the round trip.

        Args:
            flows: N.
            link: packets per second of the bottleneck.
            increase: packets by which a window grows in a round trip.

        """
        return flows * increase / link
