"""How far a set of runs is: what sweeps, experiments and comparisons report while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

_Item = TypeVar("_Item")
Steps: TypeAlias = Callable[[int, int], object]
"""Called with how many steps are done, and of how many."""


def steps(items: Sequence[_Item], progress: Steps | None) -> Iterator[_Item]:
    """Give items one by one, and say before each, and at the end, how many are done."""
    for place, item in enumerate(items):
        if progress is not None:
            progress(place, len(items))
        yield item
    if progress is not None:
        progress(len(items), len(items))


class SweepProgress(NamedTuple):
    """How far a set of runs is."""

    finished: int
    """Points finished, those found on disk included."""
    points: int
    """How many there are."""
    fraction: float
    """Share of the simulated time done, from 0 to 1."""
    events: int
    """Events handled by this call."""
    packet_hops: int
    """Packet-hops of this call."""
