"""Progress of a set of runs, which sweeps, experiments and comparisons report while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

_Item = TypeVar("_Item")
Steps: TypeAlias = Callable[[int, int], object]
"""Called with the number of finished steps, and the number of all steps."""


def steps(items: Sequence[_Item], progress: Steps | None) -> Iterator[_Item]:
    """Yield items one by one, and report before each, and at the end, how many are done."""
    for place, item in enumerate(items):
        if progress is not None:
            progress(place, len(items))
        yield item
    if progress is not None:
        progress(len(items), len(items))


class SweepProgress(NamedTuple):
    """Progress of a set of runs."""

    finished: int
    """Finished points, including those found on disk."""
    points: int
    """Number of all points."""
    fraction: float
    """Share of the simulated time done, from 0 to 1."""
    events: int
    """Events handled by this call."""
    packet_hops: int
    """Packet-hops of this call."""
