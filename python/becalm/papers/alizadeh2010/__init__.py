"""Data Center TCP (DCTCP).

M. Alizadeh, A. Greenberg, D. A. Maltz, J. Padhye, P. Patel, B. Prabhakar, S. Sengupta, M. Sridharan,
SIGCOMM 2010.

DCTCP runs here as a window on RDMA: there is no slow start, no packet is lost, and a window never falls below
one packet. All claims are derived from the paper's closed forms (`becalm.theory.dctcp`), with bounds set
before the first run. No sentence is quoted. [alizadeh2010/readings.md](alizadeh2010/readings.md) explains
differences between simulation and closed forms.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.alizadeh2010 import incast, sawtooth, threshold

PHASE = "100 us"
"""Each flow starts up to a round trip later than stated."""


def experiments() -> list[Experiment]:
    """Return the experiments on the sawtooth, the threshold that fills the link, and an incast."""
    return [*sawtooth.experiments(), *threshold.experiments(), *incast.experiments()]
