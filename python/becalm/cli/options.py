"""Options that several commands have."""

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
        help="Threads to use; default: all cores, small runs use one.",
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Refuse what would need more, such as 4GB; 80% of the machine's when not given."
    ),
]
Responses = Annotated[
    list[str] | None,
    typer.Option(
        "--response",
        metavar="FILE:NAME",
        help="Use a response of one's own: a class of a Python file, or a scheme of a library; repeatable.",
    ),
]
Markings = Annotated[
    list[str] | None,
    typer.Option("--marking", metavar="FILE:NAME", help="Use a marking policy of one's own, likewise."),
]
Echoes = Annotated[
    list[str] | None, typer.Option("--echo", metavar="FILE:NAME", help="Use an echo of one's own, likewise.")
]
Fabric = Annotated[
    Path | None, typer.Option(help="Output of `ibnetdiscover`, for the ports of OpenSM's masks.")
]


def own_schemes(
    response: list[str] | None, marking: list[str] | None, echo: list[str] | None
) -> tuple[Provided, ...]:
    """Return the schemes of one's own that the options name.

    This, and nothing in a scenario, runs their code.

    Raises:
        SchemeError: one of them cannot be loaded.

    """
    named = {"response": response, "marking": marking, "echo": echo}
    if not any(named.values()):
        return ()
    from becalm.schemes.loading import load

    return tuple(load(each, seam) for seam, files in named.items() for each in files or ())
