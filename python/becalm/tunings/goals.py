"""Goals of a tuning: measures to improve, and limits to keep."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from becalm.analysis.hot_spots import GUARD, TUNE, Case
from becalm.analysis.measures import GOALS, LARGER_IS_BETTER, MEASURES
from becalm.errors import BecalmError
from becalm.quantities import UNITS, seconds

Measured = dict[str, float]
"""Measures of one run, or their means over seeds."""

_LIMIT = re.compile(r"\s*(guard\.)?(\w+)\s*(<=|>=)\s*([0-9.eE+-]+)\s*([a-zA-Z]*)\s*(\*\s*uncontrolled)?\s*")
NO_LOSS = "guard.delivered >= 0.99 * uncontrolled"
"""Default limit: traffic without a hot spot loses nothing."""


class Limit(NamedTuple):
    """A measure that has to stay on one side of a value."""

    text: str
    guard: bool
    """Whether it is for the guards; else for the cases that are tuned on."""
    measure: str
    at_least: bool
    value: float
    relative: bool
    """Whether the value is relative to runs without control."""

    def excess(self, found: Measured, uncontrolled: Measured) -> float:
        """Return by how much it is broken, as a share of the limit; 0 or less if it is kept."""
        limit = self.value * (uncontrolled[self.measure] if self.relative else 1.0)
        over = limit - found[self.measure] if self.at_least else found[self.measure] - limit
        return over / max(abs(limit), 1e-12)


@dataclass(frozen=True)
class Goals:
    """Measures to improve, and limits."""

    minimize: tuple[str, ...] = ("loss",)
    """Measures; those of which more is better are counted as what is missing to 1."""
    limits: tuple[Limit, ...] = ()

    def values(self, cases: Sequence[Case], found: Mapping[str, Measured]) -> list[float]:
        """Return a value for each goal, less is better: weighted means over the cases that are tuned on."""
        return [weighted(cases, found, goal) for goal in self.minimize]

    def excesses(
        self, cases: Sequence[Case], found: Mapping[str, Measured], uncontrolled: Mapping[str, Measured]
    ) -> dict[str, float]:
        """Return by how much each limit is broken in the case where it is broken most."""
        excesses = {}
        for limit in self.limits:
            role = GUARD if limit.guard else TUNE
            each = [
                limit.excess(found[case.name], uncontrolled.get(case.name, {}))
                for case in cases
                if case.role == role and case.name in found
            ]
            if each:
                excesses[limit.text] = max(each)
        return excesses


def weighted(cases: Sequence[Case], found: Mapping[str, Measured], goal: str) -> float:
    """Return the weighted mean of a measure over the cases that are tuned on; less is better."""
    chosen = [case for case in cases if case.role == TUNE]
    total = sum(case.weight for case in chosen)
    mean = sum(case.weight * found[case.name][goal] for case in chosen) / total
    return 1 - mean if goal in LARGER_IS_BETTER else mean


def read_limit(text: str) -> Limit:
    """Read a limit such as `latency_p99 <= 200 us` or `guard.delivered >= 0.99 * uncontrolled`.

    Raises:
        BecalmError: it is none.

    """
    found = _LIMIT.fullmatch(text.replace("* uncontrolled", " * uncontrolled"))
    if found is None or found[2] not in MEASURES or (found[5] and found[5] not in UNITS):
        valid = (
            f"a measure ({', '.join(MEASURES)}), <= or >=, a number, and a unit of time or `* uncontrolled`"
        )
        raise BecalmError(f"limit `{text}`: valid: {valid}")
    try:
        value = seconds(f"{found[4]} {found[5]}") if found[5] else float(found[4])
    except ValueError as error:
        raise BecalmError(f"limit `{text}`: {found[4]} is no number") from error
    return Limit(text, bool(found[1]), found[2], found[3] == ">=", value, bool(found[6]))


def check_goals(goals: Sequence[str]) -> None:
    """Check that measures can be goals.

    Raises:
        BecalmError: a measure cannot be a goal.

    """
    for goal in goals:
        if goal not in GOALS:
            raise BecalmError(f"goal `{goal}`: unknown; valid: {', '.join(GOALS)}")
