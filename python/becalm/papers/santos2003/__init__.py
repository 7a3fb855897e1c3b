"""End-to-End Congestion Control for InfiniBand.

J. R. Santos, Y. Turner, G. Janakiraman, IEEE INFOCOM, 2003.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.santos2003 import dynamic, static, victim

PHASE = "100 us"
"""Flows start 100 us apart, and each up to 100 us later still: the text says nothing of starts."""


def experiments() -> list[Experiment]:
    """All figures, in the paper's order."""
    return [*victim.experiments(), *static.experiments(), *dynamic.experiments()]
