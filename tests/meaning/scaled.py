"""The relation between a scenario and the same with all times longer and all rates lower."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from decimal import Decimal

import becalm
from drawn import Tables
from meaning.relation import relation, run
from meaning.written import QUANTITY, RATES, TIMES, walked, without_none

FACTOR = 4
RANGES = ("latencies", "completion_times")
"""Histograms, whose ranges do not scale."""
PERCENTILES = ("p50", "p95", "p99", "999")
"""Ends of columns with values from histograms."""
RANDOM = (
    *("poisson", "on_off", "start_spread", "exponential", "erlang", "uniform", "skew"),
    *("chakra", "goal", "steady"),
)
"""Settings with times that are random, rounded, or not written in the scenario."""
TIMELESS = ("none", "lipd", "binary_feedback")
"""Responses without times and fractions of packet times, which are rounded."""
POWERS = {"s": FACTOR, "B/s": 1 / FACTOR}


def slower(text: str) -> str:
    """Return a time multiplied, or a rate divided, by the factor."""
    found = QUANTITY.fullmatch(text)
    if found and found[2] in TIMES:
        return f"{Decimal(found[1]) * FACTOR:f} {found[2]}"
    if found and found[2] in RATES:
        return f"{Decimal(found[1]) / FACTOR:f} {found[2]}"
    return text


def scaled(scenes: list[Tables]) -> Iterator[str]:
    """Compare all numbers exactly, but times times the factor, and rates divided by it, within rounding."""
    first, other = map(run, scenes)
    if first.packet_hops != other.packet_hops:
        yield f"packet_hops: {first.packet_hops} and {other.packet_hops}"
    for table in first.tables.keys() - set(RANGES):
        for column, unit in first.units[table].items():
            if column[-3:] in PERCENTILES:
                continue
            yield from _column(first, other, table, column, POWERS.get(unit, 1))


def _column(
    first: becalm.Results, other: becalm.Results, table: str, column: str, factor: float
) -> Iterator[str]:
    ones, twos = (results.tables[table][column].to_list() for results in (first, other))
    if len(ones) != len(twos):
        yield f"{table}: {len(ones)} and {len(twos)} rows"
        return
    for row, (one, two) in enumerate(zip(ones, twos, strict=True)):
        alike = one == two if not isinstance(one, float) else math.isnan(one) and math.isnan(two)
        if not alike and not (
            isinstance(one, float) and math.isclose(one * factor, two, rel_tol=1e-9, abs_tol=1e-15)
        ):
            yield f"{table}.{column}, row {row}: {one}, and {two} where times are {FACTOR} times as long"
            return


@relation(scaled, count=40)
def times_longer_and_rates_lower(data: Tables, _: random.Random) -> list[Tables] | None:
    """No length of time is special: all times x k and all rates / k give the same packets, k times later."""
    responses = [data.get("response", {}), *(each.get("response", {}) for each in data.get("flows", []))]
    if any(word in str(data) for word in RANDOM) or any(set(each) - set(TIMELESS) for each in responses):
        return None
    data = without_none(becalm.Scenario(data).resolved)
    uneven: list[str] = []
    walked(data, lambda text: uneven.append(text) if _uneven(text) else None)
    # Pauses and CF_Updates take times that are rounded.
    if uneven or "credits" not in data["switch"]["flow_control"]:
        return None
    return [data, walked(data, slower)]


def _uneven(text: str) -> bool:
    """Return whether a byte does not take a whole number of picoseconds at this rate."""
    found = QUANTITY.fullmatch(text)
    return bool(found and found[2] in RATES and Decimal(8 * 10**12) % (Decimal(found[1]) * RATES[found[2]]))
