"""Panel "Papers and schemes": creating and checking user-defined schemes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from becalm import jsons
from becalm.cli.exits import BAD_INPUT, FAILED, stop
from becalm.cli.options import Overwrite


def new_scheme(
    file: Annotated[Path | None, typer.Argument(help="A .py file.", show_default=False)] = None,
    like: Annotated[
        str, typer.Option(help="Scheme to start from: lipd, dctcp, ramp, input_triggered, rocev2.")
    ] = "lipd",
    header: Annotated[
        bool,
        typer.Option("--header", help="Print the C header `becalm.h` instead, for schemes in libraries."),
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write a commented Python class as a starting point for your own scheme."""
    from becalm._core import header as text_of_header
    from becalm.cli import console
    from becalm.folders import write_new
    from becalm.schemes import starts

    if header:
        if file is not None:
            stop("new-scheme: --header prints the header and takes no FILE; use > becalm.h", BAD_INPUT)
        typer.echo(text_of_header(), nl=False)
        return
    if file is None:
        stop("new-scheme: needs a FILE, such as mine.py, or --header", BAD_INPUT)
    if file.suffix != ".py":
        stop(f"{file}: must end in .py; for C and other languages, --header prints the interface", BAD_INPUT)
    if like not in starts.names():
        stop(f"--like {like}: unknown; valid: {', '.join(starts.names())}", BAD_INPUT)
    text, name, seam = starts.start(like, file.stem)
    write_new(file, text, overwrite=overwrite)
    console.say(f"written to {file}. Next:")
    console.say(f"  becalm check-scheme {file}:{name}")
    console.say(f"  becalm run --example input_triggered_lipd --{seam} {file}:{name}")
    console.say(f"  becalm compare --scheme {file}:{name} --scheme lipd --scene incast --short")


def check_scheme(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="FILE:NAME",
            help="A class in a Python file, or a scheme in a library.",
            show_default=False,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check your own scheme against the rules for all schemes; exit code 1 if it breaks one."""
    from becalm import contract
    from becalm.cli import console
    from becalm.schemes.loading import load

    scheme = load(reference)
    with console.Bar(quiet=as_json, unit="rules") as bar:
        found = contract.check_scheme(scheme, bar.on_step)
    if as_json:
        typer.echo(jsons.dumps([each._asdict() for each in found]))
    else:
        for each in found:
            console.say(f"{'ok  ' if each.holds else 'FAIL'} {each.rule}: {each.detail}")
    if not all(each.holds for each in found):
        raise typer.Exit(FAILED)
