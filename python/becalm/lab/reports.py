"""Creates reports of experiments: runs, measures and judges them, draws their figures, and writes files."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from becalm.base import jsons
from becalm.base.disk import REPLACE, replace_file
from becalm.base.errors import ResultsError
from becalm.base.folders import Taken, reserve_file
from becalm.base.progress import SweepProgress
from becalm.lab import printed
from becalm.lab.discovery import select
from becalm.lab.model import Experiment, Report
from becalm.lab.runner import Measurements
from becalm.plot import save
from becalm.runs.drive import EngineOf, driver

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

ENDS = ("png", "csv", "json")
"""Files of an experiment: figure, points, verdicts."""


SEEDS = 5
"""Number of seeds of a full run."""
MORE = (10, 20, 40)
"""Numbers of seeds to try in sequence while a sentence of the paper is undecided."""
MOST = 600.0
"""Maximum core-seconds of an experiment with more seeds than the first step of `MORE`."""
SHORT_SEEDS = 1
"""Number of seeds of the reduced version, which only shows that everything works."""


def reproduce(
    ids: Sequence[str] = (),
    out: Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    short: bool = False,
    seeds: int | None = None,
    seed: int = 1,
    progress: Callable[[SweepProgress], object] | None = None,
    store: str | PathLike[str] | None = None,
    engine: EngineOf = "threads",
) -> list[Report]:
    """Run experiments with several seeds, judge their statements, and draw their figures.

    Sources start at random phases that depend on the seed: see `Experiment.phase`. Figures show the first
    seed. An experiment that does not depend on the seed runs once.

    Args:
        ids: papers and figures; if empty, everything.
        out: folder of figures, points and verdicts, `PAPER/FIGURE.png`, `.csv` and `.json`; None: no files.
        overwrite: whether to replace figures of an earlier call.
        threads: number of concurrent runs; None: one per core.
        short: whether to use fewer points and shorter runs, and skip statements that need full runs.
        seeds: number of seeds, at least 1; None: 1 if `short`, otherwise 5, then 10, 20 and 40 while a
            sentence of the paper is undecided and ten core-minutes suffice.
        seed: the first seed.
        progress: called after every finished run, by one thread at a time. An exception in it ends all runs.
        store: folder of a store that keeps every run as soon as it is finished. A second call continues where
            the first ended. None: no runs are kept.
        engine: `threads`, `processes`, `dask`, or a function that creates an engine for a shelf. In a script,
            processes need the usual `if __name__ == "__main__"`.

    Raises:
        ValueError: an id is unknown.
        BecalmError: the engine or store cannot be used.
        ResultsError: a file already exists, or cannot be written; nothing was run.
        FabricError: a run cannot continue.
        KeyboardInterrupt: Ctrl-C was pressed.

    """
    chosen = select(ids)
    count = seeds if seeds is not None else SHORT_SEEDS if short else SEEDS
    with _reserved(chosen, out, overwrite=overwrite):
        found = Measurements(chosen, short=short)
        with driver(threads, store, engine, progress) as runs:
            found.run(chosen, range(seed, seed + count), runs)
            for wanted in MORE if seeds is None and not short else ():
                more = [item for item in chosen if _may_have(item, wanted) and found.report(item).undecided]
                found.run(more, range(seed + count, seed + wanted), runs)
                count = wanted
        return [_write(found.report(item), item, found.points(item), out) for item in chosen]


def _may_have(experiment: Experiment, seeds: int) -> bool:
    """Return whether an undecided experiment gets this many seeds."""
    return experiment.seeded and (seeds == MORE[0] or seeds * experiment.cost <= MOST)


@contextlib.contextmanager
def _reserved(chosen: Sequence[Experiment], out: Path | None, *, overwrite: bool) -> Iterator[None]:
    """Reserve the files of experiments before the runs."""
    if out is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        for experiment in chosen:
            verdict = _file(out, experiment, "json")
            stack.enter_context(reserve_file(verdict))
            there = [file for end in ENDS if os.path.lexists(file := _file(out, experiment, end))]
            if there and not overwrite:
                raise Taken(f"{there[0]}: already exists; choose another folder, or {REPLACE}")
            if there and not _is_own(verdict, experiment):
                raise ResultsError(f"{there[0]}: was not written by becalm; not overwritten")
        yield


def _file(out: Path, experiment: Experiment, end: str) -> Path:
    return out / experiment.paper / f"{experiment.figure}.{end}"


def _is_own(verdict: Path, experiment: Experiment) -> bool:
    try:
        return bool(json.loads(verdict.read_bytes())["id"] == experiment.id)
    except (OSError, KeyError, RecursionError, TypeError, ValueError):
        return False


def _write(report: Report, experiment: Experiment, points: pl.DataFrame | None, out: Path | None) -> Report:
    """Draw the figure and write its data. Every file is either complete or absent."""
    if out is None:
        return report
    figure = _file(out, experiment, "png")
    save(drawing(experiment, report), figure)
    if points is not None:
        replace_file(_file(out, experiment, "csv"), points.write_csv())
    replace_file(_file(out, experiment, "json"), jsons.dumps(report.to_json(), indent=2) + "\n")
    return Report(report.id, report.title, report.claims, [figure], report.tables)


def drawing(experiment: Experiment, report: Report) -> Figure:
    """Return an experiment's figure, including the paper's values for the judged sentences."""
    made = experiment.draw(report.tables)
    judged = {claim.id for claim in report.claims}
    wanted = [(each.drawn, each.expect.region) for each in experiment.statements if each.id in judged]
    printed.draw(made, [(place, region) for place, region in wanted if place and region])
    return made
