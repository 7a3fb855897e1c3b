"""What a path stands for: results, a run of a store, a sweep, a tuning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from becalm.errors import ResultsError
from becalm.report.page import MOST_SIZE, TABLES, filled, report
from becalm.results import MANIFEST, load_results
from becalm.store import Store

if TYPE_CHECKING:
    from becalm.results import Results

_RUNS = "runs"


def page_of(
    source: Path,
    *,
    title: str | None = None,
    replication: int | None = None,
    max_size: int = MOST_SIZE,
    full: bool = False,
) -> str:
    """Return the page of what a path names.

    Args:
        source: a results folder; a folder of a tuning; a sweep's file, of whose runs those in its store are
            shown; or the file of one run in a store.
        title: the heading; a name that fits when None.
        replication: the only one to show of a run; all when None.
        max_size: bytes of the page; see `becalm.report`.
        full: see `becalm.report`.

    Raises:
        ResultsError: it is none of these, or it is damaged.
        BecalmError: a sweep's file with mistakes.

    """
    from becalm.report.points import TUNE, sweep_page, tune_page

    if (source / TUNE).is_file():
        return filled(tune_page(source, title), title or source.name)
    if source.suffix == ".toml" and source.is_file():
        return filled(sweep_page(source, title), title or source.name)
    results = _results(source)
    return report(results, title=title, replication=replication, max_size=max_size, full=full)


def _results(source: Path) -> Results:
    if (source / MANIFEST).is_file():
        return load_results(source, only=TABLES)
    # A store's runs are named by their keys: runs/ab/cdef....zip.
    if source.is_file() and len(source.parents) > 2 and source.parents[1].name == _RUNS:
        return Store.open(source.parents[2]).get(source.parent.name + source.stem)
    raise ResultsError(
        f"{source}: nothing to report; valid: a results folder, a folder of a tuning (tune.json), "
        "a sweep (.toml), the file of a run in a store"
    )
