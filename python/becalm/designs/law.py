"""A response function: an increase and a decrease, and F_inc(t), the rate over time since rmin without marks.

Times are multiples of a packet's transmission time at the link's rate, so a flow with rate r sends one packet
in 1/r.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from becalm.base.errors import DesignError
from becalm.designs import function
from becalm.designs.function import SLACK, Function, RateFunction
from becalm.designs.hermite import Array, Rising

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


RMIN = 1 / 256
"""santos2003, section VI-B: the slowest rate of InfiniBand's inter-packet delays, as a share of the
fastest."""
RMAX = 1.0
PACKET_TIME = 2.048e-6
"""Transmission time of 2048 B at 1 GB/s in s: the unit of recovery times in santos2003."""


@dataclass(frozen=True)
class Law:
    """A response function. Rates are shares of the link's rate, times are in packet times at that rate."""

    name: str
    rmin: float
    rmax: float
    f_dec: Callable[[Array], Array]
    """Rates after a marked ACK, not below rmin."""
    f_inc: Callable[[Array], Array]
    """Rates after an unmarked ACK, not above rmax."""
    curve: Curve
    """F_inc(t)."""

    @property
    def lowest_free(self) -> float:
        """The rate up to which a decrease ends at rmin: f_dec^-1(rmin)."""
        return lowest_free(self.f_dec, self.rmin, self.rmax)


def pair(
    f_dec: RateFunction, f_inc: RateFunction, *, rmin: float = RMIN, rmax: float = RMAX, name: str = "pair"
) -> Law:
    """Return the law of a given decrease and a given increase function.

    Raises:
        DesignError: one of them cannot be used; with the rate at which it fails.

    """
    decrease = function.read(f_dec, "f_dec", rmin, rmax)
    increase = function.read(f_inc, "f_inc", rmin, rmax)
    function.check_decrease(decrease)
    function.check_increase(increase)
    return Law(name, rmin, rmax, decrease, increase, of_increase(increase))


def lipd(rmin: float = RMIN, rmax: float = RMAX) -> Law:
    """Linear Inter-Packet Delay: santos2003, section V-D."""
    decrease = "max(rmax / (rmax / r + 1), rmin)"
    return pair(decrease, "min(r / (1 - rmin / rmax), rmax)", rmin=rmin, rmax=rmax, name="LIPD")


def fimd(rmin: float = RMIN, rmax: float = RMAX) -> Law:
    """Fast Increase Multiplicative Decrease with m = 2: santos2003, section V-C."""
    return pair("max(r / 2, rmin)", "min(r * 2 ** (rmin / r), rmax)", rmin=rmin, rmax=rmax, name="FIMD")


def aimd(rmin: float = RMIN, rmax: float = RMAX) -> Law:
    """Additive Increase Multiplicative Decrease with m = 2: santos2003, section VI-B."""
    return pair("max(r / 2, rmin)", "min(r + rmin ** 2 / r, rmax)", rmin=rmin, rmax=rmax, name="AIMD")


def lowest_free(f_dec: Callable[[Array], Array], rmin: float, rmax: float) -> float:
    """Return f_dec^-1(rmin), the largest rate that a decrease takes to rmin, by bisection."""
    low, high = rmin, rmax
    while high - low > 1e-15 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if f_dec(np.array([middle]))[0] > rmin * (1 + 1e-14) else (middle, high)
    return low


def is_slowest(rates: Array, rmin: float) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Return which rates are rmin."""
    result: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = rates <= rmin * (1 + SLACK)
    return result
