"""Rules for what a run does not tell: it did not reach its end, or is approximate."""

from __future__ import annotations

from collections.abc import Iterator

from becalm.analysis import limits
from becalm.analysis.case import Case
from becalm.analysis.facts import key
from becalm.analysis.formats import seconds
from becalm.explanations.model import Sentence
from becalm.explanations.rule import rule


@rule("before-window", "missing")
def before_window(case: Case) -> Iterator[Sentence]:
    """Name groups and jobs that sent only before the measured window, about which no other sentence is."""
    facts = case.facts
    silent = dict.fromkeys(facts.flows.group)
    for name, offered in zip(facts.flows.group, facts.flows.offered, strict=True):
        if offered > 0:
            silent.pop(name, None)
    if not facts.warmup or not silent:
        return
    before = facts.network.offered(0.0, facts.warmup)
    names = [name for name in silent if before.get(name, 0.0) > 0 or name in _ended(case)]
    if names:
        who = " and ".join(names[: limits.MOST])
        text = (
            f"Before the window, which begins at {seconds(facts.warmup)}, {who} "
            'sent, and nothing since. No other sentence is about that: set run.warmup = "0 s" to see it.'
        )
        numbers = {"window": facts.warmup, "groups": len(names)}
        yield Sentence("before-window", "missing", text, numbers, (key("run.warmup"),), place=names[0])


def _ended(case: Case) -> set[str]:
    """Return the jobs that ended before the measured window."""
    if "jobs" not in case.facts.results.tables:
        return set()
    rows = case.facts.table("jobs").iter_rows(named=True)
    return {row["job"] for row in rows if row["end"] is not None and row["end"] <= case.facts.warmup}


@rule("stopped", "missing")
def stopped(case: Case) -> Iterator[Sentence]:
    """State when a run was *stopped* before its end, by Ctrl-C, a signal or `--max-time`."""
    facts = case.facts
    (run,) = (each for each in facts.results.replications if each.replication == facts.replication)
    if run.stopped:
        asked = facts.scenario.duration
        text = f"The run was stopped at {seconds(run.end)} of {seconds(asked)}, so nothing later is known."
        yield Sentence("stopped", "missing", text, {"end": run.end, "duration": asked})


@rule("trains", "missing")
def trains(case: Case) -> Iterator[Sentence]:
    """State that a run is *approximate*, as each simulated packet stood for several, or time was left out."""
    results = case.facts.results
    if results.train is None:
        return
    numbers = {"packets": results.train} | (
        {} if results.left_out is None else {"left_out": results.left_out}
    )
    text = (
        f"The run is approximate: {results.approximation}. "
        "`becalm run --check` measures the error on a smaller job."
    )
    yield Sentence("trains", "missing", text, numbers, (key("run.fidelity"),))
