"""Data Center TCP (DCTCP).

M. Alizadeh, A. Greenberg, D. A. Maltz, J. Padhye, P. Patel, B. Prabhakar, S. Sengupta, M. Sridharan,
SIGCOMM 2010.

DCTCP runs here as a window on RDMA: no slow start, nothing is lost, and a window never falls below one
packet. All claims are derived: the numbers of the paper's closed forms (`becalm.theory.dctcp`) and bounds
that were set before the first run. No sentence is quoted. Where simulation and closed form part:
[alizadeh2010/readings.md](alizadeh2010/readings.md).
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.alizadeh2010 import incast, sawtooth, threshold

PHASE = "100 us"
"""Each flow starts up to a round trip later than stated."""


def experiments() -> list[Experiment]:
    """The sawtooth, then the threshold that fills the link, then more flows than the path holds packets."""
    return [*sawtooth.experiments(), *threshold.experiments(), *incast.experiments()]
