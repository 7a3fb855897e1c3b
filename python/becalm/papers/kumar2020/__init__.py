"""Swift: Delay is Simple and Effective for Congestion Control in the Datacenter.

G. Kumar et al., SIGCOMM 2020. The paper reports measurements of a production network, with few values of
parameters; what follows from its Algorithm 1 and its target delay is derived in `becalm.theory.swift`.

All claims here are derived: the numbers of closed forms and bounds that were set before the first run. No
sentence of the paper is quoted. What the scenes leave out: [kumar2020/readings.md](kumar2020/readings.md).
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.kumar2020 import hops, standing

PHASE = "10 us"
"""Each flow starts up to a round trip later than stated."""


def experiments() -> list[Experiment]:
    """The standing queue, then routes of different lengths."""
    return [*standing.experiments(), *hops.experiments()]
