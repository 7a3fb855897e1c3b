"""Queueing theory of closed networks with windows, to hold simulations against. Runs no simulation.

    path = theory.ClosedNetwork(service=(2, 5, 3, 4), delay=63.5)
    path.knee                                      # the window at which the queues begin: 15.5
    solution = theory.mean_value_analysis(path, 40)
    solution.throughput, solution.response         # for windows 1 to 40

`network` says what a closed network is; `mva` solves it for exponential service, `bounds` holds what is true
of others; `queues` has the single server; `measures` power, efficiency, fairness and the time to converge.
"""

from becalm.theory.bounds import Bounds, asymptotic_bounds, balanced_job_bounds, deterministic
from becalm.theory.measures import converged_at, efficiency, jain, power
from becalm.theory.mva import Solution, mean_value_analysis
from becalm.theory.network import ClosedNetwork
from becalm.theory.queues import at_least, best_utilization, md1_wait, mm1_response

__all__ = [
    "Bounds",
    "ClosedNetwork",
    "Solution",
    "asymptotic_bounds",
    "at_least",
    "balanced_job_bounds",
    "best_utilization",
    "converged_at",
    "deterministic",
    "efficiency",
    "jain",
    "md1_wait",
    "mean_value_analysis",
    "mm1_response",
    "power",
]
