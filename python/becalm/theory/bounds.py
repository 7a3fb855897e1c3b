"""Bounds on the throughput of a closed network that require only its mean service times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from becalm.theory.network import ClosedNetwork

Array = NDArray[np.float64]


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
