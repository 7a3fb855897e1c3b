"""What the points of a sweep do to a group of flows, with the interval of the difference over the seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from becalm.base.intervals import Interval, mean_interval

if TYPE_CHECKING:
    import polars as pl


class Contrast(NamedTuple):
    """The two points at which a group has its smallest and its largest mean rate."""

    group: str
    worst: Mapping[str, object]
    """Values by key at the point with the smallest rate."""
    best: Mapping[str, object]
    """Values by key at the point with the largest rate."""
    low: float
    """The smallest mean rate in B/s."""
    high: float
    """The largest mean rate in B/s."""
    gain: Interval
    """The difference of the two rates, paired by seed. The interval allows for the choice."""
    seeds: int
    differences: int
    """Number of differences between two points of a group, of which this one was chosen."""

    @property
    def sure(self) -> bool:
        """Whether the interval of the difference excludes 0; one seed has no interval."""
        return self.seeds == 1 or not self.gain.low <= 0 <= self.gain.high

    @property
    def chosen(self) -> str:
        """Of how many differences this one is the largest, to add to its interval."""
        return f", the largest of {self.differences:,} differences" if self.differences > 1 else ""


def without_rates(groups: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return a row for each point with a run that has no rates, since it ended as its window began."""
    return groups.filter(~groups["rate"].is_finite()).unique(keys)


def contrast(groups: pl.DataFrame, keys: Sequence[str], group: str) -> Contrast | None:
    """Return the contrast of a group; None with fewer than two points, or with other seeds at some of them.

    Points without rates are left out.

    The points are chosen by their rates, so the interval is one of those that together hold for all pairs of
    points and all groups.

    Args:
        groups: the table `groups` of all points, with a column for each key.
        keys: the keys of the sweep.
        group: the group's name.

    """
    if not keys:
        return None
    groups = groups.join(without_rates(groups, keys), on=keys, how="anti")
    own = groups.filter(groups["group"] == group)
    points = [(point, part["rate"].to_list()) for point, part in own.group_by(keys, maintain_order=True)]
    if len(points) < 2 or len({len(rates) for _, rates in points}) > 1:
        return None
    points.sort(key=lambda each: sum(each[1]))
    (worst, low), (best, high) = points[0], points[-1]
    differences = math.comb(len(points), 2) * groups["group"].n_unique()
    gain = mean_interval([one - other for one, other in zip(high, low, strict=True)], differences)
    worst_at, best_at = (dict(zip(keys, each, strict=True)) for each in (worst, best))
    rates = (sum(low) / len(low), sum(high) / len(high))
    return Contrast(group, worst_at, best_at, *rates, gain, len(low), differences)


def verdict(groups: pl.DataFrame, keys: Sequence[str], points: int) -> str:
    """Return which group the sweep's keys change most, and by how much, in one sentence.

    Args:
        groups: the table `groups` of all points, with a column for each key.
        keys: the keys of the sweep.
        points: the number of points.

    """
    if not groups.height or not keys:
        return "No two points can be compared."
    without = without_rates(groups, keys)
    if without.height:
        rest = verdict(groups.join(without, on=keys, how="anti"), keys, points - without.height)
        ended = "a run has no rates: it ended as its window began"
        return f"{rest} At {without.height} of {points} points, {ended}."
    names = groups["group"].unique(maintain_order=True).to_list()
    found = [each for each in (contrast(groups, keys, name) for name in names) if each is not None]
    if not found:
        return "No two points can be compared."
    sent = [each for each in found if each.high > 0]
    most = max(sent, key=lambda each: (each.sure, (each.high - each.low) / each.high), default=None)
    if most is None or most.high == most.low:
        return f"No group's rate differs between {points} points."
    at, other = (
        ", ".join(f"{key} = {value}" for key, value in each.items()) for each in (most.best, most.worst)
    )
    ends = (
        "one seed, so the spread is unknown"
        if most.seeds == 1
        else f"95% interval {_percent(most.gain.low / most.high)} to {_percent(most.gain.high / most.high)}"
        f"{most.chosen}"
    )
    lost = _percent(1 - most.low / most.high)
    if not most.sure:
        return (
            f"No group's rate differs significantly between {points} points, given the seeds' spread: "
            f"{most.group}'s is {lost} lower at {other} than at {at} ({ends})."
        )
    return f"{most.group} suffers most: its rate is {lost} lower at {other} than at {at} ({ends})."


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
