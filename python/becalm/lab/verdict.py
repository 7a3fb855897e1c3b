"""Verdicts over several seeds.

Every run has margins, the distances of its values from their limits (`becalm.lab.expect`). Student's
distribution yields a 95% confidence interval for each margin's mean over the seeds:

- `holds`: every interval is on the right side;
- `fails`: at least one interval is entirely on the wrong side;
- `undecided`: no interval is entirely on the wrong side, but at least one contains the limit.

Therefore the worst pair of neighbours decides for an order, and the worst value for a claim with several
values. A deterministic value has an interval of width zero. With one seed, the value itself decides. An
infinite margin has no mean, so the claim holds if it holds for every seed, and fails if it holds for none.
NaN fails.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from becalm.intervals import mean_interval
from becalm.lab.expect import Expectation, Margin

HOLDS, WEAK, UNDECIDED, FAILS = "holds", "weak", "undecided", "fails"
VERDICTS = (HOLDS, UNDECIDED, FAILS)
"""Verdicts from best to worst."""
STANDINGS = (HOLDS, WEAK, UNDECIDED, FAILS)
"""The verdicts, and the standing of a claim that holds, as does its null: see `becalm.lab.nulls`."""


def judge_runs(expect: Expectation, runs: Sequence[Sequence[float]]) -> str:
    """Judge the values of one or more runs.

    Args:
        expect: the expectation for the values of each run.
        runs: the values by seed, in the same order for each seed.

    Raises:
        ValueError: runs have different numbers of values.

    """
    if len({len(values) for values in runs}) > 1:
        counts = ", ".join(str(len(values)) for values in runs)
        raise ValueError(f"a measure must return the same number of values for every seed, not {counts}")
    columns = zip(*(expect.margins(values) for values in runs), strict=True)
    verdicts = [_judge(column) for column in columns]
    return max(verdicts, key=VERDICTS.index, default=FAILS)


def _judge(margins: Sequence[Margin]) -> str:
    """Judge one margin by its values for all seeds."""
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
