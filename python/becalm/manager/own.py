"""becalm's own guidelines, which searches on several fabrics have in common (docs/advice.md).

`becalm` suits all numbers of contributors alike. `becalm2` spares few contributors: ports between switches
mark late and rarely, and most of the table's delays are near the fair shares of two to four contributors.
`becalm2_opensm` is the part of it that OpenSM's options hold, which are the same for all ports.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from becalm.manager.settings import ENTRIES, TIMER_UNIT, Setting, nearest

SHAPES = ("linear", "quadratic", "geometric", "fine")
"""Curves of a table of delays."""
KNEE, GROWTH = 2.56, 1.45
"""Last delay near the fair shares of few contributors in a fine table, in packet times; factor between the
delays after it."""


def table(
    *, shape: str, entries: int, longest: float, packet_time: float, first: float = 0.0
) -> dict[str, Any]:
    """Return a table of delays by dotted key.

    Args:
        shape: one of `SHAPES`.
        entries: number of delays.
        longest: the last delay, in packet times.
        packet_time: time of a full packet on a host's link, in s.
        first: the first delay above 0, in packet times; only for a geometric or fine table.

    """
    if shape == "fine":
        return {"response.ibta.cct.list.entries": fine(first, longest, entries)}
    key, packet_us = f"response.ibta.cct.{shape}", packet_time * 1e6
    found: dict[str, Any] = {f"{key}.entries": entries, f"{key}.packet_time": f"{packet_us:.6g} us"}
    if shape == "linear":
        return {f"{key}.max": f"{longest * packet_us:.6g} us", **found}
    if shape == "quadratic":
        divisor = float(entries - 1)
        return {f"{key}.numerator": float(f"{longest * packet_us:.6g}"), f"{key}.divisor": divisor, **found}
    ratio = (longest / first) ** (1 / (entries - 2))
    return {f"{key}.first": f"{first * packet_us:.6g} us", f"{key}.ratio": float(f"{ratio:.8g}"), **found}


def fine(first: float, longest: float, entries: int = ENTRIES) -> list[list[int]]:
    """Return a table of two geometric parts, as pairs of shift and multiplier.

    The first part ends at `KNEE`, and the second grows by about `GROWTH` per entry. An entry is a multiple of
    an eighth of a packet time, so several entries of the first part are equal: a source stays at such a rate
    for several marks or steps of the timer.

    Args:
        first: the first delay above 0, in packet times.
        longest: the last delay, in packet times.
        entries: number of delays.

    """
    # From the rounded ends, so that the ends of a table say all of it.
    first, longest = _rounded(first), _rounded(max(longest, KNEE * GROWTH))
    rest = round(math.log(longest / KNEE) / math.log(GROWTH))
    count = entries - 1 - rest
    delays = [0.0]
    delays += [first * (KNEE / first) ** (place / (count - 1)) for place in range(count)]
    delays += [KNEE * (longest / KNEE) ** (place / rest) for place in range(1, rest + 1)]
    return [list(nearest(delay)) for delay in delays]


def _rounded(delay: float) -> float:
    shift, multiplier = nearest(delay)
    return multiplier / (1 << shift)


def _threshold(share: float) -> int:
    """Return the threshold nearest to a share of an input buffer."""
    return min(15, max(1, 16 - round(16 * share)))


def _mask(facts: Mapping[str, Any]) -> Iterator[Setting]:
    if facts["pfc"]:
        why = "with PFC, credit does not distinguish roots from victims"
        yield Setting("marking.ibta.victim_mask", "all", why)
    elif facts["drain_capped"]:
        why = "hosts receive more slowly than their links deliver, so the switch in front of them marks"
        yield Setting("marking.ibta.victim_mask", "host_ports", why)


def _steps(packet: float, step: float, hold: float, why: str) -> Iterator[Setting]:
    """Return the timer that is nearest to `step` packet times, and the increase that `hold` of them undo."""
    timer = max(1, round(step * packet / TIMER_UNIT))
    increase = min(127, max(1, round(hold * packet / (timer * TIMER_UNIT))))
    why = f"a BECN lasts {hold:g} packet times, {increase * timer * TIMER_UNIT * 1e6:.3g} us{why}"
    yield Setting("response.ibta.ccti_increase", increase, why)
    why = f"{step:.3g} packet times, at least a unit of 1.024 us: the time of one step down the table"
    yield Setting("response.ibta.ccti_timer", timer, why)


WAITING = 4.0
"""Number of queued packets above which becalm's first guideline marks."""
HOLD = 38.0
"""Packet times for which a BECN slows a source down in becalm's first guideline."""
STEP = 4.5
"""Packet times per timer step in becalm's first guideline."""
FIRST, LONGEST = 0.2, 2.0
"""First delay in packet times, and longest delay in packet times per contributor, in the first guideline."""


def becalm(facts: Mapping[str, Any], contributors: int) -> Iterator[Setting]:
    """Derive the settings that searches on five fabrics share, in packet times; see docs/advice.md."""
    packet = facts["packet_time"]
    threshold = _threshold(WAITING * facts["packet_bytes"] / facts["buffer"])
    yield Setting(
        "marking.ibta.threshold", threshold, f"{16 - threshold}/16 of a buffer: {WAITING:g} packets wait"
    )
    yield Setting(
        "marking.ibta.marking_rate",
        0,
        "every packet is marked; the table's fine steps keep the response gentle",
    )
    yield from _mask(facts)
    yield Setting("echo.ibta", {}, "ACKs return marks (FECN) as BECN")
    yield from _steps(packet, STEP, HOLD, "")
    longest = max(LONGEST * contributors, 4.0)
    shaped = table(shape="geometric", entries=ENTRIES, first=FIRST, longest=longest, packet_time=packet)
    reasons = {
        "first": f"{FIRST:g} packet times: steps are as fine for few contributors as for many",
        "ratio": f"to {longest:.4g} packet times, {LONGEST:g} for each of {contributors} contributors",
        "entries": "the most that OpenSM reads",
        "packet_time": "time of a full packet on a host's link",
    }
    for key, value in shaped.items():
        yield Setting(key, value, reasons[key.rsplit(".", 1)[1]])


LATE, RARE = 14 / 16, 1
"""Share of a buffer above which ports between switches mark in the second guideline; eligible packets that
they leave unmarked between two marked ones."""
DEEP = 4.0, 0.5
"""Packets, and the share of a buffer in addition, above which other ports mark in the second guideline, but
at most `LATE`."""
HOLD_2, HEARD = 54.0, 1.5
"""Packet times for which a BECN slows a source down in the second guideline: at least, and per contributor,
since contributors take turns in hearing one."""
STEPS = 6.5
"""Steps of the table per BECN in the second guideline, if the unit of the timer permits it."""
FIRST_2, LONGEST_2 = 0.5, 3.0
"""First delay in packet times, and longest delay in packet times per contributor, in the second guideline.
Between two marks, the timer lowers the index by several steps, and the last steps are wide."""


def becalm2(facts: Mapping[str, Any], contributors: int) -> Iterator[Setting]:
    """Derive the settings that spare few contributors; see docs/advice.md."""
    yield from _second(facts, contributors)
    late = {"switches": ["*"], "ports": "switches", "threshold": _threshold(LATE), "marking_rate": RARE}
    why = "ports between switches mark late and rarely: few contributors that meet there harm nobody"
    yield Setting("marking.ibta.overrides", [late], why)


def becalm2_opensm(facts: Mapping[str, Any], contributors: int) -> Iterator[Setting]:
    """Derive the settings of `becalm2` that OpenSM's options hold: those without ports of their own."""
    yield from _second(facts, contributors)


def _second(facts: Mapping[str, Any], contributors: int) -> Iterator[Setting]:
    packets, share = DEEP
    threshold = _threshold(min(LATE, packets * facts["packet_bytes"] / facts["buffer"] + share))
    why = (
        f"{16 - threshold}/16 of a buffer: {packets:g} packets and {share:.0%} of it wait, at most {LATE:.0%}"
    )
    yield Setting("marking.ibta.threshold", threshold, why)
    why = "every packet is marked; the table's fine steps keep the response gentle"
    yield Setting("marking.ibta.marking_rate", 0, why)
    yield from _mask(facts)
    yield Setting("echo.ibta", {}, "ACKs return marks (FECN) as BECN")
    hold = max(HOLD_2, HEARD * contributors)
    yield from _steps(facts["packet_time"], hold / STEPS, hold, ", until a contributor hears the next one")
    longest = max(LONGEST_2 * contributors, 4.0)
    why = (
        f"most delays are between {FIRST_2:g} and {KNEE:g} packet times, the shares of 2 to 4 contributors; "
        f"the last is {LONGEST_2:g} for each of {contributors}"
    )
    yield Setting("response.ibta.cct.list.entries", fine(FIRST_2, longest), why)
