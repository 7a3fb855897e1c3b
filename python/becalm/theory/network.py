"""A closed queueing network, its exact solution by mean-value analysis, and bounds on its throughput.

From M. Reiser and S. S. Lavenberg, "Mean-value analysis of closed multichain queuing networks", J. ACM 27,
1980. The bounds require only the mean service times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Solution:
    """Means in the steady state for windows 1 to W, with times in the unit of the network's service times."""

    window: Array
    """Packets in the network, shape (W,)."""
    throughput: Array
    """Packets per unit of time, shape (W,)."""
    response: Array
    """Round-trip time, including delays, shape (W,)."""
    queue: Array
    """Packets at each queueing centre, including the one in service, shape (W, centres)."""


def mean_value_analysis(network: ClosedNetwork, windows: int) -> Solution:
    """Solve a network for all windows from 1 to `windows`.

    The solution is exact for exponential, first-come-first-served service with independent times at each
    centre (a product-form network). An arriving packet then sees what an observer would see with one packet
    fewer.

    Raises:
        ValueError: `windows` is below 1.

    """
    if windows < 1:
        raise ValueError(f"windows: {windows}; must be at least 1")
    service = np.asarray(network.service, dtype=np.float64)
    queue = np.zeros((windows + 1, len(service)))
    throughput, response = np.zeros(windows), np.zeros(windows)
    for packets in range(1, windows + 1):
        residence = service * (1.0 + queue[packets - 1])
        response[packets - 1] = residence.sum() + network.delay
        throughput[packets - 1] = packets / response[packets - 1]
        queue[packets] = throughput[packets - 1] * residence
    return Solution(np.arange(1.0, windows + 1), throughput, response, queue[1:])


@dataclass(frozen=True)
class Bounds:
    """Limits on the throughput by window, in packets per unit of time, with the shape of the windows."""

    lower: Array
    upper: Array


def asymptotic_bounds(network: ClosedNetwork, window: Array) -> Bounds:
    """Return bounds for any distribution of service times with the given means (Denning and Buzen 1978).

    In the best case, no packet waits, or the bottleneck is never idle. In the worst case, a packet finds all
    others ahead of it at every centre.
    """
    upper = np.minimum(window / network.round_trip, 1 / network.bottleneck)
    queueing = network.round_trip - network.delay
    return Bounds(window / (window * queueing + network.delay), upper)


def balanced_job_bounds(network: ClosedNetwork, window: Array) -> Bounds:
    """Return tighter bounds for exponential service (Zahorjan, Sevcik, Eager and Galler 1982).

    Among all networks with the same round trip and bottleneck, networks with identical centres are the best
    and the worst.
    """
    service = np.asarray(network.service)
    total, mean, longest = service.sum(), service.mean(), network.bottleneck
    others = window - 1
    slow = others * longest / (1 + network.delay / (window * total))
    fast = others * mean / (1 + network.delay / total)
    upper = np.minimum(window / (network.round_trip + fast), 1 / longest)
    return Bounds(window / (network.round_trip + slow), upper)


def deterministic(network: ClosedNetwork, window: Array) -> Array:
    """Return the throughput for constant service times, which reaches the upper asymptotic bound.

    Packets that circulate in a fixed order form a timed event graph. Its rate is the rate of its slowest
    circuit: a window per round trip, or a packet per service at the bottleneck.
    """
    return asymptotic_bounds(network, window).upper
