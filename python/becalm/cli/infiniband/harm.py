"""Options of OpenSM that can stop or starve the traffic of a live fabric: not written unless asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Force = Annotated[
    bool,
    typer.Option("--force", help="Write options of OpenSM even if they can stop traffic on a live fabric."),
]


def harm(configuration: str, target: Path) -> str:
    """Return the settings of a configuration that can stop or starve traffic, as lines; empty if none can."""
    from becalm.opensm.check import check_text

    found = [each for each in check_text(configuration, str(target)) if each.harmful]
    return "\n".join(each.message(str(target)) for each in found)


def refusal(warnings: str, target: Path) -> str:
    """Return the message about a file that is not written."""
    return f"{warnings}\n{target}: not written, since it can stop traffic on a live fabric; --force writes it"
