"""The page of two or three runs side by side: one clock, one chosen link, one sentence on the difference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from becalm.base.errors import ResultsError
from becalm.reports.page import MOST_SIZE, filled, payload
from becalm.results import Results
from becalm.results.verdicts import CONTROL, versus

_CHANGE = "The change"


def subject(before: Results, after: Results) -> str:
    """Return what differs between two runs, as the subject of a sentence."""
    return CONTROL if after.scenario.without_control() == before.scenario else _CHANGE


def pair(
    before: Results,
    after: Results,
    *,
    title: str | None = None,
    names: tuple[str, str] | None = None,
    max_size: int = MOST_SIZE,
) -> str:
    """Return a page that shows two runs of the same traffic on the same fabric, as one HTML file.

    The page shows the first replication of each.

    Args:
        before: the run on the left.
        after: the run on the right.
        title: the heading; None: the names of both.
        names: the headings of both; None: `Without congestion control` and `With congestion control` if only
            that differs, or the names of the scenarios.
        max_size: maximum size of the page in bytes; see `becalm.report`.

    Raises:
        ResultsError: the fabrics or the groups of flows differ.

    """
    runs = (before, after)
    if not before.scenario.network().nodes.equals(after.scenario.network().nodes):
        raise ResultsError(
            f"{before.scenario.name} and {after.scenario.name} are on different fabrics; "
            "valid: two runs on the same fabric"
        )
    what = subject(before, after)
    if names is None:
        control = (f"Without {CONTROL.lower()}", f"With {CONTROL.lower()}")
        names = control if what == CONTROL else (_name(before), _name(after))
    title = title or (_name(after) if what == CONTROL else " and ".join(names))
    return beside(runs, names, versus(before, after, subject=what).sentence, title=title, max_size=max_size)


def beside(
    runs: Sequence[Results], names: Sequence[str], sentence: str, *, title: str, max_size: int = MOST_SIZE
) -> str:
    """Return a page that shows two or three runs on the same fabric; see `pair`.

    Args:
        runs: the runs, from left to right. Differences are from the first.
        names: their headings.
        sentence: the verdict on all of them.
        title: the heading.
        max_size: maximum size of the page in bytes; see `becalm.report`.

    """
    first, *others = (
        payload(
            run,
            title=title,
            replication=run.replications[0].replication,
            max_size=max_size // len(runs),
            about={"verdict": sentence, "run": name, "diagnosis": [], "notes": []},
        )
        for run, name in zip(runs, names, strict=True)
    )
    return filled(first, title, others, [sentence, *(run.verdict or "" for run in runs)])


def _name(results: Results) -> str:
    return PurePath(results.scenario.name).stem
