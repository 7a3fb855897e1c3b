"""HPCC: High Precision Congestion Control.

Y. Li et al., SIGCOMM 2019. `becalm.theory.hpcc` derives the equilibrium utilization of its flows from
Algorithm 1.

All claims are derived from closed forms, with bounds set before the first run. No sentence of the paper is
quoted. [li2019/readings.md](li2019/readings.md) describes what the scenes omit.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.li2019 import utilization

PHASE = "13 us"
"""Each flow starts up to a round trip later than stated."""


def experiments() -> list[Experiment]:
    """Return the experiment on the utilization law."""
    return utilization.experiments()
