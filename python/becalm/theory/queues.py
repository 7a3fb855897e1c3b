"""The single server with constant (M/D/1, nD/D/1) or exponential service times (M/M/1).

Arrivals are Poisson, or from sources that send at fixed times.
"""

from __future__ import annotations

import math

import numpy as np


def at_least(packets: int, utilization: float) -> float:
    """Return the probability of at least `packets`, including the one in service: utilization^packets.

    An arriving packet sees the same distribution as any observer, since Poisson arrivals see time averages.

    Raises:
        ValueError: the utilization is outside [0, 1), or the number of packets is negative.

    """
    _check(utilization)
    if packets < 0:
        raise ValueError(f"packets: {packets}; must be 0 or more")
    return utilization**packets


def mm1_response(service: float, utilization: float) -> float:
    """Return the mean time from arrival to departure, in the unit of the mean service time.

    Raises:
        ValueError: the utilization is outside [0, 1).

    """
    _check(utilization)
    return service / (1 - utilization)


def md1_wait(service: float, utilization: float) -> float:
    """Return the mean time from arrival to the start of service, for constant service times.

    This is the Pollaczek-Khinchine formula without variance of the service, s u / (2 (1 - u)): Kleinrock
    1975, "Queueing Systems", volume 1, chapter 5.

    Args:
        service: service time, in any unit.
        utilization: share of time in which the server is busy.

    Returns:
        The mean waiting time, in the unit of the service time.

    Raises:
        ValueError: the utilization is outside [0, 1).

    """
    _check(utilization)
    return service * utilization / (2 * (1 - utilization))


def periodic_queue(sources: int, utilization: float) -> float:
    """Return the mean number of waiting packets if each source sends one packet per period (nD/D/1).

    All sources have the same period and random phases. Waits are short, because everything repeats after a
    period. With a period of D services, the probability of more than x services of work in the system is
    (Roberts and Virtamo 1991, "The superposition of periodic cell arrival streams in an ATM multiplexer",
    IEEE Transactions on Communications 39(2))

        sum over n > x of binom(N, n) ((n - x)/D)^n (1 - (n - x)/D)^(N - n) (D - N + x)/(D - n + x).

    The integral over x is the mean work. On average, half of the packet in service is left.

    Args:
        sources: N.
        utilization: N / D.

    Raises:
        ValueError: the utilization is outside [0, 1), or there is no source.

    """
    _check(utilization)
    if sources < 1:
        raise ValueError(f"sources: {sources}; must be at least 1")
    if utilization == 0:
        return 0.0
    period = sources / utilization
    # Between integers, the terms are polynomials of degree N, so Gauss-Legendre quadrature is exact.
    nodes, weights = np.polynomial.legendre.leggauss(min(64, sources // 2 + 1))
    places = (nodes + 1) / 2
    work = sum(
        float(weights @ [_more_work(whole + place, sources, period) for place in places]) / 2
        for whole in range(sources)
    )
    return work - utilization / 2


def _more_work(work: float, sources: int, period: float) -> float:
    """Return the probability that more than `work` services of work are left."""
    found = 0.0
    for n in range(math.floor(work) + 1, sources + 1):
        share = (n - work) / period
        found += (
            math.comb(sources, n)
            * share**n
            * (1 - share) ** (sources - n)
            * (period - sources + work)
            / (period - n + work)
        )
    return found


def best_utilization(alpha: float = 1.0) -> float:
    """Return the utilization at which throughput^alpha / response time is largest: alpha / (1 + alpha).

    Kleinrock 1979, "Power and deterministic rules of thumb".

    Raises:
        ValueError: alpha is not positive.

    """
    if alpha <= 0:
        raise ValueError(f"alpha: {alpha}; must be positive")
    return alpha / (1 + alpha)


def _check(utilization: float) -> None:
    if not 0 <= utilization < 1:
        raise ValueError(f"utilization: {utilization}; must be from 0 to below 1")
