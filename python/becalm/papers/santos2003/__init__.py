"""End-to-End Congestion Control for InfiniBand.

J. R. Santos, Y. Turner, G. Janakiraman, IEEE INFOCOM, 2003.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.common import delays, hardware
from becalm.papers.common.reading import COMMON, nulls
from becalm.papers.santos2003 import conditions, dynamic, remarks, static, victim

PHASE = "100 us"
"""Flows start 100 us apart, each with up to 100 us of random delay. The text states no start times."""

NULLS = nulls(COMMON)


def experiments() -> list[Experiment]:
    """Return all figures in the paper's order."""
    return COMMON.read(
        [
            *victim.experiments(),
            *conditions.experiments(),
            *static.experiments(),
            *dynamic.experiments(),
            hardware.experiment("santos2003"),
            *remarks.experiments(),
            delays.experiment("santos2003"),
        ]
    )
