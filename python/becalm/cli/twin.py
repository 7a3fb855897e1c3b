"""The twin of a run: the same scenario without congestion control, and what control changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from becalm.cli.exits import BAD_INPUT, stop

if TYPE_CHECKING:
    from becalm.results import Results
    from becalm.scenario import Scenario

SUFFIX = "-without-control"
"""What the name of a twin's results folder adds to that of the run."""


def twin_of(scenario: Scenario, *, wanted: bool) -> Scenario | None:
    """Return the scenario without congestion control, if it is wanted."""
    if not wanted:
        return None
    twin = scenario.without_control()
    if twin == scenario:
        stop("--twin: the scenario has no congestion control, so its twin would be the same run", BAD_INPUT)
    return twin


def run_twin(
    twin: Scenario, folder: Path, run: Callable[[Scenario], Results], *, overwrite: bool
) -> tuple[Results, Path]:
    """Run a twin, and write its results beside those of the run, in `folder`.

    Raises:
        BecalmError: the run fails, or the results cannot be written.

    """
    from becalm.results import FOLDER

    name = folder.with_name(folder.name + SUFFIX)
    with FOLDER.reserve(name, overwrite=overwrite) if overwrite else FOLDER.reserve_free(name) as place:
        results = run(twin)
        place.write(results.fill)
    return results, place.folder
