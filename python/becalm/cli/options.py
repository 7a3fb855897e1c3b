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
        help="Threads to use; default: all cores, but only one for small runs.",
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Refuse runs that need more memory than this, such as 4GB; default: 80% of the machine's.",
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
    typer.Option("--marking", metavar="FILE:NAME", help="Use your own marking policy, as with --response."),
]
Echoes = Annotated[
    list[str] | None,
    typer.Option("--echo", metavar="FILE:NAME", help="Use your own echo, as with --response."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Fabric = Annotated[
    Path | None, typer.Option(help="Output of `ibnetdiscover`, for the port numbers in OpenSM's masks.")
]


def own_schemes(
    response: list[str] | None, marking: list[str] | None, echo: list[str] | None
) -> tuple[Provided, ...]:
    """Return the user's own schemes that the options name.

    Only this runs their code; nothing in a scenario does.

    Raises:
        SchemeError: one of them cannot be loaded.

    """
    named = {"response": response, "marking": marking, "echo": echo}
    if not any(named.values()):
        return ()
    from becalm.schemes.loading import load

    return tuple(load(each, seam) for seam, files in named.items() for each in files or ())
