"""A diagnosis in words: sentences about a run, made from its tables by stated rules.

From the bottom: `model` (sentences), `rule`, the rules in `spread`, `control`, `pauses` and `advice`,
`rules` (all of them), `page` (their description). What the rules read is worked out in `becalm.analysis`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from becalm.analysis.reference import Reference
from becalm.explanations.model import TOPICS, Explanation, Sentence

if TYPE_CHECKING:
    from becalm.results import Results

__all__ = ["TOPICS", "Explanation", "Reference", "Sentence", "explain"]


def explain(results: Results, replication: int = 0) -> Explanation:
    """Say in words what the tables of a run show: roots, causes, victims, cost, control, what to try next.

    Args:
        results: the results of a run.
        replication: the replication that is explained.

    Raises:
        ResultsError: no such replication, or a table that every run has is missing.

    """
    # Here, so that importing becalm stays light.
    from becalm.analysis.case import Case
    from becalm.analysis.facts import Facts
    from becalm.explanations.rules import RULES

    case = Case(Facts(results, replication))
    sentences = tuple(sentence for rule in RULES for sentence in rule.make(case))
    return Explanation(results.scenario.name, replication, sentences)
