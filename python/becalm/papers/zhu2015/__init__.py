"""Congestion Control for Large-Scale RDMA Deployments (DCQCN).

Y. Zhu et al., SIGCOMM 2015. The fixed point and its stability are from Y. Zhu, M. Ghobadi, V. Misra,
J. Padhye, "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016.
`becalm.theory.dcqcn` derives them again.

All claims are derived from closed forms, with bounds set before the first run. No sentence of either paper is
quoted. [zhu2015/readings.md](zhu2015/readings.md) describes what the scenes omit, and differences between
simulation and closed forms.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.zhu2015 import delay, fixed_point, unfairness, victim

PHASE = "100 us"
"""Each flow starts up to 100 us later than stated, which is two intervals between notifications."""


def experiments() -> list[Experiment]:
    """Return the experiments on the fixed point, longer loops, and the unfairness and victims of PFC."""
    return [
        *fixed_point.experiments(),
        *delay.experiments(),
        *unfairness.experiments(),
        *victim.experiments(),
    ]
