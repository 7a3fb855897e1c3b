"""The lab: experiments, and the claims by which they are judged.

An experiment is a figure of a paper or a remark in its text: scenarios, axes, a figure. Its claims are data,
in the file `claims.toml` of its paper. `reproduce` runs the scenarios (each once, however many figures need
it), measures, judges every claim and draws the figures:

    reports = becalm.lab.reproduce(["santos2003/fig2"], out=Path("figures"))
    for claim in reports[0].claims:
        print(claim.id, claim.paper, claim.mean, claim.verdict)

A claim carries the sentence that it comes from and a tolerance that follows from its wording. It is judged
by the mean over several seeds and its confidence interval. One that fails stays in the list, with an
explanation.
"""

from becalm.lab.claims import ClaimsError
from becalm.lab.discovery import registry, select
from becalm.lab.model import Claim, Experiment, Point, Report, Statement
from becalm.lab.reports import reproduce
from becalm.lab.runner import Lab

__all__ = [
    "Claim",
    "ClaimsError",
    "Experiment",
    "Lab",
    "Point",
    "Report",
    "Statement",
    "registry",
    "reproduce",
    "select",
]
