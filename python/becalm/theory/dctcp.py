"""The sawtooth of DCTCP: queue, window and estimate of synchronized flows at one bottleneck.

From M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, sections 3.3 and 3.4, in packets. The
windows of all N flows grow by a packet per round trip until the queue exceeds the threshold K, and then
shrink together:

    W*    = (C RTT + K) / N                       the window at which the queue reaches K
    alpha : alpha^2 (1 - alpha / 4) = (2 W* + 1) / (W* + 1)^2, about 2 / W*
    D     = (W* + 1) alpha / 2                    amplitude of a window
    Q_max = K + N,  Q_min = Q_max - N D
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Dctcp:
    """Flows with DCTCP at one bottleneck, with queues and windows in packets."""

    flows: int
    """N."""
    product: float
    """C RTT: packets that the link sends in a round trip without a queue."""
    threshold: float
    """K: if the queue has more packets, every packet is marked."""

    def __post_init__(self) -> None:
        if self.flows < 1:
            raise ValueError(f"flows: {self.flows}; must be 1 or more")
        if self.product <= 0 or self.threshold < 0:
            raise ValueError(
                f"product, threshold: {self.product}, {self.threshold}; must be positive, and 0 or more"
            )

    @property
    def window(self) -> float:
        """W*: a flow's window when the queue reaches the threshold."""
        return (self.product + self.threshold) / self.flows

    @property
    def alpha(self) -> float:
        """Estimate of the share of marked packets, for large windows: sqrt(2 / W*), at most 1."""
        return min(1.0, math.sqrt(2 / self.window))

    @property
    def largest_queue(self) -> float:
        """K + N: each flow sends one more packet before it learns of the first mark."""
        return self.threshold + self.flows

    @property
    def amplitude(self) -> float:
        """Difference between the largest and smallest queue, for large windows: sqrt(2 N (C RTT + K)) / 2."""
        return math.sqrt(2 * self.flows * (self.product + self.threshold)) / 2

    @property
    def smallest_queue(self) -> float:
        """Smallest queue. If it is below 0, the link runs empty."""
        return self.largest_queue - self.amplitude

    @property
    def lost(self) -> float:
        """Unused share of the link: the part of the sawtooth below a queue of 0."""
        return max(0.0, -self.smallest_queue) ** 2 / (2 * self.amplitude * self.product)

    @property
    def period(self) -> float:
        """Round trips between two cuts. A window grows by one packet in each."""
        return self.amplitude / self.flows

    @property
    def least_threshold(self) -> float:
        """Smallest threshold at which the queue never runs empty, for any number of flows: C RTT / 7."""
        return self.product / 7

    @property
    def largest_gain(self) -> float:
        """Largest weight g of a window in alpha for which alpha averages over at least a period."""
        return 1.386 / math.sqrt(2 * (self.product + self.threshold))

    @property
    def standing_queue(self) -> float:
        """Queue of flows that all have the smallest window, one packet: N - C RTT, or 0."""
        return max(0.0, self.flows - self.product)
