"""Settings for congestion control that have no effect or cannot work, in a configuration of OpenSM."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike

from becalm.base.findings import Finding, in_order
from becalm.manager import TIMER_UNIT
from becalm.opensm.configuration import Configuration, Place, default, load, parse
from becalm.opensm.fabric import Fabric
from becalm.opensm.options import CREDIT_MASK, MARKING_RATE, STARVATION, THRESHOLD_AND_SIZE, VICTIM_MASK
from becalm.opensm.values import SERVICE_LEVELS

SWITCH = "cc_sw_cong_setting_"
ADAPTER = "cc_ca_cong_setting_"
PER_LEVEL = ("ccti_timer", "ccti_increase", "trigger_threshold", "ccti_min")

ALL_BITS = VICTIM_MASK | CREDIT_MASK | THRESHOLD_AND_SIZE | STARVATION | MARKING_RATE
BITS = {
    "victim_mask": VICTIM_MASK,
    "credit_mask": CREDIT_MASK,
    "threshold": THRESHOLD_AND_SIZE,
    "packet_size": THRESHOLD_AND_SIZE,
    "credit_starvation_threshold": STARVATION,
    "credit_starvation_return_delay": STARVATION,
    "marking_rate": MARKING_RATE,
}
"""The bits of the switches' control map that enable settings."""

LARGEST_PACKET = 4096 + 26
"""Bytes of the largest packet of InfiniBand, with the headers of every packet."""
LONGEST_RECOVERY = 0.5
"""Seconds from the end of the table to its beginning, beyond which a source counts as starved."""
LONGEST_DELAY = 4096
"""Packet times of an entry, beyond which a source counts as stopped: no hot spot has thousands of sources."""
CREDIT = 64
"""Bytes per unit of Packet_Size."""


def check(path: str | PathLike[str], fabric: Fabric | None = None) -> list[Finding]:
    """Read a configuration of OpenSM and return the findings, in the order of its lines.

    Args:
        path: the configuration.
        fabric: its fabric, for a check of the ports in its masks.

    Raises:
        FileNotFoundError: no such file.
        ScenarioError: not a text file in UTF-8.

    """
    return _findings(load(path), fabric)


def check_text(text: str, file: str) -> list[Finding]:
    """Return the findings of `check` about the text of a configuration; `file` is its name in messages."""
    return _findings(parse(text, file), None)


def _findings(found: Configuration, fabric: Fabric | None) -> list[Finding]:
    if found.value("congestion_control"):
        _check_switches(found)
        _check_starvation(found)
        _check_adapters(found)
        _check_table(found)
        _check_harm(found)
    else:
        _check_off(found)
    if fabric is not None:
        _check_ports(found, fabric)
    return in_order(found.findings)


def _given(found: Configuration) -> Iterator[Place]:
    """Yield the file's settings of congestion control that differ from OpenSM's defaults."""
    for place, setting in found.settings.items():
        if place.key.startswith("cc_") and setting.value != default(place.key):
            yield place


def _check_off(found: Configuration) -> None:
    for place in list(_given(found)):
        found.add(place, "does not use it: congestion_control is not TRUE", "congestion_control TRUE")


def _is_set(found: Configuration, key: str) -> bool:
    place = Place(key)
    return place in found.settings and found.settings[place].value != default(key)


def _reacts(found: Configuration) -> bool:
    """Whether adapters slow down."""
    increases = found.levels(f"{ADAPTER}ccti_increase")
    return any(increases) and len(found.value("cc_cct")) > 1


def _check_switches(found: Configuration) -> None:
    used = found.value(f"{SWITCH}control_map")
    on = Place("congestion_control")
    if used & ~ALL_BITS:
        found.add(Place(f"{SWITCH}control_map"), "sends bits that have no meaning", f"0x0 to 0x{ALL_BITS:X}")
    for name, bit in BITS.items():
        if _is_set(found, SWITCH + name) and not used & bit:
            does = f"sends it, but switches do not use it: it needs bit 0x{bit:X} of {SWITCH}control_map"
            found.add(Place(SWITCH + name), does, f"{SWITCH}control_map 0x{used & ALL_BITS | bit:X}")
    for name in ("threshold", "credit_starvation_threshold"):
        value = found.value(SWITCH + name)
        if value > 15:
            kept = value & 15
            means = ", which is off" if not kept else ""
            found.add(Place(SWITCH + name), f"sends only its low 4 bits: {kept}{means}", "0 to 15")
    size = found.value(f"{SWITCH}packet_size")
    if size * CREDIT > LARGEST_PACKET and used & THRESHOLD_AND_SIZE:
        does = f"sends it, so no packet is marked: all are smaller than {size * CREDIT} B"
        found.add(Place(f"{SWITCH}packet_size"), does, f"0 to {LARGEST_PACKET // CREDIT}")
    threshold = found.value(f"{SWITCH}threshold") if used & THRESHOLD_AND_SIZE else 0
    if threshold == 0 and _reacts(found):
        where = Place(f"{SWITCH}threshold")
        does = "sets up adapters, but no switch marks: the threshold is 0 or not used"
        valid = f"{SWITCH}threshold 1 to 15, with bit 0x{THRESHOLD_AND_SIZE:X} of {SWITCH}control_map"
        found.add(where if where in found.settings else on, does, valid)


def _check_starvation(found: Configuration) -> None:
    used = found.value(f"{SWITCH}control_map")
    parts = {
        "credit_mask": bool(found.value(f"{SWITCH}credit_mask")) and bool(used & CREDIT_MASK),
        "credit_starvation_threshold": bool(found.value(f"{SWITCH}credit_starvation_threshold") & 15),
        "credit_starvation_return_delay": found.value(f"{SWITCH}credit_starvation_return_delay").delay > 0,
    }
    missing = [name for name, given in parts.items() if not given]
    if not missing or len(missing) == len(parts):
        return
    for name, given in parts.items():
        if given:
            does = f"sends it, but it has no effect without {' and '.join(SWITCH + m for m in missing)}"
            found.add(Place(SWITCH + name), does, "all three, or none")


def _check_adapters(found: Configuration) -> None:
    control, levels = Place(f"{ADAPTER}port_control"), found.value(f"{ADAPTER}control_map")
    if found.value(control.key) & ~1:
        found.add(control, "sends bits that have no meaning", "0x0 or 0x1")
    for level in range(SERVICE_LEVELS):
        if levels >> level & 1:
            _check_level(found, level)
            continue
        for name in PER_LEVEL:
            place = Place(ADAPTER + name, level)
            if place in found.settings and found.settings[place].value:
                does = f"sends it, but adapters do not use it: SL {level} is not in {ADAPTER}control_map"
                found.add(place, does, f"{ADAPTER}control_map 0x{levels | 1 << level:04X}")


def _check_level(found: Configuration, level: int) -> None:
    """Check the settings of a service level that is set up."""
    timer, increase, trigger, least = (found.value(ADAPTER + name, level) for name in PER_LEVEL)
    limit = max(0, len(found.value("cc_cct")) - 1)
    map_place = Place(f"{ADAPTER}control_map")

    def add(name: str, does: str, valid: str, *, harmful: bool = False) -> None:
        place = Place(ADAPTER + name, level)
        where = place if place in found.settings else map_place
        found.add(where, f"{does}; SL {level}", valid, harmful=harmful)

    delays = [entry.delay for entry in found.value("cc_cct")] or [0.0]
    if increase and not timer:
        add("ccti_timer", "sets no timer: a source never regains its rate", "1 to 65535", harmful=True)
    seconds = limit * timer * TIMER_UNIT
    if increase and seconds > LONGEST_RECOVERY:
        does = f"sends it, and after a mark, a source needs up to {seconds:.2g} s to regain its rate"
        valid = f"at most {int(LONGEST_RECOVERY / limit / TIMER_UNIT)} with a table of {limit + 1} entries"
        add("ccti_timer", does, valid, harmful=True)
    if least and delays[min(least, limit)] > 0:
        waits = f"waits {delays[min(least, limit)]:.4g} packet times before each packet"
        add("ccti_min", f"sends it, and even without marks, every source {waits}", "0", harmful=True)
    if not increase and (timer or limit):
        add("ccti_increase", "sets no increase: marks do not slow sources", "1 to 255")
    if increase and not limit:
        add(
            "ccti_increase", "sends a table without entries, and CCTI_Limit 0", "cc_cct with 2 to 128 entries"
        )
    if least > limit:
        add(
            "ccti_min",
            f"sends it, but it lies beyond the table, whose last index is {limit}",
            f"0 to {limit}",
        )
    if trigger > limit:
        add("trigger_threshold", f"sends it, but the index reaches at most {limit}", f"0 to {limit}")


def _check_table(found: Configuration) -> None:
    place, table = Place("cc_cct"), found.value("cc_cct")
    if not table:
        return
    delays = [entry.delay for entry in table]
    if len(table) == 1 and delays[0] > 0:
        does = "sends CCTI_Limit 0 and no delays: a table of one entry counts as empty"
        found.add(place, does, "2 to 128 entries, the first one 0:0")
    if not found.value(f"{ADAPTER}control_map") and any(delays):
        does = f"sends it, but {ADAPTER}control_map sets up no service level"
        found.add(place, does, f"{ADAPTER}control_map 0x0001 for SL 0")
    down = next((i for i in range(1, len(delays)) if delays[i] < delays[i - 1]), None)
    if down is not None:
        does = f"sends it, but more marks mean less delay: entry {down} is below the previous entry"
        found.add(place, does, "delays that never fall")


def _check_harm(found: Configuration) -> None:
    """Note settings of the switches and of the table that can stop or starve a live fabric."""
    used = found.value(f"{SWITCH}control_map")
    rated = found.value(f"{SWITCH}marking_rate") if used & MARKING_RATE else 0
    place = Place(f"{SWITCH}threshold")
    if _reacts(found) and used & THRESHOLD_AND_SIZE and found.value(place.key) & 15 == 15 and not rated:
        does = "sends it, and switches mark every packet as soon as a sixteenth of a buffer is full"
        found.add(place, does, f"1 to 14, or {SWITCH}marking_rate 1 or more", harmful=True)
    table = Place("cc_cct")
    delays = [entry.delay for entry in found.value("cc_cct")]
    if table not in found.settings or not found.value(f"{ADAPTER}control_map") or len(delays) < 2:
        return
    if delays[0] > 0:
        waits = f"waits {delays[0]:.4g} packet times before each packet"
        does = f"sends it, and even without marks, every source {waits}"
        found.add(table, does, "0:0 as the first entry", harmful=True)
    at = next((index for index, delay in enumerate(delays) if delay > LONGEST_DELAY), None)
    if at is not None and any(found.levels(f"{ADAPTER}ccti_increase")):
        does = f"sends it, and entry {at} all but stops a source, which waits {delays[at]:.4g} packet times"
        valid = f"at most {LONGEST_DELAY}, enough for that many sources of one hot spot"
        found.add(table, does, valid, harmful=True)


def _check_ports(found: Configuration, fabric: Fabric) -> None:
    """Check that a fabric has the ports of the masks; a mask of all ports names more than exist."""
    there = frozenset(port for switch in fabric.switches for port in switch.ports)
    used = found.value(f"{SWITCH}control_map")
    for name in ("victim_mask", "credit_mask"):
        value = found.value(SWITCH + name)
        named = {port for port in range(255) if value >> port & 1}
        if not named or not used & BITS[name] or there <= named:
            continue
        place = Place(SWITCH + name)
        if absent := named - there:
            ports = ", ".join(map(str, sorted(absent)[:8]))
            does = f"sends it, but no switch has a cable at port {ports}{', ...' if len(absent) > 8 else ''}"
            found.add(place, does, f"ports from {min(there)} to {max(there)} of {fabric.file}")
