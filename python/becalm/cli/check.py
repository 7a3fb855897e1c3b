"""`becalm check`: findings about the configurations of fabrics, whatever their kind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from becalm.cli.exits import BAD_INPUT, stop
from becalm.cli.options import Fabric

if TYPE_CHECKING:
    from becalm.base.findings import Finding
    from becalm.sonic.check import Asked

FOUND = 1
"""Exit code of a check with errors or warnings."""

Busy = Annotated[
    int | None,
    typer.Option(min=1, max=1024, help="Busy ports for dynamic thresholds; default: all of the class."),
]
Cell = Annotated[int | None, typer.Option(min=1, max=65536, help="Bytes of a cell of the switches' buffers.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line, one for each finding.")]


def check(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="OpenSM configurations, or SONiC switches: config_db.json files, or folders with one file "
            "or folder per switch.",
            show_default=False,
        ),
    ],
    tos: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=255,
            help="Traffic class byte of the hosts' data, as in NCCL_IB_TC or `cma_roce_tos -t`.",
        ),
    ] = None,
    host: Annotated[
        Path | None,
        typer.Option(help="Output of `mlnx_qos -i DEV`, or a file with the hosts' commands and variables."),
    ] = None,
    pfc: Annotated[
        str | None,
        typer.Option(help="Priorities with PFC at the hosts, as in `mlnx_qos --pfc 0,0,0,1,0,0,0,0`."),
    ] = None,
    host_mtu: Annotated[
        int | None, typer.Option(min=64, max=65535, help="Bytes of the hosts' largest packet.")
    ] = None,
    pair: Annotated[
        tuple[str, str] | None, typer.Option(help="Check the hosts' class on the paths of two hosts only.")
    ] = None,
    busy: Busy = None,
    cell: Cell = None,
    fabric: Fabric = None,
    as_json: Json = False,
) -> None:
    """Check configurations of OpenSM or of SONiC switches; exit code 1 if there are errors or warnings."""
    from becalm.sonic.fabric import is_sonic

    switches = [path for path in paths if is_sonic(path)]
    others = [path for path in paths if path not in switches]
    roce = {
        "--tos": tos,
        "--host": host,
        "--pfc": pfc,
        "--host-mtu": host_mtu,
        "--pair": pair,
        "--busy": busy,
        "--cell": cell,
    }
    _check_options(roce if not switches else {}, "SONiC switches")
    _check_options({"--fabric": fabric} if not others else {}, "a configuration of OpenSM")
    found = [finding for path in others for finding in _opensm(path, fabric)]
    if switches:
        from becalm.sonic import check as sonic

        found += sonic.check(switches, _asked(tos, host, pfc, host_mtu, pair, busy, cell))
    _show(paths, found, as_json=as_json)


def check_opensm(
    file: Annotated[Path, typer.Argument(help="An OpenSM configuration.", show_default=False)],
    fabric: Fabric = None,
    as_json: Json = False,
) -> None:
    """Check an OpenSM configuration: the former name of `becalm check`."""
    _show([file], _opensm(file, fabric), as_json=as_json)


def _check_options(given: Mapping[str, Any], what: str) -> None:
    for name, value in given.items():
        if value is not None:
            stop(f"{name}: has no effect without {what}", BAD_INPUT)


def _opensm(file: Path, fabric: Path | None) -> list[Finding]:
    from becalm.opensm import check, ibnetdiscover

    if file.suffix == ".toml":
        stop(
            f"{file}: is a scenario, not an OpenSM configuration; "
            f"`becalm manage {file} --opensm congestion.conf` writes one",
            BAD_INPUT,
        )
    if file.suffix == ".json" and file.is_file():
        stop(f"{file}: is not a configuration of OpenSM, and has no table of a SONiC switch", BAD_INPUT)
    return check.check(file, None if fabric is None else ibnetdiscover.read(fabric))


def _asked(
    tos: int | None,
    host: Path | None,
    pfc: str | None,
    mtu: int | None,
    pair: tuple[str, str] | None,
    busy: int | None,
    cell: int | None,
) -> Asked:
    from becalm.sonic import hosts
    from becalm.sonic.check import Asked

    if pfc is not None and hosts.flags(pfc) is None:
        stop(f"--pfc {pfc}: is no list of 8 flags; valid: such as 0,0,0,1,0,0,0,0", BAD_INPUT)
    known = hosts.with_options(None if host is None else hosts.read(host), tos, pfc, mtu)
    if (pair is not None or pfc is not None) and (known is None or known.tos is None):
        option = "--pair" if pair is not None else "--pfc"
        stop(f"{option}: has no effect without --tos, or a --host file with the class of the data", BAD_INPUT)
    return Asked(known, pair, busy, cell)


def _show(paths: Iterable[Path], found: list[Finding], *, as_json: bool) -> None:
    for finding in found:
        typer.echo(json.dumps(finding._asdict()) if as_json else finding.message())
    if any(finding.severity != "note" for finding in found):
        raise typer.Exit(FOUND)
    if not as_json:
        for path in paths:
            typer.echo(f"{path}: ok")
