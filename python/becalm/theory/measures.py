"""Performance of a network and its users (Ramakrishnan and Jain 1990, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def power(throughput: float, response: float, alpha: float = 1.0) -> float:
    """Return throughput^alpha divided by response time, in units of both (equation 1).

    Raises:
        ValueError: the response time is not positive.

    """
    if response <= 0:
        raise ValueError(f"response: {response}; must be positive")
    return float(throughput**alpha / response)


def efficiency(throughput: float, response: float, knee_throughput: float, knee_response: float) -> float:
    """Return the power divided by the power at the knee: 1 at the knee, and less on both sides.

    Raises:
        ValueError: a response time or the knee is not positive.

    """
    return power(throughput, response) / power(knee_throughput, knee_response)


def jain(allocations: Sequence[float] | Array) -> float:
    """Return Jain's index of n allocations: 1 if all are equal, 1/n if one user gets all (equation 2).

    Raises:
        ValueError: there are no allocations, one is negative, or all are 0.

    """
    shares = np.asarray(allocations, dtype=np.float64)
    if not len(shares) or shares.min() < 0 or shares.max() == 0:
        raise ValueError("allocations: must be one or more, none negative and not all 0")
    # Scale first, because squares of tiny or huge numbers would underflow or overflow.
    shares = shares / shares.max()
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum()))


def converged_at(time: Array, values: Array, target: float, margin: float) -> float | None:
    """Return the first time from which all values stay within `margin` of `target`; None if they never do.

    Args:
        time: ascending times, shape (n,).
        values: the value at each time, shape (n,).
        target: the target value.
        margin: largest deviation from the target, in the unit of the values.

    """
    outside = np.flatnonzero(np.abs(values - target) > margin)
    first = 0 if not len(outside) else int(outside[-1]) + 1
    return None if first >= len(time) else float(time[first])
