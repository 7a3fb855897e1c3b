"""Trials: runs of the explained scenario with a change, and what the change gained."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from becalm.analysis import limits
from becalm.analysis.formats import number, seconds, share
from becalm.errors import BecalmError
from becalm.quantities import seconds as read_seconds
from becalm.results import Results
from becalm.runs import Progress, run
from becalm.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl


class Effect(NamedTuple):
    """The difference between two runs of the same traffic."""

    score: float
    """Mean logarithm of the gains of all jobs and groups; small for fewer pauses or shorter waits only.

    It is above 0 for a gain, and 0 if nothing changes noticeably.
    """
    text: str
    """The largest differences in words; empty if there are none."""


class _Change(NamedTuple):
    gain: float
    """Logarithm of the gain."""
    text: str


class _TooSlowError(Exception):
    pass


class Bench:
    """Runs trials within a time limit, each scenario once."""

    def __init__(
        self,
        results: Results,
        replication: int,
        max_time: float,
        progress: Callable[[Progress], object] | None = None,
    ) -> None:
        """Make a bench.

        Args:
            results: the explained run.
            replication: its explained replication, whose seed the trials have.
            max_time: total wall-clock time of all trials in s.
            progress: see `becalm.run`.

        """
        self._scenario = results.scenario
        self._replication = replication
        self._end = time.monotonic() + max_time
        self._progress = progress
        self._found: dict[str, Results | None] = {}
        self.estimate = results.wall_time / max(1, len(results.replications))
        """Wall-clock time in s that a trial probably takes."""
        self.skipped = False
        """Whether time was too short for a trial."""

    def run(self, scenario: Scenario) -> Results | None:
        """Return the results of a scenario, or None if there is no time for it, or if it cannot run."""
        if scenario.hash not in self._found:
            self._found[scenario.hash] = self._run(scenario)
        return self._found[scenario.hash]

    def _run(self, scenario: Scenario) -> Results | None:
        if time.monotonic() + self.estimate > self._end:
            self.skipped = True
            return None
        seed = int(scenario.resolved["run"]["seed"]) + self._replication
        changes = {"run.seed": seed, "run.replications": 1, "observe": None}
        try:
            return run(scenario.replace(changes), progress=self._limited, threads=1)
        except _TooSlowError:
            self.skipped = True
        except BecalmError:
            # For example, a deadlock: the change is no remedy.
            pass
        return None

    def _limited(self, now: Progress) -> None:
        if time.monotonic() > self._end:
            raise _TooSlowError
        if self._progress is not None:
            self._progress(now)


def effect(before: Results, replication: int, after: Results) -> Effect:
    """Compare a trial with a replication of the explained run.

    Jobs count by their times, and groups of flows by their throughput. If neither changes noticeably, the
    longest pause and the longest latency count.
    """
    changes = [*_jobs(before, replication, after), *_groups(before, replication, after)]
    score = sum(change.gain for change in changes) / max(1, len(changes))
    largest = sorted(changes, key=lambda change: -abs(change.gain))
    said = [change.text for change in largest if abs(change.gain) >= limits.NOTICED][:3]
    if said:
        # What one job gains and another loses is no gain.
        return Effect(score if abs(score) >= limits.NOTICED / 2 else 0.0, "; ".join(said))
    others = [*_pauses(before, replication, after), *_latency(before, replication, after)]
    return Effect(sum(each.gain for each in others), "; ".join(each.text for each in others))


def _jobs(before: Results, replication: int, after: Results) -> list[_Change]:
    if "jobs" not in before.tables:
        return []
    found = []
    one, other = _of(before, "jobs", replication), _of(after, "jobs", 0)
    longest = read_seconds(before.scenario.resolved["run"]["duration"])
    for name, first, second in zip(one["job"], one["time"], other["time"], strict=True):
        ends = [math.nan if value is None else float(value) for value in (first, second)]
        if all(math.isfinite(value) for value in ends):
            text = f"job {name} takes {seconds(ends[1])} instead of {seconds(ends[0])}"
            found.append(_Change(math.log(ends[0] / ends[1]), text))
        elif math.isfinite(ends[1]):
            text = f"job {name} takes {seconds(ends[1])} instead of not ending within {seconds(longest)}"
            found.append(_Change(max(limits.NOTICED, math.log(longest / ends[1])), text))
        elif math.isfinite(ends[0]):
            text = f"job {name} does not end, instead of taking {seconds(ends[0])}"
            found.append(_Change(-max(1.0, math.log(longest / ends[0])), text))
    return found


def _groups(before: Results, replication: int, after: Results) -> list[_Change]:
    """Compare the throughput of groups of flows, and of jobs that end in neither run."""
    one, other = _of(before, "groups", replication), _of(after, "groups", 0)
    ended = set()
    for results, at in ((before, replication), (after, 0)):
        if "jobs" in results.tables:
            jobs = _of(results, "jobs", at)
            ended |= {name for name, end in zip(jobs["job"], jobs["time"], strict=True) if end == end}
    found = []
    for name, first, second in zip(one["group"], one["rate"], other["rate"], strict=True):
        if name not in ended and max(first, second) > 0:
            # A group that delivered nothing gains a large but finite factor.
            least = 1e-3 * max(first, second)
            text = f"{name} delivers {number(second, 'B/s')} instead of {number(first, 'B/s')}"
            found.append(_Change(math.log(max(second, least) / max(first, least)), text))
    return found


def _pauses(before: Results, replication: int, after: Results) -> list[_Change]:
    if "pauses" not in before.tables or "pauses" not in after.tables:
        return []
    one, other = (
        _of(each, "pauses", at)["paused_share"].to_numpy().max(initial=0.0)
        for each, at in ((before, replication), (after, 0))
    )
    if abs(one - other) < limits.LEAST_ROOT:
        return []
    text = f"the most paused link is paused for {share(other)} of the time instead of {share(one)}"
    return [_Change((one - other) / 10, text)]


def _latency(before: Results, replication: int, after: Results) -> list[_Change]:
    one, other = (
        np.nan_to_num(_of(each, "groups", at)["latency_p99"].to_numpy().astype(float)).max(initial=0.0)
        for each, at in ((before, replication), (after, 0))
    )
    if min(one, other) <= 0 or abs(math.log(one / other)) < limits.SHORTER:
        return []
    text = f"the 99th percentile of latency is {seconds(other)} instead of {seconds(one)}"
    return [_Change(math.log(one / other) / 100, text)]


def _of(results: Results, name: str, replication: int) -> pl.DataFrame:
    import polars as pl

    return results.tables[name].filter(pl.col("replication") == replication)
