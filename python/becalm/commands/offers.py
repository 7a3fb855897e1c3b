"""Commands that list what becalm comes with: schemes, topologies, papers, ready scenarios."""

from __future__ import annotations

from typing import Annotated

import typer

from becalm.exits import BAD_INPUT, guarded, stop


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("list")(list_)
    app.command("examples")(examples_)


@guarded
def list_(
    what: Annotated[str | None, typer.Argument(help="A kind; all when not given.")] = None,
) -> None:
    """List papers, figures, claims, schemes, topologies, traffic patterns and other built-in items."""
    from becalm import console, contents

    kinds = contents.kinds()
    if what is not None and what not in kinds:
        stop(f"`{what}`: nothing of that kind; valid: {', '.join(kinds)}", BAD_INPUT)
    # Hundreds of claims would hide the rest.
    for kind in [each for each in kinds if each != "claims"] if what is None else [what]:
        console.show_entries(kind, contents.entries(kind), details=what is not None)


@guarded
def examples_(
    name: Annotated[
        str | None, typer.Argument(help="Example to print; a list of all when not given.")
    ] = None,
) -> None:
    """List the scenarios that come with becalm, or print one as a start for your own."""
    from becalm import console, examples

    if name is not None:
        typer.echo(examples.path(name).read_text(encoding="utf-8"), nl=False)
        return
    rows = [(each, examples.summary(each)) for each in examples.names()]
    console.out.print(console.table("examples", ("name", "what it shows"), rows, text=2))
