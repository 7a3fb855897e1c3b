"""Relations to a scenario with parts that nothing uses, with other names, or with another order of nodes."""

from __future__ import annotations

import random
from collections.abc import Iterator

import becalm
import drawn
from drawn import Tables
from meaning.equal import ADDED, means, means_of_groups, same, up_to
from meaning.grouped import FLOWS
from meaning.relation import relation, run
from meaning.written import listed, walked

ACYCLIC = tuple(kind for kind in ("dumbbell", "clos", "tree", "fat_tree", "edges"))
LANES = ("buffers", "tree", "snapshots", "frames", "spans", "queues", "pauses", "storms")
"""Tables with virtual lanes."""


@relation(up_to(LANES), count=30, topologies=ACYCLIC)
def an_unused_lane(data: Tables, _: random.Random) -> list[Tables] | None:
    """Lanes are alike, so a scenario may leave the first one unused. CNPs may take any lane that is left."""
    switch, packet = data["switch"], data.get("packet", {})
    # A storm pauses all lanes by default, but named lanes have other numbers.
    dynamic = "dynamic" in str(switch) or "'vls'" in str(data.get("faults"))
    if dynamic or ("rocev2" in data.get("echo", {}) and packet.get("cnp_lane") != "acks"):
        return None
    levels = switch.get("sl_to_vl") or [*range(switch.get("vls", 1))]
    changed = {**switch, "vls": switch.get("vls", 1) + 1, "sl_to_vl": [vl + 1 for vl in levels]}
    if tables := switch.get("vl_arbitration", {}).get("tables"):
        later = {key: [{**each, "vl": each["vl"] + 1} for each in entries] for key, entries in tables.items()}
        changed["vl_arbitration"] = {"tables": later}
    return [data, {**data, "switch": changed}]


@relation(means, count=20, topologies=("edges",))
def an_unused_switch_or_host(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A node that no packet crosses changes nothing but the numbers of nodes and ports, which break ties.

    Each port adds to the memory that a switch shares.
    """
    if "dynamic" in str(data["switch"]):
        return None
    return [listed(data), _wired(listed(data), draw.choice(["hosts", "switches"]))]


def _wired(data: Tables, kind: str) -> Tables:
    """Return a scenario with one more node, on the last switch."""
    edges = data["topology"]["edges"]
    cable = {"between": [ADDED, edges["switches"][-1]]}
    more = {kind: [*edges[kind], ADDED], "cables": [*edges["cables"], cable]}
    return {**data, "topology": {"edges": {**edges, **more}}}


def bits_without_jobs(scenes: list[Tables]) -> Iterator[str]:
    """Compare bits, or means if there are jobs, whose flows then have other numbers and random streams."""
    if "jobs" in scenes[0]:
        yield from means(scenes)
        return
    first, other = map(run, scenes)
    yield from same(first, other, ("series",))


@relation(bits_without_jobs, count=20)
def a_group_without_load(data: Tables, _: random.Random) -> list[Tables] | None:
    """A group that in practice never sends changes nothing. It ends at once, as runs may wait for its end."""
    pairs = becalm.Scenario(data).network().flows
    if pairs.is_empty():
        return None
    # The window of such a run begins with the first group.
    if data["run"].get("end") == "delivered" and "start" in str(data):
        return None
    pair = pairs.row(0, named=True)
    group = {"name": ADDED, "from": [pair["source"]], "to": [pair["destination"]], "sl": pair["sl"]}
    group |= {"traffic": {"poisson": {"load": 1e-9}}, "stop": "1 ps"}
    if data.get("adapter", {}).get("port_control") != "sl":
        group["response"] = {"none": {}}
    return [data, {**data, "flows": [*data.get("flows", []), group]}]


def _unused_links(data: Tables) -> list[str]:
    """Return the links whose cable no packet crosses."""
    network = becalm.Scenario(data).network()
    used: set[str] = set()
    for source, destination in network.flows.select("source", "destination").iter_rows():
        used.update(network.paths(source, destination)["link"], network.paths(destination, source)["link"])
    return [link for link in network.links["link"] if link not in used]


@relation(up_to(()), count=20)
def a_change_that_changes_nothing(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A change of the rate of a link that no packet crosses changes nothing."""
    if data["switch"].get("switching") != "store_and_forward" or "changes" in data:
        return None
    # A CF_Update crosses the link in the other direction of the packets that it is about.
    if "cbfc" in data["switch"].get("flow_control", {}):
        return None
    unused = _unused_links(data)
    if not unused:
        return None
    return [data, {**data, "changes": [{"link": draw.choice(unused), "at": "7 us", "rate": "1 Mb/s"}]}]


@relation(up_to(("faults",)), count=20)
def a_fault_that_changes_nothing(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A cable that is down changes nothing if no packet crosses it."""
    network, idle = becalm.Scenario(data).network(), set(_unused_links(data))
    ends = network.links.select("link", "from", "from_port", "to", "to_port").iter_rows()
    by_end = {(here, port): (link, other) for link, here, port, *other in ends}
    # A fault is of both directions.
    unused = [link for link, other in by_end.values() if {link, by_end[tuple(other)][0]} <= idle]
    if not unused or "faults" in data or data["run"].get("fidelity", "packets") != "packets":
        return None
    kind = {"link_down": {"link": draw.choice(unused)}}
    return [data, {**data, "faults": [{"kind": kind, "at": "1 us", "until": draw.choice(["5 us", "7 us"])}]}]


def _other(name: str) -> str:
    """Return a node's new name."""
    return f"node {name[::-1]}" if name[:1] in "HS" and name[1:].isdigit() else name


def _renamed(text: str) -> str:
    return "->".join(map(_other, text.split("->")))


def renamed(scenes: list[Tables]) -> Iterator[str]:
    """Compare bits up to names."""
    first, other = map(run, scenes)
    known = {_renamed(name): name for name in first.scenario.network().nodes["node"]}
    yield from same(
        first, other, (), lambda text: "->".join(known.get(each, each) for each in text.split("->"))
    )


@relation(renamed, count=20, topologies=("edges",))
def nodes_renamed(data: Tables, _: random.Random) -> list[Tables]:
    """The names of hosts and switches have no meaning."""
    data = listed(data)
    return [data, walked(data, _renamed)]


@relation(means, count=30, topologies=("edges",))
def nodes_in_another_order(data: Tables, draw: random.Random) -> list[Tables] | None:
    """The order of hosts, switches and cables has no meaning, where each pair of hosts has one path."""
    # An output's first turn leaves port 0 for last, and HPCC keeps a first advantage for hundreds of packets.
    if "hpcc" in str(data):
        return None
    by_order = {"flows": ("stagger", "pattern"), "jobs": ("random", "hash")}
    if any(word in str(data.get(key, "")) for key, words in by_order.items() for word in words):
        return None
    data = listed(data)
    edges = data["topology"]["edges"]
    other = {key: draw.sample(edges[key], len(edges[key])) for key in ("hosts", "switches", "cables")}
    return [data, {**data, "topology": {"edges": {**edges, **other}}}]


@relation(means_of_groups, count=20, kinds=FLOWS, topologies=("clos", "torus", "edges"))
def a_shift_and_its_inverse(data: Tables, draw: random.Random) -> list[Tables] | None:
    """A network that is its own mirror image carries a shift by k and a shift by -k equally well."""
    ((kind, shape),) = data["topology"].items()
    mirrored = {
        "clos": shape.get("spines") == 1,
        "torus": len(shape.get("sides", ())) == 1,
        "edges": shape.get("switches") == ["S"],
    }
    if not mirrored[kind] or "caps" in data.get("adapter", {}) or {"changes", "faults"} & set(data):
        return None
    group = data["flows"][0]
    many = len(drawn.hosts(data["topology"]))
    by = draw.randint(1, many - 1)
    kept = {
        key: value
        for key, value in group.items()
        if key not in ("from", "to", "pattern", "connections", "stagger", "weights")
    }
    ways = [{**kept, "from": ["*"], "pattern": {"shift": {"by": each}}} for each in (by, many - by)]
    return [{**data, "flows": [way]} for way in ways]
