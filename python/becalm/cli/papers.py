"""Panel "Papers and schemes": reproductions and the design of response functions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from becalm import jsons
from becalm.cli.engines import Address, EngineName, Runs, Slurm, StoreFolder, check_engine, engine_of
from becalm.cli.exits import BAD_INPUT, FAILED, stop
from becalm.cli.options import Quiet, Threads


def reproduce(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PAPER[/FIGURE]]...", help="Papers or figures to reproduce; default: all."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line, one for each experiment.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("figures"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing figures.")] = False,
    short: Annotated[bool, typer.Option("--short", help="Use fewer points and shorter runs.")] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of seeds; default: 5, or 1 with --short.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 1,
    workers: Runs = None,
    engine: EngineName = "threads",
    address: Address = None,
    slurm: Slurm = None,
    store: StoreFolder = None,
    quiet: Quiet = False,
) -> None:
    """Reproduce figures of papers and check claims; exit code 1 if a paper's claim fails."""
    from becalm import lab
    from becalm.cli import console
    from becalm.cli.screen import Screen

    check_engine(engine, address, slurm, stored=store is not None)
    console.warn_short(short, also="" if seeds else "one seed, ")
    try:
        with Screen(quiet=quiet or as_json) as screen:
            reports = lab.reproduce(
                ids or [],
                out=out,
                overwrite=overwrite,
                threads=workers,
                short=short,
                seeds=seeds,
                seed=seed,
                progress=screen.on_progress,
                store=store,
                engine=engine_of(engine, workers, address, slurm) if store else engine,
            )
    except ValueError as error:
        stop(str(error), BAD_INPUT)
    screen.tell_found(store)
    if as_json:
        for report in reports:
            typer.echo(jsons.dumps(report.to_json()))
    elif not quiet:
        console.show_reports(reports)
    if any(report.fails for report in reports):
        raise typer.Exit(FAILED)


def design(
    f_dec: Annotated[
        str,
        typer.Argument(
            help="Rate after a mark: an expression such as 'max(r / 2, rmin)'.", show_default=False
        ),
    ],
    f_inc: Annotated[
        str | None,
        typer.Option("--increase", help="Rate without a mark, in the same form; default: derived."),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the design.")] = "design",
    rmin: Annotated[float, typer.Option(help="Smallest rate, as a share of the link rate.")] = 1 / 256,
    rmax: Annotated[float, typer.Option(help="Largest rate, as a share of the link rate.")] = 1.0,
    packet_time: Annotated[float, typer.Option(help="Transmission time of a packet, in us.")] = 2.048,
    out: Annotated[Path | None, typer.Option(help="Output folder; default: `designs/<name>`.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing design.")] = False,
    trial: Annotated[bool, typer.Option(help="Run the standard scenes.")] = True,
    short: Annotated[bool, typer.Option("--short", help="Use one point per scene and shorter runs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all runs.")] = 1,
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Derive, check, tabulate and test a response function, and compare it with LIPD, FIMD and AIMD."""
    import becalm
    from becalm.cli import console
    from becalm.cli.screen import Screen
    from becalm.designs.workbench import FOLDER

    default = Path("designs") / name
    with FOLDER.reserve(out, overwrite=overwrite) if out else FOLDER.reserve_free(default) as place:
        console.warn_short(short)
        with Screen(quiet=quiet or as_json) as screen:
            made = becalm.design(
                f_dec,
                f_inc,
                rmin=rmin,
                rmax=rmax,
                name=name,
                packet_time=packet_time * 1e-6,
                trial=trial,
                short=short,
                seed=seed,
                threads=threads,
                progress=screen.on_progress,
            )
        place.write(made.fill)
    if as_json:
        typer.echo(jsons.dumps(made.to_json()))
    elif not quiet:
        console.show_design(made, place.folder)
