"""Bottlenecks: the links where congestion begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from becalm.analysis import causes, limits
from becalm.analysis.causes import Cause
from becalm.analysis.facts import Facts

if TYPE_CHECKING:
    from becalm.analysis.facts import Places


@dataclass(frozen=True)
class Bottleneck:
    """A link where congestion begins, or would begin without control."""

    link: int
    name: str
    flows: Places
    """The flows that cross the link."""
    root: bool
    """Whether the link was a root for a sufficient share of the window."""
    overloaded: bool
    """Whether its flows offer more than the link's capacity."""
    groups: dict[str, float]
    """Load that each group of flows offers to the link, as a multiple of its capacity, largest first."""
    sources: int
    contributors: int
    """Number of hosts that offer more than their fair share of the link, which control has to slow down."""
    lost: float
    """Bytes that victims lose to the link."""
    cause: Cause | None


def bottlenecks(facts: Facts) -> list[Bottleneck]:
    """Return the links where congestion begins: the most harmful first, then roots by decreasing duration.

    These are the outputs with contributors in the table `tree`; see
    [model.md](../model.md#roots-branches-contributors-and-victims).
    """
    links = facts.links
    found = [int(link) for link in np.flatnonzero(links.contributors > 0)]
    lost = harm(facts, found)
    found.sort(
        key=lambda link: (
            -round(lost[link]),
            not links.is_root[link],
            -links.root[link] if links.is_root[link] else -links.demand[link],
        )
    )
    return [
        _bottleneck(facts, link, facts.crossing(link), lost[link], root=bool(links.is_root[link]))
        for link in found
    ]


def behind(facts: Facts, link: int) -> Places:
    """Return a bottleneck's tree: the bottleneck, and the links on the paths to it that wait for credit."""
    crossed = facts.crossed(facts.crossing(link))
    return np.append(crossed[facts.links.branch[crossed] >= limits.LEAST_ROOT], link)


def harm(facts: Facts, found: list[int]) -> dict[int, float]:
    """Return the bytes that victims lose to each bottleneck. Several bottlenecks share a loss equally."""
    flows, lost = facts.flows, dict.fromkeys(found, 0.0)
    hurt = np.flatnonzero(flows.suffers & (flows.lost > 0))
    if not len(hurt):
        return lost
    is_hurt = np.zeros(len(flows.row), dtype=np.bool_)
    is_hurt[hurt] = True
    waits = {link: met[is_hurt[met]] for link in found for met in [facts.meeting(behind(facts, link))]}
    several = np.maximum(1, np.bincount(np.concatenate([*waits.values()]), minlength=len(flows.row)))
    part = flows.lost * facts.window / several
    return {link: float(part[own].sum()) for link, own in waits.items()}


def _bottleneck(facts: Facts, link: int, crossing: Places, lost: float, *, root: bool) -> Bottleneck:
    flows, capacity = facts.flows, facts.links.capacity[link]
    groups: dict[str, float] = {}
    hosts: dict[str, float] = {}
    for flow in crossing:
        name, source = flows.group[flow], flows.source[flow]
        groups[name] = groups.get(name, 0.0) + float(flows.offered[flow] / capacity)
        hosts[source] = hosts.get(source, 0.0) + float(flows.offered[flow] / capacity)
    return Bottleneck(
        link=link,
        name=facts.links.names[link],
        flows=crossing,
        root=root,
        overloaded=bool(facts.links.demand[link] > limits.OVERLOADED),
        groups=dict(sorted(groups.items(), key=lambda item: (-item[1], item[0]))),
        sources=len(hosts),
        contributors=_above_share(sorted(hosts.values())),
        lost=lost,
        cause=causes.cause(facts, link, groups),
    )


def _above_share(offers: list[float]) -> int:
    """Return the number of offers above a fair share; offers ascend and are relative to a link's capacity."""
    rest = 1.0
    for place, offer in enumerate(offers):
        if offer * (len(offers) - place) > rest:
            return len(offers) - place
        rest -= offer
    return len(offers)
