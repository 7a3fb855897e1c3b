"""The search space: parameters with their ranges, by default those that OpenSM can set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from becalm import manager
from becalm.scenario import Scenario
from becalm.sweeps.random import Range

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial

Parameters = dict[str, Any]
"""Values by dotted key, as a trial has them: without units."""

_CONTROL = ("marking", "echo", "response")
_THRESHOLD = "marking.queue_threshold"
_LOW = 8 / 9
"""Low threshold as a share of the high one, where only that is searched (Pfister 2005)."""


@dataclass(frozen=True)
class Space:
    """Parameters with ranges, and what goes with them."""

    ranges: dict[str, Range]
    """By dotted key."""
    fixed: dict[str, Any] = field(default_factory=dict)
    """Values by dotted key that are the same in all trials."""

    def distributions(self) -> dict[str, BaseDistribution]:
        """Return the ranges as Optuna has them."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        found: dict[str, BaseDistribution] = {}
        for key, each in self.ranges.items():
            if each.kind == "choice":
                found[key] = CategoricalDistribution(each.values)
            elif each.kind == "int":
                found[key] = IntDistribution(each.values[0], each.values[1], log=each.log)
            else:
                found[key] = FloatDistribution(float(each.values[0]), float(each.values[1]), log=each.log)
        return found

    def suggest(self, trial: Trial) -> Parameters:
        """Return what a trial proposes."""
        return {key: trial.params[key] for key in self.ranges}

    def changes(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the changes of a scenario that set these parameters, in place of its control."""
        written = {key: self.ranges[key].written(value) for key, value in parameters.items()}
        whole = {**self.fixed, **written}
        high, low = f"{_THRESHOLD}.high", f"{_THRESHOLD}.low"
        if high in whole and low not in whole:
            whole[low] = whole[high] * _LOW
        return nested(whole)

    def clipped(self, parameters: Mapping[str, Any]) -> Parameters | None:
        """Return parameters moved into their ranges; None if some are missing or no choice."""
        found: Parameters = {}
        for key, each in self.ranges.items():
            value = parameters.get(key)
            if value is None or (each.kind == "choice" and value not in each.values):
                return None
            found[key] = value if each.kind == "choice" else min(max(value, each.values[0]), each.values[1])
        return found

    def at_end(self, parameters: Mapping[str, Any]) -> list[str]:
        """Return the parameters that sit at an end of their range: the best may lie beyond."""
        found = []
        for key, each in self.ranges.items():
            if each.kind == "choice" or each.values[0] == each.values[1]:
                continue
            low, high = map(float, each.values)
            near = 0.01 * (high - low) if each.kind == "float" else 0.0
            if parameters[key] <= low + near or parameters[key] >= high - near:
                found.append(key)
        return found


def nested(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes in which marking, echo and response are whole tables, so that others' go."""
    found: dict[str, Any] = {}
    for key, value in changes.items():
        root, *path = key.split(".")
        if root not in _CONTROL or not path:
            found[key] = value
            continue
        place = found.setdefault(root, {})
        for part in path[:-1]:
            place = place.setdefault(part, {})
        place[path[-1]] = value
    return found


def opensm_space(scenario: Scenario, degree: int) -> Space:
    """Return the parameters of IBTA congestion control that OpenSM can set, around what a fabric needs.

    Args:
        scenario: its packets and hosts count.
        degree: sources of the worst hot spot: the longest delay must be about as many packets.

    """
    # Below half of the sources' need the table saturates under all other settings; a timer of 150 is the
    # longest of the guidelines; marks rarer than one in eight packets come too late for a short queue.
    packet_us = scenario.summary["packet_time"] * 1e6
    longest = degree * packet_us
    echo: dict[str, Any] = {} if "ibta" in scenario.resolved["echo"] else {"echo.ibta": {}}
    mask = {"marking.ibta.victim_mask": "host_ports"} if scenario.summary["drain_capped"] else {}
    return Space(
        {
            "marking.ibta.threshold": Range("int", (1, 15)),
            "marking.ibta.marking_rate": Range("int", (0, 7)),
            "response.ibta.ccti_increase": Range("int", (1, 64), log=True),
            "response.ibta.ccti_timer": Range("int", (1, 150), log=True),
            "response.ibta.cct.linear.max": Range("float", (longest / 2, longest * 4), log=True, unit="us"),
        },
        {
            **mask,
            **echo,
            "response.ibta.cct.linear.entries": manager.ENTRIES,
            "response.ibta.cct.linear.packet_time": f"{packet_us:.6g} us",
        },
    )


def guideline_parameters(changes: Mapping[str, Any], scenario: Scenario) -> Parameters:
    """Return what the parameters of a scenario with IBTA congestion control are called in the default space.

    The threshold of `queue_threshold` becomes the nearest that OpenSM can set, as its export does.
    """
    resolved = scenario.replace(changes).resolved
    ((name, marking),) = resolved["marking"].items()
    response = resolved["response"].get("ibta")
    if response is None:
        return {}
    found = {f"response.ibta.{key}": response[key] for key in ("ccti_increase", "ccti_timer")}
    facts = scenario.replace(changes).summary
    found["response.ibta.cct.linear.max"] = max(facts["cct"]) * facts["packet_time"] * 1e6
    if name == "ibta":
        found |= {f"marking.ibta.{key}": marking[key] for key in ("threshold", "marking_rate")}
    elif name == "queue_threshold":
        nearest = min(range(1, 16), key=lambda each: abs((16 - each) / 16 - marking["high"]))
        found |= {"marking.ibta.threshold": nearest, "marking.ibta.marking_rate": marking["marking_rate"]}
        found |= {f"{_THRESHOLD}.high": marking["high"]}
    return found
