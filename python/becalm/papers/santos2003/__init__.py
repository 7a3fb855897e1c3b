"""End-to-End Congestion Control for InfiniBand.

J. R. Santos, Y. Turner, G. Janakiraman, IEEE INFOCOM, 2003.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.common import delays, hardware, nulls
from becalm.papers.common.reading import COMMON
from becalm.papers.santos2003 import conditions, dynamic, remarks, static, victim

PHASE = "100 us"
"""Flows start 100 us apart, and each up to 100 us later still: the text says nothing of starts."""

NULLS = nulls.changes(COMMON)


def experiments() -> list[Experiment]:
    """All figures, in the paper's order."""
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
