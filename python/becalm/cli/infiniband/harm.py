"""OpenSM options that can stop or starve the traffic of a live fabric. Only --force writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Force = Annotated[
    bool,
    typer.Option("--force", help="Write OpenSM options even if they can stop traffic on a live fabric."),
]


def harm(configuration: str, target: Path) -> str:
    """Return lines about the settings that can stop or starve traffic, or an empty string."""
    from becalm.opensm.check import check_text

    found = [each for each in check_text(configuration, str(target)) if each.severity == "error"]
    return "\n".join(each.message() for each in found)


def refusal(warnings: str, target: Path) -> str:
    """Return the message that a file is not written."""
    return (
        f"{warnings}\n{target}: not written, because it can stop traffic on a live fabric; "
        "override with --force"
    )
