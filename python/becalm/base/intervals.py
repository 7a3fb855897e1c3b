"""The 95% confidence interval of a mean, by Student's distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

QUANTILES = (
    *(12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912),
    *(2.364624, 2.306004, 2.262157, 2.228139, 2.200985, 2.178813),
    *(2.160369, 2.144787, 2.131450, 2.119905, 2.109816, 2.100922),
    *(2.093024, 2.085963, 2.079614, 2.073873, 2.068658, 2.063899),
    *(2.059539, 2.055529, 2.051831, 2.048407, 2.045230, 2.042272),
)
"""The 97.5% quantiles of Student's distribution with 1 to 30 degrees of freedom."""


class Interval(NamedTuple):
    """A mean and the ends of its 95% confidence interval."""

    mean: float
    low: float
    high: float


def mean_interval(values: Sequence[float], comparisons: int = 1) -> Interval:
    """Return the mean of independent values with its interval. For a single value, the interval is the value.

    More than 31 values use the quantile for 31, so that the interval is up to 4% too wide.

    Args:
        values: one or more, finite.
        comparisons: number of means of which this one was chosen by its value. All their intervals together
            hold with 95% (Bonferroni).

    """
    count = len(values)
    if min(values) == max(values):
        # Avoid rounding in the sum: the mean of equal values is exactly that value.
        return Interval(values[0], values[0], values[0])
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    freedom = min(count - 1, len(QUANTILES))
    quantile = QUANTILES[freedom - 1] if comparisons == 1 else student(1 - 0.05 / comparisons, freedom)
    reach = quantile * deviation / math.sqrt(count)
    return Interval(mean, mean - reach, mean + reach)


def student(share: float, freedom: int) -> float:
    """Return the distance from 0 within which Student's distribution has a share of its mass.

    Args:
        share: above 0 and below 1.
        freedom: degrees of freedom, 1 or more.

    """
    low, high = 0.0, 1.0
    while _within(high, freedom) < share:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < share else (low, middle)
    return high


def _within(distance: float, freedom: int) -> float:
    """Return the mass of Student's distribution within a distance from 0.

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    angle = math.atan(distance / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, whole = (cosine, 0.0) if odd else (1.0, 0.0)
    for power in range(2 + odd, freedom + 1, 2):
        whole += term
        term *= cosine * cosine * (power - 1) / power
    return 2 / math.pi * (angle + sine * whole) if odd else sine * whole
