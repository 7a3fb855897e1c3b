"""Trials: runs of the explained scenario with a change, and what the change gained."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from becalm.base.errors import BecalmError
from becalm.results import Results
from becalm.results.verdicts import versus
from becalm.runs import Progress, run
from becalm.scenario import Scenario


class Effect(NamedTuple):
    """The difference between two runs of the same traffic."""

    score: float
    """Mean logarithm of the gains of all jobs and groups; small for fewer pauses or shorter waits only.

    It is above 0 for a gain, and 0 if nothing changes noticeably.
    """
    text: str
    """The largest differences in words; empty if there are none."""


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
    """Compare a trial with a replication of the explained run; see `becalm.results.verdicts.versus`."""
    found = versus(before, after, replications=(replication, 0))
    return Effect(found.score, "; ".join(found.changes[:3]))
