"""Options of commands with many runs: the engine that computes them, and the store that keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from becalm.cli.exits import BAD_INPUT, stop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from becalm.runs.engines import Engine
    from becalm.runs.task import Shelf
    from becalm.scenario import Scenario

Workers = Annotated[int | None, typer.Option(min=1, help="Concurrent runs; default: one per available core.")]
EngineName = Annotated[str, typer.Option(help="How to run in parallel: processes, threads or dask.")]
Address = Annotated[str | None, typer.Option(help="Address of the Dask scheduler, such as tcp://head:8786.")]
Slurm = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Setting for Dask workers that SLURM starts, such as queue=short, walltime or jobs; repeatable.",
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(
        "--workers", "--threads", min=1, max=4096, help="Number of concurrent runs; default: one per core."
    ),
]
StoreFolder = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="Store for the runs, so that a second call does not repeat them; default: they are not kept.",
    ),
]


def check_engine(engine: str, address: str | None, slurm: list[str] | None, *, stored: bool = True) -> None:
    """Check that the options of an engine fit together; `stored` means that the runs go to a named store."""
    from becalm.runs.engines import NAMES

    if engine not in NAMES:
        stop(f"--engine {engine}: unknown; valid: {', '.join(NAMES)}", BAD_INPUT)
    if (address or slurm) and engine != "dask":
        stop("--address and --slurm: have an effect only with --engine dask", BAD_INPUT)
    if address and slurm:
        stop("--address and --slurm: give only one; a running scheduler has its own workers", BAD_INPUT)
    if (address or slurm) and not stored:
        stop("--address and --slurm: need --store, in a folder that all workers share", BAD_INPUT)
    for each in slurm or []:
        if "=" not in each:
            stop(f"--slurm {each}: must be KEY=VALUE, such as queue=short", BAD_INPUT)


def check_memory(
    scenarios: Iterable[Scenario], max_memory: str | None, engine: str, workers: int | None
) -> None:
    """Make sure that the runs fit into memory. On a cluster, a machine needs to hold one run at a time."""
    from becalm.runs import memory
    from becalm.runs.engines import width_of

    width = 1 if engine == "dask" else width_of(workers)
    memory.check(scenarios, max_memory, width=width, processes=engine == "processes")


def engine_of(
    engine: str, workers: int | None, address: str | None = None, slurm: list[str] | None = None
) -> Callable[[Shelf], Engine]:
    """Return a function that creates the engine with the given name."""
    from becalm.runs import drive
    from becalm.runs.cluster import Dask

    if engine == "dask":
        settings = dict(each.split("=", 1) for each in slurm or [])
        return lambda _: Dask(workers, address, settings)
    return drive.engine_of(engine, workers)
