"""A review that finds settings of IBTA congestion control that cannot work on a fabric."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from becalm.manager.guidelines import GUIDELINES, recommend, waiting_alone
from becalm.manager.ramp import KB, pauses, ports
from becalm.manager.roce import READERS, is_roce
from becalm.manager.settings import CREDIT_BYTES, TIMER_UNIT, Concern, Fabric


def unwind(scenario: Fabric) -> float:
    """Return the time in s to step down the entire table of delays without a mark."""
    response, facts = scenario.response.keys, scenario.summary
    last = len(facts["cct"]) - 1
    if response["ccti_limit"] is not None:
        last = min(last, response["ccti_limit"])
    steps = last / response["ccti_decrease"]
    return float(steps * response["ccti_timer"] * TIMER_UNIT)


def longest_unwind(scenario: Fabric, hot_spot_degree: int, tried_on: Fabric) -> float:
    """Return the time in s to step down the table of the slowest guideline on a fabric.

    Args:
        scenario: the fabric.
        hot_spot_degree: largest number of sources that send to one hot spot.
        tried_on: a scenario with the same packets, in which the tables are made. A small one is faster.

    """
    made = (
        recommend(scenario, hot_spot_degree=hot_spot_degree, guideline=guideline) for guideline in GUIDELINES
    )
    return max(unwind(each.apply(tried_on)) for each in made)


def review(scenario: Fabric, *, hot_spot_degree: int | None = None) -> list[Concern]:
    """Return routes that can deadlock, and settings of congestion control that cannot work on this fabric.

    Args:
        scenario: the scenario, with its marking and response.
        hot_spot_degree: largest number of sources that send to one hot spot; default: all hosts.

    """
    facts, resolved = scenario.summary, scenario.resolved
    degree = facts["hosts"] if hot_spot_degree is None else hot_spot_degree
    marking, response = resolved["marking"], resolved["response"]
    if is_roce(scenario):
        return [*_review_routes(scenario), *_review_ramp(scenario, degree)]
    if "ibta" not in response:
        (name,) = response
        none = Concern("response", name, "this scenario has no IBTA congestion control", "response")
        return [*_review_routes(scenario), none]
    return [
        *_review_routes(scenario),
        *_review_levels(scenario),
        *certain(scenario),
        *_review_table(facts, response["ibta"], degree),
        *_review_balance(facts, marking, response["ibta"], degree),
    ]


def certain(scenario: Fabric) -> list[Concern]:
    """Return the settings of IBTA congestion control that cannot work for any number of sources."""
    facts, marking, response = scenario.summary, scenario.resolved["marking"], scenario.resolved["response"]
    if "ibta" not in response:
        return []
    return [
        *_review_threshold(scenario, marking),
        *_review_marking(facts, marking),
        *_review_mask(scenario, marking),
        *_review_delays(facts, response["ibta"]),
    ]


class Balance(NamedTuple):
    """Effect of a delay table, its step and its timer on a source that sends at its fair share of a link."""

    sources: int
    fair: int
    """Index at which all sources together just fill the link, or the last index."""
    step: int
    undone: float
    """Time in s that the timer needs to undo one BECN."""
    heard: float
    """Time in s between two packets that may be marked, for a source at its fair share."""


def balance(scenario: Fabric, sources: int, capacity: float | None = None) -> Balance | None:
    """Return the effect of IBTA's parameters on sources that share a link; None with another response.

    Args:
        scenario: the scenario, with its marking and response.
        sources: number of sources.
        capacity: capacity of the link in B/s; default: that of a host's link.

    """
    facts = scenario.summary
    params = scenario.response.get("ibta")
    if params is None or not facts["cct"]:
        return None
    delays = _reachable(facts, params)
    # A source that sends with this gap, in packet times, gets its fair share of the link.
    gap = sources * facts["host_rate"] / (capacity or facts["host_rate"]) - 1
    fair = next((index for index, delay in enumerate(delays) if delay >= gap), len(delays) - 1)
    timer = params["ccti_timer"] * TIMER_UNIT
    undone = float("inf") if timer == 0 else params["ccti_increase"] / params["ccti_decrease"] * timer
    heard = (gap + 1) * facts["packet_time"] * (1 + scenario.marking.keys.get("marking_rate", 0))
    return Balance(sources, fair, params["ccti_increase"], undone, heard)


def starving(scenario: Fabric, found: Balance | None) -> Concern:
    """Return the setting to blame if sources leave a link partly unused that they could fill."""
    name, params = scenario.response
    if found is None:
        why, cure = "the response lowers rates too far", "lower rates less, or raise them sooner"
        return Concern("response", name, why, "response too strong", cure)
    if found.step >= found.fair:
        why = (
            f"one BECN raises the index by {found.step}, but an index of {found.fair} already slows each of "
            f"{found.sources} sources to its fair share"
        )
        cure = f"a step well below {max(2, found.fair)}"
        return Concern("response.ibta.ccti_increase", found.step, why, "step too large", cure)
    if found.undone > found.heard:
        undone = "never undoes" if math.isinf(found.undone) else f"needs {_time(found.undone)} to undo"
        why = (
            f"the timer {undone} a BECN (a step of {found.step}), but a source at its fair share may get "
            f"the next BECN after {_time(found.heard)}"
        )
        cure = "a shorter timer or a smaller step"
        return Concern("response.ibta.ccti_timer", params["ccti_timer"], why, "timer too long", cure)
    why = "neither the step nor the timer is the cause"
    return Concern("response.ibta", "", why, "response too strong", "a table with shorter delays")


def _time(value: float) -> str:
    """Return a time with three digits."""
    size, unit = next(
        ((size, unit) for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")) if value >= size),
        (1e-9, "ns"),
    )
    return f"{value / size:.3g} {unit}"


def _review_routes(scenario: Fabric) -> Iterator[Concern]:
    """Name the cycle on which packets of the flows could wait for each other."""
    cycle = [] if scenario.resolved["switch"]["buffer"] == "unlimited" else scenario.network().cycle()
    if cycle:
        (topology,) = scenario.resolved["topology"]
        links = ", ".join(cycle).replace("->", " -> ")
        waits = f"each of these links may wait for the next: {links}"
        problem = f"can deadlock: {waits}; no parameters rule it out"
        yield Concern("topology", f"the routes of {topology}", problem)


def _review_ramp(scenario: Fabric, contributors: int) -> Iterator[Concern]:
    """Review the thresholds of RoCE's switches against each other and against PFC."""
    (name, params), response = scenario.marking, scenario.response.name
    if name != "ramp":
        problem = "switches mark nothing that sources of RoCE could react to"
        yield Concern("marking", name, problem, "threshold off", "ramp")
        return
    if response not in READERS:
        problem = "sources do not react to marks"
        yield Concern("response", response, problem, "response", "dcqcn")
        return
    many = min(contributors, ports(scenario))
    paused = pauses(scenario, many) / KB
    rates = scenario.network().links["capacity"]
    scale = 1.0 if params["per"] is None else float(str(rates.max())) * 8e-9 / params["per"]
    if scale * params["kmin"] >= paused:
        problem = (
            f"pauses come before marks: with {many} busy inputs, PFC pauses one that feeds only one queue "
            f"from {paused:.4g} kB on"
        )
        yield Concern("marking.ramp.kmin", params["kmin"], problem, "threshold off", f"below {paused:.4g}")
    if params["pmax"] == 0:
        problem = "nothing is marked between Kmin and Kmax, and then every packet"
        yield Concern("marking.ramp.pmax", 0, problem, "weak control", "more than 0")


def _review_levels(scenario: Fabric) -> Iterator[Concern]:
    chosen = scenario.resolved["adapter"]["control_map"]
    idle = [] if chosen is None else sorted({*scenario.network().flows["sl"]} - {*chosen})
    if idle:
        problem = f"flows on other levels ignore marks: {', '.join(map(str, idle))}"
        yield Concern("adapter.control_map", chosen, problem)


def _review_threshold(scenario: Fabric, marking: Mapping[str, Any]) -> Iterator[Concern]:
    params = marking.get("queue_threshold")
    if params is None:
        return
    for name, most in zip(("high", "low"), waiting_alone(scenario), strict=True):
        if params[name] >= most:
            problem = (
                f"a port fed by a single input never marks: its waiting packets fill at most {most:.1%} "
            )
            problem += "of an input buffer" + ("" if name == "high" else " after a departure")
            cure = f"a threshold below {most:.1%}"
            yield Concern(f"marking.queue_threshold.{name}", params[name], problem, "threshold off", cure)


def _review_marking(facts: Mapping[str, Any], marking: Mapping[str, Any]) -> Iterator[Concern]:
    ((name, params),) = marking.items()
    if name == "queue_threshold" and params["root_only"] and facts["drain_capped"]:
        problem = "the port in front of a slow receiver has no credit, so it is not a root and marks nothing"
        key = "marking.queue_threshold.root_only"
        yield Concern(key, True, problem, "threshold off", "false")
    if name != "ibta":
        return
    if params["threshold"] == 0:
        problem = "0 marks nothing, so no response ever slows down"
        yield Concern("marking.ibta.threshold", 0, problem, "threshold off", "1 to 15")
    if params["packet_size"] * CREDIT_BYTES > facts["packet_bytes"]:
        problem = f"{params['packet_size'] * CREDIT_BYTES} B exceeds the largest packet, so nothing is marked"
        cure = f"at most {facts['packet_bytes'] // CREDIT_BYTES}"
        yield Concern("marking.ibta.packet_size", params["packet_size"], problem, "threshold off", cure)
    if params["victim_mask"] == "none" and facts["drain_capped"]:
        problem = (
            "the port in front of a slow receiver has no credit; to mark, it needs `host_ports` or `all`"
        )
        yield Concern("marking.ibta.victim_mask", "none", problem, "threshold off", "host_ports")


def _review_mask(scenario: Fabric, marking: Mapping[str, Any]) -> Iterator[Concern]:
    """Review a victim mask on all ports. With PFC, credit does not distinguish roots from victims."""
    params = marking.get("ibta")
    credits = scenario.flow_control.name == "credits"
    if params is not None and params["victim_mask"] == "all" and credits:
        problem = (
            "ports that only wait behind another root mark too, so sources that do not cause the congestion "
            "are slowed down"
        )
        cure = "host_ports" if scenario.summary["drain_capped"] else "none"
        yield Concern("marking.ibta.victim_mask", "all", problem, "slowed by marks", cure)


def _review_delays(facts: Mapping[str, Any], params: Mapping[str, Any]) -> Iterator[Concern]:
    if params["ccti_increase"] == 0:
        problem = "a BECN adds nothing, so no source ever slows down"
        yield Concern("response.ibta.ccti_increase", 0, problem, "weak control", "1 or more")
    elif _reachable(facts, params)[-1] == 0:
        problem = "the table has no delays, so no source ever slows down"
        cure = "a table with delays, and a ccti_limit that reaches them"
        yield Concern("response.ibta.cct", "no delay", problem, "weak control", cure)
    if params["ccti_timer"] == 0:
        problem = "never expires, so a slowed source never recovers"
        yield Concern("response.ibta.ccti_timer", 0, problem, "timer too long", "1 or more")


def _review_table(facts: Mapping[str, Any], params: Mapping[str, Any], degree: int) -> Iterator[Concern]:
    reach = _reachable(facts, params)
    if params["ccti_increase"] == 0 or reach[-1] == 0:
        return
    offered = degree / (1 + max(reach))
    if offered > 1.0:
        problem = (
            f"the longest delay, {max(reach):.4g} packet times, is too short: {degree} sources still offer "
            f"{offered:.3g} times a link's capacity; {degree - 1} packet times are needed"
        )
        cure = f"a longest delay of {degree - 1} packet times or more"
        yield Concern("response.ibta.cct", f"{max(reach):.4g} packet times", problem, "weak control", cure)


def _review_mean_delay(
    facts: Mapping[str, Any], params: Mapping[str, Any], degree: int, lost: float
) -> Iterator[Concern]:
    """Review the mean table entry of sources whose packets are all marked."""
    reach = _reachable(facts, params)
    held = reach[max(0, round(len(reach) - 1 - lost / 2))]
    if degree / (1 + max(reach)) > 1.0 or degree / (1 + held) <= 1.0:
        return
    problem = (
        f"too short, because the timer lowers the index by {lost:.3g} between two marks: sources then "
        f"wait {held:.4g} packet times on average, and {degree} of them still offer "
        f"{degree / (1 + held):.3g} times a link's capacity"
    )
    cure = "a longer table of delays, or a longer timer"
    yield Concern("response.ibta.cct", f"{max(reach):.4g} packet times", problem, "weak control", cure)


def _review_balance(
    facts: Mapping[str, Any], marking: Mapping[str, Any], params: Mapping[str, Any], degree: int
) -> Iterator[Concern]:
    """Compare BECN increments with timer decrements when `degree` sources share a link fairly."""
    if params["ccti_timer"] == 0 or params["ccti_increase"] == 0:
        return
    ((_, marker),) = marking.items()
    between_becns = degree * facts["packet_time"] * (1 + marker.get("marking_rate", 0))
    lost = between_becns / (params["ccti_timer"] * TIMER_UNIT) * params["ccti_decrease"]
    if lost > params["ccti_increase"]:
        problem = (
            f"too short: one of {degree} sources at its fair share gets at most one BECN every "
            f"{between_becns * 1e6:.4g} us; meanwhile, the index falls by {lost:.3g}, but a BECN adds only "
            f"{params['ccti_increase']}, so the tree forms anyway"
        )
        cure = "a longer timer or a larger step"
        yield Concern("response.ibta.ccti_timer", params["ccti_timer"], problem, "weak control", cure)
    else:
        yield from _review_mean_delay(facts, params, degree, lost)
    reach = _reachable(facts, params)
    fair = next((i for i, gap in enumerate(reach) if gap >= degree - 1), len(reach) - 1)
    if params["ccti_increase"] >= fair > 0:
        problem = f"a single BECN slows one of {degree} sources below its fair share, so rates will oscillate"
        key, cure = "response.ibta.ccti_increase", f"a step well below {max(2, fair)}"
        yield Concern(key, params["ccti_increase"], problem, "step too large", cure)


def _reachable(facts: Mapping[str, Any], params: Mapping[str, Any]) -> list[float]:
    """Return the delays of the table up to CCTI_Limit, in packet times."""
    table: list[float] = facts["cct"]
    limit = params["ccti_limit"]
    return table if limit is None else table[: limit + 1]
