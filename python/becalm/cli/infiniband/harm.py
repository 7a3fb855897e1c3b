"""OpenSM options that need a word: those that can stop a live fabric's traffic, and unknown service levels.

Only --force writes options that can stop or starve traffic.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from becalm.opensm.service_levels import Used

Force = Annotated[
    bool,
    typer.Option("--force", help="Write OpenSM options even if they can stop traffic on a live fabric."),
]


def harm(configuration: str, target: Path) -> str:
    """Return lines about the settings that can stop or starve traffic, or an empty string."""
    from becalm.opensm.check import check_text

    found = [each for each in check_text(configuration, str(target)) if each.severity == "error"]
    return "\n".join(each.message() for each in found)


def say_unknown(levels: Used, scenario: str) -> None:
    """Warn if options set up all service levels because those of the flows are unknown."""
    if not levels.known:
        typer.echo(
            f"warning: {scenario} does not say which service levels its flows use: the options set up all "
            "16; `becalm manage --sl` names them, and `becalm import --path-records` reads them",
            err=True,
        )


def refusal(warnings: str, target: Path) -> str:
    """Return the message that a file is not written."""
    return (
        f"{warnings}\n{target}: not written, because it can stop traffic on a live fabric; "
        "override with --force"
    )
