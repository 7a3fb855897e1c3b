"""The fixed point of patched TIMELY: N flows at one bottleneck.

From Y. Zhu, M. Ghobadi, V. Misra, J. Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and
TIMELY", CoNEXT 2016, section 4.3. In the steady state, the round trip does not change, so the weight of a
decrease is 1/2. An increase by delta and a decrease by beta R (RTT - T_low) / T_low cancel out if every flow
has R = C / N and

    RTT* = T_low (1 + N delta / (beta C)),  q* = C (RTT* - D)

The original law has no such point: with a constant queue, every division of the link is in equilibrium.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PatchedTimely:
    """Flows with the patched law, with times in seconds. The defaults are from `[response.timely]`."""

    flows: int
    """N."""
    t_low: float = 50e-6
    """Threshold of the round trip below which rates grow."""
    t_high: float = 500e-6
    """Threshold of the round trip above which rates fall. The fixed point is below it."""
    delta: float = 0.001
    """Step of an increase, as a share of the link's rate C."""
    beta: float = 0.008
    """Strength of a decrease."""

    def __post_init__(self) -> None:
        if self.flows < 1:
            raise ValueError(f"flows: {self.flows}; must be 1 or more")
        if self.round_trip > self.t_high:
            raise ValueError(
                f"flows: {self.flows}; the fixed point must lie below t_high = {self.t_high:g} s"
            )

    @property
    def round_trip(self) -> float:
        """RTT*: the round trip in the steady state."""
        return self.t_low * (1 + self.flows * self.delta / self.beta)

    def queue(self, rate: float, base: float) -> float:
        """Return the steady-state queue, in the rate's unit times seconds.

        Args:
            rate: rate of the bottleneck, such as bytes per second.
            base: round trip without a queue.

        """
        return rate * max(0.0, self.round_trip - base)
