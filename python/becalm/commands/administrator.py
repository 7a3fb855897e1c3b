"""Commands for administrators of InfiniBand fabrics."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from becalm import jsons
from becalm.errors import BecalmError

if TYPE_CHECKING:
    from becalm.scenario import Scenario

FOUND = 1
"""Exit code of a check with findings."""

Fabric = Annotated[
    Path | None, typer.Option(help="Output of `ibnetdiscover`, for the ports of OpenSM's masks.")
]


def register(app: typer.Typer, guarded: Callable[[Callable[..., None]], Callable[..., None]]) -> None:
    """Add the commands to the application, with the same guard as all its commands."""
    app.command("check-opensm")(guarded(check_opensm))
    app.command("whatif")(guarded(whatif))
    app.command("counters")(guarded(counters))


def with_opensm(scenario: Scenario, configuration: Path | None, fabric: Path | None) -> Scenario:
    """Return a scenario with the congestion control of a configuration of OpenSM, if there is one.

    Raises:
        BecalmError: a fabric without a configuration, or errors in either.

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
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object per line, one line per finding.")
    ] = False,
) -> None:
    """Check a configuration of OpenSM for values that it changes or ignores; exit code 1 on findings."""
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


def whatif(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FABRIC", help="A scenario (.toml), or output of `ibnetdiscover`.", show_default=False
        ),
    ],
    hot: Annotated[str, typer.Option(help="The host that receives the incast.", show_default=False)],
    degree: Annotated[int | None, typer.Option(help="Number of senders; 8 when not given.")] = None,
    lfts: Annotated[
        Path | None, typer.Option(help="Forwarding tables, where FABRIC is from `ibnetdiscover`.")
    ] = None,
    fabric: Annotated[
        Path | None,
        typer.Option(help="Output of `ibnetdiscover` for a scenario's fabric, for port numbers."),
    ] = None,
    load: Annotated[
        float | None,
        typer.Option(help="Background load: each host sends this share of its link rate to one other host."),
    ] = None,
    opensm: Annotated[
        Path | None,
        typer.Option(
            help="Congestion control of this configuration of OpenSM; a guideline's when not given."
        ),
    ] = None,
    max_time: Annotated[float, typer.Option(min=1, help="Limit of wall-clock seconds.")] = 120,
    every: Annotated[bool, typer.Option("--all", help="Print all links and victims.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use.")] = None,
) -> None:
    """Simulate an incast on a host: faults, roots, branches, victims, without and with congestion control."""
    from becalm import console
    from becalm.whatif import case, show

    asked = case.Case(file, hot, degree, lfts, fabric, load, opensm)
    with console.Bar(quiet=as_json) as bar:
        found = case.simulate(
            asked,
            max_time=max_time,
            threads=threads,
            progress=bar.on_run,
            on_faults=None if as_json else show.show_faults,
        )
    if as_json:
        typer.echo(jsons.dumps(show.to_json(found)))
        return
    show.show(found, every=every)


def counters(
    fabric: Annotated[
        Path, typer.Argument(metavar="FABRIC", help="Output of `ibnetdiscover`.", show_default=False)
    ],
    dump: Annotated[
        Path, typer.Argument(help="Output of `perfquery` or `ibqueryerrors`.", show_default=False)
    ],
    seconds: Annotated[
        float,
        typer.Option(
            min=1e-6, help="Time between the dumps, or since the counters were cleared.", show_default=False
        ),
    ],
    before: Annotated[Path | None, typer.Option(help="An earlier dump, to be subtracted.")] = None,
    scenario: Annotated[
        Path | None, typer.Option(help="The scenario of the fabric; imported when not given.")
    ] = None,
    lfts: Annotated[Path | None, typer.Option(help="Forwarding tables, for the import.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the scenario with the measured background to a new file.")
    ] = None,
) -> None:
    """Map counters to a fabric: likely roots of congestion, and the background load of a scenario."""
    from becalm.folders import check_new, write_new
    from becalm.opensm import counters as reading
    from becalm.opensm import ibnetdiscover
    from becalm.whatif import case, measured, show

    check_new(out)
    read = ibnetdiscover.read(fabric)
    counted = reading.read(dump, read, before)
    found = measured.roots(read, counted, seconds)
    by_host = measured.loads(read, counted, seconds)
    text = None
    if out is not None:
        source = case.imported(fabric, lfts) if scenario is None else case.checked(scenario, read)
        text = measured.with_loads(source, by_host).to_toml()
    elif scenario is not None or lfts is not None:
        raise BecalmError("--scenario, --lfts: have no effect without --out")
    show.show_measured(found, by_host, len(counted))
    if out is not None and text is not None:
        write_new(out, text)
        typer.echo(f"written to {out}")
