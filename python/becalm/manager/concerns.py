"""A review that finds settings of IBTA congestion control that cannot work on a fabric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from becalm.manager.guidelines import GUIDELINES, recommend, waiting_alone
from becalm.manager.settings import CREDIT_BYTES, TIMER_UNIT, Concern, Fabric


def unwind(scenario: Fabric) -> float:
    """Return the time in s to step down the entire table of delays without a mark."""
    response, facts = scenario.resolved["response"]["ibta"], scenario.summary
    last = len(facts["cct"]) - 1
    if response["ccti_limit"] is not None:
        last = min(last, response["ccti_limit"])
    steps = last / response["ccti_decrease"]
    return float(steps * response["ccti_timer"] * TIMER_UNIT)


def longest_unwind(scenario: Fabric, hot_spot_degree: int) -> float:
    """Return the time in s to step down the table of the slowest guideline on a fabric."""
    made = (
        recommend(scenario, hot_spot_degree=hot_spot_degree, guideline=guideline) for guideline in GUIDELINES
    )
    return max(unwind(each.apply(scenario)) for each in made)


def review(scenario: Fabric, *, hot_spot_degree: int | None = None) -> list[Concern]:
    """Return routes that can deadlock, and settings of congestion control that cannot work on this fabric.

    Args:
        scenario: the scenario, with its marking and response.
        hot_spot_degree: largest number of sources that send to one hot spot; default: all hosts.

    """
    facts, resolved = scenario.summary, scenario.resolved
    degree = facts["hosts"] if hot_spot_degree is None else hot_spot_degree
    marking, response = resolved["marking"], resolved["response"]
    if "ibta" not in response:
        (name,) = response
        none = Concern("response", name, "this scenario has no IBTA congestion control")
        return [*_review_routes(scenario), none]
    return [
        *_review_routes(scenario),
        *_review_levels(scenario),
        *_review_threshold(scenario, marking),
        *_review_marking(facts, marking),
        *_review_table(facts, response["ibta"], degree),
        *_review_balance(facts, marking, response["ibta"], degree),
    ]


def _review_routes(scenario: Fabric) -> Iterator[Concern]:
    """Name the cycle on which packets of the flows could wait for each other."""
    cycle = [] if scenario.resolved["switch"]["buffer"] == "unlimited" else scenario.network().cycle()
    if cycle:
        (topology,) = scenario.resolved["topology"]
        links = ", ".join(cycle).replace("->", " -> ")
        waits = f"each of these links may wait for the next: {links}"
        problem = f"can deadlock: {waits}; no parameters rule it out"
        yield Concern("topology", f"the routes of {topology}", problem)


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
            yield Concern(f"marking.queue_threshold.{name}", params[name], problem)


def _review_marking(facts: Mapping[str, Any], marking: Mapping[str, Any]) -> Iterator[Concern]:
    ((name, params),) = marking.items()
    if name == "queue_threshold" and params["root_only"] and facts["drain_capped"]:
        problem = "the port in front of a slow receiver has no credit, so it is not a root and marks nothing"
        yield Concern("marking.queue_threshold.root_only", True, problem)
    if name != "ibta":
        return
    if params["threshold"] == 0:
        yield Concern("marking.ibta.threshold", 0, "0 marks nothing, so no response ever slows down")
    if params["packet_size"] * CREDIT_BYTES > facts["packet_bytes"]:
        problem = f"{params['packet_size'] * CREDIT_BYTES} B exceeds the largest packet, so nothing is marked"
        yield Concern("marking.ibta.packet_size", params["packet_size"], problem)
    if params["victim_mask"] == "none" and facts["drain_capped"]:
        problem = (
            "the port in front of a slow receiver has no credit; to mark, it needs `host_ports` or `all`"
        )
        yield Concern("marking.ibta.victim_mask", "none", problem)


def _review_table(facts: Mapping[str, Any], params: Mapping[str, Any], degree: int) -> Iterator[Concern]:
    reach = _reachable(facts, params)
    if params["ccti_increase"] == 0:
        yield Concern("response.ibta.ccti_increase", 0, "a BECN adds nothing, so no source ever slows down")
        return
    if reach[-1] == 0:
        yield Concern(
            "response.ibta.cct", "no delay", "the table has no delays, so no source ever slows down"
        )
        return
    offered = degree / (1 + max(reach))
    if offered > 1.0:
        problem = (
            f"the longest delay, {max(reach):.4g} packet times, is too short: {degree} sources still offer "
            f"{offered:.3g} times a link's capacity; {degree - 1} packet times are needed"
        )
        yield Concern("response.ibta.cct", f"{max(reach):.4g} packet times", problem)


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
    yield Concern("response.ibta.cct", f"{max(reach):.4g} packet times", problem)


def _review_balance(
    facts: Mapping[str, Any], marking: Mapping[str, Any], params: Mapping[str, Any], degree: int
) -> Iterator[Concern]:
    """Compare BECN increments with timer decrements when `degree` sources share a link fairly."""
    if params["ccti_timer"] == 0:
        yield Concern("response.ibta.ccti_timer", 0, "never expires, so a slowed source never recovers")
        return
    if params["ccti_increase"] == 0:
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
        yield Concern("response.ibta.ccti_timer", params["ccti_timer"], problem)
    else:
        yield from _review_mean_delay(facts, params, degree, lost)
    reach = _reachable(facts, params)
    fair = next((i for i, gap in enumerate(reach) if gap >= degree - 1), len(reach) - 1)
    if params["ccti_increase"] >= fair > 0:
        problem = f"a single BECN slows one of {degree} sources below its fair share, so rates will oscillate"
        yield Concern("response.ibta.ccti_increase", params["ccti_increase"], problem)


def _reachable(facts: Mapping[str, Any], params: Mapping[str, Any]) -> list[float]:
    """Return the delays of the table up to CCTI_Limit, in packet times."""
    table: list[float] = facts["cct"]
    limit = params["ccti_limit"]
    return table if limit is None else table[: limit + 1]
