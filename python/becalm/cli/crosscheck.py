"""`becalm crosscheck`: comparison with other simulators."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from becalm import jsons
from becalm.cli.engines import Runs
from becalm.cli.exits import FAILED

if TYPE_CHECKING:
    from becalm.crosscheck import Checked


def crosscheck(
    entry: Annotated[
        list[str] | None, typer.Argument(help="Names of entries; default: all.", show_default=False)
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="Run only the entries that finish within seconds.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line, one for each entry.")
    ] = False,
    workers: Runs = None,
) -> None:
    """Compare runs with the results of other simulators; exit code 1 if a number is outside its tolerance."""
    from becalm import crosscheck as checks
    from becalm.cli.screen import Screen

    begin = time.monotonic()
    with Screen(quiet=as_json) as screen:
        found = checks.check(entry, short=short, threads=workers, progress=screen.on_progress)
    if as_json:
        for each in found:
            typer.echo(jsons.dumps(each.to_json()))
    else:
        _show(found, time.monotonic() - begin)
    if any(each.agreeing < len(each.quantities) for each in found):
        raise typer.Exit(FAILED)


def _show(found: Sequence[Checked], taken: float) -> None:
    from becalm.cli import console
    from becalm.cli.tables import table
    from becalm.crosscheck import page

    for each in found:
        title = f"{each.entry.name}: {each.entry.title}, compared with {each.entry.program.name}"
        columns = ("case", "quantity", "reference", "becalm", "difference", "tolerance", "verdict")
        console.out.print(table(title, columns, page.rows(each), text=2))
        for case, name, why in page.reasons(each):
            console.say(f"{case}, {name}: {why}")
    console.say(f"{page.score(found)}; {taken:.0f} s")
