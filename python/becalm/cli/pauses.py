"""`becalm counters` for RoCE: roots of pause storms."""

from __future__ import annotations

from pathlib import Path

import typer

from becalm.cli.exits import BAD_INPUT, stop


def pauses(switches: Path, dump: Path | None, before: Path | None, other: list[str]) -> None:
    """Print the roots of pause storms."""
    from becalm.cli import console
    from becalm.cli.tables import table
    from becalm.findings import listed
    from becalm.sonic import counters, fabric, storms

    if other:
        stop(f"{other[0]}: has no effect with SONiC switches", BAD_INPUT)
    read = fabric.load([switches])
    counts = counters.read(read, [dump or switches], before)
    for doubt in storms.doubts(read, counts):
        typer.echo(f"warning: {doubt}", err=True)
    found = storms.roots(read, counts)
    cells = [
        (each.node, str(each.priority), each.why, listed(each.paused), f"{each.frames:,}") for each in found
    ]
    if cells:
        columns = ("root", "priority", "why", "paused", "frames")
        console.out.print(table(f"Roots of pauses, {len(found)}", columns, cells, text=4))
    else:
        console.say("no root: no port sent or received a pause")
    for each in found:
        console.say(f"{each.node}: {'; '.join(each.evidence)}")
    hosts = [name for name in counts.files if name not in read.switches]
    console.say(f"counters of {len(counts.files) - len(hosts)} switches and {len(hosts)} hosts read")
