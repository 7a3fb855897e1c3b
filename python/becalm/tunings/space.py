"""The search space: parameters with their ranges, by default those that OpenSM can set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from becalm import manager
from becalm.base.errors import BecalmError
from becalm.base.quantities import seconds
from becalm.scenario import Scenario
from becalm.sweeps.random import Range

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import Trial

Parameters = dict[str, Any]
"""A trial's values by dotted key, without units."""

_CONTROL = ("marking", "echo", "response")
TABLE = "table"
"""Prefix of the keys for the shape of a table of delays. These keys do not occur in scenarios."""
SHAPE = ("shape", "entries", "first", "longest")
"""Shape of a table: its curve, number of entries, second and last delay in packet times."""
BETWEEN = "between"
"""Prefix of the keys for ports between switches. These keys do not occur in scenarios either."""
PORTS = ("threshold", "marking_rate")
"""Settings of ports between switches."""
_FACTORS: tuple[dict[str, float], ...] = (
    {"response.ibta.ccti_increase": 0.25},
    {"response.ibta.ccti_increase": 0.5, f"{TABLE}.first": 2},
    {"response.ibta.ccti_increase": 2},
    {"response.ibta.ccti_increase": 0.25, f"{TABLE}.first": 4},
    {"response.ibta.ccti_timer": 0.5},
    {"response.ibta.ccti_timer": 2},
    {f"{TABLE}.longest": 0.5},
    {f"{TABLE}.longest": 2},
    {"marking.ibta.threshold": 0.75},
    {"marking.ibta.threshold": 1.25},
)
"""Steps from becalm's own guideline towards fewer and towards more contributors."""
ROCE = ("dcqcn", "dctcp", "hpcc", "nscc", "swift", "timely")
"""Responses of RoCE and Ultra Ethernet fabrics."""
_THRESHOLD = "marking.queue_threshold"
_LOW = 8 / 9
"""Low threshold as a share of the high threshold, if only the high one is searched (Pfister 2005)."""


@dataclass(frozen=True)
class Space:
    """Parameters with ranges, and fixed values."""

    ranges: dict[str, Range]
    """Ranges by dotted key."""
    fixed: dict[str, Any] = field(default_factory=dict)
    """Values by dotted key that all trials share."""
    packet_time: float = 0.0
    """Transmission time of a full packet on a host's link, in s: the unit of a table's delays."""

    def distributions(self) -> dict[str, BaseDistribution]:
        """Return the ranges in Optuna's form."""
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
        """Return the parameters that a trial proposes."""
        return {key: trial.params[key] for key in self.ranges}

    def changes(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the changes that replace a scenario's control with these parameters."""
        written = {key: self.ranges[key].written(value) for key, value in parameters.items()}
        whole = {**self.fixed, **written}
        shape = {key: whole.pop(f"{TABLE}.{key}") for key in SHAPE if f"{TABLE}.{key}" in whole}
        if shape:
            whole |= manager.table(**shape, packet_time=self.packet_time)
        ports = {key: whole.pop(f"{BETWEEN}.{key}") for key in PORTS if f"{BETWEEN}.{key}" in whole}
        if ports:
            whole["marking.ibta.overrides"] = [{"switches": ["*"], "ports": "switches", **ports}]
        high, low = f"{_THRESHOLD}.high", f"{_THRESHOLD}.low"
        if high in whole and low not in whole:
            whole[low] = whole[high] * _LOW
        return nested(whole)

    def clipped(self, parameters: Mapping[str, Any]) -> Parameters | None:
        """Return parameters clipped to their ranges, or None if one is missing or not among the choices."""
        found: Parameters = {}
        for key, each in self.ranges.items():
            value = parameters.get(key)
            if value is None or (each.kind == "choice" and value not in each.values):
                return None
            found[key] = value if each.kind == "choice" else min(max(value, each.values[0]), each.values[1])
        return found

    def at_end(self, parameters: Mapping[str, Any]) -> list[str]:
        """Return the parameters at an end of their range, where the best value may lie outside."""
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
    """Return changes in which marking, echo and response are complete tables that replace the scenario's."""
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


def family(scenario: Scenario) -> str:
    """Return the kind of a fabric's congestion control: a response of RoCE, or else `ibta`."""
    name = scenario.response.name
    return name if name in ROCE else "ibta"


def has_overrides(changes: Mapping[str, Any]) -> bool:
    """Whether changes give settings of their own to single ports."""
    return bool(changes.get("marking", {}).get("ibta", {}).get("overrides"))


def space_of(scenario: Scenario, contributors: int, *, single_ports: bool = True) -> Space:
    """Return the search space of a fabric: the parameters of its kind of control.

    Args:
        scenario: the fabric.
        contributors: number of contributors to the worst hot spot.
        single_ports: whether ports between switches may have settings of their own.

    Raises:
        BecalmError: an Ethernet fabric without control, whose kind is unknown.

    """
    if family(scenario) == "ibta" and manager.is_roce(scenario):
        raise BecalmError(
            f"{scenario.name}: has PFC, but no response to marks that could be tuned; valid: one, such as "
            "[response.dcqcn] with [marking.ramp], as `becalm manage --guideline becalm_roce --out` writes it"
        )
    if family(scenario) != "ibta":
        return roce_space(scenario)
    space = opensm_space(scenario, contributors)
    if single_ports:
        return space
    ranges = {key: each for key, each in space.ranges.items() if not key.startswith(f"{BETWEEN}.")}
    return replace(space, ranges=ranges)


def roce_space(scenario: Scenario) -> Space:
    """Return the main parameters of a RoCE fabric's scheme. All other parameters stay unchanged.

    Marking thresholds range up to four times the input buffer, or four times XOFF with all inputs busy if
    inputs share memory. Above that, a switch never marks.
    """
    name = family(scenario)
    ranges: dict[str, Range] = {}
    if scenario.marking.name == "ramp":
        ranges |= _ramp_ranges(scenario)
    megabits = float(scenario.summary["host_rate"]) * 8 / 1e6
    ranges |= {
        f"response.{name}.{key}": each
        for key, each in {
            "dcqcn": {
                "alpha_timer": Range("float", (1.0, 500.0), log=True, unit="us"),
                "increase_timer": Range("float", (10.0, 1500.0), log=True, unit="us"),
                "additive_increase": Range("float", (min(5.0, megabits / 1e4), megabits / 50), log=True),
            },
            "dctcp": {"g": Range("float", (1 / 128, 0.5), log=True)},
            "hpcc": {"eta": Range("float", (0.8, 0.99)), "wai": Range("float", (5.0, 2000.0), log=True)},
            "nscc": {"target": Range("float", (1.0, 200.0), log=True, unit="us")},
            "swift": {
                "base": Range("float", (1.0, 200.0), log=True, unit="us"),
                "ai": Range("float", (0.05, 4.0), log=True),
            },
            "timely": {
                "t_low": Range("float", (5.0, 100.0), log=True, unit="us"),
                "t_high": Range("float", (100.0, 1000.0), log=True, unit="us"),
            },
        }[name].items()
    }
    return Space(ranges, _own(scenario))


def _ramp_ranges(scenario: Scenario) -> dict[str, Range]:
    shared = "dynamic" in scenario.resolved["switch"]["flow_control"].get("pfc", {}).get("thresholds", {})
    kilobytes = (scenario.summary["buffer_bytes"] or 400e3) / 1e3
    if shared:
        kilobytes = manager.pauses(scenario, manager.ports(scenario)) / 1e3
    # Dynamic thresholds leave far more room, and good values are further apart.
    most, least = (kilobytes / 2, kilobytes / 16) if shared else (kilobytes / 4, kilobytes / 4)
    return {
        "marking.ramp.kmin": Range("float", (1.0, max(2.0, most)), log=True),
        "marking.ramp.kmax": Range("float", (max(2.0, least), max(4.0, 4 * kilobytes)), log=True),
        "marking.ramp.pmax": Range("float", (0.001 if shared else 0.005, 1.0), log=True),
    }


def _own(scenario: Scenario) -> dict[str, Any]:
    """Return the values that a scenario sets in its marking and response, by dotted key."""
    found: dict[str, Any] = {}
    for seam in ("marking", "response"):
        ((name, values),) = scenario.resolved[seam].items()
        found |= {f"{seam}.{name}.{key}": value for key, value in values.items() if value is not None}
    return found


DCQCN: dict[str, dict[str, Callable[[float], float]]] = {
    "paper": {
        "alpha_timer": lambda _: 55.0,
        "increase_timer": lambda _: 55.0,
        "additive_increase": lambda rate: rate,
    },
    "connectx": {
        "alpha_timer": lambda _: 1.0,
        "increase_timer": lambda _: 300.0,
        "additive_increase": lambda _: 5.0,
    },
}
"""Values of DCQCN's presets in the units of the space, for a host's rate in Gb/s."""


def own_parameters(scenario: Scenario, space: Space) -> Parameters:
    """Return a scenario's values for a space's parameters, or the middle of the range where unset."""
    own, found = _own(scenario), Parameters()
    preset = DCQCN.get(own.get("response.dcqcn.preset", ""), {})
    share = float(scenario.summary["host_rate"]) * 8e-9
    own = {f"response.dcqcn.{key}": value(share) for key, value in preset.items()} | own
    for key, each in space.ranges.items():
        value = own.get(key, each.at(0.5))
        if each.unit and isinstance(value, str):
            value = seconds(value) / seconds(f"1 {each.unit}")
        found[key] = value
    return found


def opensm_space(scenario: Scenario, contributors: int) -> Space:
    """Return the IBTA congestion control parameters that OpenSM can set, with ranges that suit a fabric.

    Args:
        scenario: the fabric, whose packet size and hosts set the ranges.
        contributors: number of contributors to the worst hot spot, near which the longest delay in packet
            times must lie.

    """
    # The longest timer of the guidelines is 150. Marks on fewer than one in eight packets come too late for a
    # short queue. OpenSM reads at most 128 entries. A table that ends below a quarter of the delay that the
    # contributors need saturates.
    echo: dict[str, Any] = {} if "ibta" in scenario.resolved["echo"] else {"echo.ibta": {}}
    mask = {"marking.ibta.victim_mask": "host_ports"} if scenario.summary["drain_capped"] else {}
    return Space(
        {
            "marking.ibta.threshold": Range("int", (1, 15)),
            "marking.ibta.marking_rate": Range("int", (0, 7)),
            f"{BETWEEN}.threshold": Range("int", (1, 15)),
            f"{BETWEEN}.marking_rate": Range("int", (0, 7)),
            "response.ibta.ccti_increase": Range("int", (1, 64), log=True),
            "response.ibta.ccti_timer": Range("int", (1, 150), log=True),
            f"{TABLE}.shape": Range("choice", manager.SHAPES),
            f"{TABLE}.first": Range("float", (0.02, 0.8), log=True),
            f"{TABLE}.longest": Range("float", (contributors / 4, contributors * 4), log=True),
        },
        {**mask, **echo, f"{TABLE}.entries": manager.ENTRIES},
        scenario.summary["packet_time"],
    )


def neighbours(parameters: Parameters) -> list[Parameters]:
    """Return parameters near a guideline of becalm; an empty list for other parameters."""
    if parameters.get(f"{TABLE}.shape") not in ("geometric", "fine"):
        return []
    return [
        {
            key: value if key not in factors else type(value)(value * factors[key])
            for key, value in parameters.items()
        }
        for factors in _FACTORS
    ]


def guideline_parameters(changes: Mapping[str, Any], scenario: Scenario) -> Parameters:
    """Return the parameters of a scenario with changed control, by their names in the default space.

    As in the export to OpenSM, the threshold of `queue_threshold` becomes the nearest that OpenSM can set.
    """
    if family(scenario) != "ibta":
        return _ramp_parameters(changes, scenario)
    made = scenario.replace(changes)
    delays, (name, marking), response = made.summary.get("cct"), made.marking, made.response.get("ibta")
    if response is None or not delays or max(delays) == 0:
        return {}
    found = {f"response.ibta.{key}": response[key] for key in ("ccti_increase", "ccti_timer")}
    ((shape, own),) = response["cct"].items()
    if shape == "list":
        if own["entries"] != manager.fine(delays[1], delays[-1], len(delays)):
            return {}
        shape = "fine"
    found |= {
        f"{TABLE}.shape": shape,
        f"{TABLE}.entries": len(delays),
        f"{TABLE}.first": delays[1],
        f"{TABLE}.longest": max(delays),
    }
    if name == "ibta":
        between = _between(marking)
        if between is None:
            return {}
        found |= {f"marking.ibta.{key}": marking[key] for key in PORTS} | between
    elif name == "queue_threshold":
        nearest = min(range(1, 16), key=lambda each: abs((16 - each) / 16 - marking["high"]))
        found |= {"marking.ibta.threshold": nearest, "marking.ibta.marking_rate": marking["marking_rate"]}
        found |= {f"{_THRESHOLD}.high": marking["high"]}
        found |= {f"{BETWEEN}.{key}": found[f"marking.ibta.{key}"] for key in PORTS}
    return found


def _ramp_parameters(changes: Mapping[str, Any], scenario: Scenario) -> Parameters:
    """Return thresholds at the rate of the scenario's ramp, and its own response; empty without a ramp."""
    ramp, own = changes.get("marking", {}).get("ramp"), scenario.marking.get("ramp")
    if ramp is None or own is None:
        return {}
    host = float(scenario.summary["host_rate"]) * 8e-9
    scale = (own["per"] or host) / (ramp.get("per") or host)
    found = own_parameters(scenario, roce_space(scenario))
    limits = {f"marking.ramp.{key}": scale * ramp[key] for key in ("kmin", "kmax")}
    return found | limits | {"marking.ramp.pmax": ramp["pmax"]}


def _between(marking: Mapping[str, Any]) -> Parameters | None:
    """Return the settings of ports between switches; None if other ports have settings of their own."""
    own = {key: marking[key] for key in PORTS}
    for each in marking["overrides"]:
        given = {key: value for key, value in each.items() if value is not None}
        if given.pop("switches") != ["*"] or given.pop("ports") != "switches" or set(given) - set(PORTS):
            return None
        own |= given
    return {f"{BETWEEN}.{key}": value for key, value in own.items()}
