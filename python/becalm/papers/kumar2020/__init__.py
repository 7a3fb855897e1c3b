"""Swift: Delay is Simple and Effective for Congestion Control in the Datacenter.

G. Kumar et al., SIGCOMM 2020. The paper reports measurements of a production network and few parameter
values. `becalm.theory.swift` derives the consequences of its Algorithm 1 and its target delay.

All claims are derived from closed forms, with bounds set before the first run. No sentence of the paper is
quoted. [kumar2020/readings.md](kumar2020/readings.md) describes what the scenes omit.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.kumar2020 import hops, standing

PHASE = "10 us"
"""Each flow starts up to a round trip later than stated."""


def experiments() -> list[Experiment]:
    """Return the experiments on the standing queue and on routes of different lengths."""
    return [*standing.experiments(), *hops.experiments()]
