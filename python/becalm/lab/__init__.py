"""The lab: experiments and the claims that judge them.

An experiment reproduces a figure of a paper or a remark in its text. It consists of scenarios, measures and a
figure. Its claims are data in the paper's file `claims.toml`. `reproduce` runs each scenario once, even if
several figures need it, measures the results, judges every claim and draws the figures:

    reports = becalm.lab.reproduce(["santos2003/fig2"], out=Path("figures"))
    for claim in reports[0].claims:
        print(claim.id, claim.paper, claim.mean, claim.verdict)

A claim contains its source sentence, and a tolerance that depends on the wording. The mean over several
seeds and its confidence interval decide the verdict. A claim that fails stays in the list with an
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
