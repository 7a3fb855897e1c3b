"""Settings of single ports of switches, as a script for `ibccconfig` of infiniband-diags.

OpenSM's options are the same for all ports (SwitchCongestionSetting). A port has settings of its own
(SwitchPortCongestionSetting) while they are marked as valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from becalm._core import __version__
from becalm.base.mistakes import Mistakes
from becalm.opensm import ibnetdiscover
from becalm.opensm.fabric import Fabric
from becalm.opensm.masks import check_fabric
from becalm.scenario import Scenario

FIELDS = ("threshold", "packet_size", "marking_rate")
"""Settings of a port, in the order of `ibccconfig`."""
WORDS = ("hosts", "switches", "all")
"""Ports that an override may name."""

_SCRIPT = """\
#!/bin/sh
# Congestion settings of single ports for the fabric of {name}; made by becalm {version}.
# Set them with `sh FILE`, after OpenSM has sent its options. `sh FILE undo` declares them invalid, so that
# OpenSM's options apply to these ports, too. Switches lose them when they restart: run this again.
# Needs ibccconfig (infiniband-diags) and a running subnet manager; with a congestion key, CC_KEY=0x... first.
set -e
case "${{1-set}}" in
set) valid=1 ;;
undo) valid=0 ;;
*) echo "usage: sh $0 [undo]" >&2; exit 2 ;;
esac
# GUID of the switch, port, Threshold, Packet_Size, Marking_Rate; 0: the port marks (Control_Type)
port() {{
    ibccconfig -c "${{CC_KEY-0}}" -G SwitchPortCongestionSetting "$1" "$2" "$valid" 0 "$3" "$4" "$5"
}}
"""


class Port(NamedTuple):
    """A port of a switch with settings of its own."""

    switch: str
    guid: int
    number: int
    threshold: int
    packet_size: int
    marking_rate: int


def script_of(path: Path) -> Path:
    """Return the file of the script that belongs to a file of options."""
    return path.with_name(f"{path.name}.ports")


def has_own(scenario: Scenario) -> bool:
    """Whether ports of the scenario's switches have settings of their own."""
    return bool(scenario.marking.keys.get("overrides"))


def script(scenario: Scenario, discovered: str | PathLike[str] | None) -> str:
    """Return a script that sets the ports that have settings of their own, and undoes that with `undo`.

    Args:
        scenario: the scenario with the parameters.
        discovered: output of `ibnetdiscover` for its fabric.

    Raises:
        ScenarioError: settings that a port cannot have, no output of `ibnetdiscover`, or errors in it.

    """
    mistakes = Mistakes(scenario.name)
    check(scenario, mistakes)
    if discovered is None:
        overrides = scenario.marking.keys["overrides"]
        problem = "need the numbers of the ports, which a scenario does not have"
        valid = "with --fabric and the output of ibnetdiscover, or --guideline becalm2_opensm"
        mistakes.add(None, "marking.ibta.overrides", f"{len(overrides)} of them", problem, valid)
    mistakes.check()
    assert discovered is not None
    fabric = ibnetdiscover.read(discovered)
    check_fabric(scenario, fabric, mistakes)
    mistakes.check()
    head = _SCRIPT.format(name=Path(scenario.name).name, version=__version__)
    lines, before = [head], ""
    for each in ports(scenario, fabric):
        if each.switch != before:
            lines.append(f"# {each.switch}\n")
            before = each.switch
        values = " ".join(str(getattr(each, field)) for field in ("number", *FIELDS))
        lines.append(f"port 0x{each.guid:016x} {values}\n")
    return "".join(lines)


def ports(scenario: Scenario, fabric: Fabric) -> Iterator[Port]:
    """Yield the ports with cables whose settings differ from those of all ports."""
    marking = scenario.marking.keys
    usual = {field: marking[field] for field in FIELDS}
    for switch in fabric.switches:
        for number, peer in sorted(switch.ports.items()):
            own = dict(usual)
            for each in marking["overrides"]:
                if each["ports"] in ("all", "hosts" if peer.is_host else "switches"):
                    own |= _given(each)
            if own != usual:
                yield Port(switch.name, switch.guid, number, **own)


def check(scenario: Scenario, mistakes: Mistakes) -> None:
    """Note overrides that do not name their ports by what they lead to, or that a script cannot set."""
    for place, each in enumerate(scenario.marking.keys["overrides"]):
        key = f"marking.ibta.overrides[{place}]"
        if each["switches"] != ["*"]:
            mistakes.add(
                None, f"{key}.switches", ", ".join(each["switches"]), "cannot be exported", 'all: ["*"]'
            )
        if each["ports"] not in WORDS:
            mistakes.add(None, f"{key}.ports", str(each["ports"]), "cannot be exported", ", ".join(WORDS))
        for name in set(each) - {"switches", "ports", *FIELDS}:
            if each[name] is not None:
                problem = "cannot be exported: OpenSM has one mask for all switches, and one starvation"
                mistakes.add(None, f"{key}.{name}", str(each[name]), problem, ", ".join(FIELDS))


def _given(override: Mapping[str, Any]) -> dict[str, int]:
    return {field: override[field] for field in FIELDS if override[field] is not None}
