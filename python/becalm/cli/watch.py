"""`becalm run --watch`: a page that shows a run while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING

import typer

from becalm.cli.look import open_page

if TYPE_CHECKING:
    from becalm.results import Results
    from becalm.runs import Progress
    from becalm.scenario import Scenario


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
