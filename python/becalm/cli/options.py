"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from becalm.schemes.loading import Provided

Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=4096,
        help="Number of threads; default: one per core, or one for small runs.",
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Refuse runs that need more memory than this (e.g. 4GB); default: 80% of the machine's memory.",
    ),
]
Responses = Annotated[
    list[str] | None,
    typer.Option(
        "--response",
        metavar="FILE:NAME",
        help="Use your own response: a class in a Python file, or a scheme in a library; repeatable.",
    ),
]
Markings = Annotated[
    list[str] | None,
    typer.Option("--marking", metavar="FILE:NAME", help="Use your own marking policy; see --response."),
]
Echoes = Annotated[
    list[str] | None,
    typer.Option("--echo", metavar="FILE:NAME", help="Use your own echo; see --response."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Fabric = Annotated[
    Path | None,
    typer.Option(help="Output of `ibnetdiscover`, to look up the port numbers for OpenSM's port masks."),
]


def own_schemes(
    response: list[str] | None, marking: list[str] | None, echo: list[str] | None
) -> tuple[Provided, ...]:
    """Return the user's own schemes that the options name.

    User code runs only through these options, never through a scenario.

    Raises:
        SchemeError: a scheme cannot be loaded.

    """
    named = {"response": response, "marking": marking, "echo": echo}
    if not any(named.values()):
        return ()
    from becalm.schemes.loading import load

    return tuple(load(each, seam) for seam, files in named.items() for each in files or ())
