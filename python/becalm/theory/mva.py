"""Exact mean-value analysis of a closed network with exponential service.

From M. Reiser and S. S. Lavenberg, "Mean-value analysis of closed multichain queuing networks", J. ACM 27,
1980.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from becalm.theory.network import ClosedNetwork

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
