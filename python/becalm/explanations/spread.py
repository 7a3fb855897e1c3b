"""Rules about the congestion tree: roots and the flows that feed them, causes, victims, and cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from becalm.analysis import limits
from becalm.analysis.blame import Bottleneck
from becalm.analysis.case import Case
from becalm.analysis.formats import counted, number, seconds, share
from becalm.analysis.reference import Reference
from becalm.explanations import jobs, lanes
from becalm.explanations.faults import discarded
from becalm.explanations.model import Sentence
from becalm.explanations.rule import rule

if TYPE_CHECKING:
    from becalm.analysis.facts import Places


@rule("roots", "roots")
def roots(case: Case) -> Iterator[Sentence]:
    """Name each bottleneck that was a root.

    Each sentence states when the output first became a root, for what share of the window it was one, its
    longest period as a root, and the bytes that victims lose to it. If there are more than five roots, only
    five are named: those to which victims lose the most or, without losses, those that were roots for
    the longest.
    """
    links, window = case.facts.links, case.facts.window
    for each in _first(case, "root"):
        at = each.link
        numbers = {
            "since": float(links.since[at]),
            "root_share": float(links.root[at]),
            "longest": float(links.longest[at]),
            "window": window,
        }
        text = (
            f"{each.name} becomes a root of congestion at {seconds(numbers['since'])} and is one for "
            f"{share(numbers['root_share'])} of the measured {seconds(window)}; its longest period lasts "
            f"{seconds(numbers['longest'])}."
        )
        if each.lost >= 1:
            numbers["lost_bytes"] = each.lost
            text = f"{text[:-1]}; victims lose {number(each.lost, 'B')} to it."
        yield Sentence("roots", "roots", text, numbers, (case.facts.of_tree(at),), place=each.name)
    number_of = sum(each.root for each in case.bottlenecks)
    if number_of > limits.MOST:
        rows = tuple(int(case.facts.links.tree_row[each.link]) for each in case.bottlenecks if each.root)
        text = f"{number_of} links are roots in all; the first {limits.MOST} are named."
        yield Sentence("roots", "roots", text, {"roots": number_of}, (Reference("tree", rows, ("role",)),))


@rule("no-root", "roots")
def no_root(case: Case) -> Iterator[Sentence]:
    """State that no link is a bottleneck, that is, that no root counts.

    The sentence names the output in front of which packets waited for the longest time.
    """
    if case.bottlenecks:
        return
    links = case.facts.links
    inner = np.flatnonzero(links.level > 0)
    top = int(inner[np.argmax(links.root[inner])])
    most = float(links.root[top])
    detail = (
        f"packets wait longest in front of {links.names[top]}, with long queues for {share(most)} of the time"
    )
    if most < 0.0005:
        detail = "no switch queue exceeds half of an input buffer"
    text = f"No link is a bottleneck, and none is oversubscribed by its flows: {detail}."
    yield Sentence("no-root", "roots", text, {"root_share": most}, (case.facts.of_tree(top),))


@rule("feeders", "feeders")
def feeders(case: Case) -> Iterator[Sentence]:
    """Describe the flows that cross a bottleneck.

    The sentence states the numbers of flows and hosts, their offered and delivered traffic, and the demand of
    each group.
    """
    facts = case.facts
    for each in _first(case):
        flows = each.flows
        offered, got = float(facts.flows.offered[flows].sum()), float(facts.flows.delivered[flows].sum())
        capacity = float(facts.links.capacity[each.link])
        parts = list(each.groups.items())[: limits.MOST]
        groups = ", ".join(f"{name} {number(part * capacity, 'B/s')}" for name, part in parts)
        text = (
            f"{counted(len(flows), 'flow')} from {counted(each.sources, 'host')} "
            f"{_verb(len(flows), 'cross', 'crosses')} {each.name}: demand "
            f"{number(offered, 'B/s')}, capacity {number(capacity, 'B/s')}, delivered {number(got, 'B/s')} "
            f"(demand by group: {groups})."
        )
        numbers = {
            "flows": len(flows),
            "hosts": each.sources,
            "offered": offered,
            "delivered": got,
            "capacity": capacity,
            **{f"offered_{name}": part * capacity for name, part in parts},
        }
        refer = (facts.of_flows(flows), facts.of_link(each.link, "rate", "utilization"))
        yield Sentence("feeders", "feeders", text, numbers, refer, place=each.name)


@rule("causes", "causes")
def causes(case: Case) -> Iterator[Sentence]:
    """Name the cause of a bottleneck, which is the first of the causes above that applies."""
    for each in _first(case):
        if each.cause is not None:
            text = f"{each.name} {each.cause.why}."
            refer = (*each.cause.references, case.facts.of_tree(each.link))
            name = each.cause.name
            yield Sentence("causes", "causes", text, each.cause.numbers, refer, cause=name, place=each.name)


@rule("credit-loop", "causes")
def credit_loop(case: Case) -> Iterator[Sentence]:
    """Name a cycle of links in which each link may wait for the next.

    The rule reports every such cycle in the paths of the flows, even if the run had no deadlock.
    """
    facts, cycle = case.facts, case.facts.cycle
    if not cycle:
        return
    links = facts.links
    at = [links.names.index(name) for name in cycle if name in links.names]
    waited = float(max((links.stalled[each] for each in at), default=0.0))
    text = (
        f"The routes form a credit loop: {', '.join(cycle)} may each wait for the next, and all stop when "
        f"their buffers are full. In this run, these links waited for up to {share(waited)} of the time."
    )
    rows = Reference("links", tuple(int(links.row[each]) for each in at), ("stalled_share",))
    numbers = {"links": len(cycle), "stalled_share": waited}
    yield Sentence("credit-loop", "causes", text, numbers, (rows,), cause="credit loop", place=cycle[0])


@rule("victims", "victims")
def victims(case: Case) -> Iterator[Sentence]:
    """Count the victims in each group.

    Victims are flows that cross no bottleneck but wait behind one, and deliver less than they offer.
    """
    facts, flows = case.facts, case.facts.flows
    for name, own in list(_by_group(case, case.victims).items())[: limits.MOST]:
        offered, got = float(flows.offered[own].sum()), float(flows.delivered[own].sum())
        first = own[np.argmax(flows.offered[own] - flows.delivered[own])]
        worst = f"{flows.source[first]} -> {flows.destination[first]}"
        hosts = len({flows.source[flow] for flow in own})
        who = f", among them {worst}," if len(own) > 1 else f", {worst},"
        text = (
            f"{counted(len(own), 'flow')} of group {name} from {counted(hosts, 'host')}{who} "
            f"{_verb(len(own), 'are victims', 'is a victim')} of congestion elsewhere: demand "
            f"{number(offered, 'B/s')}, delivered {number(got, 'B/s')} ({share(got / offered)})."
        )
        numbers = {"flows": len(own), "hosts": hosts, "offered": offered, "delivered": got}
        refer = (facts.of_flows(own), Reference("flows", _rows(case, own), ("rate",)))
        yield Sentence("victims", "victims", text, numbers, refer, place=name)


@rule("no-victim", "victims")
def no_victim(case: Case) -> Iterator[Sentence]:
    """State that there is a bottleneck, but no victim."""
    hurt = jobs.slowed(case) or jobs.unfinished(case) or case.stragglers or lanes.starving(case)
    if case.bottlenecks and not len(case.victims) and not hurt:
        rows = tuple(int(row) for row in case.facts.table("victims")["row"].to_list())
        text = "No flow is a victim."
        yield Sentence(
            "no-victim", "victims", text, {"victims": 0}, (Reference("victims", rows, ("victims",)),)
        )


@rule("lost", "cost")
def lost(case: Case) -> Iterator[Sentence]:
    """Add up the losses of all victims, and the traffic that all flows deliver."""
    flows, own = case.facts.flows, case.victims
    if not len(own):
        return
    missing = float((flows.offered[own] - flows.delivered[own]).sum())
    carried = float(case.facts.flows.delivered.sum())
    text = (
        f"The congestion costs its victims {number(missing, 'B/s')} of throughput; all flows together "
        f"deliver {number(carried, 'B/s')}."
    )
    refer = (case.facts.of_flows(own),)
    yield Sentence("lost", "cost", text, {"lost": missing, "delivered": carried}, refer)


@rule("latency", "cost")
def latency(case: Case) -> Iterator[Sentence]:
    """Compare the 99th percentiles of the latencies of affected and unaffected flows.

    Affected flows are the victims or, if there are none, the flows that cross a bottleneck. If there are no
    unaffected flows, the comparison is with the median latency of the affected flows.
    """
    facts, flows = case.facts, case.facts.flows
    if not case.bottlenecks:
        return
    feeding = np.unique(np.concatenate([each.flows for each in case.bottlenecks]))
    chosen, who = (
        (case.victims, "victims") if len(case.victims) else (feeding, "flows that cross a bottleneck")
    )
    chosen = chosen[np.isfinite(flows.p99[chosen])]
    if not len(chosen):
        return
    met = facts.meets((facts.links.root >= limits.LEAST_ROOT) | (facts.links.branch >= limits.LEAST_ROOT))
    calm = np.flatnonzero(~met & np.isfinite(flows.p99))
    calm = np.setdiff1d(calm, feeding)
    tail, median = float(np.median(flows.p99[chosen])), float(np.median(flows.p50[chosen]))
    beside, numbers = f"their median latency is {seconds(median)}", {"p99": tail, "p50": median}
    rows = chosen
    if len(calm):
        other = float(np.median(flows.p99[calm]))
        beside = (
            f"for {counted(len(calm), 'flow')} that {_verb(len(calm), 'meet', 'meets')} no "
            f"congestion, it is {seconds(other)}"
        )
        numbers["p99_calm"], rows = other, np.concatenate([chosen, calm])
    text = f"The 99th percentile of latency of {who} is {seconds(tail)}; {beside} (medians over flows)."
    refer = Reference("flows", _rows(case, rows), ("latency_p99", "latency_p50"))
    yield Sentence("latency", "cost", text, numbers, (refer,))


_NARROW = {
    "buffer": "the credit of the input buffers on the path allows: they hold less than is on the way before "
    "a credit returns, at the link's rate.",
    "window": "their window allows: it holds less than is on the way before an ACK returns.",
}


@rule("narrow", "cost")
def narrow(case: Case) -> Iterator[Sentence]:
    """Name a *small buffer* or a *small window* that leaves links idle, without any congestion.

    No bottleneck is on a flow's path, and the flow, or all flows on a link of its path, get within 5% of what
    the buffers' credit, or its constant window, allows.
    """
    flows = case.facts.flows
    for limit, own in case.narrow.items():
        if not len(own):
            continue
        offered, got = float(flows.offered[own].sum()), float(flows.delivered[own].sum())
        part = share(got / offered)
        text = f"{counted(len(own), 'flow')} got {part} of the demand, as much as {_NARROW[limit]}"
        numbers = {"flows": len(own), "offered": offered, "delivered": got}
        path = case.facts.path(int(own[0]))
        delays = case.facts.network.links["delay"].to_numpy()[path]
        place = case.facts.links.names[int(path[np.argmax(delays)])]
        refer = (case.facts.of_flows(own),)
        yield Sentence("narrow", "cost", text, numbers, refer, f"small {limit}", place)


@rule("unexplained", "cost")
def unexplained(case: Case) -> Iterator[Sentence]:
    """State that flows lose traffic for an unknown reason, and what was looked at."""
    known = np.concatenate([case.slowed, *case.narrow.values(), discarded(case.facts)])
    flows, own = case.facts.flows, np.setdiff1d(case.unexplained, known)
    if not len(own):
        return
    offered, got = float(flows.offered[own].sum()), float(flows.delivered[own].sum())
    text = (
        f"{counted(len(own), 'flow')} got {share(got / offered)} of the demand, and becalm does not know "
        "why. No bottleneck is on the path, no branch of another's tree, no mark that the response reads, "
        "and neither credit nor a constant window is the limit. The tables do not show an adapter that lets "
        "no more through, or a blocking switch."
    )
    numbers = {"flows": len(own), "offered": offered, "delivered": got}
    yield Sentence("unexplained", "cost", text, numbers, (case.facts.of_flows(own),))


def _first(case: Case, kind: str = "") -> list[Bottleneck]:
    chosen = [each for each in case.bottlenecks if each.root or not kind]
    return chosen[: limits.MOST]


def _by_group(case: Case, flows: Places) -> dict[str, Places]:
    """Return the flows of each group, in decreasing order of losses."""
    names = np.array(case.facts.flows.group)[flows]
    missing = (case.facts.flows.offered - case.facts.flows.delivered)[flows]
    groups = {str(name): flows[names == name] for name in np.unique(names)}
    return dict(sorted(groups.items(), key=lambda item: -float(missing[names == item[0]].sum())))


def _rows(case: Case, flows: Places) -> tuple[int, ...]:
    return tuple(int(row) for row in case.facts.flows.row[flows])


def _verb(number_of: int, several: str, one: str) -> str:
    return several if number_of != 1 else one
