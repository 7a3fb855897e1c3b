"""First Experiences with Congestion Control in InfiniBand Hardware.

E. G. Gran, M. Eimot, S.-A. Reinemo, T. Skeie, O. Lysne, L. P. Huse, G. Shainer, IEEE IPDPS 2010.

[gran2010/readings.md](gran2010/readings.md) describes points that the paper leaves open, the results of other
readings, and what is not modelled.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.gran2010 import adapters, added, cct, readings, sizes, surfaces, table3
from becalm.papers.gran2010.scene import NULLS

__all__ = ["NULLS", "PHASE", "experiments"]

PHASE = "100 us"
"""Each flow starts up to 100 us later than stated, by a random delay."""


def experiments() -> list[Experiment]:
    """Return all experiments, first the figures in order, then parameters without a figure."""
    fig7a, fig7b, fig8, fig10a, fig10b, fig13 = added.experiments()
    fig11, fig12, *others = surfaces.experiments()
    return [
        *(fig7a, fig7b, fig8, *sizes.experiments(), fig10a, fig10b, fig11, fig12, fig13, *others),
        *table3.experiments(),
        *cct.experiments(),
        *adapters.experiments(),
        *readings.experiments(),
    ]
