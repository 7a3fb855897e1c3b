"""What a change did: the difference between two runs of the same traffic, in one sentence.

The verdict on a single run is `becalm.Results.verdict`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from becalm._core import versus as core_versus
from becalm.base import columns
from becalm.base.errors import ResultsError

if TYPE_CHECKING:
    from becalm.results import Results

CONTROL = "Congestion control"
"""The subject of a comparison of a run without congestion control with the same run with it."""
_COMPARED = ("groups", "jobs", "pauses")


class Difference(NamedTuple):
    """The difference between two runs of the same traffic."""

    score: float
    """Mean natural logarithm of the gains of all jobs and groups; small for shorter pauses or latencies only.

    It is above 0 if the second run is better, and 0 if nothing changes noticeably.
    """
    changes: list[str]
    """The noticeable changes in words, largest first."""
    sentence: str
    """What the change did."""


def versus(
    before: Results, after: Results, *, replications: tuple[int, int] = (0, 0), subject: str = CONTROL
) -> Difference:
    """Compare two runs of the same traffic, and say what the change between them did.

    Jobs count by their times, and groups of flows by their throughput. If neither changes noticeably, the
    longest pause and the longest latency count.

    Args:
        before: the run without the change.
        after: the run with it.
        replications: the compared replications of both.
        subject: the change, as the subject of the sentence.

    Raises:
        ResultsError: the runs have other groups of flows.

    """
    one, other = (_compared(run, at) for run, at in zip((before, after), replications, strict=True))
    groups = [sorted(set(run.tables["groups"]["group"])) for run in (before, after)]
    if groups[0] != groups[1]:
        names = [", ".join(found) for found in groups]
        raise ResultsError(
            f"{before.scenario.name} and {after.scenario.name} differ in their groups of flows: "
            f"{names[0]}; {names[1]}"
        )
    return Difference(*core_versus(before.scenario.core, one, other, subject))


def _compared(results: Results, replication: int) -> dict[str, list[tuple[str, str, Any]]]:
    known = [name for name in _COMPARED if name in results.tables]
    return {name: columns.of(results.tables[name], replication, results.units[name]) for name in known}
