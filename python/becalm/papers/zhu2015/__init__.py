"""Congestion Control for Large-Scale RDMA Deployments (DCQCN).

Y. Zhu et al., SIGCOMM 2015. The fixed point and its stability: Y. Zhu, M. Ghobadi, V. Misra, J. Padhye, "ECN
or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016, derived again in
`becalm.theory.dcqcn`.

All claims here are derived: the numbers of closed forms and bounds that were set before the first run. No
sentence of either paper is quoted. What the scenes leave out, and where simulation and closed form part:
[zhu2015/readings.md](zhu2015/readings.md).
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.zhu2015 import delay, fixed_point, unfairness, victim

PHASE = "100 us"
"""Each flow starts up to 100 us later than stated: two intervals between notifications."""


def experiments() -> list[Experiment]:
    """The fixed point, what a longer loop does to it; then unfairness and victims of PFC, and their cure."""
    return [
        *fixed_point.experiments(),
        *delay.experiments(),
        *unfairness.experiments(),
        *victim.experiments(),
    ]
