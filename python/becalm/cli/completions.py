"""`becalm run --fct`: completion times of messages in the columns of another simulator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from becalm.cli.exits import BAD_INPUT, stop

if TYPE_CHECKING:
    from becalm.results import Results
    from becalm.scenario import Scenario


def check(scenario: Scenario, file: Path | None, *, overwrite: bool) -> None:
    """Refuse a file that cannot be written, or a run without messages."""
    if file is None:
        return
    from becalm.folders import check_writable
    from becalm.simulators.fct import NEEDED

    check_writable(file, overwrite=overwrite)
    if not scenario.resolved["observe"]["messages"]:
        stop(f"--fct: {NEEDED}", BAD_INPUT)


def write(results: Results, file: Path | None, *, overwrite: bool) -> list[str]:
    """Write the file; return what was written, in words."""
    if file is None:
        return []
    from becalm.folders import write_new
    from becalm.simulators import fct

    write_new(file, "".join(f"{line}\n" for line in fct.lines(results)), overwrite=overwrite)
    return [f"completion times in {file}"]
