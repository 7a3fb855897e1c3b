"""The single server with Poisson arrivals: exponential service (M/M/1) and equal service times (M/D/1)."""

from __future__ import annotations


def at_least(packets: int, utilization: float) -> float:
    """Probability that at least `packets` are there, the one in service included: utilization^packets.

    An arriving packet meets as many as any observer, since Poisson arrivals see time averages.

    Raises:
        ValueError: a utilization outside [0, 1), or a negative number of packets.

    """
    _check(utilization)
    if packets < 0:
        raise ValueError(f"packets: {packets}; 0 or more")
    return utilization**packets


def mm1_response(service: float, utilization: float) -> float:
    """Mean time from arrival to departure, in the unit of the mean service time.

    Raises:
        ValueError: a utilization outside [0, 1).

    """
    _check(utilization)
    return service / (1 - utilization)


def md1_wait(service: float, utilization: float) -> float:
    """Mean time from arrival to the beginning of service, where all services take the same time.

    Pollaczek and Khinchine's formula without variance of the service, s u / (2 (1 - u)): Kleinrock 1975,
    "Queueing Systems", volume 1, chapter 5.

    Args:
        service: time of a service, in any unit.
        utilization: share of time in which the server is busy.

    Returns:
        The mean waiting time, in the unit of the service.

    Raises:
        ValueError: a utilization outside [0, 1).

    """
    _check(utilization)
    return service * utilization / (2 * (1 - utilization))


def best_utilization(alpha: float = 1.0) -> float:
    """Return the utilization at which throughput^alpha / response time is largest: alpha / (1 + alpha).

    Kleinrock 1979, "Power and deterministic rules of thumb".

    Raises:
        ValueError: alpha not positive.

    """
    if alpha <= 0:
        raise ValueError(f"alpha: {alpha}; it must be positive")
    return alpha / (1 + alpha)


def _check(utilization: float) -> None:
    if not 0 <= utilization < 1:
        raise ValueError(f"utilization: {utilization}; from 0 up to, and without, 1")
