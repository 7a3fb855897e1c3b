"""The target of Swift, and the round trip at which N flows settle at one bottleneck.

From G. Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM
2020, section 3.5. The target grows as windows shrink:

    target(W) = base + hops per_hop + max(0, min(A / sqrt(W) + B, range))
    A = range / (1/sqrt(W_min) - 1/sqrt(W_max)),  B = -A / sqrt(W_max)

N flows that fill the link have windows of W = C RTT / N, and the round trip settles at the target of that
window. It oscillates, up with N increases and down with a decrease of each flow. Its mean is therefore
between the target and one round of increases above it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Swift:
    """Parameters of the target, with times in seconds and windows in packets."""

    base: float
    """Target without the additions for hops and flows."""
    per_hop: float = 1e-6
    """Addition per link of the route."""
    hops: int = 2
    """Number of links on the route."""
    range: float | None = None
    """Largest addition for small windows; None: five times the base."""
    smallest: float = 0.1
    """Window with the largest addition."""
    largest: float = 100.0
    """Window without addition."""

    def __post_init__(self) -> None:
        if not 0 < self.smallest < self.largest:
            raise ValueError(
                f"smallest, largest: {self.smallest}, {self.largest}; must satisfy 0 < smallest < largest"
            )

    def target(self, window: float) -> float:
        """Return the target of a window.

        Raises:
            ValueError: the window is not positive.

        """
        if window <= 0:
            raise ValueError(f"window: {window}; must be positive")
        longest = 5 * self.base if self.range is None else self.range
        a = longest / (1 / math.sqrt(self.smallest) - 1 / math.sqrt(self.largest))
        added = a / math.sqrt(window) - a / math.sqrt(self.largest)
        return self.base + self.hops * self.per_hop + min(max(added, 0.0), longest)

    def standing(self, flows: int, link: float) -> float:
        """Return the round trip that equals the target of its window.

        There is exactly one, because the target falls as the round trip grows.

        Args:
            flows: N, all with the same route.
            link: rate of the bottleneck in packets per second.

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
            link: rate of the bottleneck in packets per second.
            increase: growth of a window per round trip, in packets.

        """
        return flows * increase / link
