"""A diagnosis in words: sentences about a run, derived from its tables by documented rules.

The modules, from the bottom up: `model` (sentences); `rule`; `equipment` and `remedies` (changes that may
remove causes); `spread`, `jobs`, `control`, `pauses`, `faults`, `endings` and `advice` (rules by topic);
`rules` (all rules); and `page` (their description). `becalm.analysis` computes the input of the rules, and
runs trials.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

from becalm.analysis.reference import Reference
from becalm.explanations.model import TOPICS, Explanation, Sentence

if TYPE_CHECKING:
    from becalm.results import Results
    from becalm.runs import Progress

_WORD = re.compile(r"[\w.:-]+")

__all__ = ["TOPICS", "Explanation", "Reference", "Sentence", "explain"]


def explain(
    results: Results | str | PathLike[str],
    replication: int = 0,
    *,
    folder: str | PathLike[str] | None = None,
    max_time: float = 0.0,
    progress: Callable[[Progress], object] | None = None,
) -> Explanation:
    """Describe a run in words: roots, causes, victims, cost, control, and what to try next.

    Args:
        results: the results of a run, or their folder.
        replication: the replication to explain.
        folder: folder of the results, for use in proposed commands. Without it, commands name the scenario's
            file. If that file is missing or contains another scenario, no commands are proposed.
        max_time: wall-clock time in s for trials, which repeat the run without control or with a proposed
            change. Without trials, all sentences follow from the tables.
        progress: called during trials, see `becalm.run`.

    Raises:
        ResultsError: the replication does not exist, or a table that every run produces is missing.

    """
    # Import here, so that importing becalm stays fast.
    from becalm.analysis.case import Case
    from becalm.analysis.facts import Facts
    from becalm.analysis.trials import Bench
    from becalm.explanations.rules import RULES
    from becalm.results import Results, load_results

    if not isinstance(results, Results):
        folder, results = folder or results, load_results(results)
    bench = Bench(results, replication, max_time, progress) if max_time > 0 else None
    case = Case(Facts(results, replication), _file(results, folder), bench)
    made = []
    for rule in RULES:
        said = list(rule.make(case))
        case.named += [(each.cause, each.place) for each in said if each.cause]
        made += said
    order = {each.name: place for place, each in enumerate(case.bottlenecks)}
    ranked = sorted(made, key=lambda each: (list(TOPICS).index(each.topic), _rank(each, order)))
    # In scenarios whose nodes have several adapters, by host: `GPU 1 of node N0`.
    owners = dict(results.scenario.core.owners())
    sentences = tuple(replace(each, text=_named(_spaced(each.text), owners)) for each in ranked)
    return Explanation(results.scenario.name, replication, sentences, results.verdict_of(replication))


def _rank(sentence: Sentence, order: Mapping[str, int]) -> int:
    """Return a sentence's rank within its topic. Advice starts with the root to which victims lose most."""
    return order.get(sentence.place, len(order)) if sentence.topic == "advice" else 0


def _spaced(text: str) -> str:
    """Add spaces around the arrows in link names, as on pages, except in text for copying."""
    said = text.split("`")
    said[::2] = (re.sub(r"(?<=\S)->(?=\S)", " -> ", each) for each in said[::2])
    return "`".join(said)


def _named(text: str, owner_of: Mapping[str, str]) -> str:
    """Add the owner to the first adapter that a text names, except in text for copying."""
    said = text.split("`")
    for place in range(0, len(said), 2):
        for match in _WORD.finditer(said[place]):
            host = match[0].rstrip(".:-")
            if host in owner_of:
                end = match.start() + len(host)
                said[place] = f"{said[place][:end]} ({owner_of[host]}){said[place][end:]}"
                return "`".join(said)
    return text


def _file(results: Results, folder: str | PathLike[str] | None) -> str | None:
    """Return the path of a run's scenario or results for use in commands."""
    from becalm.base.errors import BecalmError
    from becalm.scenario import load

    file = results.scenario.name if folder is None else str(folder)
    try:
        return file if load(file) == results.scenario else None
    except (BecalmError, OSError, ValueError):
        return None
