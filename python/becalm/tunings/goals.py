"""Goals of a tuning: the loss that the search minimizes, and limits to keep."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from becalm.analysis.hot_spots import Case
from becalm.analysis.measures import MEASURES
from becalm.base.errors import BecalmError
from becalm.base.quantities import UNITS, seconds
from becalm.tunings.population import class_of

Measured = dict[str, float]
"""Measures of one run, or their means over seeds."""

_LIMIT = re.compile(r"\s*(\w+)\s*(<=|>=)\s*([0-9.eE+-]+)\s*([a-zA-Z]*)\s*(\*\s*uncontrolled)?\s*")
TAIL, TAIL_WEIGHT = 0.9, 0.2
"""Conditional value at risk: its quantile, and its weight relative to the mean."""
PRICE = 0.02
"""Smallest excess loss over no control, in a class of contributors, that is reported as a price."""
NO_REGRET, REGRET_WEIGHT = 0.005, 3.0
"""For `no_regret`: the excess loss over no control that chance may explain, and the weight of more."""


class Limit(NamedTuple):
    """A bound on a measure."""

    text: str
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
    """What parameters must keep while the search minimizes their loss; see `score`."""

    limits: tuple[Limit, ...] = ()
    no_regret: bool = False
    """Whether no class of contributors may do worse than without control."""

    def excesses(
        self, cases: Sequence[Case], found: Mapping[str, Measured], uncontrolled: Mapping[str, Measured]
    ) -> dict[str, float]:
        """Return each limit's excess in its worst case."""
        excesses = {}
        for limit in self.limits:
            by_case = [
                limit.excess(found[case.name], uncontrolled.get(case.name, {}))
                for case in cases
                if case.name in found
            ]
            if by_case:
                excesses[limit.text] = max(by_case)
        return excesses


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
    chosen = [case for case in cases if case.name in found]
    losses = {case.name: found[case.name]["loss"] for case in chosen}
    worst = sorted(losses.values(), reverse=True)[: max(1, math.ceil((1 - TAIL) * len(losses)))]
    mean = sum(case.weight * losses[case.name] for case in chosen) / sum(case.weight for case in chosen)
    value = mean + TAIL_WEIGHT * sum(worst) / len(worst)
    if no_regret:
        for name in {class_of(case) for case in chosen}:
            own = [case.name for case in chosen if class_of(case) == name]
            regret = sum(losses[case] - free[case]["loss"] for case in own) / len(own)
            value += REGRET_WEIGHT * max(0.0, regret - NO_REGRET)
    return value


def read_limit(text: str) -> Limit:
    """Read a limit such as `latency_p99 <= 200 us` or `delivered >= 0.99 * uncontrolled`.

    Raises:
        BecalmError: the text is not a limit.

    """
    found = _LIMIT.fullmatch(text.replace("* uncontrolled", " * uncontrolled"))
    if found is None or found[1] not in MEASURES or (found[4] and found[4] not in UNITS):
        valid = (
            f"a measure ({', '.join(MEASURES)}), <= or >=, a number, and a unit of time or `* uncontrolled`"
        )
        raise BecalmError(f"limit `{text}`: valid: {valid}")
    try:
        value = seconds(f"{found[3]} {found[4]}") if found[4] else float(found[3])
    except ValueError as error:
        raise BecalmError(f"limit `{text}`: {found[3]} is not a number") from error
    return Limit(text, found[1], found[2] == ">=", value, bool(found[5]))
