"""Commands for RoCE fabrics: `import` and `counters` of SONiC switches, and `settings`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from becalm.cli.exits import BAD_INPUT, stop
from becalm.cli.options import Overwrite, Quiet

if TYPE_CHECKING:
    from becalm.scenario import Scenario
    from becalm.schemes.loading import Provided
    from becalm.sonic.patches import Thresholds


def import_switches(switches: Path, lfts: Path | None, out: Path, *, overwrite: bool, quiet: bool) -> None:
    """Write a scenario for SONiC switches."""
    from becalm.sonic.importing import import_fabric

    if lfts is not None:
        stop("--lfts: has no effect with SONiC switches", BAD_INPUT)
    imported = import_fabric([switches])
    fabric = imported.fabric
    counts = f"{len(fabric.hosts)} hosts, {len(fabric.switches)} switches, {len(fabric.cables)} cables"
    summary = f"{counts}; background load {imported.background.load:g}"
    _write(out, imported.text, imported.notes, summary, overwrite=overwrite, quiet=quiet)


def import_simulated(
    files: list[Path], lfts: Path | None, out: Path, *, overwrite: bool, quiet: bool
) -> None:
    """Write a scenario for files of another simulator."""
    from becalm.simulators.importing import import_files

    if lfts is not None:
        stop("--lfts: has no effect with files of simulators", BAD_INPUT)
    imported = import_files(files, out.parent)
    _write(out, imported.text, imported.notes, imported.summary, overwrite=overwrite, quiet=quiet)


def _write(out: Path, text: str, notes: Iterable[str], summary: str, *, overwrite: bool, quiet: bool) -> None:
    from becalm.base.folders import write_new
    from becalm.cli import console

    write_new(out, text, overwrite=overwrite)
    for note in [] if quiet else notes:
        console.say(f"note: {note}")
    if not quiet:
        console.say(f"{summary}; written to {out}")


def is_switches(path: Path) -> bool:
    """Whether a path is a file of a SONiC switch, or a folder with one; others have JSON files, too."""
    from becalm.sonic.fabric import is_sonic

    files = [*path.glob("*.json"), *path.glob("*/*.json")] if path.is_dir() else [path]
    return any(is_sonic(file) for file in files)


def load(path: Path, schemes: tuple[Provided, ...] = ()) -> Scenario:
    """Read a scenario, also that of a folder of results, or make one of SONiC switches."""
    import becalm
    from becalm.sonic.importing import import_fabric

    if is_switches(path):
        return becalm.Scenario(import_fabric([path]).text, name=str(path), schemes=schemes or None)
    return becalm.load(path, schemes=schemes)


def settings(
    scenario: Annotated[Path, typer.Argument(help="A scenario that marks by a ramp.", show_default=False)],
    sonic: Annotated[
        Path | None,
        typer.Option(
            help="SONiC switches as for `becalm check`: write a JSON patch and its inverse for each."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the patches.")] = Path("patches"),
    tos: Annotated[
        int | None,
        typer.Option(
            min=0, max=255, help="Traffic class byte of the hosts' data, which gets a lossless class."
        ),
    ] = None,
    nvue: Annotated[Path | None, typer.Option(help="Write commands for Cumulus (NVUE) to FILE.")] = None,
    eos: Annotated[Path | None, typer.Option(help="Write lines for Arista EOS to FILE.")] = None,
    priority: Annotated[
        int, typer.Option(min=0, max=7, help="Lossless priority, for NVUE, EOS and adapters.")
    ] = 3,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a scenario's thresholds for RoCE switches, with files that undo them."""
    import becalm
    from becalm.base.folders import check_writable, write_new
    from becalm.cli import console
    from becalm.sonic import patches, vendors

    if sonic is None and nvue is None and eos is None:
        stop("settings: writes nothing; valid: --sonic, --nvue or --eos", BAD_INPUT)
    if tos is not None and sonic is None:
        stop("--tos: has no effect without --sonic", BAD_INPUT)
    source = becalm.load(scenario)
    wanted = patches.thresholds(source)
    texts = {} if sonic is None else _patches(sonic, out, wanted, tos)
    for target, write in ((nvue, vendors.nvue), (eos, vendors.eos)):
        if target is not None:
            lines, undo = write(wanted, _speed(source, wanted), priority)
            more = vendors.adapters(source, priority)
            texts[target] = "\n".join([*lines, *more, ""])
            texts[target.with_name(f"{target.name}.rollback")] = "\n".join([*undo, ""])
    if sonic is not None:
        out.mkdir(parents=True, exist_ok=True)
    check_writable(*texts, overwrite=overwrite)
    for target, text in texts.items():
        write_new(target, text, overwrite=overwrite)
        if not quiet:
            console.say(f"written to {target}")


def _patches(switches: Path, out: Path, wanted: Thresholds, tos: int | None) -> dict[Path, str]:
    from becalm.sonic import fabric, patches

    texts = {}
    for name, each in fabric.load([switches]).switches.items():
        forth, back = patches.patch(each, wanted, None if tos is None else tos >> 2)
        texts[out / f"{name}.json"] = json.dumps(forth, indent=2) + "\n"
        texts[out / f"{name}.rollback.json"] = json.dumps(back, indent=2) + "\n"
    return texts


def _speed(source: Scenario, wanted: Thresholds) -> int:
    """Return the rate of the switches' ports in Mb/s, which must be the same if thresholds depend on it."""
    rates: set[int] = {round(rate * 8 / 1e6) for rate in source.network().links["capacity"].to_list()}
    if wanted.per is not None and len(rates) > 1:
        listed = ", ".join(f"{rate / 1000:g}" for rate in sorted(rates))
        stop(
            f"marking.ramp.per: ports of {listed} Gb/s need different thresholds; valid: one rate", BAD_INPUT
        )
    return max(rates)


def pauses(switches: Path, dump: Path | None, before: Path | None, other: list[str]) -> None:
    """Print the roots of pause storms."""
    from becalm.base.findings import listed
    from becalm.cli import console
    from becalm.cli.tables import table
    from becalm.sonic import counters, fabric, storms

    if other:
        stop(f"{other[0]}: has no effect with SONiC switches", BAD_INPUT)
    read = fabric.load([switches])
    counts = counters.read(read, [dump or switches], before)
    for doubt in storms.doubts(read, counts):
        typer.echo(f"warning: {doubt}", err=True)
    found = storms.roots(read, counts)
    cells = [
        (each.node, str(each.priority), each.why, listed(each.paused), f"{each.frames:,}") for each in found
    ]
    if cells:
        columns = ("root", "priority", "why", "paused", "frames")
        console.out.print(table(f"Roots of pauses, {len(found)}", columns, cells, text=4))
    else:
        console.say("no root: no port sent or received a pause")
    for each in found:
        console.say(f"{each.node}: {'; '.join(each.evidence)}")
    hosts = [name for name in counts.files if name not in read.switches]
    console.say(f"counters of {len(counts.files) - len(hosts)} switches and {len(hosts)} hosts read")
