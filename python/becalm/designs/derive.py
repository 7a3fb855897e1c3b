"""The increase function that goes with a decrease function.

Santos, Turner, Janakiraman 2003, section V-B: with a recovery time of T_rec = 1/rmin at every rate (Condition
3), the rate over time without marks obeys

    F_inc(t) = f_dec(F_inc(t + T_rec)),  F_inc(0) = rmin                                      (equation 2)
    f_inc(r) = min(F_inc^r(1/r), rmax)

The equation says nothing about the first T_rec, in which the rate rises from rmin to f_dec^-1(rmin): any
rising curve is possible there, and determines the rest. Among these curves this module takes the smoothest,
in the following sense.

Smoothness rule: the growth dF_inc/dt, as a function of the rate r, is as near to a power of r as the equation
allows: the integral of the squared curvature of log(dF_inc/dt) over log r, from rmin to rmax, is the least
possible.

The rule does not depend on the units of rate and time. With LIPD, FIMD, or a decrease by a constant, the
growth can be a power of the rate throughout (2, 1 and 0), so it is. The rule uses f_dec only between rmin and
rmax. If f_dec continues below rmin towards a fixed point, the solution tends to the principal iterate of
f_dec^-1 (Abel's and Schroeder's equations), the only one whose curvature stays bounded there.

Method: f_dec takes the rates of one recovery time, from f_dec(rmax) to rmax, down to rmin, recovery by
recovery. The time between two neighbours is the same in each: one unknown per cell of the first recovery
time. The growth in a cell is its width over its time, so its logarithm is linear in the unknowns, and the
rule is a linear least-squares problem.
"""

from __future__ import annotations

import math

import numpy as np

from becalm.base.errors import DesignError
from becalm.designs import function
from becalm.designs.function import Function, RateFunction
from becalm.designs.hermite import Array
from becalm.designs.law import RMAX, RMIN, Curve, Law, is_slowest, lowest_free

NODES = 40_000
"""Approximate number of rates at which the curve is computed."""
CELLS = (64, 256)
"""Minimum and maximum number of cells in one recovery time."""
NO_DISTANCE = 1e-12
"""Relative distance between two rates that is due only to rounding."""
RECOVERIES = 20_000
"""Maximum number of recovery times from rmin to rmax."""


def derive(f_dec: RateFunction, *, rmin: float = RMIN, rmax: float = RMAX, name: str = "design") -> Law:
    """Find the increase function of a decrease function.

    Args:
        f_dec: a Python function of the rate, or an expression in `r`, `rmin` and `rmax`.
        rmin: smallest rate, as a share of the link's rate.
        rmax: largest rate.
        name: name of the law.

    Raises:
        DesignError: the function raises, is not a number, leaves [rmin, rmax], is not below the rate itself,
            or does not rise with it; with the rate at which that happens.

    """
    decrease = function.read(f_dec, "f_dec", rmin, rmax)
    function.check_decrease(decrease)
    _check_leaves_rmin(decrease)
    curve = _solved(decrease)

    def increase(rates: Array) -> Array:
        return curve.rate(curve.time(rates) + 1 / rates)

    return Law(name, rmin, rmax, decrease, increase, curve)


def _check_leaves_rmin(f_dec: Function) -> None:
    """Refuse a decrease that only approaches rmin: the increase that undoes it never leaves rmin."""
    if lowest_free(f_dec, f_dec.rmin, f_dec.rmax) <= f_dec.rmin * (1 + NO_DISTANCE):
        raise DesignError(
            f"{f_dec.at(f_dec.rmin)} = {f_dec.rmin:.6g}: no other rate decreases to rmin, so "
            "no increase leaves it; the rates just above must also decrease to rmin, as with max(..., rmin)",
            f_dec.rmin,
        )


def _solved(f_dec: Function) -> Curve:
    rates, cells, recoveries = _orbits(f_dec)
    durations = _smoothest(rates, cells)
    # Recovery times since the lowest of the rates of the first one; each recovery time below is one less.
    times = np.cumsum(durations)[cells] - recoveries
    return _from_rmin(f_dec, rates, times)


def _orbits(f_dec: Function) -> tuple[Array, np.ndarray, np.ndarray]:
    """Return rising rates, the cell that each ends, and the decreases that led there from the first cells."""
    bottom = float(f_dec(np.array([f_dec.rmax]))[0])
    count = min(max(NODES // _recoveries(f_dec), CELLS[0]), CELLS[1])
    top = np.geomspace(bottom, f_dec.rmax, count + 1)[1:]
    top[-1] = f_dec.rmax
    levels, cells = [top], [np.arange(count)]
    while True:
        lower = f_dec(levels[-1])
        free = ~is_slowest(lower, f_dec.rmin)
        levels.append(lower[free])
        cells.append(cells[-1][free])
        if not free.all():
            break
    depths = [np.full(len(level), depth) for depth, level in enumerate(levels)]
    rates = np.concatenate(levels[::-1])
    _check_rising(f_dec, rates)
    return rates, np.concatenate(cells[::-1]), np.concatenate(depths[::-1])


def _recoveries(f_dec: Function) -> int:
    """Return how many decreases lead from rmax to rmin."""
    rate = np.array([f_dec.rmax])
    for count in range(1, RECOVERIES + 1):
        rate = f_dec(rate)
        if is_slowest(rate, f_dec.rmin)[0]:
            return count
    raise DesignError(
        f"{f_dec.name}: still at {rate[0]:.6g} after {RECOVERIES} decreases from rmax; must decrease faster",
        float(rate[0]),
    )


def _check_rising(f_dec: Function, rates: Array) -> None:
    still = np.flatnonzero(np.diff(rates) <= 0)
    if len(still):
        rate = float(rates[still[0]])
        raise DesignError(
            f"{f_dec.name}: must rise with the rate above rmin; it does not at the value {rate:.6g}", rate
        )


def _smoothest(rates: Array, cells: np.ndarray) -> Array:
    """Return the duration of each cell in recovery times, by the smoothness rule."""
    count = int(cells.max()) + 1
    cell = cells[1:]
    logs = np.log(rates)
    middles = (logs[1:] + logs[:-1]) / 2
    widths = np.log(np.diff(rates))
    before, after = np.diff(middles)[:-1], np.diff(middles)[1:]
    # Second differences of (widths - log durations) over the middles of three cells, weighted to add up to
    # the integral.
    weight = np.sqrt((before + after) / 2)
    factors = [2 / (before * (before + after)), -2 / (before * after), 2 / (after * (before + after))]
    factors = [factor * weight for factor in factors]
    places = [cell[:-2], cell[1:-1], cell[2:]]
    wanted = sum(factor * widths[k : k + len(factor)] for k, factor in enumerate(factors))
    normal, right = np.zeros((count, count)), np.zeros(count)
    for factor, place in zip(factors, places, strict=True):
        np.add.at(right, place, factor * wanted)
        for other, neighbour in zip(factors, places, strict=True):
            np.add.at(normal, (place, neighbour), factor * other)
    # A common factor of all durations changes no curvature; it is set by their sum, a recovery time.
    logarithms = np.zeros(count)
    logarithms[:-1] = np.linalg.lstsq(normal[:-1, :-1], right[:-1], rcond=1e-15)[0]
    durations = np.exp(logarithms - logarithms.max())
    result: Array = durations / math.fsum(durations)
    return result


def _from_rmin(f_dec: Function, rates: Array, times: Array) -> Curve:
    """Put the time 0 at rmin: a recovery time before f_dec^-1(rmin)."""
    free = lowest_free(f_dec, f_dec.rmin, f_dec.rmax)
    back = Curve(rates, times - times[0])
    zero = float(back.time(np.array([free]))[0] + times[0] - 1)
    distinct = (rates > f_dec.rmin * (1 + 1e-12)) & (np.abs(rates - free) > 1e-12 * rates)
    rates = np.concatenate([[f_dec.rmin], rates[distinct], [free]])
    times = np.concatenate([[0.0], times[distinct] - zero, [1.0]])
    order = np.argsort(rates)
    return Curve(rates[order], times[order] / f_dec.rmin)
