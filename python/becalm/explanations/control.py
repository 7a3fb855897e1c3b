"""Rules about congestion control: whether it was active, held, oscillated or starved a link, and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from becalm import manager
from becalm.analysis import limits
from becalm.analysis.blame import Bottleneck
from becalm.analysis.case import Case
from becalm.analysis.facts import key
from becalm.analysis.formats import counted, seconds, share
from becalm.analysis.reference import Reference
from becalm.explanations.model import Sentence
from becalm.explanations.rule import rule

if TYPE_CHECKING:
    from becalm.analysis.facts import Floats, Places

SLOW = ("slow receiver", "slow cable")
"""Causes that keep a link below its rate whatever congestion control does."""


def judged(case: Case) -> list[Bottleneck]:
    """Return the first overloaded bottlenecks at which control is needed and can have an effect."""
    return [each for each in case.bottlenecks if each.overloaded and case.controlled(each)][: limits.MOST]


def starved(case: Case, each: Bottleneck) -> bool:
    """Whether control leaves part of a link unused although flows have data to send."""
    slow = each.cause is not None and each.cause.name in SLOW
    return not slow and case.use(each) < limits.FULL and case.facts.links.root[each.link] < limits.STANDING


def stands(case: Case, each: Bottleneck) -> bool:
    """Whether control failed: a link was a root for long, and had victims or waiting links behind it."""
    root = case.facts.links.root[each.link]
    return bool(root >= limits.STANDING and (len(case.victims) or len(branches(case, each))))


def branches(case: Case, each: Bottleneck) -> Places:
    """Return the links that wait behind a bottleneck for a quarter of the window or more."""
    links = case.facts.links
    crossed = case.facts.crossed(each.flows)
    return crossed[~links.is_root[crossed] & (links.branch[crossed] >= limits.STANDING)]


def unmarked(case: Case, each: Bottleneck) -> bool:
    """Whether a root was persistent while almost none of its packets were marked."""
    links, at = case.facts.links, each.link
    stood = links.root[at] >= limits.LEAST_ROOT and links.longest[at] >= limits.LASTING * case.facts.window
    return bool(stood and links.marked[at] < limits.UNMARKED * links.packets[at])


def balance(case: Case, each: Bottleneck) -> manager.Balance | None:
    """Return the effect of IBTA's parameters at a link, or None with another response."""
    if case.ibta(each) is None:
        return None
    return manager.balance(case.facts.scenario, each.sources, float(case.facts.links.capacity[each.link]))


@rule("no-control", "control")
def no_control(case: Case) -> Iterator[Sentence]:
    """State that no congestion control acts on overloaded links.

    Either switches do not mark, or sources do not react to marks.
    """
    left = [each for each in case.bottlenecks if each.overloaded and not case.controlled(each)]
    if not left:
        return
    what = "switches mark nothing" if case.marking == "none" else "sources do not react to marks"
    names = ", ".join(each.name for each in left[: limits.MOST])
    refer = (key("marking"), key("response"))
    text = f"No congestion control acts on {names}: {what}."
    yield Sentence("no-control", "control", text, {"links": len(left)}, refer)


@rule("threshold-off", "control")
def threshold_off(case: Case) -> Iterator[Sentence]:
    """Name the cause *threshold off*.

    A root is persistent, and switches can mark and sources can react, but fewer than one packet in a thousand
    is marked.
    """
    links = case.facts.links
    for each in judged(case):
        if not unmarked(case, each):
            continue
        marked, packets = float(links.marked[each.link]), float(links.packets[each.link])
        text = (
            f"Marking is off at {each.name}: {marked:.0f} of {packets:.0f} packets were marked, although it "
            f"was a root for {share(float(links.root[each.link]))} of the time; marking.{case.marking} does "
            "not detect this congestion."
        )
        refer = (case.facts.of_link(each.link, "marked", "packets"), key(f"marking.{case.marking}"))
        numbers = {"marked": marked, "packets": packets}
        yield Sentence(
            "threshold-off", "control", text, numbers, refer, cause="threshold off", place=each.name
        )


@rule("weak", "control")
def weak(case: Case) -> Iterator[Sentence]:
    """Name the cause *weak control*.

    An overloaded link is a root for at least a quarter of the window although its packets are marked. There
    are victims, or other links wait behind it for a quarter of the window. With IBTA's response, the sentence
    also names settings that cannot work, as `becalm manage` does.
    """
    links = case.facts.links
    for each in judged(case):
        root, marked = float(links.root[each.link]), float(links.marked[each.link])
        if not stands(case, each) or unmarked(case, each):
            continue
        waiting = branches(case, each)
        spread = (
            f" and {counted(len(waiting), 'link')} waited behind it for a quarter of the time"
            if len(waiting)
            else ""
        )
        part = marked / max(1.0, float(links.packets[each.link]))
        concerns = _concerns(case, each)
        why = "".join(f"; {concern.key} = {concern.value}: {concern.problem}" for concern in concerns)
        text = (
            f"Control did not hold: {each.name} was a root for {share(root)} of the time{spread}, "
            f"although {share(part)} of its packets were marked{why}."
        )
        refer = (case.facts.of_tree(each.link), case.facts.of_link(each.link, "marked", "packets"))
        keys = tuple(key(concern.key) for concern in concerns)
        numbers = {"root_share": root, "marked_share": part, "branches": len(waiting)}
        yield Sentence(
            "weak", "control", text, numbers, (*refer, *keys), cause="weak control", place=each.name
        )


@rule("starved", "control")
def starves(case: Case) -> Iterator[Sentence]:
    """State that control starves a link, and why.

    The link is overloaded and a root for less than a quarter of the window, but its utilization is below 90%
    of what its flows could reach. With IBTA's response, the cause is *step too large* if one BECN puts a
    source below its fair share. Otherwise it is *timer too long* if a source at its fair share may get
    another BECN before the timer has undone the previous one, or else *response too strong*.
    """
    for each in judged(case):
        if not starved(case, each) or unmarked(case, each):
            continue
        found, use = balance(case, each), case.use(each)
        blamed = manager.starving(case.facts.scenario, found)
        gap, refer = _gap(case, each)
        text = (
            f"Control starves {each.name}: its flows send only {share(use)} of what they could{gap}; "
            f"{blamed.problem}."
        )
        numbers = {"use": use}
        if found is not None:
            numbers |= {"increase": found.step, "fair_index": found.fair}
            numbers |= {"undone": found.undone, "heard": found.heard}
        rows = (case.facts.of_link(each.link, "utilization"), *refer, key(blamed.key))
        yield Sentence("starved", "control", text, numbers, rows, cause=blamed.rule, place=each.name)


@rule("oscillates", "control")
def oscillates(case: Case) -> Iterator[Sentence]:
    """State that the rate of a link oscillates under control.

    Its series has at least 20 windows, and the offered traffic is steady. The standard deviation of the rate
    is at least 30% of its mean, and the rate swings at least four times. The cause is *step too large* if one
    BECN puts a source below its fair share. Otherwise it is *oscillation*.
    """
    for each in judged(case):
        rates = case.rates(each) if case.steady(each) and case.followed(each) else None
        if rates is None or rates.mean() <= 0 or rates.std() / rates.mean() < limits.SWING:
            continue
        if _swings(rates) < limits.SWINGS:
            continue
        low, high = (float(np.quantile(rates, part)) for part in (0.1, 0.9))
        swing, found = float(rates.std() / rates.mean()), balance(case, each)
        large = found is not None and found.step >= found.fair
        text = (
            f"The rate of {each.name} oscillates between {share(low)} and {share(high)} of its capacity "
            f"(10th and 90th percentile), with a standard deviation of {share(swing)} of the mean."
        )
        refer = (_series_rows(case, each), *((key("response.ibta.ccti_increase"),) if large else ()))
        numbers = {"low": low, "high": high, "swing": swing}
        cause = "step too large" if large else "oscillation"
        yield Sentence("oscillates", "control", text, numbers, refer, cause=cause, place=each.name)


@rule("own-response", "control")
def own_response(case: Case) -> Iterator[Sentence]:
    """Name the flows of a group that are *slowed by marks* and not by a bottleneck.

    They are marked, react to marks, and lose more than chance can explain. They neither cross a bottleneck
    nor wait behind one. The sentence names the link with the most marks.
    """
    flows, links = case.facts.flows, case.facts.links
    for name in dict.fromkeys(flows.group[flow] for flow in case.slowed):
        own = np.array([flow for flow in case.slowed if flows.group[flow] == name])
        offered, got = float(flows.offered[own].sum()), float(flows.delivered[own].sum())
        path = np.unique(np.concatenate([case.facts.path(int(flow)) for flow in own]))
        at = int(path[np.argmax(links.marked[path])])
        marked = float(np.average(flows.marked[own], weights=np.maximum(flows.delivered[own], 1)))
        response = next(iter(case.responses[name]))
        who = f"{len(own)} flows of group {name} are" if len(own) > 1 else f"A flow of group {name} is"
        text = (
            f"{who} slowed by its own response: {share(got / offered)} of the demand is delivered, no "
            f"bottleneck is on the path, and {marked:.2%} of the packets are marked, most at "
            f"{links.names[at]}; response.{response} recovers too slowly from marks that no "
            "persistent queue causes."
        ).replace("are slowed by its", "are slowed by their")
        numbers = {"flows": len(own), "offered": offered, "delivered": got, "marked_share": marked}
        free = case.tried(case.facts.scenario.without_control()) if case.bench is not None else None
        if free is not None and free.score > 0:
            text = f"{text[:-1]}. In a paired run without control, {free.text}."
        mask = _masked(case) if "ibta" in case.responses[name] else []
        text = text[:-1] + "".join(f"; {each.key} = {each.value}: {each.problem}" for each in mask) + "."
        refer = (
            case.facts.of_flows(own),
            case.facts.of_link(at, "marked", "packets"),
            key(f"response.{response}"),
            *(key(each.key) for each in mask),
        )
        cause = "slowed by marks" if got < (1 - limits.SLOWED) * offered else ""
        yield Sentence("own-response", "control", text, numbers, refer, cause=cause, place=links.names[at])


@rule("held", "control")
def held(case: Case) -> Iterator[Sentence]:
    """State that control holds an overloaded link.

    The link is full. Either it is a root for less than a quarter of the window, or there are no victims and
    no other link waits behind it for a quarter of the window.
    """
    links = case.facts.links
    for each in judged(case):
        root, use = float(links.root[each.link]), case.use(each)
        slow = each.cause is not None and each.cause.name in SLOW
        if stands(case, each) or unmarked(case, each) or (use < limits.FULL and not slow):
            continue
        longest = float(np.nan_to_num(links.longest[each.link]))
        state = f"a root for {share(root)} of the time, {seconds(longest)} at the longest"
        if not longest:
            state = f"a root for {share(root)} of the time"
        if case.facts.resolved["switch"]["buffer"] == "unlimited":
            state = "with unlimited buffers, which stop no sender"
        text = f"Control held {each.name}: {share(float(links.busy[each.link]))} used, {state}."
        refer = (case.facts.of_link(each.link, "utilization"), case.facts.of_tree(each.link))
        yield Sentence("held", "control", text, {"use": use, "root_share": root}, refer, place=each.name)


def _swings(rates: Floats) -> int:
    """Return the number of swings of the rates from well below to well above their mean, or back."""
    away = (rates - rates.mean()) / rates.std()
    sides = np.sign(away[np.abs(away) >= 0.5])
    return int(np.count_nonzero(np.diff(sides)))


def _masked(case: Case) -> list[manager.Concern]:
    """Return the settings that mark flows which cause no congestion."""
    return [each for each in manager.certain(case.facts.scenario) if each.rule == "slowed by marks"]


def _concerns(case: Case, each: Bottleneck) -> list[manager.Concern]:
    if case.ibta(each) is None:
        return []
    return manager.review(case.facts.scenario, hot_spot_degree=max(2, each.sources))


def _gap(case: Case, each: Bottleneck) -> tuple[str, tuple[Reference, ...]]:
    """Describe the gaps of the group that offers most, if the run recorded the table `paces`."""
    import polars as pl

    if "paces" not in case.facts.results.tables:
        return "", ()
    name = next(iter(each.groups))
    table = case.facts.table("paces").filter(
        (pl.col("group") == name) & (pl.col("time") >= case.facts.warmup)
    )
    if not table.height:
        return "", ()
    rows = tuple(int(row) for row in table["row"].to_list())
    return (
        f" (flows of {name} wait {float(table['gap_mean'].to_numpy().mean()):.3g} packet times "
        "after each packet)",
        (Reference("paces", rows, ("gap_mean",)),),
    )


def _series_rows(case: Case, each: Bottleneck) -> Reference:
    import polars as pl

    table = case.facts.table("series").filter((pl.col("kind") == "link") & (pl.col("name") == each.name))
    return Reference("series", tuple(int(row) for row in table["row"].to_list()), ("share",))
