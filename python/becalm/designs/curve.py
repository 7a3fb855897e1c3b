"""F_inc(t): the rate over time since rmin without marks, forward and backward.

Times are multiples of a packet's transmission time at the link's rate, so a flow with rate r sends one packet
in 1/r.
"""

from __future__ import annotations

import numpy as np

from becalm.designs.function import Function
from becalm.designs.hermite import Array, Rising
from becalm.errors import DesignError

GRID = 4096
"""Number of rates, in equal ratios, at which a curve is computed from an increase function."""
ROUNDS = 100
"""Maximum number of rounds of this computation."""


class Curve:
    """The rate over time without marks, from rmin at time 0 to rmax.

    Args:
        rates: strictly rising rates, from rmin to rmax.
        times: when they are reached, in packet times.

    """

    def __init__(self, rates: Array, times: Array) -> None:
        logs = np.log(rates)
        self.rmin, self.rmax = float(rates[0]), float(rates[-1])
        self._forward = Rising(times, logs)
        self._backward = Rising(logs, times)

    @property
    def total(self) -> float:
        """Time from rmin to rmax in packet times."""
        return float(self._backward.y[-1])

    def rate(self, times: Array) -> Array:
        """F_inc(t); rmax after the end."""
        result: Array = np.clip(np.exp(self._forward(times)), self.rmin, self.rmax)
        return result

    def time(self, rates: Array) -> Array:
        """Return when rates are reached: the inverse of F_inc."""
        return self._backward(np.log(rates))

    def growth(self, rates: Array) -> Array:
        """Return the mean growth dF/dt between neighbours: one value fewer than rates."""
        result: Array = np.diff(rates) / np.diff(self.time(rates))
        return result


def of_increase(f_inc: Function) -> Curve:
    """Return the curve that an increase function defines: it leads from r to f_inc(r) in the time 1/r.

    Between r and f_inc(r) the growth dF/dt is assumed to follow a power of the rate, that of its
    surroundings. This is exact for LIPD (power 2), FIMD (1) and AIMD (0).

    Raises:
        DesignError: it leads from rmin to rmax at once.

    """
    rates: Array = np.geomspace(f_inc.rmin, f_inc.rmax, GRID)
    rates[0], rates[-1] = f_inc.rmin, f_inc.rmax
    ends = f_inc(rates)
    # Where the function is cut off at rmax, it says nothing about the growth.
    free = int(np.argmax(ends >= f_inc.rmax * (1 - 1e-12)))
    if free < 2:
        raise DesignError(f"{f_inc.at(f_inc.rmin)} = {ends[0]:.6g}: every increase ends at rmax", f_inc.rmin)
    logs = np.log(rates)
    steps = np.log(ends[:free]) - logs[:free]
    middles = logs[:free] + steps / 2
    # Where the function falls, slower flows overtake faster ones, which add no information.
    ahead = np.concatenate([[True], middles[1:] > np.maximum.accumulate(middles)[:-1]])
    starts, steps, middles = logs[:free][ahead], steps[ahead], middles[ahead]
    return _integrated(rates, _beyond(logs, middles, _growth(starts, steps, middles)))


def _growth(logs: Array, steps: Array, middles: Array) -> Array:
    """Return the logarithm of the growth in the middle of each step of log r, which takes the time 1/r."""
    mean = logs + np.log(steps) + middles
    growth = mean
    for _ in range(ROUNDS):
        ends = [_beyond(middles + side * steps / 2, middles, growth) for side in (-1, 1)]
        power = (ends[1] - ends[0]) / steps
        bent = (1 - power) * steps / 2
        # The mean of exp(bent x) over x from -1 to 1: sinh(bent) / bent.
        better = mean + np.log(_expm1_over(2 * bent, np.ones_like(bent))) - bent
        change = float(np.max(np.abs(better - growth)))
        growth = better
        if change < 1e-12:
            break
    return growth


def _beyond(x: Array, places: Array, values: Array) -> Array:
    """Interpolate; beyond the ends, continue the straight lines there."""
    slopes = np.diff(values[[0, 1, -2, -1]])[[0, 2]] / np.diff(places[[0, 1, -2, -1]])[[0, 2]]
    low = np.minimum(x - places[0], 0.0) * slopes[0]
    high = np.maximum(x - places[-1], 0.0) * slopes[1]
    result: Array = np.interp(x, places, values) + low + high
    return result


def _expm1_over(a: Array, steps: Array) -> Array:
    """Return (exp(a s) - 1) / a, and s where a is 0."""
    safe = np.where(np.abs(a) < 1e-12, 1.0, a)
    result: Array = np.where(np.abs(a) < 1e-12, steps, np.expm1(np.clip(safe * steps, -700, 700)) / safe)
    return result


def _integrated(rates: Array, growth: Array) -> Curve:
    """Add up dr / growth; `growth` is its logarithm, a straight line in log r within each cell."""
    exponents = np.log(rates) - growth
    rise = np.diff(exponents)
    times = np.exp(exponents[:-1]) * _expm1_over(rise, np.ones_like(rise)) * np.diff(np.log(rates))
    return Curve(rates, np.concatenate([[0.0], np.cumsum(times)]))
