"""A diagnosis in words: sentences about a run, made from its tables by stated rules.

From the bottom: `model` (sentences), `limits`, `facts` (the tables as arrays), `blame` (bottlenecks and their
causes), `case` (all of it, worked out once), `rule`, the rules in `spread`, `control` and `advice`, `page`
(their description), `cli`.
"""

from __future__ import annotations

from becalm.explain import advice as _advice  # noqa: F401
from becalm.explain import control as _control  # noqa: F401
from becalm.explain import spread as _spread  # noqa: F401
from becalm.explain.case import Case
from becalm.explain.facts import Facts
from becalm.explain.model import TOPICS, Explanation, Reference, Sentence
from becalm.explain.rule import RULES
from becalm.results import Results

__all__ = ["RULES", "TOPICS", "Explanation", "Reference", "Sentence", "explain"]


def explain(results: Results, replication: int = 0) -> Explanation:
    """Say in words what the tables of a run show: roots, causes, victims, cost, control, what to try next.

    Args:
        results: the results of a run.
        replication: the replication that is explained.

    Raises:
        ResultsError: no such replication, or a table that every run has is missing.

    """
    case = Case(Facts(results, replication))
    sentences = [sentence for rule in RULES for sentence in rule.make(case)]
    topics = list(TOPICS)
    sentences.sort(key=lambda each: topics.index(each.topic))
    return Explanation(results.scenario.name, replication, tuple(sentences))
