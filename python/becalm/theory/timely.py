"""The fixed point of patched TIMELY: N flows at one bottleneck.

Y. Zhu, M. Ghobadi, V. Misra, J. Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY",
CoNEXT 2016, section 4.3. At rest the round trip does not change, so that the weight of a decrease is 1/2; an
increase by delta and a decrease by beta R (RTT - T_low) / T_low cancel out when every flow has R = C / N and

    RTT* = T_low (1 + N delta / (beta C)),  q* = C (RTT* - D)

The plain law has no such point: with a constant queue, every division of the link is at rest.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PatchedTimely:
    """Flows with the patched law; the defaults are those of `[response.timely]`. Times in seconds."""

    flows: int
    """N."""
    t_low: float = 50e-6
    """Threshold of the round trip below which rates grow."""
    t_high: float = 500e-6
    """Threshold above which they fall; the fixed point lies below."""
    delta: float = 0.001
    """Step of an increase, as a share of the link's rate C."""
    beta: float = 0.008
    """Strength of a decrease."""

    def __post_init__(self) -> None:
        if self.flows < 1:
            raise ValueError(f"flows: {self.flows}; 1 or more")
        if self.round_trip > self.t_high:
            raise ValueError(
                f"flows: {self.flows}; the fixed point must lie below t_high = {self.t_high:g} s"
            )

    @property
    def round_trip(self) -> float:
        """RTT*: the round trip at rest."""
        return self.t_low * (1 + self.flows * self.delta / self.beta)

    def queue(self, rate: float, base: float) -> float:
        """Return the queue at rest in the unit of the rate.

        Args:
            rate: rate of the bottleneck, such as bytes per second.
            base: round trip without queue.

        """
        return rate * max(0.0, self.round_trip - base)
