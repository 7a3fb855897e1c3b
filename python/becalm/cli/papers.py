"""Panel "Papers and schemes": reproductions, crosschecks, response functions and your own schemes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from becalm.base import jsons
from becalm.cli.exits import BAD_INPUT, FAILED, stop
from becalm.cli.options import (
    Overwrite,
    Quiet,
    Runs,
    StoringOptions,
    Threads,
)

if TYPE_CHECKING:
    from becalm.crosscheck import Checked


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
    scenario: Annotated[
        str | None,
        typer.Option(
            metavar="POINT",
            help="Run nothing; print a point's scenario as TOML. POINT: a number, or labels as in "
            "`becalm list figures PAPER/FIGURE`.",
        ),
    ] = None,
    workers: Runs = None,
    *,
    engine: StoringOptions,
    quiet: Quiet = False,
) -> None:
    """Reproduce figures of papers and check claims; exit code 1 if a paper's claim fails."""
    from becalm import lab
    from becalm.cli import console
    from becalm.cli.screen import Screen

    if scenario is not None:
        _print_scene(ids or [], scenario, seed, short=short)
        return
    chosen = engine.chosen(workers)
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
                store=engine.store,
                engine=chosen,
            )
    except ValueError as error:
        stop(str(error), BAD_INPUT)
    screen.tell_found(engine.store)
    if as_json:
        for report in reports:
            typer.echo(jsons.dumps(report.to_json()))
    elif not quiet:
        console.show_reports(reports)
    if any(report.fails for report in reports):
        raise typer.Exit(FAILED)


def _print_scene(ids: Sequence[str], point: str, seed: int, *, short: bool) -> None:
    from becalm.lab import scenes

    if len(ids) != 1:
        stop("--scenario: needs exactly one PAPER/FIGURE, such as pfister2005/fig3", BAD_INPUT)
    try:
        found = scenes.scene(ids[0], point, seed=seed, short=short)
    except ValueError as error:
        stop(str(error), BAD_INPUT)
    typer.echo(found.to_toml(), nl=False)


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


def crosscheck(
    entry: Annotated[
        list[str] | None, typer.Argument(help="Names of entries; default: all.", show_default=False)
    ] = None,
    short: Annotated[
        bool, typer.Option("--short", help="Run only the entries that finish within seconds.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line, one for each entry.")
    ] = False,
    workers: Runs = None,
) -> None:
    """Compare runs with the results of other simulators; exit code 1 if a number is outside its tolerance."""
    from becalm import crosscheck as checks
    from becalm.cli.screen import Screen

    begin = time.monotonic()
    with Screen(quiet=as_json) as screen:
        found = checks.check(entry, short=short, threads=workers, progress=screen.on_progress)
    if as_json:
        for each in found:
            typer.echo(jsons.dumps({"verdict": each.verdict} | each.to_json()))
    else:
        _show(found, time.monotonic() - begin)
    if any(each.agreeing < len(each.quantities) for each in found):
        raise typer.Exit(FAILED)


def _show(found: Sequence[Checked], taken: float) -> None:
    from becalm.cli import console
    from becalm.cli.tables import table
    from becalm.crosscheck import run

    console.say(f"{run.score(found)}.")
    for each in found:
        title = f"{each.entry.name}: {each.entry.title}, compared with {each.entry.program.name}"
        columns = ("case", "quantity", "reference", "becalm", "difference", "tolerance", "verdict")
        console.out.print(table(title, columns, run.rows(each), text=2))
        for case, name, why in run.reasons(each):
            console.say(f"{case}, {name}: {why}")
    console.say(f"{taken:.0f} s")


def new_scheme(
    file: Annotated[Path | None, typer.Argument(help="A .py file.", show_default=False)] = None,
    like: Annotated[
        str, typer.Option(help="Scheme to start from: lipd, dctcp, ramp, input_triggered, rocev2.")
    ] = "lipd",
    header: Annotated[
        bool,
        typer.Option("--header", help="Print the C header `becalm.h` instead, for schemes in libraries."),
    ] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write a commented Python class as a starting point for your own scheme."""
    from becalm._core import header as text_of_header
    from becalm.base.folders import write_new
    from becalm.cli import console
    from becalm.schemes import starts

    if header:
        if file is not None:
            stop("new-scheme: --header prints the header and takes no FILE; use > becalm.h", BAD_INPUT)
        typer.echo(text_of_header(), nl=False)
        return
    if file is None:
        stop("new-scheme: needs a FILE, such as mine.py, or --header", BAD_INPUT)
    if file.suffix != ".py":
        stop(f"{file}: must end in .py; for C and other languages, --header prints the interface", BAD_INPUT)
    if like not in starts.names():
        stop(f"--like {like}: unknown; valid: {', '.join(starts.names())}", BAD_INPUT)
    text, name, seam = starts.start(like, file.stem)
    write_new(file, text, overwrite=overwrite)
    console.say(f"written to {file}. Next:")
    console.say(f"  becalm check-scheme {file}:{name}")
    console.say(f"  becalm run --example input_triggered_lipd --{seam} {file}:{name}")
    console.say(f"  becalm compare --scheme {file}:{name} --scheme lipd --scene incast --short")


def check_scheme(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="FILE:NAME",
            help="A class in a Python file, or a scheme in a library.",
            show_default=False,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check your own scheme against the rules for all schemes; exit code 1 if it breaks one."""
    from becalm import contract
    from becalm.cli import console
    from becalm.schemes.loading import load

    scheme = load(reference)
    with console.Bar(quiet=as_json, unit="rules") as bar:
        found = contract.check_scheme(scheme, bar.on_step)
    if as_json:
        typer.echo(jsons.dumps([each._asdict() for each in found]))
    else:
        for each in found:
            console.say(f"{'ok  ' if each.holds else 'FAIL'} {each.rule}: {each.detail}")
    if not all(each.holds for each in found):
        raise typer.Exit(FAILED)
