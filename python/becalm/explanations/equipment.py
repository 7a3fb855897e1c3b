"""Changes of hosts, cables and placement, as values by key of the scenario."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from becalm.analysis.case import Case
from becalm.base.errors import BecalmError
from becalm.explanations.faults import CABLES

Changes = dict[str, Any]


def without_caps(case: Case, hosts: list[str]) -> Changes:
    """Return the change that removes the rate caps of some adapters; empty if they have none of their own."""
    kept: list[dict[str, Any]] = []
    found = False
    for cap in case.facts.resolved["adapter"]["caps"]:
        own = case.facts.scenario.hosts(*cap["hosts"])
        left = [host for host in own if host not in hosts]
        found = found or len(left) < len(own)
        if left:
            rates = {key: value for key, value in cap.items() if key != "hosts" and value is not None}
            kept.append({"hosts": cap["hosts"] if len(left) == len(own) else left, **rates})
    return {"adapter.caps": kept} if found else {}


def broken(case: Case) -> set[str]:
    """Return the hosts that faults made slow, stopped, or let pause without end."""
    if "faults" not in case.facts.results.tables:
        return set()
    table = case.facts.table("faults")
    return {*table.filter(~table["kind"].is_in(CABLES))["node"].to_list()}


def usual_cable(case: Case, place: str) -> Changes:
    """Return the change that gives the cable of a link the usual rate of cables between its levels.

    The place is a link such as `A->B`, or the beginning of its name. Only cables that are listed one by one
    can be changed.
    """
    facts = case.facts
    links = facts.links
    at = next((at for at, name in enumerate(links.names) if name.startswith(place)), None)
    if at is None:
        return {}
    ends = {links.start[at], links.to[at]}
    usual = facts.usual_rates[facts.between(at)]
    if usual <= links.capacity[at]:
        return {}
    cables = _cables(case)
    for cable in cables:
        if set(cable["between"]) == ends:
            cable["rate"] = f"{8 * usual / 1e9:.12g} Gb/s"
            return {"topology.edges.cables": cables}
    return {}


def recabled(case: Case, switch: str) -> Changes:
    """Return the change that moves doubled cables of a switch to the switches that its peers also reach."""
    cables = _cables(case)
    own = [cable for cable in cables if switch in cable["between"]]
    level = _neighbours(case, switch)
    seen: set[str] = set()
    spare = []
    for cable in own:
        (other,) = set(cable["between"]) - {switch} or {switch}
        if other in seen:
            spare.append(cable)
        seen.add(other)
    missing = [node for node in level if node not in seen]
    if not spare or not missing:
        return {}
    for cable, node in zip(spare, missing, strict=False):
        cable["between"] = [switch, node]
    return {"topology.edges.cables": cables}


def _neighbours(case: Case, switch: str) -> list[str]:
    """Return the switches to which the peers of a switch have cables, in order."""
    links = case.facts.links
    places = range(len(links.names))
    level = next(int(links.level[at]) for at in places if links.start[at] == switch)
    return list(
        dict.fromkeys(
            links.to[at] for at in places if links.level[at] == level and links.to_level[at] > level
        )
    )


def _cables(case: Case) -> list[dict[str, Any]]:
    """Return the cables of a topology of edges, as written; empty for other topologies."""
    topology = case.facts.scenario.data().get("topology", {})
    found: list[dict[str, Any]] = topology.get("edges", {}).get("cables", [])
    return found


def detours(case: Case) -> Changes:
    """Return the change that lets packets of a torus or dragonfly take detours, with the lanes it needs."""
    scenario = case.facts.scenario
    if scenario.topology.name not in ("torus", "dragonfly") or scenario.paths.name in ("ugal", "valiant"):
        return {}
    lanes = int(case.facts.resolved["switch"]["vls"])
    return next(_allowed(case, lanes), {})


def _allowed(case: Case, lanes: int) -> Iterator[Changes]:
    for more in (lanes, lanes + 1, 2 * lanes):
        changes = {"switch.paths": {"ugal": {}}, "switch.vls": more}
        try:
            case.facts.scenario.replace(changes)
        except BecalmError:
            continue
        yield changes


def packed(case: Case) -> Changes:
    """Return the change that places each job on as few switches as possible, without moving other groups.

    The jobs together keep their hosts. The change is empty if a job's hosts overlap another's, or if there is
    only one job.
    """
    facts = case.facts
    jobs = [job for job in facts.resolved["jobs"] if job["hosts"]]
    hosts = [facts.scenario.hosts(*job["hosts"]) for job in jobs]
    every = [host for own in hosts for host in own]
    if len(jobs) < 2 or len(set(every)) < len(every):
        return {}
    links = facts.links
    switch = {
        start: to for start, to, level in zip(links.start, links.to, links.level, strict=True) if not level
    }
    order = {node: place for place, node in enumerate(dict.fromkeys(switch.values()))}
    ordered = sorted(every, key=lambda host: order[switch[host]])
    changes, taken = {}, 0
    for job, own in zip(jobs, hosts, strict=True):
        changes[f"jobs.{job['name']}.hosts"] = ordered[taken : taken + len(own)]
        taken += len(own)
    return changes
