"""The utilization at which HPCC's flows settle, and the queue if it is above 1.

From Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, Algorithm 1: in the steady state,
W = W eta / U + W_AI, so that each window is W_AI U / (U - eta). While the link is not full, its utilization
follows from the rates W / T of N flows:

    U = N W / (C T) = eta + N W_AI / (C T)

Above 1, the rest waits: windows fill the link and the queue, q = (U - 1) C T. If windows of less than a
packet are rounded up, only rates limit the flows. In the steady state, they add up to C, and the utilization
U = eta / (1 - N W_AI / (C T)) is slightly larger.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hpcc:
    """Flows with HPCC at one bottleneck, on links of the same rate."""

    flows: int
    """N."""
    product: float
    """C T: bytes that the link sends in a base round trip."""
    increase: float = 80.0
    """W_AI: additive increase in bytes."""
    eta: float = 0.95
    """Target utilization."""

    def __post_init__(self) -> None:
        if self.flows < 1 or self.product <= 0:
            raise ValueError(
                f"flows, product: {self.flows}, {self.product}; flows must be 1 or more, and product positive"
            )
        if self.flows * self.increase >= self.product:
            raise ValueError(
                f"flows: {self.flows}; must be below product / increase = {self.product / self.increase:g}"
            )

    @property
    def utilization(self) -> float:
        """U: bytes of all windows over C T. Above 1, the link is full and has a standing queue."""
        return self.eta + self.flows * self.increase / self.product

    @property
    def link(self) -> float:
        """Utilization of the link."""
        return min(1.0, self.utilization)

    @property
    def queue(self) -> float:
        """Queue in bytes if windows limit the flows."""
        return max(0.0, self.utilization - 1) * self.product

    @property
    def paced_queue(self) -> float:
        """Queue in bytes if rates limit the flows, which is at least as long."""
        if self.utilization <= 1:
            return 0.0
        return (self.eta / (1 - self.flows * self.increase / self.product) - 1) * self.product
