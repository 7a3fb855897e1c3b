"""`becalm play`: the playground, one HTML file with the core in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from becalm.commands.reports import has_screen
from becalm.exits import guarded


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("play")(play)


@guarded
def play(
    scenario: Annotated[
        Path | None, typer.Argument(help="Open with this scenario instead of a ready scene.")
    ] = None,
) -> None:
    """Open the playground in the browser; print its path where there is none.

    It simulates in the page: move sliders, edit any scenario, send a link. It loads nothing.
    """
    import webbrowser

    from becalm import console
    from becalm.report import playground

    page = playground.page() if scenario is None else playground.page_with(scenario)
    if has_screen():
        webbrowser.open(page.as_uri())
    console.say(str(page))
