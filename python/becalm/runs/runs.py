"""Runs all replications of a scenario, in parallel on the available cores, with their processor time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from becalm._core import run as core_run
from becalm.base.errors import StoppedError
from becalm.base.parallel import Cancel, cores, run_all
from becalm.results import Results
from becalm.results.outcomes import Outcome
from becalm.runs import memory
from becalm.scenario import Scenario, load

if TYPE_CHECKING:
    from becalm.schemes.base import Scheme
    from becalm.schemes.loading import Provided


@dataclass(eq=False)
class Spent:
    """The processor time of a piece of work."""

    seconds: float | None = None
    """Seconds on all its threads, known at the end of the work. None if no clock measures only this work."""
    alone: bool = True
    """Whether no other piece of work overlapped this one."""


_running: list[Spent] = []
_lock = threading.Lock()


@contextmanager
def spent(threads: int) -> Iterator[Spent]:
    """Measure a piece of work on the calling thread and `threads - 1` threads that it starts.

    One thread has its own clock. Several threads share the clock of the process, which also counts other work
    at the same time.
    """
    work = Spent()
    with _lock:
        _running.append(work)
        if len(_running) > 1:
            for each in _running:
                each.alone = False
    begin = _clock(threads)
    try:
        yield work
    finally:
        end = _clock(threads)
        with _lock:
            _running.remove(work)
        if begin is not None and end is not None and (threads == 1 or work.alone):
            # Within one tick of a coarse clock, the time is unknown.
            work.seconds = end - begin or None


def _clock(threads: int) -> float | None:
    """Return the processor time of this thread or of the process; None if the system does not measure it."""
    clock = getattr(time, "thread_time" if threads == 1 else "process_time", None)
    try:
        return None if clock is None else float(clock())
    except (OSError, RuntimeError):
        return None


class Progress(NamedTuple):
    """Progress of one replication."""

    replication: int
    """Number of the replication, starting at 0."""
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
    scenario: Scenario | str | PathLike[str],
    progress: Callable[[Progress], object] | None = None,
    threads: int | None = None,
    max_memory: int | str | None = None,
    schemes: Iterable[type[Scheme] | Provided | str] = (),
    stop: Callable[[], bool] | None = None,
) -> Results:
    """Run all replications of a scenario.

    Args:
        scenario: the scenario to run, or its file.
        progress: called about every 50 ms for every active replication, and once at its end, by one thread at
            a time. If it raises an exception, the run ends.
        threads: number of threads, used first for parallel replications, and then for single runs if there
            are more threads than replications. None: one per core, with several for one run only if the
            fabric is large enough to benefit. A run never gets more threads than are useful; see
            `fewer_threads`. Results do not depend on the number of threads.
        max_memory: memory that the run may use, in bytes or as a size such as `4 GB`. None: 80% of the
            machine's memory.
        schemes: user-defined schemes, as classes or as FILE:NAME; see `Scenario.using`.
        stop: asked about every 50 ms. If it returns True, the run ends at the simulated time that it has
            reached. The results are those of a run with this duration; see `Results.stopped`.

    Raises:
        SchemeError: a scheme cannot be loaded, or failed in the run.
        StoppedError: `stop` returned True before the measured window of any replication began.
        MemoryLimitError: the run would need more memory than `max_memory`; nothing was built.
        FabricError: the run cannot continue, for example because of a deadlock.
        KeyboardInterrupt: Ctrl-C was pressed; the run ends within a second.

    """
    scenario = scenario if isinstance(scenario, Scenario) else load(scenario)
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

    early: list[StoppedError] = []

    def work(index: int, cancel: Cancel) -> None:
        if stop is not None and outcomes and stop():
            return
        try:
            outcomes[index] = run_one(scenario, index, cancel, report, each, stop)
        except StoppedError as error:
            early.append(error)

    run_all(work, replications, threads)
    if not outcomes:
        raise early[0]
    return Results.from_outcomes(scenario, [outcomes[index] for index in sorted(outcomes)])


def threads_each(scenario: Scenario, threads: int | None) -> int:
    """Return the number of threads for each of a scenario's replications."""
    if threads is not None:
        return scenario.core.allowed_threads(max(1, threads // scenario.replications))
    return scenario.core.useful_threads(max(1, cores() // scenario.replications))


def fewer_threads(scenario: Scenario, threads: int | None) -> str | None:
    """Return the reason why a run gets fewer threads than requested; None if it gets all of them."""
    if threads is None:
        return None
    asked, gets = max(1, threads // scenario.replications), threads_each(scenario, threads)
    if gets == asked:
        return None
    if not scenario.core.native:
        why = "its Python schemes support only one; `becalm.native` compiles them"
        return f"each run gets 1 of {asked} threads: {why}"
    return (
        f"each run gets {gets} of {asked} threads: more threads would mostly wait for each other, since the "
        "cables between switches have too little delay for their traffic"
    )


def run_one(
    scenario: Scenario,
    replication: int,
    cancel: Cancel,
    report: Callable[[Progress], object],
    threads: int = 1,
    stop: Callable[[], bool] | None = None,
) -> Outcome:
    """Run one replication on this thread and further threads as needed; `cancel` ends it, as does `stop`.

    Raises:
        StoppedError: `stop` returned True before the measured window began.

    """
    replications = scenario.replications

    def on_progress(now: float, duration: float, events: int, packet_hops: int) -> bool:
        cancel.check()
        report(Progress(replication, replications, now, duration, events, packet_hops))
        return stop is not None and stop()

    cancel.check()
    start = time.perf_counter()
    with spent(threads) as processor:
        outcome = core_run(scenario.core, replication, threads, on_progress)
    return Outcome(replication, time.perf_counter() - start, outcome, processor.seconds)
