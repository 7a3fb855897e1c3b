"""`becalm list`: what a scenario, a command or a paper offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from becalm.base import jsons
from becalm.base.mistakes import nearest
from becalm.cli.exits import BAD_INPUT, stop
from becalm.scenario import contents, examples
from becalm.scenario.contents import Entry

if TYPE_CHECKING:
    from becalm.lab import Experiment


def list_(
    kind: Annotated[
        str | None, typer.Argument(help="Kind of item, such as response; default: all kinds.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(help="Describe one item in full; for `examples`, print the scenario's text."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line, one for each item.")
    ] = False,
) -> None:
    """List example scenarios, schemes, topologies, traffic patterns, papers, figures and claims."""
    from becalm.cli import console

    kinds = ["examples", "papers", "figures", "claims", *contents.catalogue()]
    if kind is not None and kind not in kinds:
        stop(f"`{kind}`: no such kind{nearest(kind, kinds)}; valid: {', '.join(kinds)}", BAD_INPUT)
    # Hundreds of claims would bury the other kinds.
    chosen = [each for each in kinds if each != "claims"] if kind is None else [kind]
    if as_json:
        entries = [(each, entry) for each in chosen for entry in _entries(each)]
        named = [pair for pair in entries if name in (None, pair[1].name)]
        if not named:
            _no_such(kind, name, [entry.name for _, entry in entries])
        for each, entry in named:
            typer.echo(jsons.dumps({"kind": each, **entry._asdict(), "summary": entry.summary}))
        return
    if kind is None or name is None:
        for each in chosen:
            console.show_entries(each, _entries(each))
        return
    if kind == "examples":
        typer.echo(examples.path(name).read_text(encoding="utf-8"), nl=False)
        return
    found = {each.name: each for each in _entries(kind)}
    if name not in found:
        _no_such(kind, name, list(found))
    console.show_entry(kind, found[name])
    if kind == "figures":
        from becalm.lab import scenes

        typer.echo(scenes.listed(name))


def _no_such(kind: str | None, name: str | None, known: Sequence[str]) -> NoReturn:
    stop(f"`{name}`: no such {kind}{nearest(str(name), known)}; valid: {', '.join(known)}", BAD_INPUT)


def _entries(kind: str) -> list[Entry]:
    """Return all items of a kind."""
    if kind == "examples":
        return [Entry(each, examples.summary(each), []) for each in examples.names()]
    if kind == "papers":
        papers = dict.fromkeys(experiment.paper for experiment in _experiments())
        return [Entry(paper, _figures_of(paper), []) for paper in papers]
    if kind == "figures":
        said = {each.id: f"{each.title}; {each.cost:g} core-seconds per seed" for each in _experiments()}
        return [Entry(name, words, []) for name, words in said.items()]
    if kind == "claims":
        return [
            Entry(
                f"{experiment.id}/{claim.id}", f"paper {claim.paper}, expected {claim.expect.tolerance}", []
            )
            for experiment in _experiments()
            for claim in experiment.statements
        ]
    return contents.catalogue()[kind]


def _experiments() -> Sequence[Experiment]:
    from becalm import lab

    return lab.registry()


def _figures_of(paper: str) -> str:
    figures = [experiment.figure for experiment in _experiments() if experiment.paper == paper]
    return f"{len(figures)} experiments: {', '.join(figures)}"
