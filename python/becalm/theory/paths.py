"""Several equal paths: the share that hashed flows use, the fullest path, the wait of sprayed packets.

Hashed flows (ECMP) fall on paths like balls into bins.
"""

from __future__ import annotations

import math

import numpy as np


def used_paths(paths: int, flows: int | None = None) -> float:
    """Return the mean share of equal paths that at least one flow uses: 1 - (1 - 1/paths)^flows.

    If the numbers of flows and paths are equal and each flow can fill a path, this is the share of the
    capacity that a permutation gets: 0.75, 0.684, 0.656 and 0.644 for 2, 4, 8 and 16 paths, and 1 - 1/e in
    the limit.

    Args:
        paths: number of equal paths, of which each flow uses one at random.
        flows: number of flows; default: the number of paths.

    Raises:
        ValueError: there is no path, or the number of flows is negative.

    """
    flows = _counted(paths, flows)
    return 1 - (1 - 1 / paths) ** flows


def fullest_path(paths: int, flows: int | None = None) -> float:
    """Return the exact mean number of flows on the fullest path.

    The rate of the slowest flow of a permutation is about its inverse. It grows like ln n / ln ln n (Gonnet
    1981). The mean is the sum over k of the probability that any path has more than k flows, which follows
    from the number of ways to place the flows so that none has (Feller 1968, vol. 1, ch. II).

    Raises:
        ValueError: there is no path, or the number of flows is negative.

    """
    flows = _counted(paths, flows)
    return sum(1 - _none_above(most, paths, flows) for most in range(flows))


def sprayed_wait(service: float, utilization: float, sources: int | None = None) -> float:
    """Return the mean wait of a packet for a path on which sources spray packets of one size.

    Each of many sources hits the path rarely and independently of the others, so arrivals are nearly Poisson.
    The wait is the M/D/1 wait, utilization * service / (2 (1 - utilization)), which is half of the wait with
    exponential service (Pollaczek-Khinchine). Packets of one source never meet, since its own link sends them
    one by one. With n sources, the wait is therefore (n - 1) / n of it (Karol, Hluchyj and Morgan 1987).

    Args:
        service: transmission time of a packet on the path; the result has the same unit.
        utilization: share of time in which the path sends.
        sources: number of sources; default: infinitely many.

    Raises:
        ValueError: the utilization is outside [0, 1), or there is no source.

    """
    if not 0 <= utilization < 1:
        raise ValueError(f"utilization: {utilization}; must be from 0 to below 1")
    if sources is not None and sources < 1:
        raise ValueError(f"sources: {sources}; must be at least 1")
    meeting = 1.0 if sources is None else (sources - 1) / sources
    return meeting * utilization * service / (2 * (1 - utilization))


def _none_above(most: int, paths: int, flows: int) -> float:
    """Return the probability that no path has more than `most` flows."""
    # The number of ways to place j flows on `paths` paths, divided by j! and paths^j to stay within range.
    one = np.array([1 / math.factorial(load) / paths**load for load in range(most + 1)])
    ways, power, left = np.ones(1), one, paths
    while left:
        if left & 1:
            ways = np.convolve(ways, power)[: flows + 1]
        power = np.convolve(power, power)[: flows + 1]
        left >>= 1
    return float(ways[flows] * math.factorial(flows)) if len(ways) > flows else 0.0


def _counted(paths: int, flows: int | None) -> int:
    if paths < 1:
        raise ValueError(f"paths: {paths}; must be at least 1")
    if flows is None:
        return paths
    if flows < 0:
        raise ValueError(f"flows: {flows}; must be 0 or more")
    return flows
