"""A Binary Feedback Scheme for Congestion Avoidance in Computer Networks.

K. K. Ramakrishnan, R. Jain, ACM Transactions on Computer Systems 8(2), 1990.

Fig. 1 and 3 are drawings. [ramakrishnan1990/readings.md](ramakrishnan1990/readings.md) describes points that
the paper leaves open, and the results of other readings.
"""

from __future__ import annotations

from becalm.lab.model import Experiment
from becalm.papers.ramakrishnan1990 import (
    changing,
    decrease,
    integer,
    router,
    signal_filter,
    single,
    special,
    user,
    windows,
)
from becalm.papers.ramakrishnan1990.scene import NULLS

__all__ = ["NULLS", "PHASE", "experiments"]

ORDER = (
    *("windows", "fig2", "filter", "fig4", "fig5", "bits", "probability", "fig6", "fig7", "fig8", "integer"),
    *(
        "search",
        "factor",
        "fig9",
        "fig10",
        "fig11",
        "fig12",
        "fig13",
        "initial",
        "fig2_overloaded",
        "fig6_overloaded",
    ),
)
"""The figures and remarks in the paper's order."""

PHASE = "77.5 us"
"""Each user starts up to a round trip of 77.5 units later than stated. The text states no start times."""


def experiments() -> list[Experiment]:
    """Return all figures in the paper's order."""
    parts = (windows, router, signal_filter, single, user, integer, decrease, changing, special)
    by_figure = {experiment.figure: experiment for part in parts for experiment in part.experiments()}
    return [by_figure[figure] for figure in ORDER]
