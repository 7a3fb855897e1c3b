"""First Experiences with Congestion Control in InfiniBand Hardware.

E. G. Gran, M. Eimot, S.-A. Reinemo, T. Skeie, O. Lysne, L. P. Huse, G. Shainer, IEEE IPDPS 2010.

Table III, message-passing benchmarks, is left out. What the paper leaves open, and what other readings give:
[gran2010/readings.md](gran2010/readings.md).
"""

from __future__ import annotations

from becalm.experiments import gran2010_cct, gran2010_rates, gran2010_sizes, gran2010_surfaces
from becalm.experiments.model import Experiment


def experiments() -> list[Experiment]:
    """All experiments, in the order of the figures; then those on parameters that have none."""
    rates = gran2010_rates.experiments()
    surfaces = gran2010_surfaces.experiments()
    return [
        *rates[:3],
        *gran2010_sizes.experiments(),
        *rates[3:5],
        *surfaces[:2],
        rates[5],
        *surfaces[2:],
        *gran2010_cct.experiments(),
    ]
