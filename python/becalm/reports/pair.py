"""The page of two runs side by side: one clock, one chosen link, and the difference in one sentence."""

from __future__ import annotations

from pathlib import PurePath

from becalm.errors import ResultsError
from becalm.reports.page import MOST_SIZE, filled, payload
from becalm.results import Results
from becalm.verdicts import CONTROL, versus

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
    sentence = versus(before, after, subject=what).sentence
    left, right = (
        payload(
            run,
            title=title,
            replication=run.replications[0].replication,
            max_size=max_size // 2,
            about={"verdict": sentence, "run": name, "diagnosis": [], "notes": []},
        )
        for run, name in zip(runs, names, strict=True)
    )
    said = [sentence, *(run.verdict or "" for run in runs)]
    return filled(left, title, right, said)


def _name(results: Results) -> str:
    return PurePath(results.scenario.name).stem
