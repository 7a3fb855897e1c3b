"""Verdicts over several seeds.

Every run gives margins: how far its values are on the right side of their limits (`becalm.lab.expect`). For
each margin the mean over the seeds has a 95% confidence interval, by Student's distribution:

- `holds`: every interval is on the right side;
- `fails`: some interval is on the wrong side as a whole;
- `undecided`: none is, but some contains the limit.

So an order is judged by its worst pair, and a claim with several values by its worst value. A deterministic
value has an interval of width zero, and with one seed the value itself decides. An infinite margin has no
mean: the claim holds if it does at every seed, and fails if it does at none. NaN fails.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from becalm.intervals import mean_interval
from becalm.lab.expect import Expectation, Margin

HOLDS, WEAK, UNDECIDED, FAILS = "holds", "weak", "undecided", "fails"
VERDICTS = (HOLDS, UNDECIDED, FAILS)
"""From best to worst."""
STANDINGS = (HOLDS, WEAK, UNDECIDED, FAILS)
"""The verdicts, and that on a claim that holds like its null: see `becalm.lab.nulls`."""


def judge_runs(expect: Expectation, runs: Sequence[Sequence[float]]) -> str:
    """Judge the values of one or more runs.

    Args:
        expect: what is expected of the values of each run.
        runs: the values by seed, each in the same order.

    Raises:
        ValueError: runs with different numbers of values.

    """
    if len({len(values) for values in runs}) > 1:
        counts = ", ".join(str(len(values)) for values in runs)
        raise ValueError(f"a measure must return the same number of values at every seed, not {counts}")
    columns = zip(*(expect.margins(values) for values in runs), strict=True)
    verdicts = [_judge(column) for column in columns]
    return max(verdicts, key=VERDICTS.index, default=FAILS)


def _judge(margins: Sequence[Margin]) -> str:
    """Judge one margin by its values at all seeds."""
    distances = [margin.distance for margin in margins]
    if any(math.isnan(distance) for distance in distances):
        return FAILS
    if any(math.isinf(distance) for distance in distances):
        passes = [margin.passes for margin in margins]
        return HOLDS if all(passes) else UNDECIDED if any(passes) else FAILS
    _, low, high = mean_interval(distances)
    strict = margins[0].strict
    if low > 0 or (low == 0 and not strict):
        return HOLDS
    return FAILS if high < 0 or (high == 0 and strict) else UNDECIDED
