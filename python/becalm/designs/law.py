"""A response function: an increase and a decrease, and the rate over time without marks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from becalm.designs import curve, function
from becalm.designs.curve import Curve
from becalm.designs.function import SLACK, RateFunction
from becalm.designs.hermite import Array

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
    return Law(name, rmin, rmax, decrease, increase, curve.of_increase(increase))


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
