"""Commands that show results as a page: `becalm report` and `becalm view`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from becalm.exits import BAD_INPUT, guarded, stop

if TYPE_CHECKING:
    from becalm.results import Results
    from becalm.scenario import Scenario

FRAMES = 100
"""Frames of a run whose scenario asks for none."""

Page = Annotated[
    Path | None, typer.Option(help="Write a page that shows the run, frames included, to a new .html file.")
]
"""The option of `becalm run`."""
Source = Annotated[
    Path,
    typer.Argument(
        help="A results folder, a folder of a tuning, a sweep (.toml), or a run of a store (.zip).",
        show_default=False,
    ),
]
Title = Annotated[str | None, typer.Option(help="Heading; the name of what is shown when not given.")]
Replication = Annotated[
    int | None, typer.Option(min=0, max=2**31, help="Show only this replication; all when not given.")
]
MaxSize = Annotated[
    str,
    typer.Option(metavar="SIZE", help="Leave out every second frame until the page is smaller than this."),
]
Full = Annotated[
    bool, typer.Option("--full", help="Keep waits, marks and load of every link over time, at any size.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("report")(report)
    app.command("view")(view)


@guarded
def report(
    source: Source,
    out: Annotated[
        Path | None, typer.Option(help="The page, a new .html file; `report.html` when not given.")
    ] = None,
    title: Title = None,
    replication: Replication = None,
    max_size: MaxSize = "5MB",
    full: Full = False,
    runs: Annotated[
        bool,
        typer.Option("--runs", help="Write a page of every run of a sweep, too, to which its page links."),
    ] = False,
) -> None:
    """Write one HTML file that shows a run, a sweep or a tuning. It loads nothing and needs no server."""
    from becalm import console
    from becalm.folders import free_file, new_file

    page = out or free_file(Path("report.html"))
    folder = page.with_name(f"{page.stem}-runs") if runs else None
    if folder is not None and folder.exists():
        stop(f"{folder}: already exists; choose another --out", BAD_INPUT)
    with new_file(page) as partial:
        text = _page(source, title, replication, max_size, full=full, folder=folder)
        partial.write_text(text, encoding="utf-8", newline="\n")
    console.say(str(page))


@guarded
def view(
    source: Source,
    title: Title = None,
    replication: Replication = None,
    max_size: MaxSize = "5MB",
    full: Full = False,
) -> None:
    """Show a run, a sweep or a tuning in the browser; print the page's path where there is none."""
    import tempfile
    import webbrowser

    from becalm import console

    text = _page(source, title, replication, max_size, full=full)
    # A folder that only this user can read.
    page = Path(tempfile.mkdtemp(prefix="becalm-")) / "report.html"
    page.write_text(text, encoding="utf-8", newline="\n")
    if has_screen():
        webbrowser.open(page.as_uri())
    console.say(str(page))


def watched(scenario: Scenario, page: Path | None) -> Scenario:
    """Return a scenario that records what its page shows, if there is to be one; runs do not change by it.

    Raises:
        ResultsError: the page exists or cannot be written.

    """
    from becalm.folders import check_writable
    from becalm.quantities import seconds

    if page is None:
        return scenario
    check_writable(page)
    observe = scenario.resolved["observe"]
    changes: dict[str, object] = {}
    if observe["frames"] is None:
        step = seconds(scenario.resolved["run"]["duration"]) / FRAMES
        changes["observe.frames"] = f"{max(1, round(step * 1e12))} ps"
    if not observe["spans"]:
        changes["observe.spans"] = True
    return scenario.replace(changes) if changes else scenario


def write(results: Results, page: Path | None) -> list[str]:
    """Write the page of a run to a new file, if there is to be one; return its path for the user."""
    from becalm.folders import write_new
    from becalm.report import report

    if page is None:
        return []
    write_new(page, report(results))
    return [str(page)]


def has_screen() -> bool:
    """Return whether a browser with a window can be opened: without one, Python would start one for text."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER"))


def _page(
    source: Path,
    title: str | None,
    replication: int | None,
    max_size: str,
    *,
    full: bool,
    folder: Path | None = None,
) -> str:
    from becalm import _core
    from becalm.report.source import page_of, run_pages

    size = _core.bytes(max_size)
    if size is None:
        stop(f"--max-size {max_size}: not a size; valid: a number with a unit, such as 5MB", BAD_INPUT)
    if folder is not None:
        run_pages(source, folder, max_size=int(size))
    pages = folder.name if folder else None
    return page_of(source, title=title, replication=replication, max_size=int(size), full=full, pages=pages)
