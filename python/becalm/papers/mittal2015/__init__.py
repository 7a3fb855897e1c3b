"""TIMELY: RTT-based Congestion Control for the Datacenter.

R. Mittal et al., SIGCOMM 2015. That its law has no fixed point, and the patched law, which has one: Y. Zhu,
M. Ghobadi, V. Misra, J. Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT
2016, derived again in `becalm.theory.timely`.

All claims here are derived: the numbers of closed forms and bounds that were set before the first run. No
sentence of either paper is quoted. What the scenes leave out:
[mittal2015/readings.md](mittal2015/readings.md).
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.mittal2015 import fixed_point, starts

PHASE = "20 us"
"""Each flow starts up to a round trip later than stated."""


def experiments() -> list[Experiment]:
    """The fixed point of the patched law, then what the start decides with either law."""
    return [*fixed_point.experiments(), *starts.experiments()]
