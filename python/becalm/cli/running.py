"""One run of `becalm run`: its progress, its end on request, and a page that shows it while it goes on."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import PurePath
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

from becalm.cli.exits import SIGNALLED, stop
from becalm.cli.look import open_page

if TYPE_CHECKING:
    from becalm.results import Results
    from becalm.runs import Progress
    from becalm.scenario import Scenario

_FIRST = "stopping: the results so far follow; once more to end at once\n"


class Stopping:
    """The answer to whether a run is to stop.

    Args:
        limit: wall-clock seconds after which it is; None: no limit.

    """

    def __init__(self, limit: float | None) -> None:
        self._until = None if limit is None else time.monotonic() + limit
        self._number: int | None = None
        self._before: dict[int, Any] = {}

    def __call__(self) -> bool:
        """Return whether the run is to stop."""
        return self._number is not None or (self._until is not None and time.monotonic() >= self._until)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Let the first Ctrl-C or SIGTERM stop the run. The second one ends the command."""
        for number in (signal.SIGINT, signal.SIGTERM):
            before = signal.getsignal(number)
            # An ignored signal stays ignored, and a handler from outside Python stays.
            if callable(before):
                self._before[number] = before
                signal.signal(number, self._first)
        try:
            yield
        finally:
            self._restore()

    def _first(self, number: int, _: FrameType | None) -> None:
        self._restore()
        self._number = number
        os.write(2, _FIRST.encode())

    def _restore(self) -> None:
        while self._before:
            number, before = self._before.popitem()
            signal.signal(number, before)

    def leave(self, message: str) -> None:
        """End the command with a message and the exit code of the signal, if there was one."""
        if self._number is not None:
            stop(message, SIGNALLED + self._number)


def run(
    stopping: Stopping,
    scenario: Scenario,
    *,
    quiet: bool,
    threads: int | None,
    max_memory: int | str | None,
    watch: bool = False,
) -> Results:
    """Run a scenario with a progress bar until it ends or is to stop."""
    import becalm
    from becalm.cli import console

    start = run_live if watch else becalm.run
    with console.Bar(quiet=quiet) as bar, stopping.watching():
        try:
            return start(scenario, progress=bar.on_run, threads=threads, max_memory=max_memory, stop=stopping)
        except becalm.StoppedError as error:
            stopping.leave(str(error))
            raise


def run_live(
    scenario: Scenario,
    progress: Callable[[Progress], object],
    *,
    threads: int | None,
    max_memory: int | str | None,
    stop: Callable[[], bool],
) -> Results:
    """Run a scenario while a server on this machine shows it; its page can stop the run.

    Raises:
        StoppedError: the run was stopped before its measured window began.
        BecalmError: as for `becalm.run`.

    """
    from becalm.analysis.recording import recording
    from becalm.reports.live import Live
    from becalm.runs.watched import run_watched

    scenario = recording(scenario)
    with Live(PurePath(scenario.name).stem) as live:
        typer.echo(f"the run goes on at {live.url}", err=True)
        open_page(live.url)
        results = run_watched(
            scenario,
            lambda now, frames: live.show(scenario, now, frames),
            progress=progress,
            threads=threads,
            max_memory=max_memory,
            stop=lambda: live.stopped or stop(),
        )
        live.end(results)
    return results
