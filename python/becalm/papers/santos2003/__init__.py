"""End-to-End Congestion Control for InfiniBand.

J. R. Santos, Y. Turner, G. Janakiraman, IEEE INFOCOM, 2003.
"""

from __future__ import annotations

from becalm.papers.common import delays, hardware
from becalm.papers.common.reading import COMMON, nulls
from becalm.papers.santos2003 import conditions, dynamic, remarks, responses, static, victim

PHASE = "100 us"
"""Flows start 100 us apart, each with up to 100 us of random delay. The text states no start times."""

NULLS = nulls(COMMON)


EXPERIMENTS = COMMON.read(
    [
        *victim.EXPERIMENTS,
        *conditions.EXPERIMENTS,
        *static.EXPERIMENTS,
        *dynamic.EXPERIMENTS,
        hardware.experiment("santos2003"),
        *remarks.EXPERIMENTS,
        *responses.EXPERIMENTS,
        delays.experiment("santos2003"),
    ]
)
"""All figures in the paper's order."""
