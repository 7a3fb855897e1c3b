"""`becalm import`, `check-opensm` and `counters`: commands that read the files of fabric tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from becalm.cli.exits import BAD_INPUT, stop
from becalm.cli.options import Fabric, Overwrite, Quiet
from becalm.errors import BecalmError

FOUND = 1
"""Exit code of a check with findings."""


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Output of `ibnetdiscover`, or a .lst file of OpenSM or ibdiagnet; and any files of the "
            "options below, which are recognised.",
            show_default=False,
        ),
    ],
    lfts: Annotated[
        Path | None,
        typer.Option(
            help="Forwarding tables, such as OpenSM's opensm-lfts.dump or opensm.fdbs; default: shortest "
            "paths."
        ),
    ] = None,
    path_records: Annotated[
        Path | None,
        typer.Option(help="Path records with service levels, printed by `saquery -p`; default: level 0."),
    ] = None,
    sl2vl: Annotated[
        Path | None,
        typer.Option(
            help="Virtual lanes of the levels: opensm-sl2vl.dump; default: one lane for each level."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The scenario to write.")] = Path("fabric.toml"),
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a scenario for an InfiniBand fabric, with its nodes, cables, routes and initial traffic."""
    from becalm.cli import console
    from becalm.folders import check_writable, write_new
    from becalm.opensm import inputs
    from becalm.opensm.importing import import_fabric

    check_writable(out, overwrite=overwrite)
    imported = import_fabric(*inputs.sort(files, lfts, path_records, sl2vl))
    write_new(out, imported.text, overwrite=overwrite)
    if not quiet:
        console.show_imported(imported, out)


def check_opensm(
    file: Annotated[Path, typer.Argument(help="An OpenSM configuration.", show_default=False)],
    fabric: Fabric = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line, one for each finding.")
    ] = False,
) -> None:
    """Check an OpenSM configuration for values that OpenSM changes or ignores; exit code 1 if any exist."""
    from becalm.opensm import check, ibnetdiscover

    if file.suffix == ".toml":
        stop(
            f"{file}: is a scenario, not an OpenSM configuration; "
            f"`becalm manage {file} --opensm congestion.conf` writes one",
            BAD_INPUT,
        )
    discovered = None if fabric is None else ibnetdiscover.read(fabric)
    findings = check.check(file, discovered)
    for finding in findings:
        if as_json:
            typer.echo(json.dumps({"file": str(file), **finding._asdict()}))
        else:
            typer.echo(finding.message(str(file)))
    if findings:
        raise typer.Exit(FOUND)
    if not as_json:
        typer.echo(f"{file}: ok")


def counters(
    fabric: Annotated[
        Path, typer.Argument(metavar="FABRIC", help="Output of `ibnetdiscover`.", show_default=False)
    ],
    dump: Annotated[
        Path,
        typer.Argument(
            help="Output of `perfquery` or `ibqueryerrors`, or a .pm or CSV file of ibdiagnet.",
            show_default=False,
        ),
    ],
    seconds: Annotated[
        float,
        typer.Option(
            min=1e-6,
            max=1e9,
            help="Time between the two dumps, or since the counters were cleared.",
            show_default=False,
        ),
    ],
    before: Annotated[Path | None, typer.Option(help="An earlier dump to subtract.")] = None,
    scenario: Annotated[
        Path | None, typer.Option(help="The fabric's scenario; default: one imported from FABRIC.")
    ] = None,
    lfts: Annotated[Path | None, typer.Option(help="Forwarding tables, for the import.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the scenario, with the measured background load, to a file.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Find likely roots of congestion in port counters, and measure the background load for a scenario."""
    from becalm.cli.infiniband import effects
    from becalm.folders import check_new, write_new
    from becalm.opensm import counters as reading
    from becalm.opensm import ibnetdiscover
    from becalm.whatif import case, measured

    check_new(out, overwrite=overwrite)
    read = ibnetdiscover.read(fabric, unique_lids=True)
    counted = reading.read(dump, read, before)
    found = measured.roots(read, counted, seconds)
    by_host = measured.loads(read, counted, seconds)
    text = None
    if out is not None:
        source = case.imported(fabric, lfts) if scenario is None else case.checked(scenario, read)
        text = measured.with_loads(source, by_host).to_toml()
    elif scenario is not None or lfts is not None:
        raise BecalmError("--scenario, --lfts: have no effect without --out")
    for doubt in reading.doubts(read, counted):
        typer.echo(f"warning: {doubt}", err=True)
    effects.show_measured(found, by_host, len(counted))
    if out is not None and text is not None:
        write_new(out, text, overwrite=overwrite)
        typer.echo(f"written to {out}")
