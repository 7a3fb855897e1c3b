"""Remedies: for each cause, the changes that may remove it, which trials then try."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from becalm.analysis import causes
from becalm.analysis.case import Case
from becalm.base.errors import BecalmError
from becalm.explanations import equipment
from becalm.manager.ramp import Ramp, ramp
from becalm.scenario import Scenario

Changes = Mapping[str, Any]


class Remedy(NamedTuple):
    """A change that may remove a cause."""

    text: str
    """The change as an instruction, without a full stop."""
    changes: Changes = MappingProxyType({})
    """Values by key, as for `becalm run --set`; empty if no key makes this change."""


def remedies(case: Case, cause: str, place: str) -> Iterator[Remedy]:
    """Yield the remedies for a cause at a link, host or job, those to try first."""
    made = _REMEDIES.get(cause)
    if made is not None:
        yield from made(case, place)


def changed(scenario: Scenario, remedy: Remedy) -> Scenario | None:
    """Return the scenario with a remedy; None without changes, or if the scenario does not allow them."""
    if not remedy.changes:
        return None
    try:
        found = scenario.replace(remedy.changes)
    except BecalmError:
        return None
    return None if found == scenario else found


def _paths(case: Case, _: str) -> Iterator[Remedy]:
    """Yield other choices among equal paths, if there are any and the current policy ignores the load."""
    policy = case.facts.scenario.paths.name
    if policy not in causes.HASHED or not case.facts.spreading.has_choice:
        return
    yield Remedy(
        "send each packet over the equal output with the least waiting data (adaptive routing; packets of a "
        "flow may overtake each other)",
        {"switch.paths": {"least_waiting": {}}},
    )
    if policy != "flowlet":
        text = "choose the output with the least waiting data for each flowlet, which keeps packets in order"
        yield Remedy(text, {"switch.paths": {"flowlet": {}}})
    if policy != "destination":
        text = "give each destination a fixed output, as forwarding tables do"
        yield Remedy(text, {"switch.paths": {"destination": {}}})


def _slow_receiver(case: Case, place: str) -> Iterator[Remedy]:
    host = place.rpartition("->")[2]
    if host in equipment.broken(case):
        yield Remedy(f"repair {host}, which `[[faults]]` broke", {"faults": []})
        return
    text = "make the host receive faster (`adapter.drain_rate`, the host's slot or software)"
    yield Remedy(text, equipment.without_caps(case, [host]))


def _storm(case: Case, place: str) -> Iterator[Remedy]:
    host = place.rpartition("->")[2]
    if host in equipment.broken(case):
        text = f"repair {host}, which `[[faults]]` broke; until then, a watchdog can drop its pauses"
        yield Remedy(text, {"faults": []})
        return
    text = (
        "find out why the host pauses its switch (slot or driver), or let a watchdog drop its pauses; no "
        "congestion-control parameter helps"
    )
    yield Remedy(text, equipment.without_caps(case, [host]))


def _straggler(case: Case, place: str) -> Iterator[Remedy]:
    text = f"repair {place} (adapter, slot, cable or software), or place the job on other hosts"
    changes = equipment.without_caps(case, [place]) or equipment.usual_cable(case, f"{place}->")
    yield Remedy(text, changes)


def _slow_cable(case: Case, place: str) -> Iterator[Remedy]:
    constant: Changes = {"changes": []} if case.facts.resolved["changes"] else {}
    changes = constant or equipment.usual_cable(case, place)
    yield Remedy("replace the cable or its port, and run again", changes)


def _routes(case: Case, place: str) -> Iterator[Remedy]:
    topology, keys = case.facts.scenario.topology
    changes: Changes = {"topology.edges.routes": []} if topology == "edges" and keys["routes"] else {}
    text = "choose other routes, with equal numbers of host pairs on each link of the switch"
    yield Remedy(text, changes)
    yield from _paths(case, place)


def _jobs(case: Case, place: str) -> Iterator[Remedy]:
    yield from _paths(case, place)
    yield from _wider(case, place)
    yield Remedy("place or route one of the jobs so that their paths do not meet", equipment.packed(case))


def _wider(case: Case, _: str) -> Iterator[Remedy]:
    """Yield more cables, or detours where the topology has some."""
    topology, keys = case.facts.scenario.topology
    detours = equipment.detours(case)
    if detours:
        yield Remedy("let packets take detours if the direct path has longer queues (UGAL)", detours)
    if topology == "clos":
        text = f"add cables: {2 * keys['spines']} spines instead of {keys['spines']}"
        yield Remedy(text, {"topology.clos.spines": 2 * keys["spines"]})
    else:
        yield Remedy("add parallel cables, or spread the flows over other links")


def _cables(case: Case, place: str) -> Iterator[Remedy]:
    link = case.facts.links.names.index(place)
    blamed = next(each.cause for each in case.bottlenecks if each.link == link)
    switch = blamed.at if blamed is not None else ""
    yield Remedy(f"cable {switch} like its peers", equipment.recabled(case, switch))
    yield from _paths(case, place)


def _weights(case: Case, _: str) -> Iterator[Remedy]:
    lanes = range(int(case.facts.resolved["switch"]["vls"]))
    equal = {"tables": {"low": [{"vl": lane, "weight": 64} for lane in lanes], "high": []}}
    text = "give the lanes equal weights, or weights in proportion to what each should get"
    yield Remedy(text, {"switch.vl_arbitration": equal})


def _buffer(_: Case, __: str) -> Iterator[Remedy]:
    text = "give the input buffers (credit) twice the data of the link's round trip, or shorten the cables"
    yield Remedy(text, {"switch.buffer": "auto"})


def _window(case: Case, _: str) -> Iterator[Remedy]:
    response, params = case.facts.scenario.response
    changes = {f"response.{response}.window": "unlimited"} if "window" in params else {}
    yield Remedy("enlarge the window to the data of a round trip", changes)


def _ramp(case: Case, _: str) -> Iterator[Remedy]:
    """Yield a ramp derived from the round trip and the buffers, if the scenario marks by a ramp."""
    own = case.facts.scenario.marking.get("ramp")
    if own is not None:
        found = ramp(case.facts.scenario)
        changes = {
            f"marking.ramp.{key}": value for key, value in (("kmin", found.kmin), ("kmax", found.kmax))
        }
        yield Remedy(_of_ramp(found), changes)


def _of_ramp(found: Ramp) -> str:
    pauses = "" if found.paused == float("inf") else f"; PFC may pause from {found.paused / 1e3:.3g} kB on"
    return (
        f"mark from Kmin = {found.kmin:g} kB, the data of one round trip ({found.round_trip * 1e6:.3g} us at "
        f"{found.rate / 1e9:.3g} GB/s), to Kmax = {found.kmax:g} kB{pauses}"
    )


def _no_control(case: Case, _: str) -> Iterator[Remedy]:
    """Yield RoCE's congestion control, for a fabric with PFC."""
    if case.facts.scenario.flow_control.name != "pfc":
        return
    control: Changes = {"response": {"dcqcn": {"preset": "connectx"}}, "echo": {"rocev2": {}}}
    found = ramp(case.facts.scenario)
    marked = {"marking": {"ramp": found.settings(case.facts.scenario.marking.get("ramp") or {})}}
    if case.marking != "none":
        yield Remedy("let sources react to marks (DCQCN)", control)
        yield Remedy(f"let sources react to marks (DCQCN), and {_of_ramp(found)}", {**control, **marked})
    else:
        yield Remedy(f"let switches mark and sources react (DCQCN): {_of_ramp(found)}", {**control, **marked})


def _too_strong(case: Case, place: str) -> Iterator[Remedy]:
    """Yield other paths, which spread what control slows down, and other values."""
    yield from _paths(case, place)
    yield from _ramp(case, place)
    yield from _guideline(case, place)


def _guideline(case: Case, _: str) -> Iterator[Remedy]:
    """Yield the guideline's parameters for all sizes of hot spots, if the response is InfiniBand's."""
    scenario = case.facts.scenario
    if scenario.response.name != "ibta":
        return
    try:
        managed = scenario.with_guideline()
    except BecalmError:
        return
    data = managed.data()
    text = "set the guideline's parameters, as `becalm manage` does"
    yield Remedy(text, {part: data[part] for part in ("marking", "echo", "response") if part in data})


_REMEDIES: dict[str, Callable[[Case, str], Iterator[Remedy]]] = {
    "slow receiver": _slow_receiver,
    "slow cable": _slow_cable,
    "uneven cables": _cables,
    "unbalanced routes": _routes,
    "pause storm": _storm,
    "path collision": _paths,
    "colliding jobs": _jobs,
    "oversubscribed link": _wider,
    "VL weights": _weights,
    "straggler": _straggler,
    "small buffer": _buffer,
    "small window": _window,
    "threshold off": _ramp,
    "no control": _no_control,
    "held by control": _too_strong,
    "slowed by marks": _too_strong,
}
"""Remedies by cause. Hot hosts and InfiniBand's control have commands of their own."""
