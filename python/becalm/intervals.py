"""The 95% confidence interval of a mean, by Student's distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

QUANTILES = (
    *(12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281),
    *(2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860),
    *(2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423),
)
"""The 97.5% quantiles of Student's distribution with 1 to 30 degrees of freedom."""


class Interval(NamedTuple):
    """A mean and the ends of its 95% confidence interval."""

    mean: float
    low: float
    high: float


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean of independent values with its interval; that of a single value is the value.

    With more than 31 values the quantile for 31 is used: the interval is then up to 4% too wide.

    Args:
        values: one or more, finite.

    """
    count = len(values)
    if min(values) == max(values):
        # A sum could round, and the mean of equal values is that value.
        return Interval(values[0], values[0], values[0])
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    reach = QUANTILES[min(count - 1, len(QUANTILES)) - 1] * deviation / math.sqrt(count)
    return Interval(mean, mean - reach, mean + reach)
