"""Running a scenario: all its replications, spread over the cores."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from becalm import memory
from becalm._core import run as core_run
from becalm.parallel import Cancel, cores, run_all
from becalm.results import Outcome, Results
from becalm.scenario import Scenario

if TYPE_CHECKING:
    from becalm.schemes.base import Scheme
    from becalm.schemes.loading import Provided


class Progress(NamedTuple):
    """Progress of one replication."""

    replication: int
    """Number of the replication, from 0."""
    replications: int
    """Number of replications."""
    time: float
    """Simulated time in seconds."""
    duration: float
    """Simulated time at the end, in seconds."""
    events: int
    """Events handled."""
    packet_hops: int
    """Packets that have crossed a link, counted once per link."""


def run(
    scenario: Scenario,
    progress: Callable[[Progress], object] | None = None,
    threads: int | None = None,
    max_memory: int | str | None = None,
    schemes: Iterable[type[Scheme] | Provided | str] = (),
) -> Results:
    """Run all replications of a scenario.

    Args:
        scenario: what to run.
        progress: called about every 50 ms for every replication that runs, and once at its end, by one thread
            at a time.
            An exception that it raises ends the run.
        threads: number of threads to use, first for replications in parallel, and for one run if there are
            more threads than replications. None: as many as there are cores, and several for one run only
            if the fabric is large enough to benefit. One run never gets more threads than are useful; see
            `fewer_threads`. Results do not depend on it.
        max_memory: memory that the run may use, in bytes or as a size such as `4 GB`. None: 80% of the
            machine's memory.
        schemes: user-defined schemes, as classes or as FILE:NAME; see `Scenario.using`.

    Raises:
        SchemeError: one of the schemes cannot be loaded, or failed in the run.
        MemoryLimitError: the run would need more memory than that; nothing was built.
        FabricError: a run that cannot continue, such as a deadlock.
        KeyboardInterrupt: Ctrl-C; the run ends within a second.

    """
    scenario = scenario.using(schemes)
    replications = scenario.replications
    width = min(cores() if threads is None else max(1, threads), replications)
    memory.check([scenario], max_memory, width=width, kept=replications)
    each = threads_each(scenario, threads)
    outcomes: dict[int, Outcome] = {}
    lock = threading.Lock()

    def report(now: Progress) -> None:
        if progress is not None:
            with lock:
                progress(now)

    def work(index: int, cancel: Cancel) -> None:
        outcomes[index] = run_one(scenario, index, cancel, report, each)

    run_all(work, replications, threads)
    return Results.from_outcomes(scenario, [outcomes[index] for index in range(replications)])


def threads_each(scenario: Scenario, threads: int | None) -> int:
    """Return how many threads each of a scenario's replications gets."""
    if threads is not None:
        return scenario.core.allowed_threads(max(1, threads // scenario.replications))
    return scenario.core.useful_threads(max(1, cores() // scenario.replications))


def fewer_threads(scenario: Scenario, threads: int | None) -> str | None:
    """Return why a run gets fewer threads than requested; None if it gets all of them."""
    if threads is None:
        return None
    asked, gets = max(1, threads // scenario.replications), threads_each(scenario, threads)
    if gets == asked:
        return None
    if not scenario.core.native:
        why = "its Python schemes run on one; `becalm.native` compiles them"
        return f"each run gets 1 of {asked} threads: {why}"
    return (
        f"each run gets {gets} of {asked} threads: more would mostly wait for each other, since the cables "
        "between switches have too little delay for their traffic"
    )


def run_one(
    scenario: Scenario,
    replication: int,
    cancel: Cancel,
    report: Callable[[Progress], object],
    threads: int = 1,
) -> Outcome:
    """Run one replication on this thread and as many more as needed; `cancel` ends it."""
    replications = scenario.replications

    def on_progress(now: float, duration: float, events: int, packet_hops: int) -> None:
        cancel.check()
        report(Progress(replication, replications, now, duration, events, packet_hops))

    cancel.check()
    start = time.perf_counter()
    outcome = core_run(scenario.core, replication, threads, on_progress)
    return Outcome(replication, time.perf_counter() - start, outcome)
