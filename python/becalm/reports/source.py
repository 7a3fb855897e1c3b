"""The sources of reports: results, a run in a store, a sweep, a tuning."""

from __future__ import annotations

from pathlib import Path

from becalm.base.errors import ResultsError
from becalm.base.progress import Steps
from becalm.reports.page import MOST_SIZE, UNREAD, filled, report
from becalm.results import MANIFEST, Results, load_results, read_manifest
from becalm.store import Store

_RUNS = "runs"


def page_of(
    source: Path,
    *,
    title: str | None = None,
    replication: int | None = None,
    max_size: int = MOST_SIZE,
    full: bool = False,
    pages: str | None = None,
) -> str:
    """Return the page of the source at a path.

    Args:
        source: a results folder, a tuning's folder, a folder of `becalm whatif`, a sweep's file, whose stored
            runs are shown, or the file of one run in a store.
        title: the heading; None: a suitable name.
        replication: the only replication of a run to show; None: all.
        max_size: maximum size of the page in bytes; see `becalm.report`.
        full: see `becalm.report`.
        pages: folder of the pages of a sweep's runs, relative to its page; see `run_pages`.

    Raises:
        ResultsError: the source is none of these, or it is damaged.
        BecalmError: the file of a sweep is invalid.

    """
    from becalm.reports.points import sweep_page
    from becalm.reports.tunings import TUNE, tune_page
    from becalm.whatif import kept

    if (source / kept.INDEX).is_file():
        return _incast(source, title, max_size)
    if (source / TUNE).is_file():
        page, said = tune_page(source, title)
        return filled(page, title or source.name, said=[said])
    if source.suffix == ".toml" and source.is_file():
        page, said = sweep_page(source, title, pages)
        return filled(page, title or source.name, said=[said])
    results = _results(source)
    folder = source if source.is_dir() else None
    return report(results, title=title, replication=replication, max_size=max_size, full=full, folder=folder)


def page_of_two(source: Path, other: Path, *, title: str | None = None, max_size: int = MOST_SIZE) -> str:
    """Return the page that shows two runs side by side; see `becalm.reports.pair`.

    Raises:
        ResultsError: a path has no run, or the runs are not of the same traffic on the same fabric.

    """
    from becalm.reports.pair import pair, subject
    from becalm.results.verdicts import CONTROL

    before, after = _results(source), _results(other)
    if before.stopped or after.stopped:
        raise ResultsError(f"{source}, {other}: a run was stopped before its end; valid: two complete runs")
    names = None if subject(before, after) == CONTROL else (source.stem, other.stem)
    return pair(before, after, title=title, names=names, max_size=max_size)


def _incast(folder: Path, title: str | None, max_size: int) -> str:
    """Return the page of an incast: before, incast, with control."""
    from becalm.reports.pair import beside
    from becalm.whatif import kept

    hot, verdict, runs = kept.load(folder)
    name = title or f"An incast on {hot}"
    return beside(list(runs.values()), list(runs), verdict, title=name, max_size=max_size)


def run_pages(source: Path, folder: Path, *, max_size: int = MOST_SIZE, progress: Steps | None = None) -> int:
    """Write a page for every stored run of a sweep, under the names in the links of the sweep's page.

    Args:
        source: the sweep's file.
        folder: a new folder.
        max_size: maximum size of a page in bytes.
        progress: called for every page.

    Returns:
        The number of pages.

    Raises:
        ResultsError: the source is not a sweep, or none of its points is in the store.
        FileExistsError: the folder already exists.

    """
    from becalm.reports.points import sweep_runs

    if source.suffix != ".toml" or not source.is_file():
        raise ResultsError(f"{source}: has no separate runs; valid: a sweep (.toml)")
    count = 0
    for name, results in sweep_runs(source, progress):
        if count == 0:
            folder.mkdir(parents=True)
        (folder / name).write_text(report(results, max_size=max_size), encoding="utf-8", newline="\n")
        count += 1
    return count


def _results(source: Path) -> Results:
    if (source / MANIFEST).is_file() or (source.suffix == ".toml" and source.is_file()):
        return load_results(
            source, only=[name for name in read_manifest(source).tables if name not in UNREAD]
        )
    # Runs in a store are named by their keys: runs/ab/cdef....zip.
    if source.is_file() and len(source.parents) > 2 and source.parents[1].name == _RUNS:
        return Store.open(source.parents[2]).get(source.parent.name + source.stem)
    problem = "nothing to report" if source.exists() else "no such file or folder"
    raise ResultsError(
        f"{source}: {problem}; valid: a results folder, a tuning's folder (tune.json), "
        "the folder of `becalm whatif --out`, a sweep (.toml), the file of a run in a store"
    )
