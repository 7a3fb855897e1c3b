"""`becalm whatif`: the effects of an incast."""

from __future__ import annotations

import contextlib
import os
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from becalm.base import jsons
from becalm.base.errors import BecalmError
from becalm.cli.exits import BAD_INPUT, stop
from becalm.cli.options import Changes, Example, MaxTime, scenario_file, time_limit

if TYPE_CHECKING:
    from becalm.analysis.faults import Fault


def whatif(
    hot: Annotated[str, typer.Option(help="The host that receives the incast.", show_default=False)],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FABRIC", help="A scenario (.toml), or output of `ibnetdiscover`.", show_default=False
        ),
    ] = None,
    example: Example = None,
    change: Changes = None,
    contributors: Annotated[
        int | None,
        typer.Option(
            "--contributors", "--degree", help="Number of hosts that send to the hot host; default: 8."
        ),
    ] = None,
    lfts: Annotated[
        Path | None, typer.Option(help="Forwarding tables, if FABRIC is the output of `ibnetdiscover`.")
    ] = None,
    fabric: Annotated[
        Path | None,
        typer.Option(help="Output of `ibnetdiscover`, to look up the port numbers if FABRIC is a scenario."),
    ] = None,
    load: Annotated[
        float | None,
        typer.Option(help="Background load: each host sends this share of its link rate to one other host."),
    ] = None,
    opensm: Annotated[
        Path | None,
        typer.Option(
            help="Take congestion control from this OpenSM configuration; default: the scenario's, or else "
            "a guideline's."
        ),
    ] = None,
    max_time: MaxTime = "120 s",
    out: Annotated[
        Path | None,
        typer.Option(help="Keep the runs in a new folder, for `becalm report FOLDER`.", show_default=False),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print all links and victims.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use.")] = None,
) -> None:
    """Simulate an incast on a host; print faults, roots, victims, and the benefit and cost of control."""
    from becalm.cli import console
    from becalm.cli.infiniband import effects
    from becalm.cli.options import parse_change
    from becalm.whatif import case, kept

    source = scenario_file("whatif", file, example)
    if out is not None and os.path.lexists(out):
        stop(f"{out}: already exists; choose another --out", BAD_INPUT)
    limit = time_limit(max_time)
    changes = dict(parse_change(each) for each in change or [])
    asked = case.Case(source, hot, contributors, lfts, fabric, load, opensm, changes)
    faults: list[list[Fault]] = []
    try:
        with contextlib.ExitStack() as stack:
            place = None if out is None else stack.enter_context(kept.FOLDER.reserve(out))
            bar = stack.enter_context(console.Bar(quiet=as_json))
            found = case.simulate(
                asked,
                max_time=limit,
                threads=threads,
                progress=bar.on_run,
                on_faults=faults.append,
                keep=place is not None,
            )
            if place is not None:
                place.write(partial(kept.fill, found))
    except BecalmError:
        # They may be the reason why the fabric stands still.
        if not as_json:
            for each in faults:
                effects.show_faults(each)
        raise
    if as_json:
        typer.echo(jsons.dumps(effects.to_json(found)))
        return
    effects.show(found, every=every)
    if out is not None:
        console.say(f"runs in {out}: `becalm report {shlex.quote(str(out))}` shows them side by side")
