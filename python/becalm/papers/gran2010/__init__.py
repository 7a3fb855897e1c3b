"""First Experiences with Congestion Control in InfiniBand Hardware.

E. G. Gran, M. Eimot, S.-A. Reinemo, T. Skeie, O. Lysne, L. P. Huse, G. Shainer, IEEE IPDPS 2010.

[gran2010/readings.md](gran2010/readings.md) describes points that the paper leaves open, the results of other
readings, and what is not modelled.
"""

from __future__ import annotations

from becalm.papers.gran2010 import adapters, added, cct, readings, remarks, sizes, surfaces, table3
from becalm.papers.gran2010.scene import NULLS

__all__ = ["EXPERIMENTS", "NULLS", "PHASE"]

PHASE = "100 us"
"""Each flow starts up to 100 us later than stated, by a random delay."""

PARTS = (added, sizes, surfaces, table3, cct, adapters, remarks, readings)
EXPERIMENTS = [experiment for part in PARTS for experiment in part.EXPERIMENTS]
