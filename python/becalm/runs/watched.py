"""A run that shows its frames while it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from becalm._core import Run
from becalm.base.errors import StoppedError
from becalm.results import Results
from becalm.results.outcomes import Outcome
from becalm.runs import memory
from becalm.runs.runs import Progress, spent, threads_each
from becalm.scenario import Scenario

PS = 10**12
"""Picoseconds per second."""
STEP = 0.1
"""Wall-clock seconds that a step should take."""
Frames = Mapping[str, list[tuple[str, str, Any]]]
"""The columns of the tables `frames` and `frames_groups`: name, unit, values."""


def run_watched(
    scenario: Scenario,
    show: Callable[[Progress, Frames], object],
    *,
    progress: Callable[[Progress], object] | None = None,
    threads: int | None = None,
    max_memory: int | str | None = None,
    stop: Callable[[], bool] = lambda: False,
    every: float = 0.5,
) -> Results:
    """Run all replications of a scenario, one after the other. The results are the same as those of `run`.

    Args:
        scenario: a scenario that records frames.
        show: called with the frames so far about every `every` seconds.
        progress: see `becalm.run`.
        threads: see `becalm.run`.
        max_memory: see `becalm.run`.
        stop: see `becalm.run`.
        every: wall-clock seconds between two calls of `show`.

    Raises:
        StoppedError: `stop` returned True before the measured window of the first replication began.
        BecalmError: as for `becalm.run`.

    """
    memory.check([scenario], max_memory, width=1, kept=scenario.replications)
    outcomes: list[Outcome] = []
    for replication in range(scenario.replications):
        if outcomes and stop():
            break
        try:
            outcomes.append(_one(scenario, replication, show, progress, threads, stop, every))
        except StoppedError:
            if not outcomes:
                raise
    return Results.from_outcomes(scenario, outcomes)


def _one(
    scenario: Scenario,
    replication: int,
    show: Callable[[Progress, Frames], object],
    progress: Callable[[Progress], object] | None,
    threads: int | None,
    stop: Callable[[], bool],
    every: float,
) -> Outcome:
    began = shown = time.perf_counter()
    width = threads_each(scenario, threads)
    last = Progress(replication, scenario.replications, 0.0, 0.0, 0, 0)

    def look(now: float, duration: float, events: int, packet_hops: int) -> bool:
        nonlocal last
        last = Progress(replication, scenario.replications, now, duration, events, packet_hops)
        if progress is not None:
            progress(last)
        return stop()

    with spent(width) as processor:
        run = Run(scenario.core, replication, width)
        until, step = 0, 1e-6
        while not run.ended:
            begin = time.perf_counter()
            until += max(1, round(step * PS))
            run.advance(until, look)
            now = time.perf_counter()
            # Steps begin short, since nothing is known of the speed.
            step *= min(4.0, max(0.25, STEP / max(now - begin, 1e-6)))
            if now - shown > every:
                shown = now
                show(last._replace(time=run.now / PS, packet_hops=run.packet_hops), run.frames())
        outcome = run.finish()
    return Outcome(replication, time.perf_counter() - began, outcome, processor.seconds)
