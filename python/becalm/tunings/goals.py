"""Goals of a tuning: measures to improve, and limits to keep."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from becalm.analysis.hot_spots import GUARD, TUNE, Case
from becalm.analysis.measures import GOALS, LARGER_IS_BETTER, MEASURES
from becalm.errors import BecalmError
from becalm.quantities import UNITS, seconds
from becalm.tunings.population import class_of

Measured = dict[str, float]
"""Measures of one run, or their means over seeds."""

_LIMIT = re.compile(r"\s*(guard\.)?(\w+)\s*(<=|>=)\s*([0-9.eE+-]+)\s*([a-zA-Z]*)\s*(\*\s*uncontrolled)?\s*")
TAIL, TAIL_WEIGHT = 0.9, 0.2
"""Conditional value at risk: its quantile, and its weight relative to the mean."""
PRICE = 0.02
"""Smallest excess loss over no control, in a class of contributors, that is reported as a price."""
NO_REGRET, REGRET_WEIGHT = 0.005, 3.0
"""For `no_regret`: the excess loss over no control that chance may explain, and the weight of more."""
NO_LOSS = "guard.delivered >= 0.99 * uncontrolled"
"""Default limit: without a hot spot, traffic loses at most 1%."""


class Limit(NamedTuple):
    """A bound on a measure."""

    text: str
    guard: bool
    """Whether the limit applies to guards instead of tuning cases."""
    measure: str
    at_least: bool
    value: float
    relative: bool
    """Whether the value is relative to runs without control."""

    def excess(self, found: Measured, uncontrolled: Measured) -> float:
        """Return the excess over the limit as a share of the limit; 0 or less if the limit is kept."""
        limit = self.value * (uncontrolled[self.measure] if self.relative else 1.0)
        over = limit - found[self.measure] if self.at_least else found[self.measure] - limit
        return over / max(abs(limit), 1e-12)


@dataclass(frozen=True)
class Goals:
    """Measures to improve, and limits."""

    minimize: tuple[str, ...] = ("loss",)
    """Measures to minimize. A measure for which larger is better counts as 1 minus its value."""
    limits: tuple[Limit, ...] = ()
    no_regret: bool = False
    """Whether no class of contributors may do worse than without control."""

    def values(self, cases: Sequence[Case], found: Mapping[str, Measured]) -> list[float]:
        """Return the weighted mean over the tuning cases for each goal; smaller is better."""
        return [weighted(cases, found, goal) for goal in self.minimize]

    def excesses(
        self, cases: Sequence[Case], found: Mapping[str, Measured], uncontrolled: Mapping[str, Measured]
    ) -> dict[str, float]:
        """Return each limit's excess in its worst case."""
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
    """Return the weighted mean of a measure over the tuning cases; smaller is better."""
    chosen = [case for case in cases if case.role == TUNE]
    total = sum(case.weight for case in chosen)
    mean = sum(case.weight * found[case.name][goal] for case in chosen) / total
    return 1 - mean if goal in LARGER_IS_BETTER else mean


def score(
    cases: Sequence[Case],
    found: Mapping[str, Measured],
    free: Mapping[str, Measured],
    *,
    no_regret: bool = False,
) -> float:
    """Return what the search minimizes: the mean loss plus a share of the mean loss of the worst tenth.

    Args:
        cases: all cases, whether run or not.
        found: measures of the cases that were run.
        free: measures without control.
        no_regret: whether to add each class's excess loss over no control.

    """
    chosen = [case for case in cases if case.role == TUNE and case.name in found]
    losses = {case.name: found[case.name]["loss"] for case in chosen}
    worst = sorted(losses.values(), reverse=True)[: max(1, math.ceil((1 - TAIL) * len(losses)))]
    value = weighted(chosen, found, "loss") + TAIL_WEIGHT * sum(worst) / len(worst)
    if no_regret:
        for name in {class_of(case) for case in chosen}:
            own = [case.name for case in chosen if class_of(case) == name]
            regret = sum(losses[case] - free[case]["loss"] for case in own) / len(own)
            value += REGRET_WEIGHT * max(0.0, regret - NO_REGRET)
    return value


def read_limit(text: str) -> Limit:
    """Read a limit such as `latency_p99 <= 200 us` or `guard.delivered >= 0.99 * uncontrolled`.

    Raises:
        BecalmError: the text is not a limit.

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
        raise BecalmError(f"limit `{text}`: {found[4]} is not a number") from error
    return Limit(text, bool(found[1]), found[2], found[3] == ">=", value, bool(found[6]))


def check_goals(goals: Sequence[str]) -> None:
    """Check that measures can be goals.

    Raises:
        BecalmError: a measure cannot be a goal.

    """
    for goal in goals:
        if goal not in GOALS:
            raise BecalmError(f"goal `{goal}`: unknown; valid: {', '.join(GOALS)}")
