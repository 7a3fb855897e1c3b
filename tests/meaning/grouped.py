"""Relations between ways to write the same traffic as groups of flows: split, merged and in another order.

A group that is split is a merge read backwards, so each relation stands for both.
"""

from __future__ import annotations

import random
from typing import Any

import drawn
from drawn import Tables
from meaning.equal import means
from meaning.relation import relation
from meaning.written import listed

FLOWS = ("flows", "messages")


def split(data: Tables, draw: random.Random, parts: Any) -> list[Tables] | None:  # noqa: ANN401
    """Return a scenario, and the same with its groups split into `parts`, or None if none can be split."""
    if permuted(data):
        return None
    data = listed(data)
    groups = []
    for group in data.get("flows", []):
        made = None if "stagger" in group else parts(group, draw)
        groups += (
            [{**part, "name": f"{group['name']}~{i}"} for i, part in enumerate(made)] if made else [group]
        )
    if len(groups) == len(data.get("flows", [])):
        return None
    return [data, {**data, "flows": groups}]


def permuted(data: Tables) -> bool:
    """Return whether a random permutation depends on the position of a group."""
    return any("permutation" in group.get("pattern", {}) for group in data.get("flows", []))


def _pairs(group: Tables) -> bool:
    """Return whether a group has a flow."""
    return any(one != other for one in group["from"] for other in group["to"])


@relation(means, count=25, kinds=FLOWS)
def groups_split_by_source(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A group of many sources is several groups with one part of the sources each."""

    def parts(group: Tables, draw: random.Random) -> list[Tables] | None:
        if "all_to_all" in group.get("pattern", {}):
            group = {key: value for key, value in group.items() if key != "pattern"} | {"to": group["from"]}
        key = "connections" if "connections" in group else "from"
        if "pattern" in group or len(group[key]) < 2:
            return None
        cut = draw.randint(1, len(group[key]) - 1)
        made = [{**group, key: group[key][:cut]}, {**group, key: group[key][cut:]}]
        return made if key == "connections" or all(map(_pairs, made)) else None

    return split(data, draw, parts)


@relation(means, count=25, kinds=("flows",))
def groups_split_by_destination(data: Tables, draw: random.Random) -> list[Tables] | None:
    """Poisson traffic to random destinations is one Poisson stream to each part of them."""
    for group in data.get("flows", []):
        if "to" in group and draw.random() < 0.7:
            group["to"] = [name for name in drawn.hosts(data["topology"]) if name not in group["from"]][:4]
            group.pop("weights", None)
            if "poisson" in group["traffic"] and draw.random() < 0.5:
                group["weights"] = [draw.choice([0.5, 1.0, 3.0]) for _ in group["to"]]

    def parts(group: Tables, draw: random.Random) -> list[Tables] | None:
        ((kind, traffic),) = group["traffic"].items()
        many = len(group.get("to", ()))
        if many < 2 or kind == "batch" or traffic.get("paced") or set(group["to"]) & set(group["from"]):
            return None
        cut = draw.randint(1, many - 1)
        weights = group.get("weights", [1.0] * many)
        made = []
        for half in (slice(cut), slice(cut, None)):
            share = sum(weights[half]) / sum(weights)
            part = {**group, "to": group["to"][half], "traffic": {kind: loaded(traffic, share)}}
            if "weights" in group:
                part["weights"] = weights[half]
            made.append(part)
        return made

    return split(listed(data), draw, parts)


def loaded(traffic: Tables, share: float) -> Tables:
    """Return Poisson traffic with a share of the load; other traffic unchanged."""
    if "load" not in traffic:
        return traffic
    later = [{**change, "load": change["load"] * share} for change in traffic.get("changes", [])]
    return {**traffic, "load": traffic["load"] * share} | ({"changes": later} if later else {})


@relation(means, count=40, kinds=("flows",))
def groups_superposed(data: Tables, draw: random.Random) -> list[Tables] | None:
    """Poisson streams of the same hosts add up to one, also beside a hot spot.

    Each part has its own queue pairs, so their order, windows and merged ACKs must not matter.
    """
    for key in ("response", "marking", "echo", "packet"):
        data.pop(key, None)
    adapter = data.setdefault("adapter", {})
    adapter.update(injection="posted", coalesce_acks=False)
    adapter.pop("port_control", None)
    if draw.random() < 0.7:
        drawn.send_queues(draw, data)
    names = drawn.hosts(data["topology"])
    many = draw.randint(2, max(2, len(names) - 2))
    sources, others = names[:many], names[many:]
    cold: Tables = {
        "name": "cold",
        "from": sources,
        "to": others,
        "traffic": _poisson(draw.choice([0.3, 0.5, 0.9])),
    }
    hot = {
        "name": "hot",
        "from": sources,
        "to": others[:1],
        "traffic": _poisson(draw.choice([0.1, 0.3, 0.5])),
    }
    count, traffic = draw.choice([2, 4]), cold["traffic"]["poisson"]
    parts = [
        {**cold, "name": f"cold~{i}", "traffic": _poisson(traffic["load"] / count)} for i in range(count)
    ]
    return [{**data, "flows": [cold, hot]}, {**data, "flows": [*parts, hot]}]


def _poisson(load: float) -> Tables:
    return {"poisson": {"load": load}}


@relation(means, count=20)
def groups_in_another_order(data: Tables, _: random.Random) -> list[Tables] | None:
    """The order of groups has no meaning, except for random permutations."""
    groups = data.get("flows", [])
    if len(groups) < 2 or permuted(data):
        return None
    return [data, {**data, "flows": groups[::-1]}]
