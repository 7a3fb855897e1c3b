"""Bottlenecks: the links where congestion begins, and their causes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from becalm.analysis import limits
from becalm.analysis.facts import Facts
from becalm.analysis.faults import SEVERAL, UNBALANCED
from becalm.analysis.reference import Reference

HASHED = ("flow", "destination", "flowlet")
"""Policies that choose among equal ports without regard to their load."""

if TYPE_CHECKING:
    from becalm.analysis.facts import Places


@dataclass(frozen=True)
class Cause:
    """The reason why a link is a bottleneck."""

    name: str
    why: str
    """The predicate of a sentence whose subject is the link's name."""
    numbers: dict[str, float]
    references: tuple[Reference, ...]


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


def _waits_for_host(facts: Facts, link: int) -> bool:
    links = facts.links
    slow = links.stalled[link] >= limits.STALLED and links.busy[link] < limits.FULL
    return bool(links.to_level[link] == 0 and slow)


def _changes(facts: Facts, link: int) -> list[str]:
    """Return the rates that the scenario sets for a link during the run, unless the link is full anyway."""
    if facts.links.busy[link] >= limits.FULL:
        return []
    changes = [change for change in facts.resolved["changes"] if change["link"] == facts.links.names[link]]
    return [f"{change['rate']} from {change['at']} on" for change in changes]


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
        cause=_cause(facts, link, groups),
    )


def _above_share(offers: list[float]) -> int:
    """Return the number of offers above a fair share; offers ascend and are relative to a link's capacity."""
    rest = 1.0
    for place, offer in enumerate(offers):
        if offer * (len(offers) - place) > rest:
            return len(offers) - place
        rest -= offer
    return len(offers)


def _cause(facts: Facts, link: int, groups: dict[str, float]) -> Cause | None:
    candidates = (
        *(_pause_storm, _slow_receiver, _slow_cable, _hot_host, _unbalanced),
        *(_same_path, _collision, _too_much),
    )
    return next((cause for made in candidates for cause in made(facts, link, groups)), None)


def _levels(facts: Facts, link: int) -> tuple[int, int]:
    """Return the levels that a link connects."""
    return int(facts.links.level[link]), int(facts.links.to_level[link])


def _pause_storm(facts: Facts, link: int, _: dict[str, float]) -> Iterator[Cause]:
    links, paused = facts.links, facts.paused
    own = paused.get((links.start[link], links.to[link]), 0.0)
    if links.to_level[link] or own < limits.STORM:
        return
    others = {
        start for (start, to), share in paused.items() if share >= limits.LEAST_ROOT and to != links.to[link]
    }
    reached = len(others - {links.start[link]})
    if reached >= 2:
        why = (
            f"is paused by its host for {100 * own:.1f}% of the time, and pauses spread from it to "
            f"{reached} other nodes: a pause storm"
        )
        refer = Reference(
            "pauses", tuple(int(row) for row in facts.table("pauses")["row"]), ("paused_share",)
        )
        yield Cause("pause storm", why, {"paused_share": own, "nodes": reached}, (refer,))


def _same_path(facts: Facts, link: int, groups: dict[str, float]) -> Iterator[Cause]:
    """Compare the link with its equals: links from the same switch if it leads up, or to it if down."""
    links = facts.links
    ((paths, _),) = facts.resolved["switch"]["paths"].items()
    if links.to_level[link] == 0 or links.level[link] == 0 or links.demand[link] <= limits.OVERLOADED:
        return
    up = links.to_level[link] >= links.level[link]
    levels = _levels(facts, link)
    peers = facts.peers_from[*levels, links.start[link]] if up else facts.peers_to[*levels, links.to[link]]
    idle = [other for other in peers if links.demand[other] < limits.IDLE]
    flows = facts.crossing(link)
    if paths == "destination" and len(groups) > 1:
        return
    if paths not in HASHED or not idle or len(flows) < 2 or np.mean(links.demand[peers]) > limits.FULL:
        return
    if max(facts.flows.offered[flows]) > limits.OVERLOADED * links.capacity[link]:
        return
    offered = float(links.demand[link])
    why = (
        f"carries {len(flows)} flows whose paths collide: they offer {offered:.2f} times its capacity, while "
        f"{len(idle)} of {len(peers)} equivalent links are almost idle"
    )
    numbers = {"flows": len(flows), "offered": offered, "idle": len(idle), "equal": len(peers)}
    yield Cause("path collision", why, numbers, (facts.of_flows(flows), facts.of_link(link, "utilization")))


def _slow_receiver(facts: Facts, link: int, _: dict[str, float]) -> Iterator[Cause]:
    links = facts.links
    stalled, busy = float(links.stalled[link]), float(links.busy[link])
    if _waits_for_host(facts, link):
        why = (
            f"waits for its host {100 * stalled:.1f}% of the time and is busy {100 * busy:.1f}% of the time: "
            "the host receives more slowly than the link can deliver"
        )
        numbers = {"stalled_share": stalled, "utilization": busy}
        yield Cause("slow receiver", why, numbers, (facts.of_link(link, "stalled_share", "utilization"),))


def _slow_cable(facts: Facts, link: int, _: dict[str, float]) -> Iterator[Cause]:
    links = facts.links
    changes = _changes(facts, link)
    if changes:
        slower = ", ".join(changes[: limits.MOST])
        why = f"slows down during the run: {slower}"
        yield Cause(
            "slow cable",
            why,
            {"utilization": float(links.busy[link])},
            (Reference("scenario", key="changes"),),
        )
    levels = _levels(facts, link)
    peers, normal, own = facts.peers[levels], facts.usual_rates[levels], float(links.capacity[link])
    if (
        len(peers) >= SEVERAL
        and own < normal
        and facts.links.demand[link] * own <= limits.OVERLOADED * normal
    ):
        why = f"has {own / normal:.3g} times the usual rate of a cable between these levels"
        yield Cause(
            "slow cable", why, {"capacity": own, "usual": normal}, (facts.of_link(link, "utilization"),)
        )


def _unbalanced(facts: Facts, link: int, _: dict[str, float]) -> Iterator[Cause]:
    """Compare the link with the other links from its switch to the same level."""
    links = facts.links
    if links.to_level[link] == 0 or facts.links.demand[link] <= limits.OVERLOADED:
        return
    start = links.start[link]
    peers = facts.peers_from[*_levels(facts, link), start]
    mean = float(np.mean(links.pairs[peers]))
    others = [other for other in peers if other != link]
    # Routes lead to entire hosts, so one more than the mean is not a fault.
    if not others or not links.pairs[link] >= max(UNBALANCED * mean, mean + facts.most_cables):
        return
    spare = float(np.mean(facts.links.demand[others]))
    together = float(np.mean(facts.links.demand[peers]))
    if together <= limits.OVERLOADED or spare < limits.FULL:
        why = (
            f"carries {links.pairs[link]:.0f} pairs of hosts; the {len(peers)} links from {start} to that "
            f"level carry {mean:.0f} on average, and the others are offered {100 * spare:.1f}% of their "
            "capacity"
        )
        numbers = {"pairs": float(links.pairs[link]), "mean_pairs": mean, "others_offered": spare}
        refer = (facts.of_link(link, "utilization"), Reference("scenario", key="topology"))
        yield Cause("unbalanced routes", why, numbers, refer)


def _collision(facts: Facts, link: int, groups: dict[str, float]) -> Iterator[Cause]:
    total = sum(groups.values())
    parts = {name: part for name, part in groups.items() if part >= limits.PART * total}
    alone = max(groups.values())
    if facts.links.to_level[link] == 0 or len(parts) < 2 or alone > limits.OVERLOADED < total:
        return
    if total > limits.OVERLOADED:
        shares = " and ".join(f"{name} {part:.2f}" for name, part in list(parts.items())[: limits.MOST])
        why = (
            "can carry each of its groups of flows alone, but not all together; as shares of its capacity, "
            f"they offer {shares}"
        )
        numbers = {"offered": total, **{f"offered_{name}": part for name, part in parts.items()}}
        crossing = facts.crossing(link)
        yield Cause("colliding jobs", why, numbers, (facts.of_flows(crossing),))


def hot(facts: Facts, flows: Places) -> str:
    """Return the host that receives nearly all traffic offered by the flows; empty if there is none."""
    offered: dict[str, float] = {}
    for flow in flows:
        host = facts.flows.destination[flow]
        offered[host] = offered.get(host, 0.0) + float(facts.flows.offered[flow])
    host = max(offered, key=lambda each: offered[each], default="")
    return host if host and offered[host] >= limits.NEARLY_ALL * sum(offered.values()) else ""


def _hot_host(facts: Facts, link: int, groups: dict[str, float]) -> Iterator[Cause]:
    total, flows = sum(groups.values()), facts.crossing(link)
    sources, host = len({facts.flows.source[flow] for flow in flows}), hot(facts, flows)
    last = facts.links.to_level[link] == 0
    if not host or sources < 2 or not (last or total > limits.OVERLOADED):
        return
    offer = f"offer {total:.2f} times its capacity" if total > limits.OVERLOADED else "send to it in bursts"
    way = "leads to" if last else "is on the way to"
    why = f"{way} a hot host, {host}: {sources} hosts {offer}"
    yield Cause("hot host", why, {"sources": sources, "offered": total}, (facts.of_flows(flows),))


def _too_much(facts: Facts, link: int, groups: dict[str, float]) -> Iterator[Cause]:
    total = sum(groups.values())
    if facts.links.to_level[link] == 0 or total <= limits.OVERLOADED:
        return
    crossing = facts.crossing(link)
    sources = len({facts.flows.source[flow] for flow in crossing})
    why = f"has too little capacity: {sources} hosts offer {total:.2f} times as much"
    yield Cause(
        "oversubscribed link", why, {"sources": sources, "offered": total}, (facts.of_flows(crossing),)
    )
