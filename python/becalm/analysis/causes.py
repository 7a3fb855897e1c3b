"""Causes of bottlenecks, each with the condition that its name stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from becalm.analysis import limits
from becalm.analysis.facts import Facts
from becalm.analysis.faults import SEVERAL, UNBALANCED, uneven
from becalm.analysis.reference import Reference

if TYPE_CHECKING:
    from becalm.analysis.facts import Places

HASHED = ("flow", "destination", "flowlet")
"""Policies that choose among equal ports without regard to their load."""


@dataclass(frozen=True)
class Cause:
    """The reason why a link is a bottleneck."""

    name: str
    why: str
    """The predicate of a sentence whose subject is the link's name."""
    numbers: dict[str, float]
    references: tuple[Reference, ...]
    at: str = ""
    """The switch to repair, if it is not the link."""


def cause(facts: Facts, link: int, groups: dict[str, float]) -> Cause | None:
    """Return the first cause that applies to a bottleneck, which each group offers a multiple of its rate."""
    candidates = (
        *(_pause_storm, _slow_receiver, _slow_cable, _hot_host, _cabling, _unbalanced),
        *(_same_path, _collision, _shared, _too_much),
    )
    return next((cause for made in candidates for cause in made(facts, link, groups)), None)


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


def _same_path(facts: Facts, link: int, _: dict[str, float]) -> Iterator[Cause]:
    """Compare the link with what it would be offered if packets were spread evenly over all equal paths."""
    links = facts.links
    offered = float(links.demand[link])
    if links.to_level[link] == 0 or links.level[link] == 0 or offered <= limits.OVERLOADED:
        return
    flows = facts.crossing(link)
    if facts.scenario.paths.name not in HASHED or len(flows) < 2:
        return
    if max(facts.flows.offered[flows]) > limits.OVERLOADED * links.capacity[link]:
        return
    even = float(facts.spreading.even[link])
    if not even <= limits.OVERLOADED or offered < limits.UNEVEN * even:
        return
    why = (
        f"carries {len(flows)} flows whose paths collide: they offer {offered:.2f} times its capacity; "
        f"spread evenly over their equal paths, all flows would offer it {even:.2f} times its capacity"
    )
    numbers = {"flows": len(flows), "offered": offered, "even": even}
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
    levels = facts.between(link)
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


def _shared(facts: Facts, link: int, groups: dict[str, float]) -> Iterator[Cause]:
    """Name groups of which each has the link to itself at times, and which together slow a job down."""
    total = sum(groups.values())
    names = [name for name, part in groups.items() if part >= limits.PART * total]
    root = float(facts.links.root[link])
    if facts.links.to_level[link] == 0 or len(names) < 2 or total > limits.OVERLOADED:
        return
    if root < limits.LEAST_ROOT or not _slowed_jobs(facts) & set(groups):
        return
    why = (
        f"is shared by {' and '.join(names[: limits.MOST])}, which send at the same time: they offer only "
        f"{total:.2f} times its capacity on average, but it is a root for {100 * root:.1f}% of the time"
    )
    numbers = {"offered": total, "root_share": root}
    yield Cause("colliding jobs", why, numbers, (facts.of_flows(facts.crossing(link)),))


def _slowed_jobs(facts: Facts) -> set[str]:
    """Return the jobs that other traffic slows down by at least a tenth."""
    if "jobs" not in facts.results.tables:
        return set()
    jobs = facts.table("jobs")
    return set(jobs.filter(jobs["slowdown"] >= 1 + limits.SLOWED)["job"].to_list())


_uneven = lru_cache(maxsize=4)(uneven)


def _cabling(facts: Facts, link: int, _: dict[str, float]) -> Iterator[Cause]:
    """Name a switch with missing or doubled cables, if most of the link's traffic crosses this switch."""
    links = facts.links
    if links.to_level[link] == 0 or links.demand[link] <= limits.OVERLOADED:
        return
    flows = facts.crossing(link)
    offered = facts.flows.offered[flows]
    for fault in _uneven(facts.scenario):
        at = [place for place, name in enumerate(links.start) if name == fault.where]
        met = np.isin(flows, facts.meeting(np.array(at, dtype=np.int64)))
        if offered[met].sum() >= limits.MOSTLY * offered.sum():
            why = f"carries the traffic of {fault.where}, whose cables differ from its peers': {fault.what}"
            numbers = {"offered": float(links.demand[link])}
            yield Cause("uneven cables", why, numbers, (facts.of_link(link, "utilization"),), fault.where)
            return


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
