"""What a path stands for: results, a run of a store, a sweep, a tuning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from becalm.errors import ResultsError
from becalm.report.page import MOST_SIZE, TABLES, filled, report
from becalm.results import MANIFEST, load_results
from becalm.store import Store

if TYPE_CHECKING:
    from becalm.results import Results

TUNE = "tune.json"
"""The file of a tuning's folder that says what was found."""
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
    if (source / TUNE).is_file():
        from becalm.report.points import tune_page

        return filled(tune_page(source, title), title or source.name)
    if source.suffix == ".toml" and source.is_file():
        from becalm.report.points import sweep_page

        return filled(sweep_page(source, title), title or source.name)
    results = _results(source)
    return report(results, title=title, replication=replication, max_size=max_size, full=full)


def _results(source: Path) -> Results:
    if (source / MANIFEST).is_file():
        return load_results(source, only=TABLES)
    if source.is_file() and len(source.parents) > 2:
        # A store's runs are named by their keys: runs/ab/abcdef....zip.
        root = source.parents[2]
        if source.parents[1].name == _RUNS:
            return Store.open(root).get(source.stem)
    raise ResultsError(
        f"{source}: nothing to report; valid: a results folder, a folder of a tuning ({TUNE}), "
        "a sweep (.toml), the file of a run in a store"
    )


def read_json(file: Path) -> dict[str, object]:
    """Read a file of becalm's in JSON.

    Raises:
        ResultsError: it cannot be read.

    """
    try:
        found = json.loads(file.read_bytes())
    except (OSError, RecursionError, ValueError) as error:
        raise ResultsError(f"{file}: cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ResultsError(f"{file}: is not what becalm writes")
    return found
