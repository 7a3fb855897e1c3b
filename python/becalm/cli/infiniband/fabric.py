"""`becalm import` and `counters`: commands that read the files of fabric tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from becalm.base.errors import BecalmError
from becalm.cli.exits import BAD_INPUT, stop
from becalm.cli.options import Overwrite, Quiet
from becalm.cli.roce import import_simulated, import_switches, pauses

_NO_SECONDS = (
    "--seconds: is required for InfiniBand: the time from `ibqueryerrors --clear-counts` to the dump, or "
    "between the dump and that of --before"
)


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Output of `ibnetdiscover`, or a .lst file of OpenSM or ibdiagnet, and any files of the "
            "options below, which are recognised; or a folder of SONiC switches as for `becalm check`; or a "
            "configuration or topology of HPCC's ns-3 or htsim; or a topology and a workload of SimAI; or a "
            "network, system settings and Chakra traces of ASTRA-sim.",
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
    """Write a scenario for a real fabric, with its nodes, cables, routes and initial traffic."""
    from becalm.base.folders import check_writable, write_new
    from becalm.cli import console
    from becalm.opensm.importing import import_fabric, sort
    from becalm.simulators import importing as simulators
    from becalm.sonic.fabric import is_sonic

    for file in files:
        file.stat()
    check_writable(out, overwrite=overwrite)
    one = files[0] if len(files) == 1 else None
    simulated = any(simulators.kind(each) for each in files)
    other = simulated or (one is not None and is_sonic(one))
    for name, given in (("--path-records", path_records), ("--sl2vl", sl2vl)):
        if other and given is not None:
            stop(f"{name}: has no effect with {files[0]}, which is not an InfiniBand fabric", BAD_INPUT)
    if simulated:
        import_simulated(files, lfts, out, overwrite=overwrite, quiet=quiet)
        return
    if one is not None and is_sonic(one):
        import_switches(one, lfts, out, overwrite=overwrite, quiet=quiet)
        return
    imported = import_fabric(*sort(files, lfts, path_records, sl2vl))
    write_new(out, imported.text, overwrite=overwrite)
    if not quiet:
        console.show_imported(imported, out)


def counters(
    fabric: Annotated[
        Path,
        typer.Argument(
            metavar="FABRIC",
            help="Output of `ibnetdiscover`, or a folder of SONiC switches as for `becalm check`.",
            show_default=False,
        ),
    ],
    dump: Annotated[
        Path | None,
        typer.Argument(
            help="Output of `perfquery` or `ibqueryerrors`, or a .pm or CSV file of ibdiagnet. For SONiC, a "
            "folder with the output of `show pfc counters`, `pfcwd show stats` and `ethtool -S`; default: "
            "FABRIC.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=1e-6,
            max=1e9,
            help="Time between the two dumps, or since the counters were cleared; required for InfiniBand.",
            show_default=False,
        ),
    ] = None,
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
    from becalm.base.folders import check_new, write_new
    from becalm.cli.infiniband import effects
    from becalm.opensm import counters as reading
    from becalm.opensm import foreign, ibnetdiscover
    from becalm.sonic.fabric import is_sonic
    from becalm.whatif import case, measured

    if is_sonic(fabric):
        given = {"--seconds": seconds, "--scenario": scenario, "--lfts": lfts, "--out": out}
        pauses(fabric, dump, before, [name for name, value in given.items() if value is not None])
        return
    if dump is None or seconds is None:
        dump_wanted = f"DUMP: is required for InfiniBand; valid: {foreign.COUNTERS.valid}"
        raise BecalmError(dump_wanted if dump is None else _NO_SECONDS)
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
