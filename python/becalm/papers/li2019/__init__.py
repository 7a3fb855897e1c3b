"""HPCC: High Precision Congestion Control.

Y. Li et al., SIGCOMM 2019. The utilization at which its flows stand is derived in `becalm.theory.hpcc` from
its Algorithm 1.

All claims here are derived: the numbers of closed forms and bounds that were set before the first run. No
sentence of the paper is quoted. What the scenes leave out: [li2019/readings.md](li2019/readings.md).
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.li2019 import utilization

PHASE = "13 us"
"""Each flow starts up to a round trip later than stated."""


def experiments() -> list[Experiment]:
    """The utilization law."""
    return utilization.experiments()
