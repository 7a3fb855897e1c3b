"""From ids of experiments to reports: run, measure, judge, draw, write."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from becalm import jsons
from becalm.errors import ResultsError
from becalm.folders import Taken, reserve_file
from becalm.lab import printed
from becalm.lab.discovery import select
from becalm.lab.model import Experiment, Report
from becalm.lab.seeds import Measurements, Progress
from becalm.plot import save

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

ENDS = ("png", "csv", "json")
"""Files of an experiment: figure, points, verdicts."""


SEEDS = 5
"""Number of seeds of a full run."""
MORE = (10, 20, 40)
"""Numbers of seeds of an experiment while a sentence of its paper is undecided, one after the other."""
MOST = 600.0
"""Core-seconds that seeds beyond the first of `MORE` may cost an experiment."""
SHORT_SEEDS = 1
"""Number of seeds of the reduced version: it shows that everything works, and judges by one run."""


def reproduce(
    ids: Sequence[str] = (),
    out: Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    short: bool = False,
    seeds: int | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> list[Report]:
    """Run experiments with several seeds, judge their statements, draw their figures.

    Sources begin at random phases, drawn from the seed: see `Experiment.phase`. Figures are those of the
    first seed; an experiment in which nothing depends on the seed is run once.

    Args:
        ids: papers and figures; everything if empty.
        out: folder of figures, points and verdicts, `PAPER/FIGURE.png`, `.csv` and `.json`; None: no files.
        overwrite: whether figures of an earlier call may be replaced.
        threads: runs at once; None: as many as there are cores.
        short: fewer points and shorter runs; statements that these cannot judge are left out.
        seeds: number of seeds, at least 1; None: 5, and 10, 20 or 40 for experiments with a sentence of their
            paper that is undecided until then, as far as ten core-minutes allow; or 1 if `short`.
        seed: the first seed.
        progress: called after every finished run, by one thread at a time; its exceptions end everything.

    Raises:
        ValueError: an id that names nothing.
        ResultsError: a file already exists, or cannot be written; nothing was run.
        FabricError: a run that cannot continue.
        KeyboardInterrupt: Ctrl-C.

    """
    chosen = select(ids)
    count = seeds if seeds is not None else SHORT_SEEDS if short else SEEDS
    with _reserved(chosen, out, overwrite=overwrite):
        found = Measurements(chosen, short=short)
        found.run(chosen, range(seed, seed + count), threads, progress)
        for wanted in MORE if seeds is None and not short else ():
            more = [item for item in chosen if _may_have(item, wanted) and found.report(item).undecided]
            found.run(more, range(seed + count, seed + wanted), threads, progress)
            count = wanted
        return [_write(found.report(item), item, found.points(item), out) for item in chosen]


def _may_have(experiment: Experiment, seeds: int) -> bool:
    """Return whether an undecided experiment gets this many seeds."""
    return experiment.seeded and (seeds == MORE[0] or seeds * experiment.cost <= MOST)


@contextlib.contextmanager
def _reserved(chosen: Sequence[Experiment], out: Path | None, *, overwrite: bool) -> Iterator[None]:
    """Reserve the files of experiments before they are run."""
    if out is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        for experiment in chosen:
            verdict = _file(out, experiment, "json")
            stack.enter_context(reserve_file(verdict))
            there = [file for end in ENDS if os.path.lexists(file := _file(out, experiment, end))]
            if there and not overwrite:
                raise Taken(f"{there[0]}: already exists; choose another folder or allow overwriting")
            if there and not _is_own(verdict, experiment):
                raise ResultsError(f"{there[0]}: was not written by becalm, and is not overwritten")
        yield


def _file(out: Path, experiment: Experiment, end: str) -> Path:
    return out / experiment.paper / f"{experiment.figure}.{end}"


def _is_own(verdict: Path, experiment: Experiment) -> bool:
    try:
        return bool(json.loads(verdict.read_bytes())["id"] == experiment.id)
    except (OSError, KeyError, RecursionError, TypeError, ValueError):
        return False


def _write(report: Report, experiment: Experiment, points: pl.DataFrame | None, out: Path | None) -> Report:
    """Draw the figure and write the numbers behind it; every file is complete or absent."""
    if out is None:
        return report
    figure = _file(out, experiment, "png")
    save(drawing(experiment, report), figure)
    if points is not None:
        replace_file(_file(out, experiment, "csv"), points.write_csv())
    replace_file(_file(out, experiment, "json"), jsons.dumps(report.to_json(), indent=2) + "\n")
    return Report(report.id, report.title, report.claims, [figure], report.tables)


def drawing(experiment: Experiment, report: Report) -> Figure:
    """Return an experiment's figure, with the values of the paper's judged sentences drawn into it."""
    made = experiment.draw(report.tables)
    judged = {claim.id for claim in report.claims}
    wanted = [(each.drawn, each.expect.region) for each in experiment.statements if each.id in judged]
    printed.draw(made, [(place, region) for place, region in wanted if place and region])
    return made


def replace_file(path: Path, text: str) -> None:
    """Write a text to a temporary file and rename it, so that the file is complete or absent."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
