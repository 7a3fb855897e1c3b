"""Commands for administrators of InfiniBand fabrics."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from becalm.errors import BecalmError

if TYPE_CHECKING:
    from becalm.scenario import Scenario

FOUND = 1
"""Exit code of a check that has found something."""

Fabric = Annotated[
    Path | None, typer.Option(help="What `ibnetdiscover` printed, for the ports of OpenSM's masks.")
]


def register(app: typer.Typer, guarded: Callable[[Callable[..., None]], Callable[..., None]]) -> None:
    """Add the commands to the application, guarded as all its commands are."""
    app.command("check-opensm")(guarded(check_opensm))


def with_opensm(scenario: Scenario, configuration: Path | None, fabric: Path | None) -> Scenario:
    """Return a scenario with the congestion control of a configuration of OpenSM, if there is one.

    Raises:
        BecalmError: a fabric without a configuration, or mistakes in either.

    """
    from becalm.opensm import ibnetdiscover, simulate

    if configuration is None:
        if fabric is not None:
            raise BecalmError("--fabric: has no effect without --opensm")
        return scenario
    discovered = None if fabric is None else ibnetdiscover.read(fabric)
    return simulate.with_configuration(scenario, configuration, discovered)


def check_opensm(
    file: Annotated[Path, typer.Argument(help="A configuration of OpenSM.", show_default=False)],
    fabric: Fabric = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per finding and line.")] = False,
) -> None:
    """Check a configuration of OpenSM: what it reads otherwise, and what does nothing; exit code 1 if any."""
    from becalm.opensm import check, ibnetdiscover

    discovered = None if fabric is None else ibnetdiscover.read(fabric)
    findings = check.check(file, discovered)
    for finding in findings:
        if as_json:
            typer.echo(json.dumps({"file": str(file), **finding._asdict()}))
        else:
            typer.echo(finding.told(str(file)))
    if findings:
        raise typer.Exit(FOUND)
    if not as_json:
        typer.echo(f"{file}: ok")
