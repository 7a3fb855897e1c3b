"""A Binary Feedback Scheme for Congestion Avoidance in Computer Networks.

K. K. Ramakrishnan, R. Jain, ACM Transactions on Computer Systems 8(2), 1990.

Fig. 1 and 3 are drawings. What the paper leaves open, and what other readings give:
[ramakrishnan1990/readings.md](ramakrishnan1990/readings.md).
"""

from __future__ import annotations

from becalm.experiments import (
    ramakrishnan1990_changing,
    ramakrishnan1990_decrease,
    ramakrishnan1990_filter,
    ramakrishnan1990_integer,
    ramakrishnan1990_router,
    ramakrishnan1990_single,
    ramakrishnan1990_special,
    ramakrishnan1990_user,
    ramakrishnan1990_windows,
)
from becalm.experiments.model import Experiment

ORDER = (
    *("windows", "fig2", "filter", "fig4", "fig5", "probability", "fig6", "fig7", "fig8", "integer"),
    *("factor", "fig9", "fig10", "fig11", "fig12", "fig13"),
)
"""The figures and remarks in the paper's order."""


def experiments() -> list[Experiment]:
    """All figures, in the paper's order."""
    parts = (
        ramakrishnan1990_windows,
        ramakrishnan1990_router,
        ramakrishnan1990_filter,
        ramakrishnan1990_single,
        ramakrishnan1990_user,
        ramakrishnan1990_integer,
        ramakrishnan1990_decrease,
        ramakrishnan1990_changing,
        ramakrishnan1990_special,
    )
    found = {experiment.figure: experiment for part in parts for experiment in part.experiments()}
    return [found[figure] for figure in ORDER]
