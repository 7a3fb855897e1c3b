"""Rules for a run that did not reach its end."""

from __future__ import annotations

from collections.abc import Iterator

from becalm.analysis.case import Case
from becalm.analysis.formats import seconds
from becalm.explanations.model import Sentence
from becalm.explanations.rule import rule
from becalm.quantities import seconds as read_seconds


@rule("stopped", "missing")
def stopped(case: Case) -> Iterator[Sentence]:
    """State when a run was *stopped* before its end, by Ctrl-C, a signal or `--max-time`."""
    facts = case.facts
    (run,) = (each for each in facts.results.replications if each.replication == facts.replication)
    if run.stopped:
        asked = read_seconds(facts.resolved["run"]["duration"])
        text = f"The run was stopped at {seconds(run.end)} of {seconds(asked)}, so nothing later is known."
        yield Sentence("stopped", "missing", text, {"end": run.end, "duration": asked})
