"""The guidelines: parameters of congestion control derived from the fabric of a scenario."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from becalm.base.errors import BecalmError
from becalm.manager import roce
from becalm.manager.own import becalm, becalm2, becalm2_opensm
from becalm.manager.settings import (
    AS_IT_IS,
    DEFAULT,
    ENTRIES,
    LONGEST_TABLE,
    SW_TH,
    TIMER,
    TIMER_UNIT,
    Fabric,
    Recommendation,
    Setting,
)


def recommend(
    scenario: Fabric, *, hot_spot_degree: int | None = None, guideline: str = DEFAULT
) -> Recommendation:
    """Derive the parameters of congestion control for the fabric of a scenario.

    Args:
        scenario: the topology, packets and adapters. Marking, echo and response are ignored.
        hot_spot_degree: largest number of sources that send to one hot spot; default: all hosts.
        guideline: one of `GUIDELINES`, or of `ROCE` for a RoCE fabric; `none` for no settings at all.

    Raises:
        BecalmError: the guideline is unknown, or the degree is below 2 or above the number of hosts; or a
            guideline for RoCE on another fabric.

    """
    check_guideline(guideline)
    if guideline in roce.GUIDELINES and not roce.is_roce(scenario):
        raise BecalmError(
            f"guideline `{guideline}`: needs PFC, or a response that reads marks of a ramp; "
            f"valid: {', '.join(GUIDELINES)}"
        )
    pfc = scenario.flow_control.name == "pfc"
    facts = {**scenario.summary, "alone": waiting_alone(scenario), "pfc": pfc, "buffer": _buffer(scenario)}
    degree = facts["hosts"] if hot_spot_degree is None else hot_spot_degree
    if not 2 <= degree <= facts["hosts"]:
        raise BecalmError(f"contributors {degree}: must be between 2 and the {facts['hosts']} hosts")
    if guideline == AS_IT_IS:
        return Recommendation(AS_IT_IS, [])
    if guideline in roce.GUIDELINES:
        return roce.recommend(scenario, degree, guideline)
    return Recommendation(guideline, list(GUIDELINES[guideline](facts, degree)))


def check_guideline(name: str) -> None:
    """Check that a guideline exists.

    Raises:
        BecalmError: no guideline has this name.

    """
    valid = (*GUIDELINES, *roce.GUIDELINES, AS_IT_IS)
    if name not in valid:
        raise BecalmError(f"guideline `{name}`: unknown; valid: {', '.join(valid)}")


def guidelines_for(scenario: Fabric) -> tuple[str, ...]:
    """Return the guidelines for a fabric: those of the IBTA's congestion control, or those for RoCE.

    Raises:
        BecalmError: the response of the scenario follows no guideline.

    """
    if roce.is_roce(scenario):
        return tuple(roce.GUIDELINES)
    response = scenario.response.name
    if response in roce.OTHERS:
        raise BecalmError(
            f"response `{response}`: no guideline is for it; valid: {', '.join((*roce.READERS, 'ibta'))}, or "
            f"`becalm tune`, which searches the parameters of `{response}`"
        )
    return tuple(GUIDELINES)


def _pfister2005(facts: Mapping[str, Any], degree: int) -> Iterator[Setting]:
    hosts, packet_us = facts["hosts"], facts["packet_time"] * 1e6
    yield from _threshold(facts["alone"])
    if facts["pfc"]:
        why = "a paused output cannot determine whether it is a root"
        yield Setting("marking.queue_threshold.root_only", False, why)
    yield Setting("echo.ibta", {}, "ACKs return marks (FECN) as BECN")
    longest = degree * packet_us
    why = f"max_ipd, the longest delay: {degree} sources can share one link, at {packet_us:.4g} us per packet"
    margin = _margin(degree, facts["packet_time"])
    if margin > 1:
        longest *= margin
        why += f"; {margin - 1:.1%} more to offset the timer, which shortens the delay between two marks"
    yield Setting("response.ibta.cct.linear.max", f"{longest:.6g} us", why)
    why = "time of a full packet on a host's link"
    yield Setting("response.ibta.cct.linear.packet_time", f"{packet_us:.6g} us", why)
    yield Setting("response.ibta.cct.linear.entries", ENTRIES, "128 entries are enough")
    increase = max(1, round(min(hosts / 6, degree / 2)))
    yield Setting(
        "response.ibta.ccti_increase",
        increase,
        f"ipd_idx_incr: the smaller of a sixth of {hosts} ports and half of {degree} sources",
    )
    yield Setting("response.ibta.ccti_timer", TIMER, "rec_time: about 10 us, in units of 1.024 us")


def _threshold(alone: tuple[float, float]) -> Iterator[Setting]:
    key = "marking.queue_threshold"
    if alone[0] > SW_TH:
        why = "sw_th: 90% of an input buffer, to mark only persistent queues"
        yield Setting(f"{key}.high", SW_TH, why)
        return
    high, low = (math.floor(95 * share) / 100 for share in alone)
    why = (
        f"sw_th: below 90%, because packets for a port with one input fill at most {alone[0]:.0%} of a buffer"
    )
    yield Setting(f"{key}.high", high, why)
    why = f"packets that still wait after a departure fill at most {alone[1]:.0%} of a buffer"
    yield Setting(f"{key}.low", min(low, round(high * 8 / 9, 2)), why)


def waiting_alone(scenario: Fabric) -> tuple[float, float]:
    """Return the largest queues for an output fed by only one input, as shares of an input buffer.

    All full packets wait except the departing packet, and the next departure finds one fewer. The shares are
    infinite if every switch has several cables to others, so that several inputs feed a hot port.
    """
    links = scenario.network().links
    between = links.filter((links["from_level"] > 0) & (links["to_level"] > 0))
    facts = scenario.summary
    packets = facts["buffer_packets"]
    if packets is None or 1 not in Counter(between["from"].to_list()).values():
        return math.inf, math.inf
    share = facts["packet_bytes"] / facts["buffer_bytes"]
    return max(0, packets - 1) * share, max(0, packets - 2) * share


def _buffer(scenario: Fabric) -> float:
    """Return the size of an input buffer in bytes; infinite without a limit."""
    return scenario.summary["buffer_bytes"] or math.inf


def _margin(degree: int, packet_time: float) -> float:
    """Return the factor by which the longest delay must exceed `degree` packets; 1 if the guideline suffices.

    A source at its fair share gets a notification once in `degree` packet times, in which the timer subtracts
    `lost` entries. If the table ends at the delay for the fair share, sources are on average `lost / 2`
    entries below it. If they then offer more than the link carries, the tree persists, whatever is marked.
    With the margin, even the entry just before the next mark keeps them at their share.

    The margin is for backlogged sources, the harder case. Sources that create a packet only after the delay
    (`traffic.poisson.paced`), as the paper's seem to, do not need it.
    """
    last = ENTRIES - 1
    lost = degree * packet_time / (TIMER * TIMER_UNIT)
    offered = degree / (1 + degree * (1 - lost / 2 / last))
    if offered <= 1 or lost > last / 2:
        return 1.0
    return last / (last - lost)


def _gran2010(facts: Mapping[str, Any], degree: int) -> Iterator[Setting]:
    packet_us = facts["packet_time"] * 1e6
    yield Setting(
        "marking.ibta.threshold", 15, "the most aggressive: mark while buffers still have free space"
    )
    yield Setting(
        "marking.ibta.marking_rate",
        1,
        "low: mark every second eligible packet, to notify sources often",
    )
    yield Setting("marking.ibta.packet_size", 8, "packets under 512 B are not marked")
    if facts["drain_capped"]:
        why = "hosts receive more slowly than their links deliver, so the switch in front of them marks"
        yield Setting("marking.ibta.victim_mask", "host_ports", why)
    yield Setting("echo.ibta", {}, "ACKs return marks (FECN) as BECN")
    yield Setting("response.ibta.ccti_increase", 1, "the default; small steps")
    yield Setting("response.ibta.ccti_min", 0, "do not slow down an undisturbed flow")
    why = "154 us; with less, the tree forms again, and with more, control is unfair"
    yield Setting("response.ibta.ccti_timer", 150, why)
    numerator, divisor = 7.0, 106.0
    fair = (degree - 1) * packet_us
    entries = min(LONGEST_TABLE, max(128, math.ceil(math.sqrt(fair * divisor**2 / numerator)) + 1))
    why = "the smallest size, which is fine enough"
    if entries > 128:
        why = f"more than the paper's table, because {degree} sources must each wait {fair:.4g} us"
    yield Setting("response.ibta.cct.quadratic.entries", entries, why)
    yield Setting(
        "response.ibta.cct.quadratic.numerator", numerator, "cct[i] = i^2 x 7 / 106^2 us (section VII-B)"
    )
    yield Setting(
        "response.ibta.cct.quadratic.divisor",
        divisor,
        "larger than the vendor's 95, to reduce oscillation slightly",
    )
    why = "time of a full packet on a host's link"
    yield Setting("response.ibta.cct.quadratic.packet_time", f"{packet_us:.6g} us", why)


PUBLISHED = ("pfister2005", "gran2010")
"""The guidelines of papers."""
OWN = ("becalm", "becalm2", "becalm2_opensm")
"""becalm's own guidelines."""
GUIDELINES: dict[str, Callable[[Mapping[str, Any], int], Iterator[Setting]]] = {
    "becalm": becalm,
    "becalm2": becalm2,
    "becalm2_opensm": becalm2_opensm,
    "pfister2005": _pfister2005,
    "gran2010": _gran2010,
}
