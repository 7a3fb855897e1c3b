"""Effects of control on hot spots by their number of contributors, and without a hot spot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from becalm.tunings.goals import Measured
from becalm.tunings.verdict import WITHOUT, Verdict

Pair = tuple[float, float]
"""Means without control, and with a row's control."""


class Size(NamedTuple):
    """Means over the cases with similar numbers of contributors."""

    contributors: str
    """Smallest and largest number in these cases; `0` without a hot spot."""
    cases: int
    link: Pair
    """Contributors' share of what fairness gives them; NaN without a hot spot."""
    background: Pair
    """Share of its throughput that the background keeps, compared with neither incast nor control."""
    victims: Pair
    """Share of the background's flows that are victims."""


def sizes(verdict: Verdict, numbers: Sequence[int], row: str) -> list[Size]:
    """Return the effects of a row's control by number of contributors: 0, 2, 3 to 4, 5 to 8, and so on.

    Args:
        verdict: the row, and no control, on cases.
        numbers: number of contributors of each case.
        row: the row.

    """
    places: dict[int, list[int]] = {}
    for place, number in enumerate(numbers):
        places.setdefault((number - 1).bit_length() if number else 0, []).append(place)
    return [_size(verdict, [(place, numbers[place]) for place in places[key]], row) for key in sorted(places)]


def _size(verdict: Verdict, cases: Sequence[tuple[int, int]], row: str) -> Size:
    def pair(measure: str) -> Pair:
        return _mean(verdict.measures[WITHOUT], measure), _mean(verdict.measures[row], measure)

    def _mean(measures: Sequence[Measured], measure: str) -> float:
        return math.fsum(measures[place][measure] for place, _ in cases) / len(cases)

    low, high = (end(number for _, number in cases) for end in (min, max))
    starved, lost = pair("starved"), pair("lost")
    return Size(
        str(low) if low == high else f"{low}-{high}",
        len(cases),
        (1 - starved[0], 1 - starved[1]) if high else (math.nan, math.nan),
        (1 - lost[0], 1 - lost[1]),
        pair("victims"),
    )
