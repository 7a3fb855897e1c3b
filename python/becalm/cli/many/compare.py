"""`becalm compare`: compares schemes on scenes."""

from __future__ import annotations

from typing import Annotated

import typer

from becalm.base import jsons
from becalm.cli.options import Runs, StoringOptions

RANKED = "=: not significantly behind the best; *: had not settled, so it is not ranked"


def compare(
    scheme: Annotated[
        list[str] | None,
        typer.Option(help="Name or file of a scheme; repeatable; default: all."),
    ] = None,
    scene: Annotated[
        list[str] | None,
        typer.Option(help="Name or file of a scene; repeatable; default: all."),
    ] = None,
    short: Annotated[bool, typer.Option("--short", help="Use shorter runs with one seed.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line, one for each scene.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Number of seeds; default: 3.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 1,
    workers: Runs = None,
    *,
    engine: StoringOptions,
) -> None:
    """Run schemes on the same scenes; print their effects on background, contributors, messages and jobs."""
    from becalm import comparison
    from becalm.cli import console
    from becalm.cli.screen import Screen

    chosen = engine.chosen(workers)
    console.warn_short(short)
    with Screen(quiet=as_json) as screen:
        found = comparison.compare(
            scheme,
            scene,
            seeds=seeds,
            seed=seed,
            short=short,
            threads=workers,
            progress=screen.on_progress,
            store=engine.store,
            engine=chosen,
        )
    screen.tell_found(engine.store)
    if as_json:
        for name, table in found.items():
            typer.echo(jsons.dumps({"scene": name, "short": short, "schemes": comparison.to_json(table)}))
        return
    console.show_comparison(map(comparison.shown, found.items()), short=short)
    if len(found) > 1:
        ranked = comparison.ranking({name: table.to_dicts() for name, table in found.items()})
        console.show_comparison([([ranked], [RANKED])], short=short)
