"""`becalm sweep`: reads the points of a file from the store, or computes them here or on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from becalm.analysis import formats
from becalm.base import jsons
from becalm.cli.exits import BAD_INPUT, FAILED, stop
from becalm.cli.options import (
    EngineOptions,
    MaxMemory,
    Overwrite,
    OwnSchemes,
    Quiet,
    Workers,
    check_memory,
)

if TYPE_CHECKING:
    from becalm.cli.screen import Screen
    from becalm.runs.engines import Engine
    from becalm.runs.task import Shelf
    from becalm.store import Store
    from becalm.sweeps.plan import Plan
    from becalm.sweeps.spec import Spec
    from becalm.sweeps.table import SweepResults

LISTED = 10
"""Maximum number of failed or damaged runs to list."""


def sweep(
    spec: Annotated[Path, typer.Argument(help="The sweep, a TOML file.", show_default=False)],
    workers: Workers = None,
    max_memory: MaxMemory = None,
    *,
    own_schemes: OwnSchemes,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N", help="Compute only part K of N; SLURM job arrays set this automatically."
        ),
    ] = None,
    engine: EngineOptions,
    store: Annotated[
        Path | None, typer.Option(help="Store for the runs; overrides the store named in the file.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option(help="Tables of each run to keep: summary, series or all.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Retry runs that failed before.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check all points and count the missing runs without computing them."),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write a table of all points to a .parquet or .csv file.")
    ] = None,
    table: Annotated[
        str, typer.Option(help="Name of the table, such as groups, victims or links.")
    ] = "groups",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Run a scenario at all points of a sweep that are not in the store; exit code 1 if any run failed."""
    from becalm.base.folders import check_new
    from becalm.base.mistakes import nearest
    from becalm.results.tables import SCHEMA
    from becalm.store import KEEPS, Store
    from becalm.store.export import check_writable
    from becalm.sweeps.plan import look, shard_of
    from becalm.sweeps.spec import read_spec

    if out is not None and table not in SCHEMA:
        near = nearest(table, SCHEMA) or f"; valid: {', '.join(SCHEMA)}"
        stop(f"--table {table}: no such table{near}", BAD_INPUT)
    if keep is not None and keep not in KEEPS:
        stop(f"--keep {keep}: unknown; valid: {', '.join(KEEPS)}", BAD_INPUT)
    if out is not None:
        check_writable(out)
        check_new(out, overwrite=overwrite)
    engine.check()
    part = shard_of(shard)
    read = read_spec(spec, own_schemes.load())
    points = read.points(keep)
    check_memory([point.scenario for point in points], max_memory, engine.engine, workers)
    shelf = Store(store or read.store, make=not dry_run)
    plan = look(points, shelf, keep or read.keep, shard=part, retry_failed=retry_failed)
    _tell_damaged(plan)
    quiet = quiet or as_json
    if dry_run:
        _say(_summary(read, plan, shelf, None), as_json=as_json)
        return
    screen = _compute(plan, shelf, engine.made(workers), quiet=quiet)
    if as_json or not quiet:
        said = _whole(plan, shelf).verdict
        _say(_summary(read, plan, shelf, screen, said), as_json=as_json)
    _tell_failed(plan)
    if out is not None:
        _write(plan, shelf, out, table, quiet=quiet, overwrite=overwrite)
    if plan.failed:
        raise typer.Exit(FAILED)


def _compute(plan: Plan, store: Store, engine: Callable[[Shelf], Engine], *, quiet: bool) -> Screen:
    from becalm.cli.screen import Screen
    from becalm.runs.drive import run_tasks
    from becalm.runs.task import Done

    if not plan.todo:
        return Screen(0, len(plan.found), quiet=True)

    def on_done(done: Done) -> None:
        screen.on_done(done)
        if done.error is None:
            plan.found.add(done.key)
        else:
            plan.failed[done.key] = done.error

    work = sum(task.work for task in plan.todo)
    with Screen(len(plan.todo), len(plan.found), work, quiet=quiet) as screen:
        run_tasks(plan.todo, engine(store), store, on_done)
    # Commands that list or export the store then need not open each run.
    store.reindex()
    return screen


def _whole(plan: Plan, store: Store) -> SweepResults:
    """Return the points whose runs are all in the store."""
    from becalm.sweeps.table import Point, SweepResults

    whole = [Point(point, store) for point in plan.points if all(key in plan.found for key in point.keys)]
    return SweepResults(whole, len(plan.points))


def _summary(
    spec: Spec, plan: Plan, store: Store, screen: Screen | None, said: str | None = None
) -> dict[str, Any]:
    """Return a sweep's counts of planned, found and computed runs. No screen means that none was computed."""
    failures = [
        {"changes": each.changes, "replication": each.replication, "error": each.error}
        for each in plan.failures()
    ]
    return {
        "verdict": said,
        "sweep": spec.file,
        "store": str(store.root),
        "points": len(plan.points),
        "runs": len(plan.keys),
        "found": len(plan.found) if screen is None else screen.found,
        "computed": 0 if screen is None else screen.done,
        "to_do": len(plan.todo) if screen is None else 0,
        "of_other_shards": plan.others,
        "damaged": len(plan.damaged),
        "failed": failures,
        "seconds": round(screen.seconds, 3) if screen and plan.todo else 0.0,
    }


def _say(summary: dict[str, Any], *, as_json: bool) -> None:
    from becalm.cli import console

    if as_json:
        typer.echo(jsons.dumps(summary))
        return
    if summary["verdict"]:
        console.say(summary["verdict"])
    points, runs = formats.counted(summary["points"], "point"), formats.counted(summary["runs"], "run")
    parts = [f"{points}, {runs}: {summary['found']} found"]
    if summary["to_do"]:
        parts.append(f"{summary['to_do']} to compute")
    else:
        parts.append(f"{summary['computed']} computed")
    parts.append(f"{len(summary['failed'])} failed")
    if summary["of_other_shards"]:
        parts.append(f"{summary['of_other_shards']} for other shards")
    took = f" in {formats.seconds(summary['seconds'])}" if summary["seconds"] else ""
    console.say(f"{', '.join(parts)}{took}; store {summary['store']}")


def _tell_damaged(plan: Plan) -> None:
    from becalm.sweeps.plan import summary

    for key, problem in list(plan.damaged.items())[:LISTED]:
        typer.echo(f"with {summary(plan.changes(key))}: {problem}; computed again", err=True)
    _tell_more(len(plan.damaged), "damaged")


def _tell_failed(plan: Plan) -> None:
    from becalm.sweeps.plan import summary

    failures = plan.failures()
    for each in failures[:LISTED]:
        typer.echo(f"failed with {summary(each.changes)}: {each.error}", err=True)
    _tell_more(len(failures), "failed")


def _tell_more(count: int, what: str) -> None:
    if count > LISTED:
        typer.echo(f"and {count - LISTED} more {what}", err=True)


def _write(plan: Plan, store: Store, out: Path, table: str, *, quiet: bool, overwrite: bool) -> None:
    """Write the table of all points, unless a run is missing for another reason than failure."""
    from becalm.cli import console
    from becalm.store.export import write_table

    if plan.others:
        typer.echo(f"{out}: not written, because {plan.others} runs belong to other shards", err=True)
        return
    whole = _whole(plan, store)
    if not whole.points:
        typer.echo(f"{out}: not written, because no point is finished", err=True)
        return
    made = whole.table(table)
    write_table(made, out, table, overwrite=overwrite)
    if not quiet:
        console.say(f"{made.height} rows written to {out}")
