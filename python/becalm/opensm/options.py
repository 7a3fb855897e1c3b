"""Parameters of congestion control in OpenSM's format (`cc_*`), to append to `opensm.conf`.

Formats and limits are those of OpenSM 3.3: it reads lines of at most 1022 characters, tables of at most 128
entries, and takes CCTI_Limit from the length of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from becalm._core import __version__
from becalm.base.mistakes import Mistakes
from becalm.manager import Recommendation, nearest
from becalm.opensm import ibnetdiscover, ports
from becalm.opensm.fabric import Fabric
from becalm.opensm.masks import PortNumbers, mask
from becalm.opensm.service_levels import Used, used
from becalm.opensm.values import LONGEST_TABLE
from becalm.scenario import Scenario

LONGEST_LINE = 1022
"""Maximum number of characters of a line that OpenSM reads."""
VICTIM_MASK, CREDIT_MASK, THRESHOLD_AND_SIZE, STARVATION, MARKING_RATE = (1 << bit for bit in range(5))
"""Settings that the bits of the switches' control map enable."""

_MASKS = {
    "none": "a port without credit is not a root of congestion",
    "all": "all but the switch's own port 0",
    "host_ports": "OpenSM sets them at all switches, including those without hosts",
}

_SOURCES = {"threshold": "high", "victim_mask": "root_only"}
"""Parameters of `queue_threshold` with other names than in `ibta`."""


@dataclass(frozen=True)
class Option:
    """A line of the configuration."""

    key: str
    value: str
    means: str
    """Description of the parameter."""
    source: str = ""
    """Dotted key of the scenario's value that it comes from."""


def configuration(
    scenario: Scenario,
    recommendation: Recommendation,
    discovered: str | PathLike[str] | None = None,
    levels: Used | None = None,
) -> str:
    """Return lines for `opensm.conf`: the parameters of a scenario, with the reasons of a guideline.

    Args:
        scenario: the scenario with the parameters.
        recommendation: their source.
        discovered: output of `ibnetdiscover`; needed if a mask is `host_ports`.
        levels: the service levels to set up; default: see `service_levels.used`.

    Raises:
        ScenarioError: with all settings that OpenSM's options cannot express, or the errors in the file.

    """
    found = options(scenario, _read(discovered), levels)
    by = f", by the guideline of {recommendation.guideline}" if recommendation.settings else ""
    head = [
        f"Congestion control for the fabric of {Path(scenario.name).name}{by}; made by becalm {__version__}.",
        "Append this to opensm.conf: of several lines with the same key, OpenSM uses the last.",
    ]
    if ports.has_own(scenario):
        head += ["Some ports have settings of their own, which the script next to this file sets (.ports)."]
    return text(found, {setting.key: setting.why for setting in recommendation.settings}, head)


def options(scenario: Scenario, fabric: Fabric | None = None, levels: Used | None = None) -> list[Option]:
    """Return the parameters of a scenario's congestion control as OpenSM's options.

    Settings of single ports are left out; see `becalm.opensm.ports`.

    Args:
        scenario: one with the response `ibta`, and the marking `ibta` or `queue_threshold`. The latter's high
            threshold becomes the nearest one that IBTA's 4 bits can express.
        fabric: the fabric, for the numbers of its ports; needed if a mask is `host_ports`.
        levels: the service levels to set up; default: see `service_levels.used`.

    Raises:
        ScenarioError: with all settings that OpenSM's options cannot express.

    """
    mistakes = Mistakes(scenario.name)
    resolved = scenario.resolved
    found = [Option("congestion_control", "TRUE", "Whether congestion control is set up")]
    if ports.has_own(scenario):
        ports.check(scenario, mistakes)
    found += _switch(resolved["marking"], PortNumbers(scenario, fabric), mistakes)
    found += _adapter(scenario, used(scenario) if levels is None else levels, mistakes)
    mistakes.check()
    return found


def rollback(
    scenario: Scenario, discovered: str | PathLike[str] | None = None, levels: Used | None = None
) -> str:
    """Return lines for `opensm.conf` that undo a scenario's configuration: explicit zeros for all settings.

    OpenSM has to send the zeros, since switches and adapters keep their settings. So congestion control stays
    on, with the same control maps and the same service levels.

    Args:
        scenario: the scenario with the parameters.
        discovered: output of `ibnetdiscover`; needed if a mask is `host_ports`.
        levels: as for the configuration.

    Raises:
        ScenarioError: with all settings that OpenSM's options cannot express, or the errors in the file.

    """
    head = [
        f"Undoes the congestion control set by the file next to this one; made by becalm {__version__}.",
        "Append this to opensm.conf instead of that file. Switches and adapters keep their settings until",
        "they receive others, so OpenSM sends zeros. After a heavy sweep, congestion_control can be set to",
        "FALSE.",
    ]
    return text([_zero(option) for option in options(scenario, _read(discovered), levels)], {}, head)


def rollback_of(path: Path) -> Path:
    """Return the file with the zeros that belongs to a file of options."""
    return path.with_name(f"{path.name}.rollback")


def _read(discovered: str | PathLike[str] | None) -> Fabric | None:
    return None if discovered is None else ibnetdiscover.read(discovered)


def _zero(option: Option) -> Option:
    """Return an option with the value that switches it off; maps stay, since they select what gets zeros."""
    key, value = option.key, option.value
    if key == "congestion_control" or key.endswith("control_map"):
        return Option(key, value, "As before: selects the settings that get zeros")
    if key.endswith("mask"):
        return Option(key, mask(()), "No ports")
    if key == "cc_cct" or key.endswith("return_delay"):
        return Option(key, "0:0", "No delay")
    first, _, rest = value.partition(" ")
    return Option(key, f"{first} 0" if rest else "0", "Off, for each SL" if rest else "Off")


def text(found: list[Option], reasons: Mapping[str, str], head: list[str]) -> str:
    """Return options as part of a configuration, each key below its description and the reason for its value.

    Args:
        found: the options.
        reasons: reasons for the values, by the dotted keys of the scenario.
        head: comments at the top.

    """
    lines = [f"# {line}" for line in head]
    before = ""
    for option in found:
        if option.key == before:
            lines.append(f"{option.key} {option.value}")
            continue
        before = option.key
        why = [why for key, why in reasons.items() if f"{key}.".startswith(f"{option.source}.")]
        lines += [
            "",
            *(f"# {comment}" for comment in (option.means, *why[:1])),
            f"{option.key} {option.value}",
        ]
    return "\n".join(lines) + "\n"


def _switch(marking: Mapping[str, Any], numbers: PortNumbers, mistakes: Mistakes) -> Iterator[Option]:
    ((name, given),) = marking.items()
    if name not in ("ibta", "queue_threshold"):
        problem = "OpenSM's options cannot express this"
        mistakes.add(None, "marking", name, problem, "ibta, or queue_threshold by the nearest threshold")
        return
    where = f"marking.{name}"
    params = given if name == "ibta" else _as_ibta(given)
    sources = _SOURCES if name == "queue_threshold" else {}
    for key, value, means in (
        *_marks(params, where, numbers, mistakes),
        *_starvation(params, where, numbers, mistakes),
    ):
        yield Option(f"cc_sw_cong_setting_{key}", value, means, f"{where}.{sources.get(key, key)}")


def _marks(
    params: Mapping[str, Any], where: str, numbers: PortNumbers, mistakes: Mistakes
) -> Iterator[tuple[str, str, str]]:
    """Yield the key, value and meaning of each setting of marks."""
    starves = params["credit_mask"] != "none"
    in_use = VICTIM_MASK | THRESHOLD_AND_SIZE | MARKING_RATE | (CREDIT_MASK | STARVATION if starves else 0)
    also = "credit mask and starvation, " if starves else ""
    means = f"Settings in use: victim mask, {also}threshold and size, marking rate"
    yield "control_map", f"0x{in_use:X}", means
    victims, left = params["victim_mask"], 16 - params["threshold"]
    means = f"Ports that mark even without credit ({victims}), bit n for port n; {_MASKS[victims]}"
    yield "victim_mask", mask(numbers.of(f"{where}.victim_mask", victims, mistakes)), means
    means = f"Threshold: marks when waiting packets fill over {left}/16 of an input buffer, in becalm's model"
    means = means if left < 16 else "Threshold: marks nothing"
    yield "threshold", f"0x{params['threshold']:02X}", means
    means = "Packet_Size: size of the smallest packet to mark, in credits of 64 B"
    yield "packet_size", str(params["packet_size"]), means
    means = "Marking_Rate: eligible packets left unmarked between two marked ones"
    yield "marking_rate", str(params["marking_rate"]), means


def _starvation(
    params: Mapping[str, Any], where: str, numbers: PortNumbers, mistakes: Mistakes
) -> Iterator[tuple[str, str, str]]:
    """Yield the key, value and meaning of each setting of ports that return credit late."""
    starved = params["credit_mask"]
    if starved == "none":
        return
    shift, multiplier = params["cs_return_delay"]
    means = f"Ports that return credit late ({starved}), bit n for port n; {_MASKS[starved]}"
    yield "credit_mask", mask(numbers.of(f"{where}.credit_mask", starved, mistakes)), means
    means = "CS_Threshold: like the threshold, for ports that return credit late"
    yield "credit_starvation_threshold", f"0x{params['cs_threshold']:02X}", means
    means = "CS_ReturnDelay: delay of the credit, as shift:multiplier of a packet's transmission time"
    yield "credit_starvation_return_delay", f"{shift}:{multiplier}", means


def _as_ibta(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of `queue_threshold` as those of `ibta`, with the nearest threshold."""
    return {
        "threshold": min(range(1, 16), key=lambda threshold: abs((16 - threshold) / 16 - params["high"])),
        "victim_mask": "none" if params["root_only"] else "all",
        "packet_size": 0,
        "marking_rate": params["marking_rate"],
        "credit_mask": "none",
        "overrides": [],
    }


def _adapter(scenario: Scenario, used: Used, mistakes: Mistakes) -> Iterator[Option]:
    resolved = scenario.resolved
    name, params = scenario.response
    if name != "ibta":
        mistakes.add(None, "response", name, "is not a scheme of IBTA congestion control", "ibta")
        return
    if params["ccti_decrease"] != 1:
        mistakes.add(
            None, "response.ibta.ccti_decrease", str(params["ccti_decrease"]), "adapters support only 1", "1"
        )
    for kind in ("flows", "jobs"):
        for group in resolved[kind]:
            if group["response"] is not None:
                key = f"{kind}.{group['name']}.response"
                mistakes.add(None, key, "", "OpenSM sets up all adapters alike", "none")
    levels = used.levels
    prefix = "cc_ca_cong_setting"
    by_sl = resolved["adapter"]["port_control"] == "sl"
    yield Option(
        f"{prefix}_port_control",
        f"0x{int(by_sl):04X}",
        f"Port_Control: slows down {'service levels' if by_sl else 'queue pairs'}",
        "adapter.port_control",
    )
    yield Option(
        f"{prefix}_control_map",
        f"0x{sum(1 << level for level in levels):04X}",
        f"Service levels to set up, {used.origin}: {', '.join(map(str, levels))}",
    )
    for key, means in (
        ("ccti_timer", "CCTI_Timer: time between two steps down the table, in units of 1.024 us"),
        ("ccti_increase", "CCTI_Increase: steps up the table per BECN"),
        ("trigger_threshold", "Trigger_Threshold: index at which adapters log an event; 0 for none"),
        ("ccti_min", "CCTI_Min: smallest index"),
    ):
        source = f"response.ibta.{key}"
        for level in levels:
            yield Option(f"{prefix}_{key}", f"{level} {params[key]}", f"{means}; for each SL", source)
    yield _table(scenario.summary["cct"], params["ccti_limit"], mistakes)


def _table(delays: list[float], limit: int | None, mistakes: Mistakes) -> Option:
    used = delays if limit is None else delays[: limit + 1]
    if len(used) > LONGEST_TABLE:
        problem = f"OpenSM reads {LONGEST_TABLE} and ignores the rest"
        valid = f"ccti_limit at most {LONGEST_TABLE - 1}, or fewer entries, say for a smaller degree"
        mistakes.add(None, "response.ibta.cct", f"{len(used)} entries", problem, valid)
    value = ",".join(f"{shift}:{multiplier}" for shift, multiplier in map(nearest, used))
    length = len(f"cc_cct {value}")
    if length > LONGEST_LINE:
        problem = f"is a line of {length} characters, of which OpenSM reads {LONGEST_LINE}"
        mistakes.add(None, "response.ibta.cct", "", problem, "fewer entries, or shorter delays")
    means = (
        f"Table of {len(used)} delays, CCTI_Limit = {len(used) - 1}: shift:multiplier, "
        f"the longest {max(used):.6g} times a packet's own time"
    )
    return Option("cc_cct", value, means, "response.ibta.cct")
