"""A scenario with the congestion control that a configuration of OpenSM sets up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from becalm.base.mistakes import Mistakes
from becalm.opensm.check import ADAPTER, PER_LEVEL, SWITCH
from becalm.opensm.configuration import Configuration, Place, load
from becalm.opensm.fabric import End, Fabric
from becalm.opensm.importing import numbered, places
from becalm.opensm.masks import PORTS, check_fabric
from becalm.opensm.options import CREDIT_MASK, MARKING_RATE, STARVATION, THRESHOLD_AND_SIZE, VICTIM_MASK
from becalm.opensm.service_levels import of_flows
from becalm.opensm.values import Entry
from becalm.scenario import Scenario


def with_configuration(
    scenario: Scenario, path: str | PathLike[str], fabric: Fabric | None = None
) -> Scenario:
    """Return a scenario with the congestion control that OpenSM sets up from a configuration.

    Values are those that switches and adapters receive: truncated as OpenSM truncates them. Service levels
    that are not set up do not respond. Without `congestion_control TRUE` there is no congestion control.

    Args:
        scenario: its marking and responses are replaced; an echo that is `ibta` stays.
        path: the configuration.
        fabric: the fabric that the scenario was imported from; needed if a mask names some of the ports.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: not a text file; a mask that needs the fabric, or another fabric than the scenario's;
            values that contradict each other, such as a CCTI_Min beyond the table; service levels with
            different settings although they are slowed down as a whole.

    """
    found = load(path)
    if fabric is not None:
        other = Mistakes(scenario.name)
        check_fabric(scenario, fabric, other)
        other.check()
    mistakes = Mistakes(path)
    levels = of_flows(scenario)
    if not found.value("congestion_control"):
        off = dict.fromkeys(levels, _none(scenario))
        return _replace(scenario, {"none": {}}, off, {"echo": None})
    marking = _marking(found, fabric, mistakes)
    responses = {level: _response(scenario, found, level) for level in levels}
    by_sl = found.value(f"{ADAPTER}port_control") & 1
    if scenario.resolved["adapter"]["path_sl"]:
        responses = _of_paths(scenario, found, responses, mistakes)
    elif by_sl and any(each != responses[levels[0]] for each in responses.values()):
        setting = found.settings[Place(f"{ADAPTER}port_control")]
        problem = "slows down service levels, and those of the scenario's flows have different settings"
        valid = "0x0000, or the same settings for all of them"
        mistakes.add(setting.line, f"{ADAPTER}port_control", setting.text, problem, valid)
    mistakes.check()
    changes: dict[str, Any] = {"adapter.port_control": "sl" if by_sl else "qp"}
    answering = [level for level in levels if found.value(f"{ADAPTER}control_map") >> level & 1]
    if scenario.resolved["adapter"]["path_sl"] and 0 < len(answering) < len(levels):
        changes["adapter.control_map"] = answering
    if scenario.echo.name != "ibta":
        changes["echo"] = {"ibta": {}}
    return _replace(scenario, marking, responses, changes)


def idle_levels(scenario: Scenario, path: str | PathLike[str]) -> list[int]:
    """Return the service levels of a scenario's flows for which a configuration sets up no response."""
    found = load(path)
    if not found.value("congestion_control"):
        return []
    return [level for level in of_flows(scenario) if not found.value(f"{ADAPTER}control_map") >> level & 1]


def _of_paths(
    scenario: Scenario,
    found: Configuration,
    responses: dict[int, dict[str, Any]],
    mistakes: Mistakes,
) -> dict[int, dict[str, Any]]:
    """Return the same response for all levels if levels belong to paths, not to groups of flows.

    Levels that are not set up do not respond by the scenario's `adapter.control_map`.
    """
    place = Place(f"{ADAPTER}control_map")
    line, text = (
        (found.settings[place].line, found.settings[place].text) if place in found.settings else (None, "")
    )
    answering = [each for each in responses.values() if "ibta" in each]
    if any(each != answering[0] for each in answering):
        problem = "the service levels of the scenario's paths have different settings"
        mistakes.add(line, place.key, text, problem, "the same values for all levels")
    if 0 < len(answering) < len(responses) and _window(scenario):
        problem = f"leaves out levels of paths, whose flows would have no window; {scenario.name} limits it"
        mistakes.add(line, place.key, text, problem, "all levels of the paths, or no window")
    return dict.fromkeys(responses, answering[0] if answering else _none(scenario))


def _replace(
    scenario: Scenario,
    marking: Mapping[str, Any],
    responses: Mapping[int, Mapping[str, Any]],
    changes: Mapping[str, Any],
) -> Scenario:
    first = responses[min(responses)]
    # Without a control map, all levels respond alike.
    made: dict[str, Any] = {"marking": marking, "response": first, **changes}
    if scenario.resolved["adapter"]["control_map"] is not None:
        made.setdefault("adapter.control_map", None)
    for kind in ("flows", "jobs"):
        for place, group in enumerate(scenario.resolved[kind]):
            own = responses.get(group["sl"], first)
            made[f"{kind}.{place}.response"] = None if own == first else own
    return scenario.replace(made)


def _marking(found: Configuration, fabric: Fabric | None, mistakes: Mistakes) -> dict[str, Any]:
    used = found.value(f"{SWITCH}control_map")

    def number(name: str, bit: int) -> int:
        value: int = found.value(SWITCH + name)
        return value if used & bit else 0

    params: dict[str, Any] = {
        "threshold": number("threshold", THRESHOLD_AND_SIZE) & 15,
        "packet_size": number("packet_size", THRESHOLD_AND_SIZE),
        "marking_rate": number("marking_rate", MARKING_RATE),
    }
    overrides = _mask(found, "victim_mask", number("victim_mask", VICTIM_MASK), params, fabric, mistakes)
    delay: Entry = found.value(f"{SWITCH}credit_starvation_return_delay")
    late = number("credit_starvation_threshold", STARVATION) & 15
    starved = number("credit_mask", CREDIT_MASK)
    if starved and late and delay.delay > 0:
        params |= {"cs_threshold": late, "cs_return_delay": list(delay.sent)}
        overrides += _mask(found, "credit_mask", starved, params, fabric, mistakes)
    return {"ibta": {**params, "overrides": overrides} if overrides else params}


def _mask(
    found: Configuration,
    name: str,
    value: int,
    params: dict[str, Any],
    fabric: Fabric | None,
    mistakes: Mistakes,
) -> list[dict[str, Any]]:
    """Put a mask of all ports or none into the parameters; for a mask of some ports, return the overrides."""
    named = {port for port in PORTS if value >> port & 1}
    there = set(PORTS) if fabric is None else {port for switch in fabric.switches for port in switch.ports}
    if there <= named:
        params[name] = "all"
        return []
    if not named:
        return []
    if fabric is None:
        setting = found.settings[Place(SWITCH + name)]
        problem = "names some of the ports, but a scenario does not contain port numbers"
        valid = "no ports, all of them, or --fabric with the output of ibnetdiscover"
        mistakes.add(setting.line, SWITCH + name, setting.text, problem, valid)
        return []
    return list(_overrides(fabric, named, name.removesuffix("_mask")))


def _overrides(fabric: Fabric, named: set[int], what: str) -> Iterable[dict[str, Any]]:
    """Yield, for each switch, the ports of a mask by the numbers that the scenario has for them."""
    numbers = places(numbered(fabric))
    for switch in fabric.switches:
        ports = sorted(numbers[End(switch.id, port)] for port in named.intersection(switch.ports))
        if ports:
            yield {"switches": [switch.name], "ports": ports, what: True}


def _none(scenario: Scenario) -> dict[str, Any]:
    """Return the response that ignores congestion, with the scenario's window."""
    return {"none": _window(scenario)}


def _window(scenario: Scenario) -> dict[str, Any]:
    window = scenario.response.keys.get("window", "unlimited")
    return {} if window == "unlimited" else {"window": window}


def _response(scenario: Scenario, found: Configuration, level: int) -> dict[str, Any]:
    table: list[Entry] = found.value("cc_cct")
    if not found.value(f"{ADAPTER}control_map") >> level & 1 or len(table) < 2:
        return _none(scenario)
    numbers = {name: found.value(ADAPTER + name, level) for name in PER_LEVEL}
    entries = [list(entry.sent) for entry in table]
    numbers |= _window(scenario)
    return {"ibta": {**numbers, "ccti_limit": len(table) - 1, "cct": {"list": {"entries": entries}}}}
