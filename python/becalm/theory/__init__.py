"""Closed forms to compare simulations with: queueing theory and fixed points of schemes.

    path = theory.ClosedNetwork(service=(2, 5, 3, 4), delay=63.5)
    path.knee                                      # the window at which queues begin: 15.5
    solution = theory.mean_value_analysis(path, 40)
    solution.throughput, solution.response         # for windows 1 to 40

    theory.Dcqcn(flows=2).queue()                  # packets at the fixed point of DCQCN: 20.15
    theory.Dctcp(2, product=83.3, threshold=40)    # the sawtooth of DCTCP
    theory.PatchedTimely(10).round_trip            # seconds at the fixed point of patched TIMELY: 112.5e-6
    theory.Swift(base=15e-6).target(0.5)           # Swift's target in seconds for half a packet in flight
    theory.Hpcc(16, product=162_500).utilization   # with 16 flows: 0.958

`network` defines closed networks, solves them for exponential service, and limits them for other service.
`queues` covers the single server, `paths` covers flows and packets on several equal paths, and `sharing`
computes rates for round-robin ports and max-min fair rates. `measures` computes power, efficiency, fairness
and the time to converge. `dcqcn`, `dctcp`, `timely`, `swift` and `hpcc` contain the laws of these schemes.
"""

from becalm.theory.dcqcn import Dcqcn
from becalm.theory.dctcp import Dctcp
from becalm.theory.hpcc import Hpcc
from becalm.theory.measures import converged_at, efficiency, jain, power
from becalm.theory.network import (
    Bounds,
    ClosedNetwork,
    Solution,
    asymptotic_bounds,
    balanced_job_bounds,
    deterministic,
    mean_value_analysis,
)
from becalm.theory.paths import fullest_path, sprayed_wait, used_paths
from becalm.theory.queues import at_least, best_utilization, md1_wait, mm1_response, periodic_queue
from becalm.theory.sharing import max_min_rates, port_fair_rates
from becalm.theory.swift import Swift
from becalm.theory.timely import PatchedTimely

__all__ = [
    "Bounds",
    "ClosedNetwork",
    "Dcqcn",
    "Dctcp",
    "Hpcc",
    "PatchedTimely",
    "Solution",
    "Swift",
    "asymptotic_bounds",
    "at_least",
    "balanced_job_bounds",
    "best_utilization",
    "converged_at",
    "deterministic",
    "efficiency",
    "fullest_path",
    "jain",
    "max_min_rates",
    "md1_wait",
    "mean_value_analysis",
    "mm1_response",
    "periodic_queue",
    "port_fair_rates",
    "power",
    "sprayed_wait",
    "used_paths",
]
