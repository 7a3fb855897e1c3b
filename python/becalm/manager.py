"""The congestion control manager: sets the parameters of IBTA congestion control, warns of those that fail.

It knows three guidelines. `pfister2005` (section VI-C) derives the parameters from the size of the network
and the largest number of contributors; `gran2010` (Table I, section VII) is what worked on the first
hardware; `becalm` is what searches on several fabrics have in common (docs/advice.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from becalm._core import bytes as core_bytes
from becalm.errors import BecalmError

if TYPE_CHECKING:
    from becalm.network import Network

TIMER_UNIT = 1.024e-6
"""Seconds per unit of CCTI_Timer."""
CREDIT_BYTES = 64
"""Bytes per unit of Packet_Size."""
LONGEST_TABLE = 16384
"""Entries that a congestion control table may have."""
ENTRIES = 128
"""Entries of the tables of both guidelines, unless more are needed."""
AS_IT_IS = "none"
"""In place of a guideline: the parameters that the scenario has."""
SW_TH = 0.9
"""`sw_th` of pfister2005, as a share of an input buffer."""
TIMER = 10
"""`rec_time` of pfister2005, in units of CCTI_Timer."""


class Fabric(Protocol):
    """What a guideline reads of a scenario, and how it changes it."""

    @property
    def resolved(self) -> dict[str, Any]:
        """Every value, defaults included."""

    @property
    def summary(self) -> dict[str, Any]:
        """What follows without a run."""

    def network(self) -> Network:
        """Return its network."""

    def replace(self, changes: Mapping[str, Any]) -> Self:
        """Return a changed copy."""


Managed = TypeVar("Managed", bound=Fabric)


@dataclass(frozen=True)
class Setting:
    """One parameter: its dotted key in a scenario, its value, and why it has that value."""

    key: str
    value: Any
    why: str


@dataclass(frozen=True)
class Concern:
    """A setting that cannot work: its dotted key, its value, and what goes wrong."""

    key: str
    value: Any
    problem: str


@dataclass(frozen=True)
class Recommendation:
    """What a guideline says for one fabric."""

    guideline: str
    settings: list[Setting]

    def apply(self, scenario: Managed, also: Mapping[str, Any] | None = None) -> Managed:
        """Return the scenario with these settings in place of its marking, echo and response.

        It names the arbiter of the switches, on which the effect of the settings depends. `also` are changes
        besides.

        Raises:
            ScenarioError: if the result has mistakes, say because a group of flows has a response of its own.

        """
        tables: dict[str, Any] = {}
        for setting in self.settings:
            _put(tables, setting.key.split("."), setting.value)
        arbiter = scenario.resolved["switch"]["arbiter"]
        return scenario.replace({"switch.arbiter": arbiter, **tables, **(also or {})})


def recommend(
    scenario: Fabric, *, hot_spot_degree: int | None = None, guideline: str = "pfister2005"
) -> Recommendation:
    """Work out the parameters of congestion control for the fabric of a scenario.

    Args:
        scenario: its topology, packets and adapters count; its marking, echo and response do not.
        hot_spot_degree: sources that send to one hot spot in the worst case; all hosts if not given.
        guideline: `becalm`, `pfister2005` or `gran2010`; `none` for no settings at all.

    Raises:
        BecalmError: for an unknown guideline, or a degree below 2 or above the number of hosts.

    """
    check_guideline(guideline)
    pfc = "pfc" in scenario.resolved["switch"]["flow_control"]
    facts = {**scenario.summary, "alone": _alone(scenario), "pfc": pfc, "buffer": _buffer(scenario)}
    degree = facts["hosts"] if hot_spot_degree is None else hot_spot_degree
    if not 2 <= degree <= facts["hosts"]:
        raise BecalmError(f"contributors {degree}: must be between 2 and the {facts['hosts']} hosts")
    if guideline == AS_IT_IS:
        return Recommendation(AS_IT_IS, [])
    return Recommendation(guideline, list(GUIDELINES[guideline](facts, degree)))


def check_guideline(name: str) -> None:
    """Check that there is a guideline.

    Raises:
        BecalmError: there is none of this name.

    """
    if name not in (*GUIDELINES, AS_IT_IS):
        raise BecalmError(f"guideline `{name}`: unknown; valid: {', '.join(GUIDELINES)}, {AS_IT_IS}")


def _pfister2005(facts: Mapping[str, Any], degree: int) -> Iterator[Setting]:
    hosts, packet_us = facts["hosts"], facts["packet_time"] * 1e6
    yield from _threshold(facts["alone"])
    if facts["pfc"]:
        why = "an output that is paused cannot tell whether it is a root"
        yield Setting("marking.queue_threshold.root_only", False, why)
    yield Setting("echo.ibta", {}, "marks (FECN) come back in ACKs (BECN)")
    longest = degree * packet_us
    why = f"max_ipd: {degree} sources share a link if each waits for the others, {packet_us:.4g} us a packet"
    margin = _margin(degree, facts["packet_time"])
    if margin > 1:
        longest *= margin
        why += f"; {margin - 1:.1%} more, since between two marks the timer shortens the delay by as much"
    yield Setting("response.ibta.cct.linear.max", f"{longest:.6g} us", why)
    yield Setting(
        "response.ibta.cct.linear.packet_time", f"{packet_us:.6g} us", "a full packet on a host's link"
    )
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
        why = "sw_th: 90% of an input buffer, so that only a lasting queue is marked"
        yield Setting(f"{key}.high", SW_TH, why)
        return
    high, low = (math.floor(95 * share) / 100 for share in alone)
    why = f"sw_th: less than 90% of an input buffer, of which {alone[0]:.0%} wait where it feeds a port alone"
    yield Setting(f"{key}.high", high, why)
    why = f"{alone[1]:.0%} are left behind by a packet that leaves"
    yield Setting(f"{key}.low", min(low, round(high * 8 / 9, 2)), why)


def _alone(scenario: Fabric) -> tuple[float, float]:
    """Return the most that can wait for an output that one input feeds alone, as shares of an input buffer.

    All full packets wait but the one that leaves; the next that leaves finds one less. Infinite
    where every switch has several cables to others, so that several inputs feed a hot port.
    """
    links = scenario.network().links
    between = links.filter((links["from_level"] > 0) & (links["to_level"] > 0))
    buffer, packet = scenario.resolved["switch"]["buffer"], scenario.summary["packet_bytes"]
    if buffer == "unlimited" or 1 not in Counter(between["from"].to_list()).values():
        return math.inf, math.inf
    capacity = core_bytes(buffer)
    if capacity is None:
        packets, share = int(buffer.split()[0]), 1 / int(buffer.split()[0])
    else:
        room = math.ceil(packet / CREDIT_BYTES) * CREDIT_BYTES
        packets, share = int(capacity // room), packet / capacity
    return max(0, packets - 1) * share, max(0, packets - 2) * share


def _buffer(scenario: Fabric) -> float:
    """Return the bytes of an input buffer; infinite without a limit."""
    buffer = scenario.resolved["switch"]["buffer"]
    if buffer == "unlimited":
        return math.inf
    return core_bytes(buffer) or int(buffer.split()[0]) * float(scenario.summary["packet_bytes"])


def _margin(degree: int, packet_time: float) -> float:
    """Return how much longer the longest delay must be than `degree` packets; 1 where the guideline will do.

    A source at its share hears of congestion once in `degree` packet times; meanwhile the timer takes off
    `lost` entries. If the table ends at the share, sources send with `lost / 2` entries less on average.
    Where they then offer more than the link carries, the tree stands, whatever is marked. With the margin
    even the entry just before the next mark holds them at their share.

    This is for sources with a backlog, the harder case. Those that make a packet only when the delay is
    over (`traffic.poisson.paced`), as the paper's seem to, do without.
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
        "marking.ibta.threshold", 15, "the most aggressive: signal while there is still room in the buffers"
    )
    yield Setting(
        "marking.ibta.marking_rate", 1, "low: every second eligible packet, so that sources hear often"
    )
    yield Setting("marking.ibta.packet_size", 8, "packets under 512 B are not marked")
    if facts["drain_capped"]:
        why = "hosts take packets in more slowly than links bring them: the switch before them marks for them"
        yield Setting("marking.ibta.victim_mask", "host_ports", why)
    yield Setting("echo.ibta", {}, "marks (FECN) come back in ACKs (BECN)")
    yield Setting("response.ibta.ccti_increase", 1, "the default; small steps")
    yield Setting("response.ibta.ccti_min", 0, "an undisturbed flow is not slowed down")
    yield Setting(
        "response.ibta.ccti_timer", 150, "154 us: shorter and the tree forms again, longer and it is unfair"
    )
    numerator, divisor = 7.0, 106.0
    fair = (degree - 1) * packet_us
    entries = min(LONGEST_TABLE, max(128, math.ceil(math.sqrt(fair * divisor**2 / numerator)) + 1))
    why = "the smallest size, and fine enough"
    if entries > 128:
        why = f"more than the table of the paper: {degree} sources have to wait {fair:.4g} us each"
    yield Setting("response.ibta.cct.quadratic.entries", entries, why)
    yield Setting(
        "response.ibta.cct.quadratic.numerator", numerator, "cct[i] = i^2 x 7 / 106^2 us (section VII-B)"
    )
    yield Setting(
        "response.ibta.cct.quadratic.divisor", divisor, "the maker's 95 made to oscillate a little less"
    )
    yield Setting("response.ibta.cct.quadratic.packet_time", f"{packet_us:.6g} us", "a full packet of a host")


PUBLISHED = ("pfister2005", "gran2010")
"""The guidelines of papers."""
SHAPES = ("linear", "quadratic", "geometric")
"""Curves of a table of delays."""


def table(
    *, shape: str, entries: int, longest: float, packet_time: float, first: float = 0.0
) -> dict[str, Any]:
    """Return a table of delays by dotted key.

    Args:
        shape: one of `SHAPES`.
        entries: their number.
        longest: the last delay, in packet times.
        packet_time: of a full packet on a host's link, in s.
        first: the delay after 0, in packet times; of a geometric table.

    """
    key, packet_us = f"response.ibta.cct.{shape}", packet_time * 1e6
    found: dict[str, Any] = {f"{key}.entries": entries, f"{key}.packet_time": f"{packet_us:.6g} us"}
    if shape == "linear":
        return {f"{key}.max": f"{longest * packet_us:.6g} us", **found}
    if shape == "quadratic":
        divisor = float(entries - 1)
        return {f"{key}.numerator": float(f"{longest * packet_us:.6g}"), f"{key}.divisor": divisor, **found}
    ratio = (longest / first) ** (1 / (entries - 2))
    return {f"{key}.first": f"{first * packet_us:.6g} us", f"{key}.ratio": float(f"{ratio:.8g}"), **found}


WAITING = 3.5
"""Packets above which a queue is marked, by becalm's guideline."""
HOLD = 42.0
"""Packet times for which a BECN slows a source down, by becalm's guideline."""
FIRST, LONGEST = 0.15, 1.6
"""First delay in packet times and longest one as a multiple of the contributors, by becalm's guideline."""


def _becalm(facts: Mapping[str, Any], contributors: int) -> Iterator[Setting]:
    """Derive what searches on five fabrics have in common, in packet times; docs/advice.md has the tables."""
    packet, packet_us = facts["packet_time"], facts["packet_time"] * 1e6
    share = WAITING * facts["packet_bytes"] / facts["buffer"]
    threshold = min(15, max(1, 16 - round(16 * share)))
    yield Setting(
        "marking.ibta.threshold", threshold, f"{16 - threshold}/16 of a buffer: {WAITING} packets wait"
    )
    yield Setting("marking.ibta.marking_rate", 0, "every packet: the fine steps of the table make it gentle")
    if facts["drain_capped"]:
        why = "hosts take packets in more slowly than links bring them: the switch before them marks for them"
        yield Setting("marking.ibta.victim_mask", "host_ports", why)
    yield Setting("echo.ibta", {}, "marks (FECN) come back in ACKs (BECN)")
    timer = max(1, round(1.5 * packet / TIMER_UNIT))
    increase = min(127, max(1, round(HOLD * packet / (timer * TIMER_UNIT))))
    why = f"a BECN lasts {HOLD:g} packet times, {increase * timer * TIMER_UNIT * 1e6:.3g} us"
    yield Setting("response.ibta.ccti_increase", increase, why)
    why = "1.5 packet times, at least a unit of 1.024 us: rates are right again soon after a hot spot"
    yield Setting("response.ibta.ccti_timer", timer, why)
    longest = max(LONGEST * contributors, 4.0)
    shaped = table(shape="geometric", entries=384, first=FIRST, longest=longest, packet_time=packet)
    reasons = {
        "first": f"{FIRST:g} packet times: rates of few contributors have steps as fine as those of many",
        "ratio": f"to {longest:.4g} packet times, {LONGEST:g} for each of {contributors} contributors",
        "entries": "fine steps: one BECN changes a rate by little",
        "packet_time": f"a full packet of a host takes {packet_us:.4g} us",
    }
    for key, value in shaped.items():
        yield Setting(key, value, reasons[key.rsplit(".", 1)[1]])


GUIDELINES: dict[str, Callable[[Mapping[str, Any], int], Iterator[Setting]]] = {
    "pfister2005": _pfister2005,
    "gran2010": _gran2010,
    "becalm": _becalm,
}


def unwind(scenario: Fabric) -> float:
    """Return how long it takes from the end of the table of delays to its beginning without a mark, in s."""
    response, facts = scenario.resolved["response"]["ibta"], scenario.summary
    last = len(facts["cct"]) - 1
    if response["ccti_limit"] is not None:
        last = min(last, response["ccti_limit"])
    steps = last / response["ccti_decrease"]
    return float(steps * response["ccti_timer"] * TIMER_UNIT)


def longest_unwind(scenario: Fabric, hot_spot_degree: int) -> float:
    """Return how long the table of the slower guideline takes to unwind on a fabric, in s."""
    made = (
        recommend(scenario, hot_spot_degree=hot_spot_degree, guideline=guideline) for guideline in GUIDELINES
    )
    return max(unwind(each.apply(scenario)) for each in made)


def review(scenario: Fabric, *, hot_spot_degree: int | None = None) -> list[Concern]:
    """Look for settings of IBTA congestion control that cannot work on this fabric.

    Args:
        scenario: the scenario, with its marking and response.
        hot_spot_degree: sources that send to one hot spot in the worst case; all hosts if not given.

    """
    facts, resolved = scenario.summary, scenario.resolved
    degree = facts["hosts"] if hot_spot_degree is None else hot_spot_degree
    marking, response = resolved["marking"], resolved["response"]
    if "ibta" not in response:
        (name,) = response
        return [Concern("response", name, "is not IBTA congestion control; `ibta` is")]
    return [
        *_review_threshold(scenario, marking),
        *_review_marking(facts, marking),
        *_review_table(facts, response["ibta"], degree),
        *_review_balance(facts, marking, response["ibta"], degree),
    ]


def _review_threshold(scenario: Fabric, marking: Mapping[str, Any]) -> Iterator[Concern]:
    params = marking.get("queue_threshold")
    if params is None:
        return
    for name, most in zip(("high", "low"), _alone(scenario), strict=True):
        if params[name] >= most:
            problem = (
                f"a port that a single input feeds never marks: at most {most:.1%} of an input buffer "
                + ("wait for it" if name == "high" else "are left behind by a packet")
            )
            yield Concern(f"marking.queue_threshold.{name}", params[name], problem)


def _review_marking(facts: Mapping[str, Any], marking: Mapping[str, Any]) -> Iterator[Concern]:
    ((name, params),) = marking.items()
    if name == "queue_threshold" and params["root_only"] and facts["drain_capped"]:
        problem = (
            "slow receivers take the credit of the port before them, which is then no root and marks nothing"
        )
        yield Concern("marking.queue_threshold.root_only", True, problem)
    if name != "ibta":
        return
    if params["threshold"] == 0:
        yield Concern("marking.ibta.threshold", 0, "0 marks nothing, so no response ever slows down")
    if params["packet_size"] * CREDIT_BYTES > facts["packet_bytes"]:
        problem = (
            f"{params['packet_size'] * CREDIT_BYTES} B is more than the largest packet: nothing is marked"
        )
        yield Concern("marking.ibta.packet_size", params["packet_size"], problem)
    if params["victim_mask"] == "none" and facts["drain_capped"]:
        problem = (
            "slow receivers take the credit of the port before them; it marks with `host_ports` or `all`"
        )
        yield Concern("marking.ibta.victim_mask", "none", problem)


def _review_table(facts: Mapping[str, Any], params: Mapping[str, Any], degree: int) -> Iterator[Concern]:
    reach = _reachable(facts, params)
    if params["ccti_increase"] == 0:
        yield Concern("response.ibta.ccti_increase", 0, "a BECN adds nothing: no source is ever slowed down")
        return
    if reach[-1] == 0:
        yield Concern(
            "response.ibta.cct", "no delay", "the table holds no delay: no source is ever slowed down"
        )
        return
    offered = degree / (1 + max(reach))
    if offered > 1.0:
        problem = (
            f"the longest delay, {max(reach):.4g} packet times, saturates: {degree} sources still offer "
            f"{offered:.3g} times what a link takes; {degree - 1} packet times are needed"
        )
        yield Concern("response.ibta.cct", f"{max(reach):.4g} packet times", problem)


def _review_mean_delay(
    facts: Mapping[str, Any], params: Mapping[str, Any], degree: int, lost: float
) -> Iterator[Concern]:
    """Look at the entry that sources have on average if each of their packets is marked."""
    reach = _reachable(facts, params)
    held = reach[max(0, round(len(reach) - 1 - lost / 2))]
    if degree / (1 + max(reach)) > 1.0 or degree / (1 + held) <= 1.0:
        return
    problem = (
        f"too short by what the timer takes off: between two marks the index falls by {lost:.3g}, and at the "
        f"{held:.4g} packet times that sources wait on average {degree} of them still offer "
        f"{degree / (1 + held):.3g} times what a link takes"
    )
    yield Concern("response.ibta.cct", f"{max(reach):.4g} packet times", problem)


def _review_balance(
    facts: Mapping[str, Any], marking: Mapping[str, Any], params: Mapping[str, Any], degree: int
) -> Iterator[Concern]:
    """Compare what BECNs add with what the timer takes off when `degree` sources share a link fairly."""
    if params["ccti_timer"] == 0:
        yield Concern(
            "response.ibta.ccti_timer", 0, "never expires: a source once slowed down stays so for ever"
        )
        return
    if params["ccti_increase"] == 0:
        return
    ((_, marker),) = marking.items()
    between_becns = degree * facts["packet_time"] * (1 + marker.get("marking_rate", 0))
    lost = between_becns / (params["ccti_timer"] * TIMER_UNIT) * params["ccti_decrease"]
    if lost > params["ccti_increase"]:
        problem = (
            f"too short: a source at its share of {degree} hears at most every {between_becns * 1e6:.4g} us; "
            f"meanwhile the index falls by {lost:.3g}, and a BECN adds {params['ccti_increase']}: "
            "the tree forms all the same"
        )
        yield Concern("response.ibta.ccti_timer", params["ccti_timer"], problem)
    else:
        yield from _review_mean_delay(facts, params, degree, lost)
    reach = _reachable(facts, params)
    fair = next((i for i, gap in enumerate(reach) if gap >= degree - 1), len(reach) - 1)
    if params["ccti_increase"] >= fair > 0:
        problem = f"a single BECN takes a source below its share of {degree}: rates will oscillate"
        yield Concern("response.ibta.ccti_increase", params["ccti_increase"], problem)


def _reachable(facts: Mapping[str, Any], params: Mapping[str, Any]) -> list[float]:
    """The delays of the table up to CCTI_Limit, in packet times."""
    table: list[float] = facts["cct"]
    limit = params["ccti_limit"]
    return table if limit is None else table[: limit + 1]


def _put(tables: dict[str, Any], path: list[str], value: Any) -> None:  # noqa: ANN401
    *parents, last = path
    for part in parents:
        tables = tables.setdefault(part, {})
    tables[last] = value
