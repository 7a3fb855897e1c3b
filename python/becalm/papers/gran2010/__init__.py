"""First Experiences with Congestion Control in InfiniBand Hardware.

E. G. Gran, M. Eimot, S.-A. Reinemo, T. Skeie, O. Lysne, L. P. Huse, G. Shainer, IEEE IPDPS 2010.

What the paper leaves open, what other readings give, and
what is not modelled: [gran2010/readings.md](gran2010/readings.md).
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.gran2010 import adapters, cct, fig7, fig10, fig13, readings, sizes, surfaces, table3
from becalm.papers.gran2010.nulls import NULLS

__all__ = ["NULLS", "PHASE", "experiments"]

PHASE = "100 us"
"""Each flow starts up to 100 us later than stated, by the seed."""


def experiments() -> list[Experiment]:
    """All experiments, in the order of the figures; then those on parameters that have none."""
    maps = surfaces.experiments()
    return [
        *fig7.experiments(),
        *sizes.experiments(),
        *fig10.experiments(),
        *maps[:2],
        *fig13.experiments(),
        *maps[2:],
        *table3.experiments(),
        *cct.experiments(),
        *adapters.experiments(),
        *readings.experiments(),
    ]
