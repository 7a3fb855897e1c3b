"""Runs within a limit of wall-clock time, and an estimate of what they need."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping

from becalm.results import Results
from becalm.runs import Progress, run
from becalm.scenario import Scenario

SEEN = 0.05
"""Share of a run after which its speed tells the time that all runs need."""
LOOKED_AT = 0.25
"""Share of the limit after which the speed of the first run tells it in any case."""


SPEED = 2e6
"""Packet-hops per second of a large fabric, if the limit ends before a run has begun."""
RESERVE = 0.8
"""Share of the time left that shorter runs are planned to need."""


class _Enough(Exception):
    """There is no time for the extra runs."""


class TooSlow(Exception):
    """Runs need more wall-clock time than is left.

    Args:
        needed: estimated seconds of all runs together.

    """

    def __init__(self, needed: float) -> None:
        super().__init__(needed)
        self.needed = needed


class Budget:
    """A limit on the wall-clock time of runs.

    Args:
        limit: the limit in s, which begins now.
        threads: threads of each run, see `becalm.run`.
        progress: see `becalm.run`.
        clock: the time in s.

    """

    def __init__(
        self,
        limit: float,
        threads: int | None = None,
        progress: Callable[[Progress], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit = limit
        self.needed = 0.0
        """Estimated limit in s with which no run would be left out; 0 if none was."""
        self._threads = threads
        self._progress = progress
        self._clock = clock
        self._began = clock()

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._began

    def results(
        self, scenarios: Mapping[str, Scenario], extra: Mapping[str, Scenario], shortest: float
    ) -> dict[str, Results]:
        """Run scenarios that need about the same time; the extra ones last, if there is time for them.

        Args:
            scenarios: the scenarios to run.
            extra: scenarios without which the results are still of use.
            shortest: share to which runs can be shortened without a loss of the extra ones.

        Raises:
            TooSlow: at the speed of the runs so far, the limit permits only shorter ones.

        """
        done: dict[str, Results] = {}
        names = [*scenarios, *extra]
        every = len(names)
        first, self.needed = self.spent, 0.0
        pace = _Pace()

        def look(now: Progress) -> None:
            spent, left = self.spent - first, self.limit - first
            each = pace.of_run(spent, now.time / now.duration)
            if spent > left and each == 0.0:
                work = sum(one.core.work_estimate for one in (*scenarios.values(), *extra.values()))
                raise TooSlow(spent * every + work / SPEED)
            if each * len(names) > left and (pace.seen >= SEEN or spent > LOOKED_AT * left):
                shorter = each * every * shortest / RESERVE
                without = each * len(scenarios)
                if len(names) == len(scenarios) or spent + shorter < left or max(without, spent) > left:
                    raise TooSlow(each * every)
                self.needed = first + spent + shorter
                del names[len(scenarios) :]
                if len(done) >= len(names):
                    raise _Enough
            if self._progress is not None:
                self._progress(now)

        with contextlib.suppress(_Enough):
            while len(done) < len(names):
                name = names[len(done)]
                done[name] = run({**scenarios, **extra}[name], look, self._threads)
                pace.over(self.spent - first)
        return done


class _Pace:
    """The time that runs of about the same work need, from what has passed of them."""

    def __init__(self) -> None:
        self.seen = 0.0
        """Share of the current run, or 1 after the first."""
        self._runs = 0
        self._whole = 0.0
        """Seconds of whole runs."""
        self._opened: tuple[float, float] | None = None
        """Time and share at which the current run began to simulate."""

    def of_run(self, spent: float, share: float) -> float:
        """Return the estimated seconds of a run, after a time and a share of the current one; 0: unknown."""
        self._opened = self._opened or (spent, share)
        at, since = self._opened
        self.seen = 1.0 if self._runs else share
        if share <= since:
            return self._whole / max(self._runs, 1)
        current = at - self._whole + (spent - at) * (1 - since) / (share - since)
        return (self._whole + current) / (self._runs + 1)

    def over(self, spent: float) -> None:
        """Record the end of a run."""
        self._whole, self._runs, self._opened = spent, self._runs + 1, None
