"""Parameters of congestion control as OpenSM's configuration has them (`cc_*`), to append to `opensm.conf`.

Formats and limits are those of OpenSM 3.3: it reads lines of at most 1022 characters, tables of at most 128
entries, and takes CCTI_Limit from the length of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from becalm._core import __version__
from becalm.design.tabulate import nearest
from becalm.manager import Recommendation
from becalm.mistakes import Mistakes
from becalm.opensm import ibnetdiscover
from becalm.opensm.fabric import Fabric
from becalm.scenario import Scenario

LONGEST_LINE = 1022
"""Characters of a line that OpenSM reads, with its end."""
LONGEST_TABLE = 128
"""Entries of a table that OpenSM reads."""
PORTS = range(1, 255)
"""Ports that a mask may name: 0 is the switch itself, 255 is reserved."""

VICTIM_MASK, THRESHOLD_AND_SIZE, MARKING_RATE = 1 << 0, 1 << 2, 1 << 4
"""What a bit of the switches' control map says is to be used."""

_MASKS = {
    "none": "a port without credit is no root of congestion",
    "all": "all but the switch's own port 0",
    "host_ports": "OpenSM sets them at all switches, those without hosts included",
}


@dataclass(frozen=True)
class Option:
    """A line of the configuration."""

    key: str
    value: str
    means: str
    """What the parameter is."""
    source: str = ""
    """Dotted key of the scenario's value that it comes from."""


def configuration(
    scenario: Scenario, recommendation: Recommendation, discovered: str | PathLike[str] | None = None
) -> str:
    """Return lines for `opensm.conf`: the parameters of a scenario, with the reasons of a guideline.

    Args:
        scenario: with the parameters.
        recommendation: where they come from.
        discovered: what `ibnetdiscover` printed; needed where the victim mask is `host_ports`.

    Raises:
        ScenarioError: with everything that OpenSM's options cannot say, or the mistakes in the file.

    """
    fabric = None if discovered is None else ibnetdiscover.read(discovered)
    found = options(scenario, fabric)
    by = f", by the guideline of {recommendation.guideline}" if recommendation.settings else ""
    head = [
        f"Congestion control for the fabric of {Path(scenario.name).name}{by}; made by becalm {__version__}.",
        "To be appended to opensm.conf, where the last line of several with the same key holds.",
    ]
    return text(found, {setting.key: setting.why for setting in recommendation.settings}, head)


def options(scenario: Scenario, fabric: Fabric | None = None) -> list[Option]:
    """Return the parameters of a scenario's congestion control as OpenSM's options.

    Args:
        scenario: with the response `ibta`, and the marking `ibta` or `queue_threshold`. The latter's high
            threshold becomes the nearest of those that IBTA's 4 bits can say.
        fabric: the fabric, for the numbers of its ports; needed where the victim mask is `host_ports`.

    Raises:
        ScenarioError: with everything that OpenSM's options cannot say.

    """
    mistakes = Mistakes(scenario.name)
    resolved = scenario.resolved
    found = [Option("congestion_control", "TRUE", "Whether congestion control is set up")]
    found += _switch(resolved["marking"], _Ports(scenario, fabric), mistakes)
    found += _adapter(scenario, mistakes)
    mistakes.check()
    return found


def text(found: list[Option], reasons: Mapping[str, str], head: list[str]) -> str:
    """Return options as part of a configuration, each below what it is and why it has that value.

    Args:
        found: the options.
        reasons: why, by the dotted keys of the scenario's values.
        head: comments to begin with.

    """
    lines = [f"# {line}" for line in head]
    for option in found:
        why = [why for key, why in reasons.items() if f"{key}.".startswith(f"{option.source}.")]
        lines += [
            "",
            *(f"# {comment}" for comment in (option.means, *why[:1])),
            f"{option.key} {option.value}",
        ]
    return "\n".join(lines) + "\n"


def mask(ports: Iterable[int]) -> int:
    """Return the mask of ports: bit n for port n."""
    return sum(1 << port for port in ports)


class _Ports:
    """The fabric whose ports a victim mask names."""

    def __init__(self, scenario: Scenario, fabric: Fabric | None) -> None:
        self.scenario = scenario
        self.fabric = fabric

    def of(self, victim_mask: str, mistakes: Mistakes) -> frozenset[int]:
        if victim_mask == "none":
            return frozenset()
        return frozenset(PORTS) if victim_mask == "all" else self.to_hosts(mistakes)

    def to_hosts(self, mistakes: Mistakes) -> frozenset[int]:
        """Return the ports that lead to hosts, which must be the same at all switches that have some."""
        key, value = "marking.ibta.victim_mask", "host_ports"
        if self.fabric is None:
            problem = "needs the numbers of the ports, which a scenario does not have"
            mistakes.add(None, key, value, problem, "with --fabric and the output of ibnetdiscover")
            return frozenset()
        self.check_same(self.fabric, mistakes)
        by_switch = {
            switch.name: frozenset(port for port, peer in switch.ports.items() if peer.is_host)
            for switch in self.fabric.switches
        }
        used = {name: ports for name, ports in by_switch.items() if ports}
        (first, ports), *others = used.items()
        for name, other in others:
            if other != ports:
                where = f"hosts are at ports {_listed(ports)} of {first} and {_listed(other)} of {name}"
                problem = f"OpenSM has one mask for all switches, but {where}"
                mistakes.add(None, key, value, problem, "none or all")
                break
        return ports

    def check_same(self, fabric: Fabric, mistakes: Mistakes) -> None:
        facts = self.scenario.facts
        ours, theirs = (facts["hosts"], facts["switches"]), (len(fabric.hosts), len(fabric.switches))
        if ours != theirs:
            problem = f"has {theirs[0]} hosts and {theirs[1]} switches, the scenario {ours[0]} and {ours[1]}"
            mistakes.add(None, fabric.file, "", problem, "the fabric that the scenario was imported from")


def _switch(marking: Mapping[str, Any], ports: _Ports, mistakes: Mistakes) -> Iterator[Option]:
    ((name, params),) = marking.items()
    if name not in ("ibta", "queue_threshold"):
        problem = "OpenSM's options cannot say this"
        mistakes.add(None, "marking", name, problem, "ibta, or queue_threshold by the nearest threshold")
        return
    if params.get("overrides"):
        problem = "OpenSM's options are the same for all ports"
        mistakes.add(None, "marking.ibta.overrides", f"{len(params['overrides'])} of them", problem, "none")
    if name == "ibta":
        threshold, victims = params["threshold"], params["victim_mask"]
    else:
        threshold, victims = _nearest_threshold(params["high"]), "none" if params["root_only"] else "all"
    where = f"marking.{name}"
    prefix = "cc_sw_cong_setting"
    in_use = VICTIM_MASK | THRESHOLD_AND_SIZE | MARKING_RATE
    yield Option(
        f"{prefix}_control_map",
        f"{in_use:#x}",
        "What follows is used: victim mask, threshold and size, marking rate",
    )
    yield Option(
        f"{prefix}_victim_mask",
        f"{mask(ports.of(victims, mistakes)):#066x}",
        f"Ports that mark without credit, too ({victims}), bit n for port n; {_MASKS[victims]}",
        f"{where}.{'victim_mask' if name == 'ibta' else 'root_only'}",
    )
    yield Option(
        f"{prefix}_threshold",
        f"{threshold:#04x}",
        f"Threshold: marks when more than {16 - threshold}/16 of an input buffer waits, as becalm models it"
        if threshold
        else "Threshold: marks nothing",
        f"{where}.{'threshold' if name == 'ibta' else 'high'}",
    )
    yield Option(
        f"{prefix}_packet_size",
        str(params.get("packet_size", 0)),
        "Packet_Size: the smallest packet that is marked, in credits of 64 B",
        f"{where}.packet_size",
    )
    yield Option(
        f"{prefix}_marking_rate",
        str(params["marking_rate"]),
        "Marking_Rate: packets that could be marked and are not, between two that are",
        f"{where}.marking_rate",
    )


def _nearest_threshold(high: float) -> int:
    """Return the threshold, 1 to 15, nearest to a share of an input buffer."""
    return min(range(1, 16), key=lambda threshold: abs((16 - threshold) / 16 - high))


def _adapter(scenario: Scenario, mistakes: Mistakes) -> Iterator[Option]:
    resolved = scenario.resolved
    ((name, params),) = resolved["response"].items()
    if name != "ibta":
        mistakes.add(None, "response", name, "is not IBTA congestion control", "ibta")
        return
    if params["ccti_decrease"] != 1:
        mistakes.add(
            None, "response.ibta.ccti_decrease", str(params["ccti_decrease"]), "adapters know only 1", "1"
        )
    for group in resolved["flows"]:
        if group["response"] is not None:
            mistakes.add(
                None, f"flows.{group['name']}.response", "", "OpenSM sets up all adapters alike", "none"
            )
    levels = sorted({group["sl"] for group in resolved["flows"]})
    prefix = "cc_ca_cong_setting"
    by_sl = resolved["adapter"]["port_control"] == "sl"
    yield Option(
        f"{prefix}_port_control",
        f"{int(by_sl):#06x}",
        f"Port_Control: slows down {'service levels' if by_sl else 'queue pairs'}",
        "adapter.port_control",
    )
    yield Option(
        f"{prefix}_control_map",
        f"{sum(1 << level for level in levels):#06x}",
        f"Service levels that are set up, those of the scenario's flows: {', '.join(map(str, levels))}",
    )
    for key, means in (
        ("ccti_timer", "CCTI_Timer: time between two steps down the table, in units of 1.024 us"),
        ("ccti_increase", "CCTI_Increase: steps up the table for a BECN"),
        ("trigger_threshold", "Trigger_Threshold: index that is logged; 0 for none"),
        ("ccti_min", "CCTI_Min: index that is never left downward"),
    ):
        source = f"response.ibta.{key}"
        for level in levels:
            yield Option(f"{prefix}_{key}", f"{level} {params[key]}", f"{means}; for SL {level}", source)
    yield _table(scenario.facts["cct"], params["ccti_limit"], mistakes)


def _table(delays: list[float], limit: int | None, mistakes: Mistakes) -> Option:
    used = delays if limit is None else delays[: limit + 1]
    if len(used) > LONGEST_TABLE:
        problem = f"OpenSM reads {LONGEST_TABLE} and passes over the rest"
        valid = f"ccti_limit at most {LONGEST_TABLE - 1}, or fewer entries, say for a smaller degree"
        mistakes.add(None, "response.ibta.cct", f"{len(used)} entries", problem, valid)
    value = ",".join(f"{shift}:{multiplier}" for shift, multiplier in map(nearest, used))
    if len(f"cc_cct {value}\n") > LONGEST_LINE:
        problem = (
            f"is a line of {len(f'cc_cct {value}')} characters, of which OpenSM reads {LONGEST_LINE - 1}"
        )
        mistakes.add(None, "response.ibta.cct", "", problem, "fewer entries, or shorter delays")
    means = (
        f"Table of {len(used)} delays, CCTI_Limit = {len(used) - 1}: shift:multiplier, "
        f"the longest {max(used):.6g} times a packet's own time"
    )
    return Option("cc_cct", value, means, "response.ibta.cct")


def _listed(ports: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(ports)))
