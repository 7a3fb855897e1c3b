"""`becalm explain`: what the tables of a run show, in words."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from becalm import jsons
from becalm.exits import guarded


@guarded
def explain(
    folder: Annotated[Path, typer.Argument(metavar="RESULTS", help="Results of a run.", show_default=False)],
    replication: Annotated[int, typer.Option(min=0, max=2**31, help="Replication number.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object: sentences, numbers, rows of tables.")
    ] = False,
) -> None:
    """Say what a run shows: roots of congestion, causes, victims, cost, control, what to try next."""
    import becalm
    from becalm import console
    from becalm.mistakes import printable

    found = becalm.explain(becalm.load_results(folder), replication)
    if as_json:
        typer.echo(jsons.dumps(found.to_json()))
        return
    for line in found.lines():
        indent = "" if not line.startswith(" ") else "    "
        wrapped = textwrap.wrap(
            printable(line),
            console.out.width,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        typer.echo("\n".join(wrapped))
