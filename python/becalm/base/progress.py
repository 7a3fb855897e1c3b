"""Progress of a set of runs, as reported by sweeps, experiments and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

_Item = TypeVar("_Item")
Steps: TypeAlias = Callable[[int, int], object]
"""Called with the number of finished steps and the total number of steps."""


def steps(items: Sequence[_Item], progress: Steps | None) -> Iterator[_Item]:
    """Yield items, and report how many are done before each item and at the end."""
    for place, item in enumerate(items):
        if progress is not None:
            progress(place, len(items))
        yield item
    if progress is not None:
        progress(len(items), len(items))


class SweepProgress(NamedTuple):
    """Progress of a set of runs."""

    finished: int
    """Finished points, including points found on disk."""
    points: int
    """Total number of points."""
    fraction: float
    """Completed share of the estimated packet-hops, from 0 to 1."""
    events: int
    """Events handled by this call."""
    packet_hops: int
    """Packet-hops of this call."""
    found: int = 0
    """Finished points that were found in a store."""
    left: float | None = None
    """Estimated wall-clock seconds left; None: unknown."""
