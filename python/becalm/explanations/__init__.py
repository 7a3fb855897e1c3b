"""A diagnosis in words: sentences about a run, made from its tables by stated rules.

From the bottom up: `model` (sentences), `rule`, the rules in `spread`, `jobs`, `control`, `pauses` and
`advice`, `rules` (all of them), `page` (their description). `becalm.analysis` computes what the rules read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

from becalm.analysis.reference import Reference
from becalm.explanations.model import TOPICS, Explanation, Sentence

if TYPE_CHECKING:
    from becalm.results import Results

__all__ = ["TOPICS", "Explanation", "Reference", "Sentence", "explain"]


def explain(
    results: Results, replication: int = 0, *, folder: str | PathLike[str] | None = None
) -> Explanation:
    """Say in words what the tables of a run show: roots, causes, victims, cost, control, what to try next.

    Args:
        results: the results of a run.
        replication: the replication that is explained.
        folder: folder of the results, for the commands that it proposes. If not given, they name the file of
            the scenario, and there are none if that is missing or has another scenario.

    Raises:
        ResultsError: no such replication, or a table that every run has is missing.

    """
    # Here, so that importing becalm stays light.
    from becalm.analysis.case import Case
    from becalm.analysis.facts import Facts
    from becalm.explanations.rules import RULES

    case = Case(Facts(results, replication), _file(results, folder))
    made = (sentence for rule in RULES for sentence in rule.make(case))
    order = {each.name: place for place, each in enumerate(case.bottlenecks)}
    ranked = sorted(made, key=lambda each: (list(TOPICS).index(each.topic), _rank(each, order)))
    sentences = tuple(replace(each, text=_spaced(each.text)) for each in ranked)
    return Explanation(results.scenario.name, replication, sentences)


def _rank(sentence: Sentence, order: Mapping[str, int]) -> int:
    """Return the place of a sentence in its topic: advice begins with the root to which victims lose most."""
    return order.get(sentence.place, len(order)) if sentence.topic == "advice" else 0


def _spaced(text: str) -> str:
    """Write links with blanks, as pages do, except in what can be copied."""
    said = text.split("`")
    said[::2] = (re.sub(r"(?<=\S)->(?=\S)", " -> ", each) for each in said[::2])
    return "`".join(said)


def _file(results: Results, folder: str | PathLike[str] | None) -> str | None:
    """Return the path by which commands can find the scenario of a run."""
    from becalm.errors import BecalmError
    from becalm.scenario import load

    file = results.scenario.name if folder is None else str(folder)
    try:
        return file if load(file) == results.scenario else None
    except (BecalmError, OSError, ValueError):
        return None
