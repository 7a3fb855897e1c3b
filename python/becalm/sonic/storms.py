"""Roots of pause storms, from counters: who pauses others without being paused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from becalm.base.findings import listed
from becalm.sonic.counters import Counts, Place
from becalm.sonic.fabric import End, Fabric

MUCH = 0.1
"""A direction counts as paused if it has this share of the frames of the most paused one."""
APART = 0.1
"""Share by which the two ends of a cable may differ."""
MANY = 100
"""Frames from which the two ends are compared."""


class Pause(NamedTuple):
    """A direction of a cable that is paused."""

    by: End
    """The end that tells its peer to stop."""
    of: End
    frames: int


class Root(NamedTuple):
    """The origin of a storm."""

    priority: int
    node: str
    why: str
    frames: int
    """Frames that the node sent to its peers."""
    paused: list[str]
    """Nodes that it pauses, or that these pause, the nearest first."""
    evidence: list[str]
    """The counters that show it."""


def pauses(fabric: Fabric, counts: Counts) -> dict[int, list[Pause]]:
    """Return the paused directions of each priority, of the counters of either end."""
    found: dict[int, list[Pause]] = defaultdict(list)
    for cable in fabric.cables:
        for by, of in ((cable.near, cable.far), (cable.far, cable.near)):
            for priority in range(8):
                frames = max(counts.sent.get(Place(by, priority), 0), counts.told.get(Place(of, priority), 0))
                if frames:
                    found[priority].append(Pause(by, of, frames))
    return found


def roots(fabric: Fabric, counts: Counts) -> list[Root]:
    """Return the roots of storms, those that pause most first.

    A node that is paused and pauses others is a branch, even if it is overloaded itself. A host that pauses
    its switch is a root: it receives too slowly, or its adapter is broken. A switch that pauses others, and
    is not paused, is a root: one of its outputs gets more than it can send. Nodes that pause each other in a
    cycle, without a root, may be in a deadlock.
    """
    found = []
    for priority, every in pauses(fabric, counts).items():
        least = MUCH * max(each.frames for each in every)
        kept = [each for each in every if each.frames >= least]
        by: Mapping[str, list[Pause]] = _grouped(kept)
        stopped = {each.of.node for each in kept}
        reached: set[str] = set()
        for node, own in by.items():
            if node not in stopped:
                after = _after(node, by)
                reached |= {node, *after}
                found.append(_root(fabric, counts, priority, node, own, after))
        left = [node for node in by if node not in reached]
        if left:
            found.append(_cycle(priority, left, by))
    return sorted(found, key=lambda each: (-each.frames, each.node))


def _grouped(kept: list[Pause]) -> dict[str, list[Pause]]:
    by: dict[str, list[Pause]] = defaultdict(list)
    for each in kept:
        by[each.by.node].append(each)
    return by


def _after(node: str, by: Mapping[str, list[Pause]]) -> list[str]:
    """Return the nodes that a node pauses, directly or through others."""
    order, found = [node], {node: None}
    for each in order:
        for pause in by.get(each, []):
            if pause.of.node not in found:
                found[pause.of.node] = None
                order.append(pause.of.node)
    return order[1:]


def _root(
    fabric: Fabric, counts: Counts, priority: int, node: str, own: list[Pause], after: list[str]
) -> Root:
    frames = sum(each.frames for each in own)
    if node in fabric.switches:
        idle = _outputs(fabric, node, {each.by for each in own})
        why = f"an output of the switch is overloaded, one of {listed(idle)}" if idle else "the switch itself"
        evidence = [
            f"PFC{priority} frames: {frames:,} sent at {listed(each.by.port for each in own)}, 0 received"
        ]
    else:
        why = "the host receives too slowly, or its adapter pauses without reason"
        evidence = [f"{own[0].of.node} {own[0].of.port} received {frames:,} PFC{priority} frames"]
        evidence += [
            f"{name} {value:,}"
            for name, value in counts.hosts.get(node, {}).items()
            if value and "discard" in name
        ]
    ends = {each.of for each in own}
    waited = sum(counts.paused.get(Place(end, priority), 0) for end in ends)
    if waited:
        evidence.append(f"its peers were paused for {waited / 1000:,.1f} ms in total")
    for storm in counts.storms:
        if storm.end in ends and storm.queue == priority and storm.detected:
            evidence.append(
                f"the watchdog of {storm.end.node} {storm.end.port}:{storm.queue} found {storm.detected} "
                f"storms, and dropped {storm.dropped:,} packets"
            )
    return Root(priority, node, why, frames, after, evidence)


def _outputs(fabric: Fabric, node: str, pausing: set[End]) -> list[str]:
    """Return the ports of a switch that send no pauses: congested packets come from others and leave here."""
    return [
        f"{cable.near.port} -> {cable.far.node}"
        for cable in fabric.toward()[node]
        if cable.near not in pausing
    ]


def _cycle(priority: int, left: list[str], by: Mapping[str, list[Pause]]) -> Root:
    frames = sum(each.frames for node in left for each in by[node])
    why = "these nodes pause each other, and none is free: a deadlock, or several roots at different times"
    evidence = [f"each of {listed(left)} sent and received PFC{priority} frames"]
    return Root(priority, " <-> ".join(left[:4]), why, frames, left, evidence)


def doubts(fabric: Fabric, counts: Counts) -> Iterator[str]:
    """Yield reasons to doubt the counters, and what they say about marks."""
    for cable in fabric.cables:
        for by, of in ((cable.near, cable.far), (cable.far, cable.near)):
            for priority in range(8):
                one, two = counts.sent.get(Place(by, priority)), counts.told.get(Place(of, priority))
                if one is None or two is None or max(one, two) < MANY:
                    continue
                if abs(one - two) > APART * max(one, two):
                    yield (
                        f"{by.node} {by.port} sent {one:,} PFC{priority} frames, but {of.node} {of.port} "
                        f"received {two:,}: read or cleared at different times, or joined otherwise"
                    )
    unread = [name for name in fabric.switches if name not in counts.files]
    if unread:
        yield f"no counters of {listed(unread)}: a root may be behind it"
    marked = [values["np_cnp_sent"] for values in counts.hosts.values() if "np_cnp_sent" in values]
    if marked and not any(marked) and any(counts.sent.values()):
        yield (
            f"pauses come before marks: none of {len(marked)} hosts sent a notification packet "
            "(np_cnp_sent 0), but switches sent pauses"
        )
