"""Rules about virtual lanes that share a link by unequal weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from becalm.analysis import limits
from becalm.analysis.blame import Bottleneck
from becalm.analysis.case import Case
from becalm.analysis.facts import key
from becalm.analysis.formats import share
from becalm.explanations.model import Sentence
from becalm.explanations.rule import rule


class Starved(NamedTuple):
    """A lane that gets much less of a bottleneck than it would get with equal weights."""

    link: Bottleneck
    lane: int
    groups: list[str]
    offered: float
    """As a share of the link's rate, as are the others."""
    got: float
    fair: float


def starving(case: Case) -> list[Starved]:
    """Return the lanes that starve at overloaded links because of the weights of the lanes."""
    if "round_robin" in case.facts.resolved["switch"]["vl_arbitration"]:
        return []
    return [found for each in case.bottlenecks if each.overloaded for found in _at(case, each)]


def _at(case: Case, each: Bottleneck) -> Iterator[Starved]:
    flows, capacity = case.facts.flows, float(case.facts.links.capacity[each.link])
    lane_of = _lanes(case)
    offered: dict[int, float] = {}
    got: dict[int, float] = {}
    for flow in each.flows:
        lane = lane_of[flows.group[flow]]
        offered[lane] = offered.get(lane, 0.0) + float(flows.offered[flow]) / capacity
        got[lane] = got.get(lane, 0.0) + float(flows.delivered[flow]) / capacity
    fair = _fair(offered)
    gains = any(got[lane] > fair[lane] for lane in fair)
    for lane, part in fair.items():
        if gains and got[lane] < limits.STARVED * part:
            groups = [name for name in each.groups if lane_of[name] == lane]
            yield Starved(each, lane, groups, offered[lane], got[lane], part)


def _lanes(case: Case) -> dict[str, int]:
    """Return the lane of each group, at its first switch."""
    switch = case.facts.resolved["switch"]
    lanes, table = int(switch["vls"]), switch["sl_to_vl"]
    return {
        group["name"]: int(table[group["sl"]]) if table is not None else int(group["sl"]) % lanes
        for group in case.facts.scenario.groups
    }


def _fair(offered: dict[int, float]) -> dict[int, float]:
    """Return the max-min fair shares of a link by lane."""
    found, room = {}, 1.0
    for place, (lane, offer) in enumerate(sorted(offered.items(), key=lambda item: item[1])):
        found[lane] = min(offer, room / (len(offered) - place))
        room -= found[lane]
    return found


@rule("weights", "causes")
def weights(case: Case) -> Iterator[Sentence]:
    """Name the cause *VL weights*.

    A virtual lane gets less than half of what it would get of an overloaded link with equal weights, and
    another lane gets more.
    """
    for each in starving(case)[: limits.MOST]:
        text = (
            f"VL {each.lane} ({', '.join(each.groups[: limits.MOST])}) starves at {each.link.name}: it "
            f"offers {share(min(1.0, each.offered))} of the link's rate and gets {share(each.got)}, but "
            f"would get {share(each.fair)} with equal weights ({_weights(case)})."
        )
        refer = (case.facts.of_flows(each.link.flows), key("switch.vl_arbitration"))
        numbers = {"offered": each.offered, "got": each.got, "fair": each.fair}
        yield Sentence("weights", "causes", text, numbers, refer, "VL weights", each.link.name)


def _weights(case: Case) -> str:
    """Describe the weights of the lanes."""
    ((kind, params),) = case.facts.resolved["switch"]["vl_arbitration"].items()
    if kind != "tables":
        return f"`switch.vl_arbitration.{kind}`"
    said = [
        f"VL {entry['vl']} has weight {entry['weight']} in the {table} table"
        for table in ("high", "low")
        for entry in _entries(params, table)
    ]
    return ", ".join(said[: 2 * limits.MOST])


def _entries(params: dict[str, Any], table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = params.get(table) or []
    return found
