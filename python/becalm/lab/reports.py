"""The way from ids of experiments to reports: run, measure, judge, draw, write."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from becalm.errors import ResultsError
from becalm.folders import Taken, reserve_file
from becalm.lab.discovery import select
from becalm.lab.model import Claim, Experiment, Measured, Report, Statement, Tables
from becalm.lab.runner import Lab
from becalm.plot import save
from becalm.progress import SweepProgress

ENDS = ("png", "csv", "json")
"""What an experiment leaves behind: figure, points, verdicts."""


def reproduce(
    ids: Sequence[str] = (),
    out: Path | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    short: bool = False,
    seed: int = 1,
    progress: Callable[[SweepProgress], object] | None = None,
) -> list[Report]:
    """Run experiments, judge their statements, draw their figures.

    Args:
        ids: papers and figures; none: everything.
        out: where figures, points and verdicts go, as `PAPER/FIGURE.png`, `.csv` and `.json`; None: nowhere.
        overwrite: whether figures of an earlier call may be replaced.
        threads: runs at once; None: as many as there are cores.
        short: fewer points and shorter runs; statements that these cannot judge are left out.
        seed: seed of every run.
        progress: called after every finished run, by one thread at a time; what it raises ends everything.

    Raises:
        ValueError: an id that names nothing.
        ResultsError: a file is there already, or cannot be written; nothing was run.
        FabricError: a run that cannot go on.
        KeyboardInterrupt: Ctrl-C.

    """
    chosen = select(ids)
    points = {experiment.id: experiment.points(short) for experiment in chosen}
    lab = Lab(seed, threads)
    with _reserved(chosen, out, overwrite=overwrite):
        lab.run([point for group in points.values() for point in group], progress)
        reports = []
        for experiment in chosen:
            tables = experiment.measure(lab.outcomes(points[experiment.id]))
            claims = [judge(item, tables) for item in experiment.statements if item.short or not short]
            report = Report(experiment.id, experiment.title, claims, [], tables)
            reports.append(_write(report, experiment, out))
    return reports


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


def judge(statement: Statement, tables: Tables) -> Claim:
    """Measure a statement and compare it with what is expected."""
    measured = statement.measure(tables)
    values = measured if isinstance(measured, list) else [measured]
    return Claim(
        id=statement.id,
        quote=statement.quote,
        paper=statement.paper,
        measured=_rounded(measured),
        tolerance=statement.expect.tolerance,
        holds=bool(statement.expect.test(values)),
        note=statement.note,
        kind=statement.kind,
    )


def _rounded(measured: Measured) -> Measured:
    """Six significant digits: more would only look exact."""
    if isinstance(measured, list):
        return [float(f"{value:.6g}") for value in measured]
    return float(f"{measured:.6g}")


def _write(report: Report, experiment: Experiment, out: Path | None) -> Report:
    """Draw the figure and write the numbers behind it; every file is there whole or not at all."""
    if out is None:
        return report
    figure = _file(out, experiment, "png")
    save(experiment.draw(report.tables), figure)
    if "points" in report.tables:
        _replace(_file(out, experiment, "csv"), report.tables["points"].write_csv())
    _replace(_file(out, experiment, "json"), json.dumps(report.to_json(), indent=2) + "\n")
    return Report(report.id, report.title, report.claims, [figure], report.tables)


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
