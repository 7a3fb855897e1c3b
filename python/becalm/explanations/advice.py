"""Rules about what to try next, and about missing tables and samples."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from becalm import manager
from becalm.analysis import blame, limits
from becalm.analysis.blame import Bottleneck
from becalm.analysis.case import Case
from becalm.analysis.facts import key
from becalm.errors import BecalmError
from becalm.explanations.control import judged, stands, starved, unmarked
from becalm.explanations.model import Sentence
from becalm.explanations.rule import rule
from becalm.folders import free_file

MENDS = {
    "slow receiver": "make the host receive faster (`adapter.drain_rate`, the host's slot or software)",
    "slow cable": "replace the cable or its port, and run again",
    "unbalanced routes": "choose other routes, with equal numbers of host pairs on each link of the switch",
    "pause storm": "find out why the host pauses its switch (slot or driver), or let a watchdog drop its "
    "pauses; no congestion-control parameter helps",
    "path collision": "spread the flows differently: `switch.paths.flowlet`, `switch.paths.least_waiting` or "
    "another hash",
    "colliding jobs": "place or route one of the jobs so that their paths do not meet",
    "oversubscribed link": "add parallel cables, or spread the flows over other links",
}
"""Remedies for causes that no parameter of congestion control removes."""


@rule("mend", "advice")
def mend(case: Case) -> Iterator[Sentence]:
    """Propose a change that removes a cause that no congestion control parameter can remove."""
    said = set()
    for each in case.bottlenecks:
        name = each.cause.name if each.cause is not None else ""
        if name in MENDS and name not in said:
            said.add(name)
            text = f"{each.name}: {MENDS[name]}."
            yield Sentence("mend", "advice", text, {}, (case.facts.of_tree(each.link),), place=each.name)
    if case.facts.cycle:
        text = (
            "Credit loop: change the routes until `topology.edges.allow_cycles = false` passes "
            "`becalm validate`."
        )
        yield Sentence("mend", "advice", text, {}, (key("topology.edges.allow_cycles"),))


@rule("manage", "advice")
def manage(case: Case) -> Iterator[Sentence]:
    """Propose `becalm manage` if control is off, weak or too strong at an overloaded link.

    The rule applies only if the guideline's parameters suit the scenario and differ from the scenario's.
    They apply to the entire fabric, so `--contributors` is the largest number of hosts that offer more than
    their fair share of any one link. The proposed command names the results or the scenario file.
    """
    scenario, contributors = case.facts.scenario, _contributors(case)
    for each in _bad(case):
        try:
            managed = manager.recommend(scenario, hot_spot_degree=contributors).apply(scenario)
        except BecalmError:
            return
        if managed == scenario:
            return
        out = free_file(Path("managed.toml"))
        command = f"manage {_quoted(case)} --contributors {contributors} --out {out}"
        text = f"Parameters for {contributors} hosts that send to one hot host: `becalm {command}`."
        numbers, refer = {"contributors": contributors}, (case.facts.of_tree(each.link),)
        yield Sentence("manage", "advice", text, numbers, refer, place=each.name, command=command)
        return


@rule("tune", "advice")
def tune(case: Case) -> Iterator[Sentence]:
    """Propose `becalm tune` for a hot host under the same conditions as for `manage`."""
    for each in _bad(case):
        host = blame.hot(case.facts, each.flows)
        if host and each.contributors >= 2:
            contributors = _contributors(case)
            options = f"--hot {shlex.quote(host)} --contributors {contributors} --trials 50"
            command = f"tune {_quoted(case)} {options}"
            text = f"A search for parameters that beat the guideline's: `becalm {command}`."
            numbers = {"contributors": contributors}
            refer = (case.facts.of_tree(each.link),)
            yield Sentence("tune", "advice", text, numbers, refer, place=each.name, command=command)
            return


@rule("observe", "missing")
def observe(case: Case) -> Iterator[Sentence]:
    """Name the keys that make a run record the missing data.

    These keys are `observe.links`, `observe.window` and `observe.step` for oscillation under control, and
    `observe.paces` for the gaps of sources that starve a link.
    """
    facts = case.facts
    for each in judged(case)[:1]:
        if not case.followed(each):
            text = f'The results do not show whether control oscillates: set observe.links = ["{each.name}"].'
            yield Sentence("observe", "missing", text, {}, (key("observe.links"),))
        elif case.steady(each) and case.rates(each) is None:
            window = max(1, round(facts.window / (2 * limits.SAMPLES) * 1e6))
            text = (
                f"The results do not show whether control oscillates, because their windows are too long: "
                f'set observe.window = "{window} us" and observe.step = "{window} us".'
            )
            yield Sentence("observe", "missing", text, {"window": window * 1e-6}, (key("observe.window"),))
        if starved(case, each) and "paces" not in facts.results.tables:
            text = "The results do not show the gaps between packets of sources: set observe.paces = true."
            yield Sentence("observe", "missing", text, {}, (key("observe.paces"),))


def _quoted(case: Case) -> str:
    return shlex.quote(str(case.file))


def _contributors(case: Case) -> int:
    """Return the largest number of contributors to an overloaded link, but at least 2."""
    return max([2, *(each.contributors for each in case.bottlenecks if each.overloaded)])


def _bad(case: Case) -> list[Bottleneck]:
    """Return the overloaded links at which control is off, weak or too strong, if commands can remedy that.

    The commands set InfiniBand's congestion control, but they do not replace another scheme or apply to PFC.
    """
    resolved = case.facts.resolved
    common = resolved["response"]
    if case.file is None or "pfc" in resolved["switch"]["flow_control"] or set(common) - {"none", "ibta"}:
        return []
    return [
        each
        for each in case.bottlenecks
        if each.overloaded
        and (each.cause is None or each.cause.name not in ("slow receiver", "pause storm", "path collision"))
        and (not case.controlled(each) or unmarked(case, each) or starved(case, each) or stands(case, each))
        # The recommendation replaces the scenario's response, but not the responses of groups.
        and all(case.responses[group] == common for group in each.groups)
    ]
