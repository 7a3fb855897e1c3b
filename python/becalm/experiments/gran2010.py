"""First Experiences with Congestion Control in InfiniBand Hardware.

E. G. Gran, M. Eimot, S.-A. Reinemo, T. Skeie, O. Lysne, L. P. Huse, G. Shainer, IEEE IPDPS 2010.

Table III, message-passing benchmarks, is left out. What the paper leaves open, and what other readings give:
[gran2010/readings.md](gran2010/readings.md).
"""

from __future__ import annotations

from becalm.experiments import (
    gran2010_cct,
    gran2010_fig7,
    gran2010_fig10,
    gran2010_fig13,
    gran2010_sizes,
    gran2010_surfaces,
)
from becalm.experiments.model import Experiment


def experiments() -> list[Experiment]:
    """All experiments, in the order of the figures; then those on parameters that have none."""
    surfaces = gran2010_surfaces.experiments()
    return [
        *gran2010_fig7.experiments(),
        *gran2010_sizes.experiments(),
        *gran2010_fig10.experiments(),
        *surfaces[:2],
        *gran2010_fig13.experiments(),
        *surfaces[2:],
        *gran2010_cct.experiments(),
    ]
