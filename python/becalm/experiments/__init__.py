"""The figures of published papers as experiments: scenarios, axes, and the sentences that they are judged by.

Every experiment is declared in the module of its paper. `reproduce` runs the scenarios (each once, however
many figures need it), measures, judges every statement and draws the figures:

    reports = becalm.experiments.reproduce(["santos2003/fig2"], out=Path("figures"))
    for claim in reports[0].claims:
        print(claim.id, claim.paper, claim.measured, claim.holds)

A statement carries the sentence that it comes from and a tolerance that follows from its wording or from
the spread between seeds. One that does not hold stays in the list, with an explanation.
"""

from becalm.experiments.lab import RunProgress
from becalm.experiments.model import Claim, Experiment, Point, Report, Statement
from becalm.experiments.reproduce import registry, reproduce, select

__all__ = [
    "Claim",
    "Experiment",
    "Point",
    "Report",
    "RunProgress",
    "Statement",
    "registry",
    "reproduce",
    "select",
]
