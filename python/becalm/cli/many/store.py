"""`becalm store`: commands to list, check, prune, merge and export stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from becalm.analysis import formats
from becalm.base import jsons
from becalm.cli.exits import BAD_INPUT, FAILED, stop
from becalm.cli.options import Overwrite, Quiet

DEFAULT = Path("results/store")
"""Default store."""
LAST = 50
"""Number of runs that `ls` lists: more do not fit on a screen, and a table of thousands takes seconds."""

Root = Annotated[Path, typer.Argument(help="The store.")]


def ls(
    root: Root = DEFAULT,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line, one for each run.")
    ] = False,
    last: Annotated[
        int, typer.Option(help="Number of runs to list, the newest ones; 0 for all.", min=0)
    ] = LAST,
) -> None:
    """List the newest runs, including failed ones."""
    from becalm.cli import console
    from becalm.cli.tables import table
    from becalm.store import Store
    from becalm.store.index import runs

    store = Store.open(root)
    with console.Bar(quiet=as_json) as bar:
        found = runs(store, bar.on_step).drop("resolved").to_dicts()
    failed = {key: store.failure(key) for key in store.failed()}
    if as_json:
        for row in [*found, *({"key": key, **(failure or {})} for key, failure in failed.items())]:
            typer.echo(jsons.dumps(row))
        return
    rows = [
        (
            row["key"][:16],
            row["scenario"],
            str(row["seed"] + row["replication"]),
            row["keep"],
            row["created"][:19].replace("T", " "),
            formats.seconds(row["wall_time"]),
            formats.number(row["packet_hops"]),
            f"{row['bytes'] / 1000:.0f} kB",
        )
        for row in sorted(found, key=lambda row: row["created"], reverse=True)[: last or None]
    ]
    columns = ("run", "scenario", "seed", "kept", "when (UTC)", "took", "hops", "size")
    console.out.print(table(str(root), columns, rows, text=2))
    for key, failure in failed.items():
        console.say(f"{key[:16]} failed: {(failure or {}).get('text', 'the note is damaged')}")
    if len(rows) < len(found):
        rest = formats.counted(len(found) - len(rows), "older run")
        console.say(f"and {rest}: --last 0 lists all, --json prints all")
    total = sum(row["bytes"] for row in found)
    console.say(f"{formats.counted(len(found), 'run')}, {formats.number(total, 'B')}, {len(failed)} failed")


def verify(root: Root = DEFAULT) -> None:
    """Check every file against its checksums and its name; exit code 1 if any file is damaged."""
    from becalm.cli import console
    from becalm.store import Store

    store = Store.open(root)
    with console.Bar(quiet=False) as bar:
        damaged = list(store.verify(bar.on_step))
    for _, problem in damaged:
        console.say(problem)
    count = len(list(store.keys()))
    console.say(f"{count - len(damaged)} of {count} runs are intact")
    if damaged:
        stop("a sweep recomputes and replaces damaged runs", FAILED)


def prune(
    root: Root = DEFAULT,
    keep: Annotated[str, typer.Option(help="Tables of each run to keep: summary, series or all.")] = "all",
    models: Annotated[
        bool, typer.Option("--other-models", help="Delete runs made with other model versions.")
    ] = False,
) -> None:
    """Remove files left behind more than a day ago by killed processes, and optionally tables or old runs."""
    from becalm.cli import console
    from becalm.store import Store

    _check_keep(keep)
    with console.Bar(quiet=False) as bar:
        done = Store.open(root).prune(keep, models=models, progress=bar.on_step)
    console.say(
        f"{done.temporary} temporary files removed, {done.models} runs of other models deleted, "
        f"tables of {done.thinned} runs removed: {formats.number(done.bytes, 'B')} freed"
    )


def merge(
    root: Annotated[Path, typer.Argument(help="The store to merge into.", show_default=False)],
    others: Annotated[list[Path], typer.Argument(help="The stores to copy runs from.", show_default=False)],
) -> None:
    """Copy runs from other stores; leave existing runs unchanged."""
    from becalm.cli import console
    from becalm.store import Store

    sources = [Store.open(other) for other in others]
    store = Store(root)
    for other in sources:
        with console.Bar(quiet=False) as bar:
            new, damaged = store.merge(other, bar.on_step)
        passed = f", {damaged} damaged files skipped" if damaged else ""
        console.say(f"{other.root}: {new} new runs{passed}")


def export(
    root: Annotated[Path, typer.Argument(help="The store.", show_default=False)],
    out: Annotated[Path, typer.Argument(help="A .parquet or .csv file.", show_default=False)],
    table: Annotated[
        str, typer.Option(help="Name of a results table, such as groups, victims or links; or `runs`.")
    ] = "groups",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write a table of all runs, with a column for each value that differs between their scenarios."""
    from becalm.base.folders import check_new
    from becalm.cli import console
    from becalm.store import Store
    from becalm.store.export import check_writable, exported, write_table

    check_writable(out)
    check_new(out, overwrite=overwrite)
    store = Store.open(root)
    with console.Bar(quiet=quiet) as bar:
        made = exported(store, table, bar.on_step)
    write_table(made, out, table, overwrite=overwrite)
    if not quiet:
        console.say(f"{made.height} rows written to {out}")


def _check_keep(keep: str) -> None:
    from becalm.store import KEEPS

    if keep not in KEEPS:
        stop(f"--keep: {keep}: unknown; valid: {', '.join(KEEPS)}", BAD_INPUT)


COMMANDS = (ls, verify, prune, merge, export)
