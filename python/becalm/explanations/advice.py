"""Rules about what to try next, and about missing tables and samples."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from becalm import manager
from becalm.analysis import causes, limits
from becalm.analysis.blame import Bottleneck
from becalm.analysis.case import Case
from becalm.analysis.facts import key
from becalm.analysis.formats import seconds
from becalm.base.errors import BecalmError
from becalm.base.folders import free_file
from becalm.explanations.control import judged, stands, starved, unmarked
from becalm.explanations.model import Sentence
from becalm.explanations.remedies import Remedy, changed, remedies
from becalm.explanations.rule import rule

if TYPE_CHECKING:
    from becalm.analysis.reference import Reference
    from becalm.analysis.trials import Effect


@rule("remedy", "advice")
def remedy(case: Case) -> Iterator[Sentence]:
    """Propose changes that may remove the named causes, each with a command if a key makes the change.

    In `becalm explain`, each change is also tried, as long as `--max-time` allows: the run is repeated with
    the change and the same seed. Changes without a gain are only mentioned.
    """
    done: set[str] = set()
    proposed: set[str] = set()
    for cause, place in _causes(case):
        if cause not in done:
            done.add(cause)
            yield from _of_cause(case, cause, place, proposed)
    if case.facts.cycle:
        text = (
            "Credit loop: change the routes until `topology.edges.allow_cycles = false` passes "
            "`becalm validate`."
        )
        yield Sentence("remedy", "advice", text, {}, (key("topology.edges.allow_cycles"),))


def _causes(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the causes to remedy, each with its place. Missing control is one, although no rule blames it."""
    yield from case.named
    for each in case.bottlenecks:
        if each.overloaded and not case.controlled(each) and _controllable(each):
            yield "no control", each.name


def _controllable(each: Bottleneck) -> bool:
    return each.cause is None or each.cause.name in ("hot host", "oversubscribed link", "colliding jobs")


class _Tried(NamedTuple):
    remedy: Remedy
    effect: Effect | None
    """None if the change was not tried."""


def _of_cause(case: Case, cause: str, place: str, proposed: set[str]) -> Iterator[Sentence]:
    """Yield the remedies of a cause, the best first, except changes that were already proposed."""
    tried = [each for change in remedies(case, cause, place) for each in _try(case, change, proposed)]
    vain = [each for each in tried if each.effect is not None and each.effect.score <= 0]
    rest = [each for each in tried if each not in vain]
    rest.sort(key=lambda each: -each.effect.score if each.effect is not None else math.inf)
    for each in rest:
        yield _proposed(case, place, each)
    if vain:
        said = "; ".join(each.remedy.text for each in vain)
        text = f"{place}: tried without a gain: {said}."
        refer = tuple(key(name) for each in vain for name in list(each.remedy.changes)[:1])
        yield Sentence("remedy", "advice", text, {"tried": len(vain)}, refer, place=place)


def _try(case: Case, change: Remedy, proposed: set[str]) -> Iterator[_Tried]:
    """Try a change, unless the scenario does not allow it, or it was already proposed."""
    scenario = changed(case.facts.scenario, change)
    if scenario is None:
        if not change.changes:
            yield _Tried(change, None)
    elif scenario.hash not in proposed:
        proposed.add(scenario.hash)
        yield _Tried(change, case.tried(scenario))


def _proposed(case: Case, place: str, each: _Tried) -> Sentence:
    changes = each.remedy.changes
    command = _command(case, changes)
    text = f"{place}: {each.remedy.text}"
    if command:
        text += f": `becalm {command}`"
    elif len(changes) == 1 and len(shown := toml(changes)) <= MOST_TEXT:
        text += f": `{shown}`"
    numbers = {}
    if each.effect is not None:
        text += f"; tried: {each.effect.text}"
        numbers = {"gain": math.exp(each.effect.score) - 1}
    refer = tuple(key(name) for name in list(changes)[:1]) or _refer(case, place)
    return Sentence("remedy", "advice", f"{text}.", numbers, refer, place=place, command=command)


def _refer(case: Case, place: str) -> tuple[Reference, ...]:
    links = case.facts.links
    if place in links.names:
        return (case.facts.of_tree(links.names.index(place)),)
    return (key("topology"),)


MOST_TEXT = 200
"""Length in characters above which a change is described only in words."""


def toml(changes: Mapping[str, Any]) -> str:
    """Return changes as `key=value`, separated by spaces, with values in TOML."""
    return " ".join(f"{name}={_inline(value)}" for name, value in changes.items())


def _inline(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {_inline(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(each) for each in value) + "]"
    return json.dumps(value)


def _command(case: Case, changes: Mapping[str, Any]) -> str:
    """Return the command that repeats the run with changes; empty without a file, or if too long."""
    if case.file is None or not changes:
        return ""
    options = " ".join(f"--set {shlex.quote(toml({name: value}))}" for name, value in changes.items())
    command = f"run {_quoted(case)} {options}"
    return command if len(command) <= MOST_TEXT + len(_quoted(case)) else ""


@rule("manage", "advice")
def manage(case: Case) -> Iterator[Sentence]:
    """Propose `becalm manage` if control is off, weak or too strong at an overloaded link.

    The link leads to a hot host, or other flows wait behind it. The rule applies only if the guideline's
    parameters suit the scenario and differ from the scenario's. They apply to the entire fabric, so
    `--contributors` is the largest number of hosts that offer more than their fair share of any one link. The
    proposed command names the results or the scenario file.
    """
    scenario, contributors = case.facts.scenario, _contributors(case)
    for each in _bad(case):
        hot = causes.hot(case.facts, each.flows)
        if not hot and not len(case.victims):
            continue
        try:
            managed = manager.recommend(scenario, hot_spot_degree=contributors).apply(scenario)
        except BecalmError:
            return
        if managed == scenario:
            return
        out = free_file(Path("managed.toml"))
        options = f"--guideline {manager.DEFAULT} --contributors {contributors} --out {out}"
        command = f"manage {_quoted(case)} {options}"
        use = "send to one hot host" if hot else f"share {each.name}"
        text = f"Parameters for {contributors} hosts that {use}: `becalm {command}`"
        tried = case.tried(managed)
        if tried is not None:
            text += f"; tried: {tried.text if tried.score > 0 else 'no gain'}"
        numbers = {"contributors": float(contributors)}
        if tried is not None:
            numbers["gain"] = math.exp(tried.score) - 1
        refer = (case.facts.of_tree(each.link),)
        yield Sentence("manage", "advice", f"{text}.", numbers, refer, place=each.name, command=command)
        return


@rule("tune", "advice")
def tune(case: Case) -> Iterator[Sentence]:
    """Propose `becalm tune` for a hot host under the same conditions as for `manage`."""
    for each in _bad(case):
        host = causes.hot(case.facts, each.flows)
        if host and each.contributors >= 2:
            contributors = _contributors(case)
            options = f"--hot {shlex.quote(host)} --contributors {contributors} --trials 50"
            command = f"tune {_quoted(case)} {options}"
            text = f"A search for parameters that beat the guideline's: `becalm {command}`."
            numbers = {"contributors": contributors}
            refer = (case.facts.of_tree(each.link),)
            yield Sentence("tune", "advice", text, numbers, refer, place=each.name, command=command)
            return


@rule("untried", "missing")
def untried(case: Case) -> Iterator[Sentence]:
    """State that there was no time for trials of all proposed changes."""
    if case.bench is not None and case.bench.skipped:
        needed = case.bench.estimate
        text = (
            f"Some proposed changes were not tried, because a run takes about {seconds(needed)}: raise the "
            "limit with --max-time."
        )
        yield Sentence("untried", "missing", text, {"estimate": needed}, (key("run.duration"),))


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
    scenario, common = case.facts.scenario, case.facts.resolved["response"]
    if case.file is None or scenario.flow_control.name == "pfc" or set(common) - {"none", "ibta"}:
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
