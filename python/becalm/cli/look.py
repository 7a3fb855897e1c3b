"""Panel "Look at results": a page, a picture, a description in words, and the playground."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from becalm.base import jsons
from becalm.base.mistakes import printable
from becalm.cli.exits import BAD_INPUT, stop
from becalm.cli.options import Example, Overwrite, Quiet, scenario_file

Source = Annotated[
    Path,
    typer.Argument(
        help="A results folder, a tuning folder, a sweep (.toml), or a stored run (.zip).",
        show_default=False,
    ),
]
Beside = Annotated[
    Path | None,
    typer.Argument(
        metavar="[OTHER]", help="Results of the same traffic, to show beside the first.", show_default=False
    ),
]
Title = Annotated[str | None, typer.Option(help="Title of the page; default: the name of the source.")]
Replication = Annotated[
    int | None, typer.Option(min=0, max=2**31, help="Show only this replication; default: all replications.")
]
MaxSize = Annotated[
    str,
    typer.Option(metavar="SIZE", help="Halve the number of frames until the page is smaller than this size."),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full", help="Keep the waits, marks and load of all links over time, regardless of the page size."
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Instead, draw the fabric at the snapshot or frame of this time as a .png, .svg or .pdf file.",
    ),
]


def report(
    source: Source,
    beside: Beside = None,
    out: Annotated[
        Path | None, typer.Option(help="Page to write, an .html file; default: `report.html`.")
    ] = None,
    view: Annotated[
        bool, typer.Option("--view", help="Write the page to a temporary file, and open it in the browser.")
    ] = False,
    title: Title = None,
    replication: Replication = None,
    max_size: MaxSize = "5MB",
    full: Full = False,
    runs: Annotated[
        bool,
        typer.Option(
            "--runs", help="Also write a page for each run of a sweep, linked from the sweep's page."
        ),
    ] = False,
    time: Time = None,
    vl: Annotated[int, typer.Option(min=0, max=15, help="Virtual lane to draw.")] = 0,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a self-contained HTML report of a run, sweep or tuning, or draw the fabric."""
    from becalm.base.folders import free_file, new_file
    from becalm.cli import console
    from becalm.reports.page import PAGE

    if view and (out is not None or runs):
        stop("--out, --runs: have no effect with --view", BAD_INPUT)
    if beside is not None and (runs or full or time is not None or replication is not None):
        stop("--runs, --full, --time, --replication: have no effect on a page of two runs", BAD_INPUT)
    if time is not None:
        picture = _draw(source, time, vl, replication or 0, out, overwrite=overwrite)
        if not quiet:
            console.say(str(picture))
        return
    if view:
        page = _temporary(_page(source, title, replication, max_size, full=full, quiet=quiet, beside=beside))
        console.say(str(page))
        return
    page = out or free_file(Path("report.html"))
    PAGE.check_target(page)
    folder = page.with_name(f"{page.stem}-runs") if runs else None
    if folder is not None and folder.exists():
        stop(f"{folder}: already exists; choose another --out", BAD_INPUT)
    with new_file(page, overwrite=overwrite) as partial:
        text = _page(
            source, title, replication, max_size, full=full, quiet=quiet, folder=folder, beside=beside
        )
        partial.write_text(text, encoding="utf-8", newline="\n")
    if not quiet:
        console.say(str(page))


def explain(
    folder: Annotated[Path, typer.Argument(metavar="RESULTS", help="Results of a run.", show_default=False)],
    replication: Annotated[int, typer.Option(min=0, max=2**31, help="Replication to describe.")] = 0,
    max_time: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Limit for trials: runs with a proposed change, or without control; 0 s: none.",
        ),
    ] = "20 s",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with sentences, numbers and table rows.")
    ] = False,
) -> None:
    """Describe a run in words: roots of congestion, causes, victims, cost, control, and what to try next."""
    import becalm
    from becalm.base.quantities import seconds
    from becalm.cli import console

    with console.Bar(quiet=as_json) as bar:
        bar.on_stage("reading the results")
        results = becalm.load_results(folder)
        bar.on_stage("looking for roots, causes and victims")
        found = becalm.explain(
            results, replication, folder=folder, max_time=seconds(max_time), progress=bar.on_run
        )
    if as_json:
        typer.echo(jsons.dumps(found.to_json()))
        return
    for line in found.lines():
        indent = "" if not line.startswith(" ") else "    "
        wrapped = textwrap.wrap(
            printable(line),
            console.out.width,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        typer.echo("\n".join(wrapped))


def play(
    scenario: Annotated[
        Path | None, typer.Argument(help="Open this scenario instead of a built-in scene.")
    ] = None,
    example: Example = None,
) -> None:
    """Open the playground in the browser; without a browser, print the path of its page.

    The page simulates offline. You can move sliders, edit any scenario and share a link.
    """
    from becalm.cli import console
    from becalm.reports import playground

    given = scenario is not None or example is not None
    page = playground.page_with(scenario_file("play", scenario, example)) if given else playground.page()
    open_page(page.as_uri())
    console.say(str(page))


def open_page(url: str) -> None:
    """Open a page in a graphical browser, if any. Python would otherwise start a text browser."""
    import webbrowser

    names = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    if sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in names):
        webbrowser.open(url)


def _temporary(text: str) -> Path:
    """Show a page in the browser; return its file, in a folder that only this user can read."""
    import tempfile

    page = Path(tempfile.mkdtemp(prefix="becalm-")) / "report.html"
    page.write_text(text, encoding="utf-8", newline="\n")
    open_page(page.as_uri())
    return page


def _draw(folder: Path, time: str, vl: int, replication: int, out: Path | None, *, overwrite: bool) -> Path:
    """Draw the fabric at a snapshot, and return the file."""
    import becalm
    from becalm.base.folders import free_file, new_file
    from becalm.base.quantities import seconds
    from becalm.plot import FORMATS, draw_fabric, save

    picture = out or free_file(Path("fabric.png"))
    if picture.suffix not in FORMATS:
        stop(f"{picture}: must end in one of: {', '.join(FORMATS)}", BAD_INPUT)
    with new_file(picture, overwrite=overwrite) as partial:
        results = becalm.load_results(folder)
        save(draw_fabric(results, seconds(time), vl=vl, replication=replication), partial)
    return picture


def _page(
    source: Path,
    title: str | None,
    replication: int | None,
    max_size: str,
    *,
    full: bool,
    quiet: bool,
    folder: Path | None = None,
    beside: Path | None = None,
) -> str:
    from becalm import _core
    from becalm.cli import console
    from becalm.reports.source import page_of, page_of_two, run_pages

    size = _core.bytes(max_size)
    if size is None:
        stop(f"--max-size {max_size}: not a size; valid: a number with a unit, such as 5MB", BAD_INPUT)
    if folder is not None:
        with console.Bar(quiet=quiet) as bar:
            run_pages(source, folder, max_size=int(size), progress=bar.on_step)
    pages = folder.name if folder else None
    with console.Bar(quiet=quiet) as bar:
        bar.on_stage("writing the page")
        if beside is not None:
            return page_of_two(source, beside, title=title, max_size=int(size))
        return page_of(
            source, title=title, replication=replication, max_size=int(size), full=full, pages=pages
        )
