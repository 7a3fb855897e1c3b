"""A review of settings of IBTA congestion control: those that cannot work on a fabric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from becalm.manager.guidelines import GUIDELINES, recommend, waiting_alone
from becalm.manager.settings import CREDIT_BYTES, TIMER_UNIT, Concern, Fabric


def unwind(scenario: Fabric) -> float:
    """Return the time from the end of the table of delays to its beginning without a mark, in s."""
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
    """Return the settings of IBTA congestion control that cannot work on this fabric.

    Args:
        scenario: the scenario, with its marking and response.
        hot_spot_degree: sources that send to one hot spot in the worst case; all hosts if not given.

    """
    facts, resolved = scenario.summary, scenario.resolved
    degree = facts["hosts"] if hot_spot_degree is None else hot_spot_degree
    marking, response = resolved["marking"], resolved["response"]
    if "ibta" not in response:
        (name,) = response
        return [Concern("response", name, "this scenario has no IBTA congestion control")]
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
    for name, most in zip(("high", "low"), waiting_alone(scenario), strict=True):
        if params[name] >= most:
            problem = (
                f"a port that a single input feeds never marks: at most {most:.1%} of an input buffer "
                + ("wait for it" if name == "high" else "are left when a packet leaves")
            )
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
        problem = (
            f"{params['packet_size'] * CREDIT_BYTES} B is more than the largest packet: nothing is marked"
        )
        yield Concern("marking.ibta.packet_size", params["packet_size"], problem)
    if params["victim_mask"] == "none" and facts["drain_capped"]:
        problem = "the port in front of a slow receiver has no credit; it marks with `host_ports` or `all`"
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
            f"{offered:.3g} times what a link carries; {degree - 1} packet times are needed"
        )
        yield Concern("response.ibta.cct", f"{max(reach):.4g} packet times", problem)


def _review_mean_delay(
    facts: Mapping[str, Any], params: Mapping[str, Any], degree: int, lost: float
) -> Iterator[Concern]:
    """Review the entry that sources have on average if each of their packets is marked."""
    reach = _reachable(facts, params)
    held = reach[max(0, round(len(reach) - 1 - lost / 2))]
    if degree / (1 + max(reach)) > 1.0 or degree / (1 + held) <= 1.0:
        return
    problem = (
        f"too short, because the timer lowers the index by {lost:.3g} between two marks: sources then "
        f"wait {held:.4g} packet times on average, and {degree} of them still offer "
        f"{degree / (1 + held):.3g} times what a link carries"
    )
    yield Concern("response.ibta.cct", f"{max(reach):.4g} packet times", problem)


def _review_balance(
    facts: Mapping[str, Any], marking: Mapping[str, Any], params: Mapping[str, Any], degree: int
) -> Iterator[Concern]:
    """Compare what BECNs add with what the timer subtracts when `degree` sources share a link fairly."""
    if params["ccti_timer"] == 0:
        yield Concern(
            "response.ibta.ccti_timer", 0, "never expires: a source that was slowed down never recovers"
        )
        return
    if params["ccti_increase"] == 0:
        return
    ((_, marker),) = marking.items()
    between_becns = degree * facts["packet_time"] * (1 + marker.get("marking_rate", 0))
    lost = between_becns / (params["ccti_timer"] * TIMER_UNIT) * params["ccti_decrease"]
    if lost > params["ccti_increase"]:
        problem = (
            f"too short: a source at its share of {degree} gets a BECN at most every "
            f"{between_becns * 1e6:.4g} us; meanwhile the index falls by {lost:.3g}, and a BECN adds "
            f"{params['ccti_increase']}: the tree forms anyway"
        )
        yield Concern("response.ibta.ccti_timer", params["ccti_timer"], problem)
    else:
        yield from _review_mean_delay(facts, params, degree, lost)
    reach = _reachable(facts, params)
    fair = next((i for i, gap in enumerate(reach) if gap >= degree - 1), len(reach) - 1)
    if params["ccti_increase"] >= fair > 0:
        problem = f"a single BECN slows a source to less than its share of {degree}: rates will oscillate"
        yield Concern("response.ibta.ccti_increase", params["ccti_increase"], problem)


def _reachable(facts: Mapping[str, Any], params: Mapping[str, Any]) -> list[float]:
    """Return the delays of the table up to CCTI_Limit, in packet times."""
    table: list[float] = facts["cct"]
    limit = params["ccti_limit"]
    return table if limit is None else table[: limit + 1]
