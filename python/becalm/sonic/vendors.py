"""Settings of a scenario as lines for other switches, Cumulus (NVUE) and Arista EOS, and for adapters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from becalm.base.quantities import seconds
from becalm.scenario import Scenario
from becalm.sonic.patches import Thresholds

PROFILE = "becalm"


def nvue(wanted: Thresholds, speed: int, priority: int) -> tuple[list[str], list[str]]:
    """Return commands of NVUE, and those that undo them; `speed` is that of the ports in Mb/s."""
    low, high = wanted.at(speed)
    where = f"qos congestion-control {PROFILE} traffic-class {priority}"
    keys = {
        "min-threshold": low,
        "max-threshold": high,
        "probability": wanted.percent,
        "ecn": "enable",
        "red": "disable",
    }
    lines = [
        "nv set qos roce mode lossless",
        *(f"nv set {where} {key} {value}" for key, value in keys.items()),
    ]
    return lines, [f"nv unset qos congestion-control {PROFILE}", "nv unset qos roce"]


def eos(wanted: Thresholds, speed: int, priority: int) -> tuple[list[str], list[str]]:
    """Return lines of EOS, and those that undo them. Weight 0 marks by the queue as it is, without a mean."""
    low, high = wanted.at(speed)
    limits = f"minimum-threshold {low} bytes maximum-threshold {high} bytes"
    lines = [
        f"qos profile {PROFILE}",
        "   qos trust dscp",
        "   priority-flow-control on",
        f"   priority-flow-control priority {priority} no-drop",
        f"   uc-tx-queue {priority}",
        f"      random-detect ecn {limits} max-mark-probability {wanted.percent} weight 0",
    ]
    return lines, [f"no qos profile {PROFILE}"]


NAMES = {
    "g": "dce_tcp_g",
    "initial_alpha": "initial_alpha_value",
    "alpha_timer": "dce_tcp_rtt",
    "cut_interval": "rate_reduce_monitor_period",
    "min_decrease_factor": "rpg_min_dec_fac",
    "clamp_target": "clamp_tgt_rate",
    "increase_timer": "rpg_time_reset",
    "byte_counter": "rpg_byte_reset",
    "fast_recovery": "rpg_threshold",
    "additive_increase": "rpg_ai_rate",
    "hyper_increase": "rpg_hai_rate",
    "min_rate": "rpg_min_rate",
}
"""Names of ConnectX adapters for the keys of DCQCN."""
TIMES = frozenset({"alpha_timer", "cut_interval", "increase_timer"})


def adapters(scenario: Scenario, priority: int) -> list[str]:
    """Return the settings of ConnectX adapters as comments, with the names of their files."""
    dcqcn = scenario.response.get("dcqcn")
    if dcqcn is None:
        return []
    rest = "the adapter's defaults" if dcqcn["preset"] == "connectx" else "those of the preset `paper`"
    return [
        f"# DCQCN of ConnectX adapters: files in /sys/class/net/DEV/ecn/roce_rp, with enable/{priority} 1",
        *(f"# {name} {value}" for name, value in _values(dcqcn)),
        f"# other values: {rest}",
    ]


def _values(dcqcn: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, name in NAMES.items():
        value = dcqcn.get(key)
        if value is None:
            continue
        if key == "g":
            value = round(1024 * (1 - value))
        elif key == "initial_alpha":
            value = round(1023 * value)
        elif key == "min_decrease_factor":
            value = round(100 * value)
        elif key in TIMES:
            value = round(1e6 * seconds(value))
        yield name, str(int(value))
