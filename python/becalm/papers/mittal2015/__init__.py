"""TIMELY: RTT-based Congestion Control for the Datacenter.

R. Mittal et al., SIGCOMM 2015. The original law has no fixed point, but the patched law has one. Both results
are from Y. Zhu, M. Ghobadi, V. Misra, J. Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and
TIMELY", CoNEXT 2016. `becalm.theory.timely` derives them again.

All claims are derived from closed forms, with bounds set before the first run. No sentence of either paper is
quoted. [mittal2015/readings.md](mittal2015/readings.md) describes what the scenes omit.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.mittal2015 import fixed_point, starts

PHASE = "20 us"
"""Each flow starts up to a round trip later than stated."""


def experiments() -> list[Experiment]:
    """Return the experiments on the fixed point of the patched law and on the influence of the start."""
    return [*fixed_point.experiments(), *starts.experiments()]
